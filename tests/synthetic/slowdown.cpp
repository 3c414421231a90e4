#include "tests/synthetic/slowdown.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>
#include <vector>

#include "agent/base/parse_number.h"

namespace jaxprof::synthetic {
namespace {

struct Word {
  std::string_view text;
  SlowdownKind kind;
};
constexpr Word kWords[] = {
    {"host-stall", SlowdownKind::kHostStall},
    {"host-stall-once", SlowdownKind::kHostStallOnce},
    {"slow-kernels", SlowdownKind::kSlowKernels},
    {"slow-copy", SlowdownKind::kSlowCopy},
    {"slow-nic", SlowdownKind::kSlowNic},
    {"slow-network", SlowdownKind::kSlowNetwork},
    {"skew", SlowdownKind::kSkew},
};
constexpr double kMostUs = 10e6;
constexpr double kMostFactor = 1000;

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool take_number(std::string_view text, std::uint32_t* number) {
  const auto value = parse_uint64(text);
  if (!value || *value > UINT32_MAX) return false;
  *number = static_cast<std::uint32_t>(*value);
  return true;
}

bool take_place(std::string_view text, Slowdown* slowdown) {
  using Where = Slowdown::Where;
  const auto after = [&text](std::string_view word) {
    if (!text.starts_with(word)) return false;
    text.remove_prefix(word.size());
    return true;
  };
  if (text == "network") {
    slowdown->where = Where::kNetwork;
    return true;
  }
  if (after("node")) {
    const auto parts = split(text, '.');
    slowdown->where = parts.size() == 2 ? Where::kPort : Where::kNode;
    return parts.size() <= 2 && take_number(parts[0], &slowdown->number) &&
           (parts.size() == 1 || take_number(parts[1], &slowdown->port));
  }
  slowdown->where = text.starts_with("rotating") ? Where::kRotating : Where::kRank;
  return (after("rotating") || after("rank")) && take_number(text, &slowdown->number);
}

bool is_place_of(const Slowdown& slowdown) {
  using Where = Slowdown::Where;
  if (slowdown.kind == SlowdownKind::kSlowNic) return slowdown.where == Where::kPort;
  if (slowdown.kind == SlowdownKind::kSlowNetwork) return slowdown.where == Where::kNetwork;
  return slowdown.where != Where::kPort && slowdown.where != Where::kNetwork;
}

bool take_amount(std::string_view text, Slowdown* slowdown) {
  const auto amount = parse_double(text);
  if (!amount) return false;
  if (slowdown->has_factor()) {
    slowdown->factor = *amount;
    return *amount > 1 && *amount <= kMostFactor;
  }
  slowdown->extra_ns = std::llround(*amount * 1000);
  return *amount > 0 && *amount <= kMostUs;
}

bool take_steps(std::string_view text, Slowdown* slowdown) {
  const auto ends = split(text, '-');
  return ends.size() <= 2 && take_number(ends.front(), &slowdown->first_step) &&
         take_number(ends.back(), &slowdown->last_step) && slowdown->first_step <= slowdown->last_step;
}

}  // namespace

bool Slowdown::acts_on(std::uint32_t rank, std::uint32_t node, std::uint32_t step, std::uint32_t processes) const {
  if (!is_in(step)) return false;
  switch (where) {
    case Where::kRank:
      return rank == number;
    case Where::kNode:
      return node == number;
    case Where::kRotating:
      return rank == (number + step) % processes;
    case Where::kPort:
    case Where::kNetwork:
      break;
  }
  return false;
}

const char* name_of(SlowdownKind kind) {
  const auto* const word =
      std::find_if(std::begin(kWords), std::end(kWords), [kind](const Word& w) { return w.kind == kind; });
  return word->text.data();
}

Result<Slowdown> parse_slowdown(const std::string& text) {
  const auto bad = [&text](const char* why) { return fail(ErrorCode::kUsage, "--slow " + text + ": " + why); };
  const auto parts = split(text, ':');
  if (parts.size() < 3 || parts.size() > 4) return bad("it is written KIND:WHERE:AMOUNT or KIND:WHERE:AMOUNT:STEPS");
  const auto* const word =
      std::find_if(std::begin(kWords), std::end(kWords), [&parts](const Word& w) { return w.text == parts[0]; });
  if (word == std::end(kWords)) {
    return bad("the kinds are host-stall host-stall-once slow-kernels slow-copy slow-nic slow-network skew");
  }
  Slowdown slowdown;
  slowdown.kind = word->kind;
  if (!take_place(parts[1], &slowdown)) return bad("a place is rank3, node1, rotating0, node1.0 or network");
  if (!is_place_of(slowdown)) return bad("that kind does not act there");
  if (!take_amount(parts[2], &slowdown)) {
    return bad(slowdown.has_factor() ? "a factor is above 1 and at most 1000"
                                     : "an amount is above 0 and at most 10000000 microseconds");
  }
  if (parts.size() == 4 && !take_steps(parts[3], &slowdown)) return bad("steps are written 4-6 or 5");
  return slowdown;
}

}  // namespace jaxprof::synthetic
