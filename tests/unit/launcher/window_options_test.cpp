#include "launcher/window_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/options.h"

namespace jaxprof::launcher {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Options parsed(std::vector<std::string> arguments) {
  arguments.emplace_back("train");
  auto options = parse_options(arguments, nullptr);
  if (!options) {
    ADD_FAILURE() << options.error().message;
    return {};
  }
  EXPECT_THAT(options->command, ElementsAre("train"));
  return *options;
}

std::string refusal(std::vector<std::string> arguments) {
  arguments.emplace_back("train");
  const auto options = parse_options(arguments, nullptr);
  if (!options) return options.error().message;
  ADD_FAILURE() << "was not refused";
  return {};
}

std::string words_of(const std::vector<std::string>& arguments) {
  return window_words(parsed(arguments).recording.window);
}

TEST(WindowOptions, RecordAllFromTheFirstCallToTheEnd) {
  const Options options = parsed({});
  EXPECT_TRUE(is_always_open(options.recording.window));
  EXPECT_EQ(options.recording.trace, kDefaultTrace);
  EXPECT_EQ(options.recording.cupti, CuptiPolicy::kAuto);
  EXPECT_EQ(options.recording.gpu_buffer_bytes, 64 << 20);
  EXPECT_EQ(words_of({}), "");
  EXPECT_EQ(describe_opening(options.recording.window), "");
}

TEST(WindowOptions, SecondsMayHaveAFraction) {
  EXPECT_EQ(parsed({"-y", "1.5", "-d0.25"}).recording.window.delay_ns, 1'500'000'000);
  EXPECT_EQ(parsed({"-y", "1.5", "-d0.25"}).recording.window.duration_ns, 250'000'000);
  EXPECT_EQ(words_of({"--delay=1.5", "--duration", "30"}), "--delay 1.5 --duration 30");
  EXPECT_EQ(words_of({"-y", "0"}), "");
  for (const char* text : {"x", "-1", "inf", "nan", "1e99", "5s", ""}) {
    EXPECT_THAT(refusal({std::string("--delay=") + text}), HasSubstr("--delay")) << text;
  }
  EXPECT_THAT(refusal({"-d", "0"}), HasSubstr("nothing would be recorded"));
}

// Each value of nsys (Nsight Systems User Guide 2025), and what it is here.
TEST(WindowOptions, MeanWhatTheyMeanToNsys) {
  EXPECT_EQ(words_of({"-c", "none"}), "");
  EXPECT_EQ(words_of({"-c", "cudaProfilerApi"}), "--capture-range cudaProfilerApi");
  EXPECT_EQ(words_of({"-c", "nvtx", "-p", "forward@model"}), "--capture-range nvtx:forward@model");
  EXPECT_EQ(words_of({"-c", "nvtx", "--nvtx-capture=a\\@b@*"}), "--capture-range nvtx:\"a@b\"@*");
  EXPECT_THAT(refusal({"-c", "hotkey"}), HasSubstr("has no keyboard"));
  for (const char* end : {"none", "stop-shutdown", "repeat", "repeat:3", "repeat-shutdown:2"}) {
    EXPECT_EQ(words_of({"-c", "cudaProfilerApi", "--capture-range-end", end}),
              std::string("--capture-range cudaProfilerApi --capture-range-end ") + end);
  }
  EXPECT_EQ(words_of({"-c", "cudaProfilerApi", "--capture-range-end", "stop"}), "--capture-range cudaProfilerApi");
  EXPECT_EQ(words_of({"-d", "5", "--capture-range-end", "stop-shutdown"}),
            "--duration 5 --capture-range-end stop-shutdown");
}

TEST(WindowOptions, WhatDoesNotGoTogetherIsRefused) {
  EXPECT_THAT(refusal({"-c", "nvtx"}), HasSubstr("name the range by --nvtx-capture"));
  EXPECT_THAT(refusal({"-p", "x"}), HasSubstr("goes with --capture-range nvtx"));
  EXPECT_THAT(refusal({"-c", "steps:1", "-p", "x"}), HasSubstr("goes with --capture-range nvtx"));
  EXPECT_THAT(refusal({"-c", "nvtx:a", "-p", "b"}), HasSubstr("both name the range"));
  EXPECT_THAT(refusal({"-c", "steps:2-1"}), HasSubstr("--capture-range steps:2-1: the last step comes before"));
  EXPECT_THAT(refusal({"-c", "steps:1", "--step-marker", "none"}), HasSubstr("no steps are counted"));
  EXPECT_EQ(words_of({"-c", "steps:1@x", "--step-marker", "none"}), "--capture-range steps:1@x");
  EXPECT_THAT(refusal({"--capture-range-end", "repeat"}), HasSubstr("needs a --capture-range"));
  EXPECT_THAT(refusal({"--capture-range-end", "stop-shutdown"}), HasSubstr("or a --duration"));
  EXPECT_THAT(refusal({"--capture-range-end", "soon"}), HasSubstr("write none, stop"));
  EXPECT_THAT(refusal({"--cupti", "off", "-c", "cudaProfilerApi"}), HasSubstr("seen by CUPTI alone"));
  EXPECT_THAT(refusal({"--cupti", "late"}), HasSubstr("write auto, early or off"));
  EXPECT_THAT(refusal({"--buffer-size", "1000"}), HasSubstr("4M or more"));
  EXPECT_THAT(refusal({"-c", "steps:1-2@module=jit_step", "--capture-range-end", "repeat:3"}),
              HasSubstr("counted by each thread"));
}

TEST(WindowOptions, SayWhatCuptiMayTake) {
  EXPECT_EQ(parsed({"--cupti", "early"}).recording.cupti, CuptiPolicy::kEarly);
  EXPECT_EQ(parsed({"--cupti=off"}).recording.cupti, CuptiPolicy::kOff);
  EXPECT_EQ(parsed({"--buffer-size", "128M"}).recording.gpu_buffer_bytes, 128 << 20);
}

TEST(WindowOptions, TraceTakesListsAndSaysWhatItDoesNotKnow) {
  const Options nsys = parsed({"-t", "cuda,nvtx,osrt,cudnn,foo"});
  EXPECT_EQ(nsys.recording.trace, kTraceCuda | kTraceNvtx);
  EXPECT_THAT(nsys.remarks, ElementsAre("--trace: not recorded here: osrt, cudnn", "--trace: no such kind: foo",
                                        "--trace leaves nccl out: the job's collective calls are not recorded"));
  EXPECT_THAT(parsed({"-tnccl,sync"}).remarks, IsEmpty());
  EXPECT_THAT(parsed({"-tncll,nccl,vtx"}).remarks, ElementsAre("--trace: no such kind: ncll (nccl?), vtx (nvtx?)"));
  EXPECT_THAT(parsed({"-tnccl,nic,gpu"}).remarks, IsEmpty());
  EXPECT_EQ(parsed({"-t", "none"}).recording.trace, 0u);
  EXPECT_THAT(parsed({"-t", "none"}).remarks, IsEmpty());
  const Options nothing = parsed({"-t", "osrt"});
  EXPECT_EQ(nothing.recording.trace, kDefaultTrace);
  EXPECT_EQ(nothing.remarks.size(), 2u);
}

TEST(DescribeOpening, SaysWhenAndForHowLong) {
  const auto opening = [](const std::vector<std::string>& arguments) {
    return describe_opening(parsed(arguments).recording.window);
  };
  EXPECT_EQ(opening({"-c", "steps:200-240"}), "window opens at step 200");
  EXPECT_EQ(opening({"-y", "30", "-d", "10"}), "window opens 30 s after T0 for 10 s");
  EXPECT_EQ(opening({"-d", "10"}), "window opens with each process for 10 s");
  EXPECT_EQ(opening({"-c", "cudaProfilerApi"}), "window opens at cudaProfilerStart");
  EXPECT_EQ(opening({"-c", "nvtx:f@g", "-y", "5"}), "window opens at range f@g, not before 5 s after T0");
}

TEST(NameWindow, IsShort) {
  EXPECT_EQ(name_window(parsed({"-c", "steps:200-240"}).recording.window), "window 200-240");
  EXPECT_EQ(name_window(parsed({"-c", "steps:7@x"}).recording.window), "window 7");
  EXPECT_EQ(name_window(parsed({"-c", "nvtx:f"}).recording.window), "window nvtx:f");
  EXPECT_EQ(name_window(parsed({"-y", "3"}).recording.window), "window");
}

}  // namespace
}  // namespace jaxprof::launcher
