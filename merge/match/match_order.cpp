#include "merge/match/match_order.h"

#include <algorithm>

namespace jaxprof::match {
namespace {

// Packs fields into two numbers that order as the fields do. A value that does not fit is put behind all that do, and
// then nothing of what follows counts: such records are compared in full.
class KeyPacker {
 public:
  KeyPacker& add(std::size_t word, std::uint64_t value, unsigned bits) {
    const std::uint64_t most = (std::uint64_t{1} << bits) - 1;
    is_full_ = is_full_ || value >= most;
    key_[word] = key_[word] << bits | (is_full_ ? most : value);
    return *this;
  }
  // Ranks that are not known come first.
  KeyPacker& add_rank(std::size_t word, std::int32_t rank, unsigned bits) {
    return add(word, static_cast<std::uint64_t>(std::max<std::int64_t>(std::int64_t{rank} + 1, 0)), bits);
  }
  scratch::Leading key() const { return key_; }

 private:
  scratch::Leading key_{};
  bool is_full_ = false;
};

}  // namespace

scratch::Leading CollectiveOrder::leading(const CallRecord& call) {
  return KeyPacker()
      .add(0, call.comm, 24)
      .add(0, call.seq, 40)
      .add(1, static_cast<std::uint64_t>(call.coll), 8)
      .add(1, call.capture + 1, 16)
      .add(1, call.replay + 1, 24)
      .add_rank(1, call.comm_rank, 16)
      .key();
}

scratch::Leading TransferOrder::leading(const CallRecord& call) {
  return KeyPacker()
      .add(0, call.comm, 24)
      .add_rank(0, source(call), 20)
      .add_rank(0, destination(call), 20)
      .add(1, call.seq, 32)
      .add(1, static_cast<std::uint64_t>(counted(call)), 8)
      .add(1, call.capture + 1, 10)
      .add(1, call.replay + 1, 14)
      .key();
}

}  // namespace jaxprof::match
