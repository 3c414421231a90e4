#include "netsampler/gpu/record_pipe.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "agent/base/text.h"

namespace jaxprof::netsampler {
namespace {

bool write_record(ProbeKind kind, const void* payload, std::size_t bytes) noexcept {
  ProbeRecord record{};
  record.magic = kProbeMagic;
  record.version = kProbeVersion;
  record.kind = static_cast<std::uint16_t>(kind);
  if (bytes > 0) std::memcpy(record.payload, payload, bytes);
  ssize_t written = 0;
  do {
    written = write(STDOUT_FILENO, &record, sizeof record);
  } while (written < 0 && errno == EINTR);
  return written == static_cast<ssize_t>(sizeof record);
}

}  // namespace

bool write_hello() noexcept {
  return write_record(ProbeKind::kHello, nullptr, 0);
}

bool write_gpu(const ProbeGpu& gpu) noexcept {
  return write_record(ProbeKind::kGpu, &gpu, sizeof gpu);
}

bool write_sample(const ProbeSample& sample) noexcept {
  return write_record(ProbeKind::kSample, &sample, sizeof sample);
}

bool write_note(std::uint32_t note, const char* text) noexcept {
  ProbeNote payload{};
  payload.note = note;
  TextBuffer(payload.text, sizeof payload.text).append(text);
  return write_record(ProbeKind::kNote, &payload, sizeof payload);
}

}  // namespace jaxprof::netsampler
