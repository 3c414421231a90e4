// Lengths by the in-place method of Moffat and Katajainen ("In-place calculation of minimum-redundancy codes", 1995),
// then shortened to the limit by Kraft's sum, then canonical codes.
#include "merge/runfile/huffman_code.h"

#include <algorithm>

namespace jaxprof::runfile {
namespace {

constexpr std::size_t kMaxLength = 32;

struct Symbol {
  std::uint32_t count;
  std::uint16_t symbol;
};

// From counts that ascend to lengths that descend, in the same places. At least two.
void replace_by_lengths(std::span<std::uint32_t> a) {
  const std::size_t n = a.size();
  std::size_t root = 0;
  std::size_t leaf = 0;
  for (std::size_t next = 0; next + 1 < n; ++next) {  // inner nodes; a used one holds its parent's place
    std::uint32_t sum = 0;
    for (int child = 0; child < 2; ++child) {
      if (leaf >= n || (root < next && a[root] < a[leaf])) {
        sum += a[root];
        a[root++] = static_cast<std::uint32_t>(next);
      } else {
        sum += a[leaf++];
      }
    }
    a[next] = sum;
  }
  a[n - 2] = 0;
  for (std::size_t next = n - 2; next-- > 0;) a[next] = a[a[next]] + 1;  // depths of inner nodes
  std::size_t free_nodes = 1;
  std::size_t inner = n - 1;  // inner nodes that are not used, from the end
  std::size_t next = n;
  for (std::uint32_t depth = 0; free_nodes > 0; ++depth) {
    std::size_t used = 0;
    while (inner > 0 && a[inner - 1] == depth) {
      ++used;
      --inner;
    }
    for (; free_nodes > used; --free_nodes) a[--next] = depth;
    free_nodes = 2 * used;
  }
}

// How many codes have each length, none longer than `max_length`.
std::array<std::uint32_t, kMaxLength + 1> limited(std::span<const std::uint32_t> lengths, unsigned max_length) {
  std::array<std::uint32_t, kMaxLength + 1> n_codes{};
  for (const std::uint32_t length : lengths) ++n_codes[std::min(length, max_length)];
  std::uint64_t sum = 0;
  for (unsigned length = 1; length <= max_length; ++length) {
    sum += std::uint64_t{n_codes[length]} << (max_length - length);
  }
  for (; sum > std::uint64_t{1} << max_length; --sum) {  // a longest code goes under a shorter one
    unsigned length = max_length - 1;
    while (n_codes[length] == 0) --length;
    --n_codes[length];
    n_codes[length + 1] += 2;
    --n_codes[max_length];
  }
  return n_codes;
}

std::uint16_t reversed(unsigned bits, unsigned length) {
  unsigned out = 0;
  for (unsigned i = 0; i < length; ++i) out |= (bits >> i & 1) << (length - 1 - i);
  return static_cast<std::uint16_t>(out);
}

void make_canonical(HuffmanCode& code, std::size_t n_symbols) {
  std::array<unsigned, kMaxLength + 2> next{};
  for (std::size_t symbol = 0; symbol < n_symbols; ++symbol) ++next[code.lengths[symbol] + 1U];
  next[1] = 0;  // those without a code
  for (std::size_t length = 1; length < next.size(); ++length) next[length] = (next[length - 1] + next[length]) << 1U;
  for (std::size_t symbol = 0; symbol < n_symbols; ++symbol) {
    const unsigned length = code.lengths[symbol];
    code.bits[symbol] = length > 0 ? reversed(next[length]++, length) : std::uint16_t{0};
  }
}

}  // namespace

void HuffmanCode::build(std::span<const std::uint32_t> counts, unsigned max_length) {
  std::array<Symbol, kMaxSymbols> symbols;
  std::size_t n_used = 0;
  lengths.fill(0);
  for (std::size_t symbol = 0; symbol < counts.size(); ++symbol) {
    if (counts[symbol] > 0) symbols[n_used++] = {counts[symbol], static_cast<std::uint16_t>(symbol)};
  }
  if (n_used < 2) {
    const std::size_t only = n_used == 1 ? symbols[0].symbol : 0;
    lengths[only] = 1;
    lengths[only == 0 ? 1 : 0] = 1;
    return make_canonical(*this, counts.size());
  }
  const auto used = std::span(symbols).first(n_used);
  std::sort(used.begin(), used.end(), [](const Symbol& a, const Symbol& b) {
    return a.count != b.count ? a.count < b.count : a.symbol < b.symbol;
  });
  std::array<std::uint32_t, kMaxSymbols> work;
  for (std::size_t i = 0; i < n_used; ++i) work[i] = used[i].count;
  replace_by_lengths(std::span(work).first(n_used));
  auto n_codes = limited(std::span(work).first(n_used), max_length);
  unsigned length = max_length;
  for (const Symbol& symbol : used) {  // the rarest have the longest
    while (n_codes[length] == 0) --length;
    --n_codes[length];
    lengths[symbol.symbol] = static_cast<std::uint8_t>(length);
  }
  make_canonical(*this, counts.size());
}

std::uint64_t HuffmanCode::cost(std::span<const std::uint32_t> counts) const {
  std::uint64_t bits_in_all = 0;
  for (std::size_t symbol = 0; symbol < counts.size(); ++symbol) {
    bits_in_all += std::uint64_t{counts[symbol]} * lengths[symbol];
  }
  return bits_in_all;
}

}  // namespace jaxprof::runfile
