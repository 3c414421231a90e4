#include "agent/contract/task_record.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace jaxprof {
namespace {

TaskStart full_start() {
  TaskStart start;
  start.run_id = "5.0.1";
  start.job_id = "5";
  start.step_id = "0";
  start.restart = 1;
  start.task = "rank3";
  start.rank = 3;
  start.world_size = 4;
  start.local_rank = 1;
  start.node_index = 1;
  start.launcher = "Slurm";
  start.rank_variable = "SLURM_PROCID";
  start.host = "n2";
  start.boot_id = "b";
  start.pid = 42;
  start.realtime_ns = 1'700'000'000'000'000'001;
  start.is_profiled = true;
  start.has_inner_ranks = true;
  start.can_replace_files = true;
  start.reason = "r";
  start.output = "prof/rank%r";
  start.stem = "rank3";
  start.spool_directory = "/tmp/x";
  start.notes = {"one", "two"};
  start.selection = "--ranks 3";
  start.window = "--capture-range steps:2-4";
  start.trace = "cuda,nvtx";
  start.cupti = "auto";
  start.t0_realtime_ns = 12;
  start.command = {"python", "a b.py", "\"quoted\"\n"};
  start.environment = {{"NCCL_ALGO", "Ring"}, {"NCCL_DEBUG", ""}};
  start.has_environment = true;
  start.environment_dropped = 2;
  start.version = "0.1.0";
  return start;
}

TaskEnd full_end() {
  TaskEnd end;
  end.task = "rank3";
  end.pid = 4711;
  end.exit_code = -1;
  end.signal = 9;
  end.realtime_ns = 7;
  end.processes = {{0, 42, 3, "ended", "rank3.jxspool", "", "", 100, 2, 4096, "done", 3},
                   {1, 43, 3, "cut", "", "/tmp/x/slot1", "disk full", 1, 0, 0, "armed", 0}};
  end.notes = {"note"};
  return end;
}

TEST(TaskRecord, ComesBackAsItWasWritten) {
  const std::string start_text = to_json(full_start());
  const auto start = parse_task_start(start_text);
  ASSERT_TRUE(start) << start.error().message;
  EXPECT_EQ(to_json(*start), start_text);
  EXPECT_EQ(start->realtime_ns, full_start().realtime_ns);
  EXPECT_EQ(start->command, full_start().command);

  const std::string end_text = to_json(full_end());
  const auto end = parse_task_end(end_text);
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(to_json(*end), end_text);
  EXPECT_EQ(end->pid, 4711);
  ASSERT_EQ(end->processes.size(), 2u);
  EXPECT_EQ(end->processes[1].kept, "/tmp/x/slot1");
  EXPECT_EQ(end->processes[0].bytes, 4096);
  EXPECT_EQ(end->processes[0].segments, 3);
}

TEST(TaskRecord, KeepsAllMembersThatTheFileHas) {
  // A member that is written but not read back would be lost in silence.
  TaskStart empty;
  EXPECT_NE(to_json(empty), to_json(full_start()));
  const auto json = nlohmann::json::parse(to_json(full_start()));
  const auto default_json = nlohmann::json::parse(to_json(empty));
  for (const auto& [name, value] : json.items()) {
    if (name == "version_of_record") continue;
    EXPECT_NE(value, default_json.at(name)) << name;
  }
}

TEST(TaskRecord, AnEndWithoutThePidOfTheCommandIsReadAsUnknown) {
  auto json = nlohmann::json::parse(to_json(full_end()));
  json.erase("pid");
  const auto end = parse_task_end(json.dump());
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->pid, 0);
  EXPECT_EQ(end->exit_code, -1);
  json["pid"] = "x";
  EXPECT_FALSE(parse_task_end(json.dump()));
}

