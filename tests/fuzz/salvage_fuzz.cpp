// A dead process's memory file, which it may have left in any state: what is saved from it must be a whole spool that
// begins with what the spool held before. The input is a recipe, because most of a real file's header is zeros:
// `u8 n_segments; per segment u8 kind, u16 offset / 8, u16 bytes / 8`, both behind the header; then the segments'
// bytes.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "agent/base/unique_fd.h"
#include "agent/spool/memory_file.h"
#include "agent/spool/ring_salvage.h"
#include "merge/rundir/spool_trace.h"
#include "tests/fuzz/planted_fault.h"
#include "tests/fuzz/spool_recipe.h"
#include "tests/unit/spool/recording.h"

namespace {

using namespace jaxprof;

constexpr std::size_t kSegmentBytes = 5;

std::uint64_t u16_at(const std::uint8_t* bytes) {
  return bytes[0] | static_cast<std::uint64_t>(bytes[1]) << 8;
}

std::string memory_file_of(std::span<const std::uint8_t> input) {
  auto header = std::make_unique<spool::MemoryHeader>();
  std::memcpy(header->magic, spool::kMemoryMagic, sizeof header->magic);
  const std::size_t n_segments =
      input.empty() ? 0 : std::min<std::size_t>(input[0], (input.size() - 1) / kSegmentBytes);
  header->segment_count.store(static_cast<std::uint32_t>(n_segments));
  for (std::size_t i = 0; i < n_segments; ++i) {
    const std::uint8_t* segment = input.data() + 1 + i * kSegmentBytes;
    header->segments[i].kind.store(static_cast<spool::SegmentKind>(segment[0]));
    header->segments[i].offset = sizeof(spool::MemoryHeader) + 8 * u16_at(segment + 1);
    header->segments[i].bytes = 8 * u16_at(segment + 3);
  }
  std::string file(reinterpret_cast<const char*>(header.get()), sizeof(spool::MemoryHeader));
  const auto rest = input.subspan(std::min(input.size(), 1 + n_segments * kSegmentBytes));
  return file.append(rest.begin(), rest.end());
}

// The spool that is appended to, as a real file: who appends follows no links, and those are /proc's names.
class SpoolFile {
 public:
  explicit SpoolFile(const std::string& content) : path_("/dev/shm/salvage_fuzz." + std::to_string(getpid())) {
    const UniqueFd fd(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (write(fd.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size())) std::abort();
  }
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;
  ~SpoolFile() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const std::string before = test::Recording().bytes(false);
  const fuzz::MemoryPath memory(memory_file_of({bytes, size}));
  const SpoolFile spool(before);
  const auto saved = spool::salvage_rings(memory.path(), spool.path(), {}, 0);
  // The file has its magic and the spool is whole, so there is always something to make.
  fuzz::demand(saved.has_value(), "what can be saved is saved");
  const auto trace = rundir::SpoolTrace::load(spool.path());
  fuzz::demand(trace.has_value(), "the spool can be read");
  fuzz::demand(trace->footer().has_value(), "the spool has a footer");
  const spool::SpoolHealth& health = trace->health();
  fuzz::demand(health.skipped_bytes == 0 && health.torn_tail_bytes == 0 && health.lost_blocks == 0,
               "the spool is whole");
  std::uint64_t events = 0;
  trace->for_each_event([&events](std::uint32_t, const spool::Event&) { ++events; });
  fuzz::demand(trace->damaged_blocks() > 0 || events >= saved->events, "what was saved is there");
  fuzz::plant_fault(saved->damaged_rings > 0 && saved->events > 0);
  return 0;
}
