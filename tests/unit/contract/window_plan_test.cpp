// How a window is written on the command line.
#include "agent/contract/window_plan.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

namespace jaxprof {
namespace {

WindowPlan plan_of(const std::string& range) {
  WindowPlan plan;
  EXPECT_EQ(parse_capture_range(range.c_str(), &plan), nullptr) << range;
  return plan;
}

std::string fault_of(const std::string& range) {
  WindowPlan plan = plan_of("steps:7-9@known");
  const WindowPlan before = plan;
  const char* fault = parse_capture_range(range.c_str(), &plan);
  EXPECT_EQ(std::memcmp(&plan, &before, sizeof plan), 0) << range << ": the plan was changed";
  return fault != nullptr ? fault : "";
}

std::string text_of(const WindowPlan& plan) {
  char text[kCaptureRangeBytes];
  TextBuffer out(text, sizeof text);
  append_capture_range(plan, &out);
  EXPECT_FALSE(out.is_truncated());
  return text;
}

std::string end_text_of(const std::string& text) {
  WindowPlan plan;
  EXPECT_EQ(parse_capture_range_end(text.c_str(), &plan), nullptr) << text;
  char written[64];
  TextBuffer out(written, sizeof written);
  append_capture_range_end(plan, &out);
  return written;
}

TEST(ParseCaptureRange, WhatIsParsedIsWrittenBack) {
  for (const std::string text :
       {"none", "cudaProfilerApi", "nvtx:forward", "nvtx:forward@model", "nvtx:forward@*", "nvtx:\"a@b\"@\"c:d\"",
        "nvtx:\" x\"", "nvtx:\"say \\\"hi\\\" \\\\ \"", "nvtx:x@\"*\"", "nvtx:two words", "steps:0", "steps:200-240",
        "steps:1-2@epoch", "steps:1-2@epoch@model", "steps:1-2@epoch@*", "steps:1-2@\"module=x\"",
        "steps:3-5@module=jit_train_step", "steps:0-9223372036854775807"}) {
    EXPECT_EQ(text_of(plan_of(text)), text);
  }
}

TEST(ParseCaptureRange, TakesOtherSpellingsOfTheSame) {
  EXPECT_EQ(text_of(plan_of("steps:5-5")), "steps:5");
  EXPECT_EQ(text_of(plan_of("nvtx:\"plain\"")), "nvtx:plain");
  EXPECT_EQ(text_of(plan_of("nvtx:a\\@b@c")), "nvtx:\"a@b\"@c") << "as nsys escapes it";
  EXPECT_EQ(text_of(plan_of("nvtx:a\\b")), "nvtx:\"a\\\\b\"") << "a lone backslash is one";
}

TEST(ParseCaptureRange, ReadsKindsNumbersAndMarkers) {
  const WindowPlan steps = plan_of("steps:200-240");
  EXPECT_EQ(steps.kind, WindowKind::kSteps);
  EXPECT_EQ(steps.first_step, 200u);
  EXPECT_EQ(steps.last_step, 240u);
  EXPECT_EQ(steps.has_own_marker, 0u);
  const WindowPlan module = plan_of("steps:3@module=jit_f");
  EXPECT_EQ(module.marker.kind, StepMarkerKind::kXlaModule);
  EXPECT_STREQ(module.marker.name, "jit_f");
  const WindowPlan range = plan_of("nvtx:\"x@y\"@*");
  EXPECT_EQ(range.marker.kind, StepMarkerKind::kRange);
  EXPECT_STREQ(range.marker.name, "x@y");
  EXPECT_EQ(range.marker.is_any_domain, 1u);
  EXPECT_STREQ(plan_of("nvtx:x@\"*\"").marker.domain, "*");
}

TEST(ParseCaptureRange, ChangesNothingElseOfThePlan) {
  WindowPlan plan;
  plan.delay_ns = 5;
  plan.end = WindowEnd::kRepeat;
  ASSERT_EQ(parse_capture_range("steps:1", &plan), nullptr);
  EXPECT_EQ(plan.delay_ns, 5);
  EXPECT_EQ(plan.end, WindowEnd::kRepeat);
}

TEST(ParseCaptureRange, NamesWhatIsWrong) {
  const char* const kNumbers = "not numbers of steps; write steps:A-B, or steps:A for one";
  EXPECT_EQ(fault_of("steps:"), kNumbers);
  EXPECT_EQ(fault_of("steps:a"), kNumbers);
  EXPECT_EQ(fault_of("steps:1-"), kNumbers);
  EXPECT_EQ(fault_of("steps:-1"), kNumbers);
  EXPECT_EQ(fault_of("steps:9223372036854775808"), kNumbers);
  EXPECT_EQ(fault_of("steps:5-4"), "the last step comes before the first");
  EXPECT_EQ(fault_of("steps:1@"), "the range has no name");
  EXPECT_EQ(fault_of("nvtx:"), "the range has no name");
  EXPECT_EQ(fault_of("nvtx:\"\"@d"), "the range has no name");
  EXPECT_EQ(fault_of("nvtx:a@"), "no domain follows the @; write NAME@DOMAIN, or NAME@* for any domain");
  EXPECT_EQ(fault_of("nvtx:a@b@c"), "there is a second @; a name that holds one stands in double quotes");
  EXPECT_EQ(fault_of("nvtx:\"a"), "the quote is not closed");
  EXPECT_EQ(fault_of("nvtx:\"a\"b"), "after the closing quote only @ may follow");
  EXPECT_EQ(fault_of("nvtx:a\"b"), "a quote stands inside a name; write all of the name in quotes");
  EXPECT_EQ(fault_of("nvtx:\"a\\n\""), "in quotes, write \\\\ for a backslash and \\\" for a quote");
  EXPECT_EQ(fault_of("nvtx:" + std::string(128, 'n')), "the range's name has more than 127 bytes");
  EXPECT_EQ(fault_of("nvtx:n@" + std::string(64, 'd')), "the domain has more than 63 bytes");
  EXPECT_EQ(fault_of("steps:1@module="),
            "module= needs the name of an XLA module, as in steps:3-5@module=jit_train_step");
  EXPECT_EQ(fault_of("steps:1@module=a@b"), "the name of an XLA module has no ',', '#', '@' or quote");
  EXPECT_EQ(fault_of("steps:1@module=" + std::string(128, 'm')), "the module's name has more than 127 bytes");
  for (const char* text : {"", "step:1", "nvtx", "CudaProfilerApi", "hotkey"}) {
    EXPECT_EQ(fault_of(text),
              "write none, cudaProfilerApi, nvtx:NAME[@DOMAIN] or steps:A-B[@NAME[@DOMAIN]|@module=NAME]");
  }
}

TEST(ParseCaptureRangeEnd, TakesNsyssWords) {
  for (const char* text : {"none", "stop", "stop-shutdown", "repeat", "repeat:3", "repeat-shutdown:2"}) {
    EXPECT_EQ(end_text_of(text), text);
  }
  WindowPlan plan;
  for (const char* text : {"repeat:0", "repeat:", "repeat:x", "repeat-shutdown:4294967296"}) {
    EXPECT_STREQ(parse_capture_range_end(text, &plan), "not a number of repetitions, 1 or more") << text;
  }
  for (const char* text : {"", "Stop", "repeat-shutdown", "stop "}) {
    EXPECT_STREQ(parse_capture_range_end(text, &plan),
                 "write none, stop, stop-shutdown, repeat[:N] or repeat-shutdown:N")
        << text;
  }
  EXPECT_EQ(plan.end, WindowEnd::kStop);
}

// A name of letters that have a meaning here.
std::string random_name(std::mt19937& random, std::size_t longest) {
  constexpr char kLetters[] = "ab@\"\\:* =\t-module";
  std::string name(1 + random() % longest, ' ');
  for (char& c : name) c = kLetters[random() % (sizeof kLetters - 1)];
  return name;
}

TEST(CaptureRange, EveryPlanIsReadBackAsItWasWritten) {
  std::mt19937 random(5);
  for (int i = 0; i < 20'000; ++i) {
    WindowPlan plan;
    const bool is_range = random() % 2 == 0;
    plan.kind = is_range ? WindowKind::kRange : WindowKind::kSteps;
    if (!is_range) {
      plan.last_step = random() % 1000;
      plan.first_step = random() % (plan.last_step + 1);
      plan.has_own_marker = random() % 4 != 0 ? 1 : 0;
    }
    if (is_range || plan.has_own_marker != 0) {
      plan.marker.kind = StepMarkerKind::kRange;
      random_name(random, 127).copy(plan.marker.name, 127);
      if (random() % 3 == 0) {
        plan.marker.is_any_domain = 1;
      } else if (random() % 2 == 0) {
        random_name(random, 63).copy(plan.marker.domain, 63);
      }
    }
    const std::string text = text_of(plan);
    const WindowPlan read = plan_of(text);
    ASSERT_EQ(std::memcmp(&read, &plan, sizeof plan), 0) << text;
  }
}

}  // namespace
}  // namespace jaxprof
