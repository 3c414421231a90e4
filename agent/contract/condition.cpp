#include "agent/contract/condition.h"

#include <cstdint>
#include <cstring>

#include "agent/base/text.h"

namespace jaxprof {
namespace {

// An integer that may be unknown; unknown spreads through every operator but a decided && or ||.
struct Value {
  std::int64_t number = 0;
  bool is_known = true;
};

// Binary operators by rising precedence; the longer spelling of two with a common start comes first.
struct Operator {
  const char* text;
  int precedence;
};
constexpr Operator kOperators[] = {{"||", 1}, {"&&", 2}, {"==", 3}, {"!=", 3}, {"<=", 4}, {">=", 4}, {"<", 4},
                                   {">", 4},  {"+", 5},  {"-", 5},  {"*", 6},  {"/", 6},  {"%", 6}};

class Reader {
 public:
  Reader(const char* text, const RankIdentity& rank, const Env& env) noexcept : text_(text), rank_(rank), env_(env) {}

  ConditionResult read() noexcept {
    ConditionResult result;
    const Value value = read_binary(1);
    skip_blanks();
    if (text_[at_] != '\0') is_invalid_ = true;
    if (is_invalid_) {
      result.fault_offset = at_;
      return result;
    }
    result.value = !value.is_known     ? ConditionValue::kUnknown
                   : value.number != 0 ? ConditionValue::kTrue
                                       : ConditionValue::kFalse;
    std::memcpy(result.unknown_variable, unknown_, sizeof unknown_);
    result.is_set = unknown_[0] != '\0' && env_.get(unknown_) != nullptr && !is_number_of_rank(unknown_);
    result.is_constant = is_constant_;
    return result;
  }

 private:
  static constexpr int kMaxDepth = 64;
  static constexpr const char* kNumbersOfRank[] = {"rank", "local_rank", "node", "world_size"};

  void skip_blanks() noexcept {
    while (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n') ++at_;
  }

  const Operator* peek_operator() noexcept {
    skip_blanks();
    for (const Operator& op : kOperators) {
      if (std::strncmp(text_ + at_, op.text, std::strlen(op.text)) == 0) return &op;
    }
    return nullptr;
  }

  Value read_binary(int least_precedence) noexcept {
    Value left = read_unary();
    while (!is_invalid_) {
      const Operator* op = peek_operator();
      if (op == nullptr || op->precedence < least_precedence) break;
      at_ += std::strlen(op->text);
      const Value right = read_binary(op->precedence + 1);
      left = apply(*op, left, right);
    }
    return left;
  }

  Value read_unary() noexcept {
    skip_blanks();
    if (++depth_ > kMaxDepth) is_invalid_ = true;
    Value value;
    const char c = text_[at_];
    if (is_invalid_) {
      // Reported by read().
    } else if (c == '!') {
      ++at_;
      value = read_unary();
      value.number = value.number == 0 ? 1 : 0;
    } else if (c == '-') {
      ++at_;
      value = read_unary();
      value.number = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(value.number));
    } else if (c == '(') {
      ++at_;
      value = read_binary(1);
      skip_blanks();
      if (text_[at_] == ')') {
        ++at_;
      } else {
        is_invalid_ = true;
      }
    } else if (c >= '0' && c <= '9') {
      value = read_number();
    } else {
      value = read_variable();
    }
    --depth_;
    return value;
  }

  Value read_number() noexcept {
    const std::size_t begin = at_;
    while (text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    std::uint64_t number = 0;
    if (!parse_decimal(text_ + begin, at_ - begin, &number) || number > INT64_MAX) is_invalid_ = true;
    return Value{static_cast<std::int64_t>(number), true};
  }

  Value read_variable() noexcept {
    char name[64];
    std::size_t length = 0;
    const std::size_t begin = at_;
    for (;; ++at_) {
      const char c = text_[at_];
      const bool is_name = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
      if (!is_name) break;
      if (length + 1 >= sizeof name) {
        is_invalid_ = true;
        return {};
      }
      name[length++] = c;
    }
    name[length] = '\0';
    if (length == 0) {
      at_ = begin;
      is_invalid_ = true;
      return {};
    }
    is_constant_ = false;
    const Value value = look_up(name);
    if (!value.is_known && unknown_[0] == '\0') std::memcpy(unknown_, name, length + 1);
    return value;
  }

  // The names that mean the rank's own numbers, whatever the environment has under them.
  static bool is_number_of_rank(const char* name) noexcept {
    for (const char* own : kNumbersOfRank) {
      if (std::strcmp(name, own) == 0) return true;
    }
    return false;
  }

  Value look_up(const char* name) const noexcept {
    const auto known = [](std::int32_t number) { return Value{number, number >= 0}; };
    if (std::strcmp(name, "rank") == 0) return known(rank_.rank);
    if (std::strcmp(name, "local_rank") == 0) return known(rank_.local_rank);
    if (std::strcmp(name, "node") == 0) return known(rank_.node_index);
    if (std::strcmp(name, "world_size") == 0) return known(rank_.world_size);
    const char* text = env_.get(name);
    if (text == nullptr) return Value{0, false};
    const bool is_negative = *text == '-';
    std::uint64_t number = 0;
    if (!parse_decimal(text + (is_negative ? 1 : 0), &number) || number > INT64_MAX) return Value{0, false};
    const auto magnitude = static_cast<std::int64_t>(number);
    return Value{is_negative ? -magnitude : magnitude, true};
  }

  // Arithmetic wraps as two's complement; division by zero is unknown, not a crash.
  static Value apply(const Operator& op, Value left, Value right) noexcept {
    const char first = op.text[0];
    const bool is_and = first == '&';
    if (is_and || first == '|') {
      const auto decides = [is_and](Value v) { return v.is_known && (v.number != 0) != is_and; };
      if (decides(left) || decides(right)) return Value{is_and ? 0 : 1, true};
      return Value{is_and ? 1 : 0, left.is_known && right.is_known};
    }
    if (!left.is_known || !right.is_known) return Value{0, false};
    const std::int64_t a = left.number;
    const std::int64_t b = right.number;
    const auto ua = static_cast<std::uint64_t>(a);
    const auto ub = static_cast<std::uint64_t>(b);
    const bool or_equal = op.text[1] == '=';
    switch (first) {
      case '=':
        return Value{a == b, true};
      case '!':
        return Value{a != b, true};
      case '<':
        return Value{or_equal ? a <= b : a < b, true};
      case '>':
        return Value{or_equal ? a >= b : a > b, true};
      case '+':
        return Value{static_cast<std::int64_t>(ua + ub), true};
      case '-':
        return Value{static_cast<std::int64_t>(ua - ub), true};
      case '*':
        return Value{static_cast<std::int64_t>(ua * ub), true};
      default:
        break;
    }
    if (b == 0 || (a == INT64_MIN && b == -1)) return Value{0, false};
    return Value{first == '/' ? a / b : a % b, true};
  }

  const char* text_;
  const RankIdentity& rank_;
  const Env& env_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool is_invalid_ = false;
  bool is_constant_ = true;
  char unknown_[64] = {};
};

}  // namespace

ConditionResult evaluate_condition(const char* text, const RankIdentity& rank, const Env& env) noexcept {
  return Reader(text, rank, env).read();
}

}  // namespace jaxprof
