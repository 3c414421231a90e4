#include "agent/contract/condition.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <random>
#include <string>

#include "tests/unit/contract/environment.h"

namespace jaxprof {
namespace {

RankIdentity rank_5_of_8() {
  RankIdentity rank;
  rank.rank = 5;
  rank.world_size = 8;
  rank.local_rank = 1;
  rank.node_index = 2;
  return rank;
}

ConditionResult evaluate(const char* text) {
  const test::Environment environment{"SLURM_LOCALID=1", "NEGATIVE=-3", "WORD=abc",
                                      "EMPTY=", "HUGE=9223372036854775808"};
  return evaluate_condition(text, rank_5_of_8(), environment.env());
}

TEST(Condition, KnowsRanksAndVariables) {
  for (const char* text : {"rank==5", "local_rank == 1", "node%2==0", "world_size-rank==3", "SLURM_LOCALID==1",
                           "NEGATIVE<0", "-NEGATIVE==3", "rank", "!0", "!(rank==4)", "((rank))", "1-1-1==-1",
                           "2+3*4==14", "7/2==3 && 7%4==3", "1<2 && 2<=2 && 3>2 && 3>=3 && 1!=2", "0||1", "\t1\n"}) {
    EXPECT_EQ(evaluate(text).value, ConditionValue::kTrue) << text;
  }
  for (const char* text : {"rank==4", "0", "!rank", "1&&0", "0||0", "rank<5", "2*3==5"}) {
    EXPECT_EQ(evaluate(text).value, ConditionValue::kFalse) << text;
  }
}

TEST(Condition, WhatIsNotSetOrNoIntegerIsUnknown) {
  for (const char* text : {"NOT_SET==0", "WORD==0", "EMPTY==0", "HUGE>0", "!NOT_SET", "-NOT_SET", "NOT_SET && 1",
                           "0 || NOT_SET", "1/0", "1%0"}) {
    EXPECT_EQ(evaluate(text).value, ConditionValue::kUnknown) << text;
  }
  EXPECT_STREQ(evaluate("rank==5 && NOT_SET==ALSO_NOT").unknown_variable, "NOT_SET");
  EXPECT_STREQ(evaluate("1%0 == NOT_SET").unknown(), "NOT_SET");
  EXPECT_STREQ(evaluate("rank==5 && NOT_SET==1").why_unknown(), ", which is not known here");
  EXPECT_STREQ(evaluate("WORD==0").why_unknown(), ", which is set here, but to no integer");
  EXPECT_STREQ(evaluate("1/(rank-rank)").why_unknown(), "");
  EXPECT_STREQ(evaluate("1/(rank-rank)").unknown(), "the result of a division by zero (or beyond 64 bits)");
}

TEST(Condition, IsConstantWithoutVariables) {
  EXPECT_TRUE(evaluate("1/0 || 2 > 3").is_constant);
  EXPECT_FALSE(evaluate("1/0 || rank == 3").is_constant);
  EXPECT_FALSE(evaluate("NOT_SET").is_constant);
}

TEST(Condition, ADecidedSideWinsOverAnUnknownOne) {
  EXPECT_EQ(evaluate("NOT_SET && 0").value, ConditionValue::kFalse);
  EXPECT_EQ(evaluate("0 && NOT_SET").value, ConditionValue::kFalse);
  EXPECT_EQ(evaluate("NOT_SET || 1").value, ConditionValue::kTrue);
  EXPECT_EQ(evaluate("1 || NOT_SET").value, ConditionValue::kTrue);
}

TEST(Condition, SaysWhereItStopsBeingOne) {
  const std::pair<const char*, std::size_t> cases[] = {{"", 0},      {"rank==", 6}, {"rank=5", 4},
                                                       {"(rank", 5}, {"rank)", 4},  {"rank & 1", 5},
                                                       {"1 2", 2},   {"$(ls)", 0},  {"1 ? 2", 2}};
  for (const auto& [text, offset] : cases) {
    const ConditionResult result = evaluate(text);
    EXPECT_EQ(result.value, ConditionValue::kInvalid) << text;
    EXPECT_EQ(result.fault_offset, offset) << text;
  }
}

TEST(Condition, RefusesEndlessNestingAndLongNames) {
  EXPECT_EQ(evaluate(std::string(10'000, '(').c_str()).value, ConditionValue::kInvalid);
  EXPECT_EQ(evaluate(std::string(10'000, '!').c_str()).value, ConditionValue::kInvalid);
  EXPECT_EQ(evaluate(std::string(64, 'A').c_str()).value, ConditionValue::kInvalid);
  EXPECT_EQ(evaluate("9223372036854775808").value, ConditionValue::kInvalid);
}

TEST(Condition, DoesNotCrashAtTheEdgesOfIntegers) {
  EXPECT_EQ(evaluate("(-9223372036854775807-1)/(-1)").value, ConditionValue::kUnknown);
  EXPECT_EQ(evaluate("9223372036854775807+1<0").value, ConditionValue::kTrue);
}

// ---- random expressions against a plain tree evaluator ----
using Number = std::optional<std::int64_t>;  // none: unknown

struct Node {
  std::string op;  // "" for a leaf
  std::string text;
  Number value;
  std::unique_ptr<Node> left, right;
};

Number wrap(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

Number reference(const Node& node) {
  if (node.op.empty()) return node.value;
  const Number a = reference(*node.left);
  if (!node.right) {
    if (!a) return a;
    return node.op == "!" ? Number(*a == 0 ? 1 : 0) : wrap(0 - static_cast<std::uint64_t>(*a));
  }
  const Number b = reference(*node.right);
  if (node.op == "&&") {
    if ((a && *a == 0) || (b && *b == 0)) return 0;
    return a && b ? Number(1) : Number();
  }
  if (node.op == "||") {
    if ((a && *a != 0) || (b && *b != 0)) return 1;
    return a && b ? Number(0) : Number();
  }
  if (!a || !b) return {};
  const auto ua = static_cast<std::uint64_t>(*a), ub = static_cast<std::uint64_t>(*b);
  if (node.op == "==") return *a == *b;
  if (node.op == "!=") return *a != *b;
  if (node.op == "<") return *a < *b;
  if (node.op == "<=") return *a <= *b;
  if (node.op == ">") return *a > *b;
  if (node.op == ">=") return *a >= *b;
  if (node.op == "+") return wrap(ua + ub);
  if (node.op == "-") return wrap(ua - ub);
  if (node.op == "*") return wrap(ua * ub);
  if (*b == 0 || (*a == INT64_MIN && *b == -1)) return {};
  return node.op == "/" ? *a / *b : *a % *b;
}

int precedence(const std::string& op) {
  if (op == "||") return 1;
  if (op == "&&") return 2;
  if (op == "==" || op == "!=") return 3;
  if (op[0] == '<' || op[0] == '>') return 4;
  return op == "+" || op == "-" ? 5 : 6;
}

// Text with as few parentheses as C's precedence allows.
std::string print(const Node& node, int least, std::mt19937& random) {
  const std::string blank = random() % 2 == 0 ? " " : "";
  if (node.op.empty()) return node.text;
  if (!node.right) return node.op + print(*node.left, 7, random);
  const int own = precedence(node.op);
  std::string text = print(*node.left, own, random) + blank + node.op + blank + print(*node.right, own + 1, random);
  return own < least ? "(" + text + ")" : text;
}

std::unique_ptr<Node> grow(int depth, std::mt19937& random) {
  static const char* const kBinary[] = {"||", "&&", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%"};
  auto node = std::make_unique<Node>();
  const auto choice = random() % 10;
  if (depth == 0 || choice < 2) {
    static const std::pair<const char*, Number> kLeaves[] = {
        {"rank", 5},     {"local_rank", 1}, {"node", 2}, {"world_size", 8}, {"NEGATIVE", -3},
        {"NOT_SET", {}}, {"0", 0},          {"1", 1},    {"7", 7},          {"9223372036854775807", INT64_MAX}};
    const auto& [text, value] = kLeaves[random() % std::size(kLeaves)];
    node->text = text;
    node->value = value;
    return node;
  }
  node->left = grow(depth - 1, random);
  if (choice < 4) {
    node->op = random() % 2 == 0 ? "!" : "-";
    return node;
  }
  node->op = kBinary[random() % std::size(kBinary)];
  node->right = grow(depth - 1, random);
  return node;
}

TEST(Condition, AgreesWithAReferenceOnRandomExpressions) {
  std::mt19937 random(20261129);
  int unknown = 0, truth = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::unique_ptr<Node> tree = grow(5, random);
    const std::string text = print(*tree, 0, random);
    const Number expected = reference(*tree);
    const ConditionValue wanted = !expected        ? ConditionValue::kUnknown
                                  : *expected != 0 ? ConditionValue::kTrue
                                                   : ConditionValue::kFalse;
    ASSERT_EQ(evaluate(text.c_str()).value, wanted) << text;
    unknown += wanted == ConditionValue::kUnknown ? 1 : 0;
    truth += wanted == ConditionValue::kTrue ? 1 : 0;
  }
  // The generator reaches all answers.
  EXPECT_GT(unknown, 1000);
  EXPECT_GT(truth, 1000);
}

}  // namespace
}  // namespace jaxprof
