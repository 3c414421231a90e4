// Deflate is a stream of bits, low bits first. This puts bits behind each other into memory that is there already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace jaxprof::runfile {

class BitWriter {
 public:
  // Writes up to 8 bytes beyond what is put: `room` is that much longer.
  explicit BitWriter(std::byte* room) : next_(room) {}

  // The low `count` bits of `bits`, of which the others are 0. At most 56 since the last flush().
  void put(std::uint64_t bits, unsigned count) {
    held_ |= bits << n_held_;
    n_held_ += count;
  }
  // Whole bytes to memory; up to 7 bits stay.
  void flush() {
    std::memcpy(next_, &held_, sizeof held_);
    const unsigned bytes = n_held_ / 8;
    next_ += bytes;
    held_ >>= 8 * bytes;
    n_held_ %= 8;
  }
  // Fills the last byte with zeros.
  void align() {
    n_held_ = (n_held_ + 7) / 8 * 8;
    flush();
  }
  // After align().
  void copy(std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    std::memcpy(next_, bytes.data(), bytes.size());
    next_ += bytes.size();
  }
  // Behind the last whole byte.
  std::byte* next() const { return next_; }

 private:
  std::byte* next_;
  std::uint64_t held_ = 0;
  unsigned n_held_ = 0;
};

}  // namespace jaxprof::runfile
