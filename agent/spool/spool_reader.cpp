#include "agent/spool/spool_reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "agent/base/unique_fd.h"

namespace jaxprof::spool {
namespace {

template <typename T>
std::vector<T> parse_records(std::span<const std::uint8_t> payload) {
  std::vector<T> records(payload.size() / sizeof(T));
  if (!records.empty()) std::memcpy(records.data(), payload.data(), records.size() * sizeof(T));
  return records;
}

}  // namespace

Result<SpoolReader> SpoolReader::open(const std::string& path) {
  // Without O_NONBLOCK a FIFO of that name would wait for a writer.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return fail_errno(ErrorCode::kInputUnreadable, "cannot open " + path);
  struct stat status {};
  if (fstat(fd.get(), &status) != 0) return fail_errno(ErrorCode::kInputUnreadable, "cannot examine " + path);
  if (!S_ISREG(status.st_mode)) return fail(ErrorCode::kInputUnreadable, path + " is not a regular file");
  if (status.st_size == 0) return fail(ErrorCode::kInputUnreadable, path + " is empty");
  FileHeader header{};
  if (static_cast<std::uint64_t>(status.st_size) < sizeof header) {
    return fail(ErrorCode::kInputUnreadable,
                path + " is no jaxprof spool: " + std::to_string(status.st_size) + " bytes are less than a header");
  }
  SpoolReader reader;
  reader.size_ = static_cast<std::uint64_t>(status.st_size);
  void* memory = mmap(nullptr, reader.size_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (memory == MAP_FAILED) return fail_errno(ErrorCode::kInputUnreadable, "cannot map " + path);
  reader.bytes_ = static_cast<const std::uint8_t*>(memory);
  std::memcpy(&header, reader.bytes_, sizeof header);
  if (std::memcmp(header.magic, kFileMagic, sizeof kFileMagic) != 0) {
    return fail(ErrorCode::kInputUnreadable, path + " is no jaxprof spool: it does not start with JXSPOOL");
  }
  if (header.checksum != file_header_checksum(header)) {
    return fail(ErrorCode::kInputUnreadable, path + ": the spool's header is damaged");
  }
  if (header.version > kFormatVersion) {
    return fail(ErrorCode::kInputUnreadable, path + ": spool format " + std::to_string(header.version) +
                                                 " is newer than " + std::to_string(kFormatVersion) +
                                                 ", which this program reads; use the jaxprof that wrote it");
  }
  reader.file_id_ = header.file_id;
  reader.at_ = sizeof header;
  reader.health_.file_bytes = reader.size_;
  return reader;
}

SpoolReader::SpoolReader(SpoolReader&& other) noexcept {
  *this = std::move(other);
}

SpoolReader& SpoolReader::operator=(SpoolReader&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(size_, other.size_);
  at_ = other.at_;
  file_id_ = other.file_id_;
  next_sequence_ = other.next_sequence_;
  health_ = other.health_;
  return *this;
}

SpoolReader::~SpoolReader() {
  if (bytes_ != nullptr) munmap(const_cast<std::uint8_t*>(bytes_), size_);
}

bool SpoolReader::is_block_at(std::uint64_t offset, Block* block) const {
  BlockHeader header{};
  if (size_ - offset < sizeof header) return false;
  std::memcpy(&header, bytes_ + offset, sizeof header);
  if (header.magic != kBlockMagic || header.payload_bytes > kMaxPayload) return false;
  if (size_ - offset - sizeof header < header.payload_bytes) return false;
  const std::uint8_t* payload = bytes_ + offset + sizeof header;
  if (block_checksum(header, payload) != header.checksum) return false;
  block->kind = static_cast<BlockKind>(header.kind);
  block->sequence = header.sequence;
  block->payload = {payload, header.payload_bytes};
  return true;
}

void SpoolReader::give_back() const {
  if (bytes_ != nullptr) (void)madvise(const_cast<std::uint8_t*>(bytes_), size_, MADV_DONTNEED);
}

bool SpoolReader::next(Block* block) {
  std::uint64_t candidate = at_;
  while (candidate < size_ && !is_block_at(candidate, block)) {
    const auto* magic = reinterpret_cast<const std::uint8_t*>(&kBlockMagic);
    const std::uint8_t* found = std::search(bytes_ + candidate + 1, bytes_ + size_, magic, magic + sizeof kBlockMagic);
    candidate = static_cast<std::uint64_t>(found - bytes_);
  }
  if (candidate >= size_) {
    health_.torn_tail_bytes = size_ - at_;
    at_ = size_;
    return false;
  }
  if (candidate != at_) {
    health_.skipped_bytes += candidate - at_;
    ++health_.skipped_stretches;
  }
  if (block->sequence > next_sequence_) health_.lost_blocks += block->sequence - next_sequence_;
  next_sequence_ = block->sequence + 1;
  if (block->kind == BlockKind::kFooter) health_.has_footer = true;
  at_ = candidate + sizeof(BlockHeader) + block->payload.size();
  return true;
}

SpoolIdentity SpoolIdentity::parse(std::span<const std::uint8_t> payload) {
  SpoolIdentity identity;
  while (payload.size() >= sizeof(IdentityField)) {
    IdentityField field{};
    std::memcpy(&field, payload.data(), sizeof field);
    payload = payload.subspan(sizeof field);
    if (field.length > payload.size()) break;
    identity.fields_[field.key].assign(reinterpret_cast<const char*>(payload.data()), field.length);
    payload = payload.subspan(field.length);
  }
  return identity;
}

std::string SpoolIdentity::text(IdentityKey key) const {
  const auto found = fields_.find(static_cast<std::uint16_t>(key));
  return found == fields_.end() ? std::string() : found->second;
}

std::int64_t SpoolIdentity::number(IdentityKey key) const {
  const auto found = fields_.find(static_cast<std::uint16_t>(key));
  std::int64_t value = -1;
  if (found != fields_.end() && found->second.size() == sizeof value) {
    std::memcpy(&value, found->second.data(), sizeof value);
  }
  return value;
}

std::vector<AnchorRecord> parse_anchors(std::span<const std::uint8_t> payload) {
  return parse_records<AnchorRecord>(payload);
}

std::vector<CounterRecord> parse_counters(std::span<const std::uint8_t> payload) {
  return parse_records<CounterRecord>(payload);
}

bool parse_footer(std::span<const std::uint8_t> payload, Footer* footer) {
  if (payload.size() < sizeof footer->record) return false;
  std::memcpy(&footer->record, payload.data(), sizeof footer->record);
  footer->counters = parse_counters(payload.subspan(sizeof footer->record));
  return footer->counters.size() == footer->record.counter_count;
}

bool StateDecoder::next(StateKind* kind, std::span<const std::uint8_t>* record) {
  if (rest_.empty()) return false;
  StateHeader header{};
  const bool has_header = rest_.size() >= sizeof header;
  if (has_header) std::memcpy(&header, rest_.data(), sizeof header);
  if (!has_header || header.bytes < sizeof header || header.bytes > rest_.size() || header.bytes % 8 != 0) {
    is_damaged_ = true;
    rest_ = {};
    return false;
  }
  *kind = static_cast<StateKind>(header.kind);
  *record = rest_.first(header.bytes);
  rest_ = rest_.subspan(header.bytes);
  return true;
}

}  // namespace jaxprof::spool
