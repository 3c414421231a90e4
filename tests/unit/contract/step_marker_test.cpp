// How steps are named, and what is one.
#include "agent/contract/step_marker.h"

#include <gtest/gtest.h>

#include <string>

namespace jaxprof {
namespace {

StepMarker marker_of(const std::string& text) {
  StepMarker marker;
  EXPECT_EQ(parse_step_marker(text.c_str(), &marker), nullptr) << text;
  return marker;
}

std::string text_of(const StepMarker& marker) {
  char text[kStepMarkerBytes];
  TextBuffer out(text, sizeof text);
  append_step_marker(marker, &out);
  EXPECT_FALSE(out.is_truncated());
  return text;
}

// Does a range with this domain and message mark a step?
bool marks(const std::string& marker, std::string_view domain, std::string_view message) {
  const StepMarker parsed = marker_of(marker);
  return is_step_domain(parsed, domain) && is_step_message(parsed, message);
}

TEST(StepMarker, WhatIsParsedIsWrittenBack) {
  const std::string longest = std::string(127, 'n') + "@" + std::string(63, 'd');
  for (const std::string text : {"none", "step", "step@puppet", "step@*", "xla:jit_train_step", "a@b@c", "none@*",
                                 "train step, one", longest.c_str()}) {
    EXPECT_EQ(text_of(marker_of(text)), text);
  }
  EXPECT_EQ(marker_of("none").kind, StepMarkerKind::kNone);
  EXPECT_EQ(marker_of("none@*").kind, StepMarkerKind::kRange);
  EXPECT_EQ(marker_of("xla:m").kind, StepMarkerKind::kXlaModule);
}

TEST(StepMarker, BadSyntaxIsNamedAndMarksNothing) {
  for (const std::string text : {"", "@", "@domain", "step@", "xla:", "xla:a,b", "xla:a#", "xla:a@TSL"}) {
    StepMarker marker = marker_of("step");
    EXPECT_NE(parse_step_marker(text.c_str(), &marker), nullptr) << text;
    EXPECT_EQ(marker.kind, StepMarkerKind::kNone) << text;
  }
  StepMarker marker;
  EXPECT_NE(parse_step_marker(std::string(128, 'n').c_str(), &marker), nullptr);
  EXPECT_NE(parse_step_marker(("xla:" + std::string(128, 'n')).c_str(), &marker), nullptr);
  EXPECT_NE(parse_step_marker(("n@" + std::string(64, 'd')).c_str(), &marker), nullptr);
}

TEST(StepMarker, ANameAloneIsOfTheDefaultDomainAndOfOurAnnotations) {
  EXPECT_TRUE(marks("step", "", "step"));
  EXPECT_TRUE(marks("step", "jaxprof", "step"));
  EXPECT_FALSE(marks("step", "puppet", "step"));
  EXPECT_FALSE(marks("step", "", "step 1"));
  EXPECT_FALSE(marks("step", "", "ste"));
  EXPECT_FALSE(marks("step", "", ""));
}

TEST(StepMarker, ADomainIsTakenAsItIsWritten) {
  EXPECT_TRUE(marks("step@puppet", "puppet", "step"));
  EXPECT_FALSE(marks("step@puppet", "", "step"));
  EXPECT_FALSE(marks("step@puppet", "jaxprof", "step"));
  EXPECT_FALSE(marks("step@puppet", "puppets", "step"));
  EXPECT_TRUE(marks("step@*", "anything", "step"));
  EXPECT_TRUE(marks("step@*", "", "step"));
  EXPECT_TRUE(marks("a@b@c", "c", "a@b"));
}

TEST(StepMarker, NoneMarksNothing) {
  EXPECT_FALSE(marks("none", "", "none"));
  EXPECT_FALSE(is_step_message(marker_of("none"), ""));
}

TEST(StepMarker, AnXlaModuleIsFoundInEveryTitleOfIts) {
  const auto is_step = [](std::string_view message) { return marks("xla:jit_train_step", "TSL", message); };
  EXPECT_TRUE(is_step("XlaModule:#hlo_module=jit_train_step,program_id=3#"));
  EXPECT_TRUE(is_step("XlaModule:#hlo_module=jit_train_step,program_id=71#")) << "compiled again";
  EXPECT_TRUE(is_step("XlaModule:#prefix=jit(f)/jit(main),hlo_module=jit_train_step,program_id=3#"));
  EXPECT_TRUE(is_step("XlaModule:#hlo_module=jit_train_step#"));
  EXPECT_FALSE(is_step("XlaModule:#hlo_module=jit_train_step_2,program_id=3#"));
  EXPECT_FALSE(is_step("XlaModule:#hlo_module=jit_train,program_id=3#"));
  EXPECT_FALSE(is_step("XlaModule:#prefix=hlo_module=jit_train_step,hlo_module=other,program_id=3#"));
  EXPECT_FALSE(is_step("XlaModule:#program_id=3#,hlo_module=jit_train_step#")) << "behind the end";
  EXPECT_FALSE(is_step("Thunk:#name=x,hlo_module=jit_train_step#"));
  EXPECT_FALSE(is_step("XlaModule:#"));
  EXPECT_FALSE(is_step("jit_train_step"));
  EXPECT_FALSE(marks("xla:jit_train_step", "", "XlaModule:#hlo_module=jit_train_step,program_id=3#"));
}

}  // namespace
}  // namespace jaxprof
