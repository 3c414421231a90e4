// Shuffle and zlib stream of one chunk. Level 1: the columns are so regular after the shuffle that level 6 saves a
// tenth of the file and takes three times as long.
#include "merge/runfile/chunk_encoder.h"

#include <libdeflate.h>

#include <array>
#include <cstring>
#include <new>

namespace jaxprof::runfile {
namespace {

constexpr int kLevel = 1;
constexpr std::size_t kMaxConstants = 256;  // streams of a few KiB

// Whether every element is the first one.
bool is_constant(std::span<const std::byte> elements, std::size_t element_bytes) {
  if (elements.size() < 2 * element_bytes) return false;
  return std::memcmp(elements.data(), elements.data() + element_bytes, elements.size() - element_bytes) == 0;
}

// 16 bytes in a register of any processor that has them; the compiler knows how.
using Vector = std::uint8_t __attribute__((vector_size(16)));
constexpr std::size_t kLanes = sizeof(Vector);

Vector interleaved_low(Vector a, Vector b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
Vector interleaved_high(Vector a, Vector b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

// Interleaving the two halves of 16 elements moves the highest bit of a byte's position to the lowest place; four times
// that, and the position is (byte, element) instead of (element, byte).
template <std::size_t kElementBytes>
void transpose(const std::byte* in, std::byte* out, std::size_t plane_bytes) {
  std::array<Vector, kElementBytes> rows;
  std::memcpy(rows.data(), in, sizeof rows);
  for (int turn = 0; turn < 4; ++turn) {
    std::array<Vector, kElementBytes> next;
    for (std::size_t i = 0; i < kElementBytes / 2; ++i) {
      next[2 * i] = interleaved_low(rows[i], rows[i + kElementBytes / 2]);
      next[2 * i + 1] = interleaved_high(rows[i], rows[i + kElementBytes / 2]);
    }
    rows = next;
  }
  for (std::size_t k = 0; k < kElementBytes; ++k) std::memcpy(out + k * plane_bytes, &rows[k], kLanes);
}

// The first element that is not shuffled: there are less than 16 left.
template <std::size_t kElementBytes>
std::size_t shuffle_vectors(const std::byte* in, std::size_t n, std::byte* out) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) transpose<kElementBytes>(in + i * kElementBytes, out + i, n);
  return i;
}

void shuffle(std::span<const std::byte> elements, std::size_t element_bytes, Bytes& out) {
  const std::size_t n = elements.size() / element_bytes;
  out.resize(n * element_bytes);
  std::size_t first = 0;
  if (element_bytes == 2) first = shuffle_vectors<2>(elements.data(), n, out.data());
  if (element_bytes == 4) first = shuffle_vectors<4>(elements.data(), n, out.data());
  if (element_bytes == 8) first = shuffle_vectors<8>(elements.data(), n, out.data());
  for (std::size_t i = first; i < n; ++i) {
    for (std::size_t k = 0; k < element_bytes; ++k) out[k * n + i] = elements[i * element_bytes + k];
  }
}

}  // namespace

Bytes shuffled(std::span<const std::byte> elements, std::size_t element_bytes) {
  Bytes out;
  shuffle(elements, element_bytes, out);
  return out;
}

void ChunkEncoder::Free::operator()(libdeflate_compressor* compressor) const {
  libdeflate_free_compressor(compressor);
}

ChunkEncoder::ChunkEncoder(Compression compression)
    : compression_(compression), compressor_(libdeflate_alloc_compressor(kLevel)) {
  if (!compressor_) throw std::bad_alloc{};
}

std::span<const std::byte> ChunkEncoder::encode(std::span<const std::byte> elements, std::size_t element_bytes) {
  if (compression_ == Compression::kNone) return elements;
  if (!is_constant(elements, element_bytes)) return compress(elements, element_bytes);
  const auto element = elements.first(element_bytes);
  auto key = std::pair{Bytes{element.begin(), element.end()}, elements.size()};
  if (const auto found = constant_chunks_.find(key); found != constant_chunks_.end()) return found->second;
  if (constant_chunks_.size() >= kMaxConstants) constant_chunks_.clear();
  const auto encoded = compress(elements, element_bytes);
  return constant_chunks_.emplace(std::move(key), Bytes{encoded.begin(), encoded.end()}).first->second;
}

std::span<const std::byte> ChunkEncoder::compress(std::span<const std::byte> elements, std::size_t element_bytes) {
  if (element_bytes > 1) {
    shuffle(elements, element_bytes, shuffled_);
    elements = shuffled_;
  }
  deflated_.resize(libdeflate_zlib_compress_bound(compressor_.get(), elements.size()));
  const std::size_t size =
      libdeflate_zlib_compress(compressor_.get(), elements.data(), elements.size(), deflated_.data(), deflated_.size());
  return std::span<const std::byte>(deflated_).first(size);
}

}  // namespace jaxprof::runfile