TEST(TaskRecord, AStartOfAnOlderVersionHasNoEnvironment) {
  auto json = nlohmann::json::parse(to_json(full_start()));
  for (const char* name : {"environment", "has_environment", "environment_dropped"}) json.erase(name);
  const auto start = parse_task_start(json.dump());
  ASSERT_TRUE(start) << start.error().message;
  EXPECT_FALSE(start->has_environment);
  EXPECT_TRUE(start->environment.empty());
  json["environment"] = {{"NCCL_ALGO", 5}};
  EXPECT_FALSE(parse_task_start(json.dump()));
}

TEST(TaskRecord, MembersOfANewerVersionAreNoMatter) {
  auto json = nlohmann::json::parse(to_json(full_start()));
  json["of_tomorrow"] = {1, 2};
  const auto start = parse_task_start(json.dump());
  ASSERT_TRUE(start) << start.error().message;
  EXPECT_EQ(start->environment, full_start().environment);
}

TEST(TaskRecord, BytesThatAreNoUtf8DoNotBreakIt) {
  TaskStart start = full_start();
  start.command = {"caf\xe9", "\xff\xfe"};
  const auto parsed = parse_task_start(to_json(start));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->command[0], "caf\xEF\xBF\xBD");
}

TEST(TaskRecord, RefusesForeignText) {
  for (const char* text : {"", "{", "[]", "null", "7", "{}", "{\"version_of_record\": \"1\"}",
                           "{\"version_of_record\": 1}", "{\"version_of_record\": 1, \"task\": 7}"}) {
    const auto start = parse_task_start(text);
    const auto end = parse_task_end(text);
    ASSERT_FALSE(start) << text;
    ASSERT_FALSE(end) << text;
    EXPECT_EQ(start.error().code, ErrorCode::kInputUnreadable);
    EXPECT_EQ(end.error().code, ErrorCode::kInputUnreadable);
  }
}

TEST(TaskRecord, SaysWhichMemberIsMissingOrWrong) {
  nlohmann::json json = nlohmann::json::parse(to_json(full_start()));
  json.erase("boot_id");
  EXPECT_NE(parse_task_start(json.dump()).error().message.find("boot_id"), std::string::npos);
  json = nlohmann::json::parse(to_json(full_end()));
  json["processes"][0]["pid"] = "x";
  EXPECT_FALSE(parse_task_end(json.dump()));
  json["processes"] = 5;
  EXPECT_FALSE(parse_task_end(json.dump()));
  json = nlohmann::json::parse(to_json(full_start()));
  json["version_of_record"] = 99;
  EXPECT_NE(parse_task_start(json.dump()).error().message.find("99"), std::string::npos);
}

TEST(TaskRecord, TakesNoNumberThatAnInt64CannotHold) {
  for (const char* number : {"1e128", "-1e300", "2.5", "18446744073709551615", "-1e19"}) {
    for (const char* member : {"pid", "restart", "t0_realtime_ns", "version_of_record"}) {
      nlohmann::json json = nlohmann::json::parse(to_json(full_start()));
      json[member] = nlohmann::json::parse(number);
      const auto start = parse_task_start(json.dump());
      ASSERT_FALSE(start) << member << " " << number;
      EXPECT_NE(start.error().message.find(member), std::string::npos) << start.error().message;
    }
    nlohmann::json json = nlohmann::json::parse(to_json(full_end()));
    json["processes"][1]["events"] = nlohmann::json::parse(number);
    EXPECT_FALSE(parse_task_end(json.dump())) << number;
  }
}

TEST(TaskRecord, SurvivesEveryTruncation) {
  const std::string start = to_json(full_start());
  const std::string end = to_json(full_end());
  for (std::size_t length = 0; length + 2 < start.size(); ++length)
    EXPECT_FALSE(parse_task_start(start.substr(0, length)));
  for (std::size_t length = 0; length + 2 < end.size(); ++length) EXPECT_FALSE(parse_task_end(end.substr(0, length)));
}

}  // namespace
}  // namespace jaxprof
