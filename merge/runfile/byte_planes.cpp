// A shuffle is a transposition, made 16 elements at a time. 16 elements of 2^b bytes are 2^(b+4) bytes, and the
// position of each is written with b bits for its byte and 4 for its element. Interleaving the two halves of all that
// moves the highest bit of every position to the lowest place: four times that, and (element, byte) has become (byte,
// element); b times, and it is the other way round.
#include "merge/runfile/byte_planes.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace jaxprof::runfile {
namespace {

// 16 bytes in a register of any processor that has them; the compiler knows how.
using Vector = std::uint8_t __attribute__((vector_size(16)));
constexpr std::size_t kLanes = sizeof(Vector);

Vector interleaved_low(Vector a, Vector b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
Vector interleaved_high(Vector a, Vector b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

// Of a position below `power_of_two`.
constexpr int bits(std::size_t power_of_two) {
  return static_cast<int>(std::bit_width(power_of_two)) - 1;
}

template <std::size_t kElementBytes>
using Rows = std::array<Vector, kElementBytes>;  // 16 elements

template <std::size_t kElementBytes>
void interleave(Rows<kElementBytes>& rows, int turns) {
  for (int turn = 0; turn < turns; ++turn) {
    Rows<kElementBytes> next;
    for (std::size_t i = 0; i < kElementBytes / 2; ++i) {
      next[2 * i] = interleaved_low(rows[i], rows[i + kElementBytes / 2]);
      next[2 * i + 1] = interleaved_high(rows[i], rows[i + kElementBytes / 2]);
    }
    rows = next;
  }
}

// Both answer how many elements they did: less than 16 are left.
template <std::size_t kElementBytes>
std::size_t shuffle_vectors(const std::byte* elements, std::size_t n, std::byte* planes) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    Rows<kElementBytes> rows;
    std::memcpy(rows.data(), elements + i * kElementBytes, sizeof rows);
    interleave<kElementBytes>(rows, bits(kLanes));
    for (std::size_t k = 0; k < kElementBytes; ++k) std::memcpy(planes + k * n + i, &rows[k], kLanes);
  }
  return i;
}

template <std::size_t kElementBytes>
std::size_t unshuffle_vectors(const std::byte* planes, std::size_t n, std::byte* elements) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    Rows<kElementBytes> rows;
    for (std::size_t k = 0; k < kElementBytes; ++k) std::memcpy(&rows[k], planes + k * n + i, kLanes);
    interleave<kElementBytes>(rows, bits(kElementBytes));
    std::memcpy(elements + i * kElementBytes, rows.data(), sizeof rows);
  }
  return i;
}

}  // namespace

void shuffle(std::span<const std::byte> elements, std::size_t element_bytes, std::span<std::byte> planes) {
  const std::size_t n = elements.size() / element_bytes;
  std::size_t first = 0;
  if (element_bytes == 2) first = shuffle_vectors<2>(elements.data(), n, planes.data());
  if (element_bytes == 4) first = shuffle_vectors<4>(elements.data(), n, planes.data());
  if (element_bytes == 8) first = shuffle_vectors<8>(elements.data(), n, planes.data());
  for (std::size_t i = first; i < n; ++i) {
    for (std::size_t k = 0; k < element_bytes; ++k) planes[k * n + i] = elements[i * element_bytes + k];
  }
}

void unshuffle(std::span<const std::byte> planes, std::size_t element_bytes, std::span<std::byte> elements) {
  const std::size_t n = elements.size() / element_bytes;
  std::size_t first = 0;
  if (element_bytes == 2) first = unshuffle_vectors<2>(planes.data(), n, elements.data());
  if (element_bytes == 4) first = unshuffle_vectors<4>(planes.data(), n, elements.data());
  if (element_bytes == 8) first = unshuffle_vectors<8>(planes.data(), n, elements.data());
  for (std::size_t i = first; i < n; ++i) {
    for (std::size_t k = 0; k < element_bytes; ++k) elements[i * element_bytes + k] = planes[k * n + i];
  }
}

}  // namespace jaxprof::runfile
