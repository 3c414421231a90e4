#include "agent/contract/run_layout.h"

#include <gtest/gtest.h>

namespace jaxprof::run_layout {
namespace {

TEST(RunLayout, SpellsThePathsOfARun) {
  EXPECT_EQ(run_state_directory("prof", "5.0.0"), "prof/.run-5.0.0");
  EXPECT_EQ(spool_path("prof", "rank3"), "prof/rank3.jxspool");
  EXPECT_EQ(part_spool_path("prof", "rank3"), "prof/rank3.jxspool.part");
  EXPECT_EQ(task_start_path("s", "rank3"), "s/task.rank3.start.json");
  EXPECT_EQ(task_end_path("s", "rank3"), "s/task.rank3.end.json");
  EXPECT_EQ(task_spool_directory("/tmp", 7, "5.0.0", "rank3", 42), "/tmp/jaxprof.7.5.0.0.rank3.42");
  EXPECT_EQ(stem_of_process("rank3", "n1", 42), "rank3.n1.42");
}

TEST(TaskName, IsTheRankOrHostAndPid) {
  EXPECT_EQ(task_name(3, "n1", 42), "rank3");
  EXPECT_EQ(task_name(-1, "n1", 42), "n1.42");
}

TEST(TaskOfRecord, IsTheInverseOfThePath) {
  EXPECT_EQ(task_of_start_record("task.n1.42.start.json"), "n1.42");
  EXPECT_EQ(task_of_end_record("task.rank3.end.json"), "rank3");
  for (const char* name : {"task.rank3.end.json", "task..start.json", "task.start.json", "x.task.a.start.json", "",
                           "task.rank3.start.json.tmp.n1.5.0"}) {
    EXPECT_EQ(task_of_start_record(name), "") << name;
  }
}

TEST(IsSpool, KnowsFinishedAndUnfinishedOnes) {
  EXPECT_TRUE(is_spool("rank3.jxspool"));
  EXPECT_TRUE(is_spool("rank3.jxspool.part"));
  EXPECT_FALSE(is_part_spool("rank3.jxspool"));
  EXPECT_TRUE(is_part_spool("rank3.jxspool.part"));
  EXPECT_EQ(node_spool_path("/d/.run-1.0.0", "n1", "0123456789ab", 2), "/d/.run-1.0.0/node.n1.01234567.2.jxspool");
  EXPECT_TRUE(is_node_spool("node.n1.01234567.2.jxspool"));
  EXPECT_FALSE(is_node_spool("rank3.jxspool"));
  EXPECT_FALSE(is_node_spool("node.n1.01234567.2"));
  for (const char* name : {".jxspool", "rank3.jxspool.tmp", "rank3", ""}) EXPECT_FALSE(is_spool(name)) << name;
}

TEST(PlainTaskOf, IsTheInverseOfThePath) {
  const auto task = plain_task_of(node_plain_task_path("/n", 17, 99).substr(3));
  ASSERT_TRUE(task);
  EXPECT_EQ(task->pid, 17);
  EXPECT_EQ(task->start_ticks, 99U);
  for (const char* name : {"plain.17", "plain..99", "plain.17.", "plain.-1.9", "plain.17.9.9", "task.17", ""}) {
    EXPECT_FALSE(plain_task_of(name)) << name;
  }
}

TEST(EndpointNameOf, IsTheInverseOfThePath) {
  const std::string path = clock_endpoint_path("/s", "0123-ab", 4026531840, 18446744073709551615U);
  EXPECT_EQ(path, "/s/clock/0123-ab.4026531840.18446744073709551615.endpoint");
  EXPECT_EQ(clock_claim_path(path), "/s/clock/0123-ab.4026531840.18446744073709551615.reference");
  EXPECT_EQ(endpoint_name_of(path.substr(9)), (EndpointName{"0123-ab", 4026531840, 18446744073709551615U}));
  for (const char* name : {"0123-ab.7.endpoint", "0123-ab.7.8.endpoint.tmp.n1.5.0", ".7.8.endpoint", "a_b.7.8.endpoint",
                           "0123.x.8.endpoint", "0123.7.-1.endpoint", "0123.7.8.9.endpoint", "reference", ""}) {
    EXPECT_FALSE(endpoint_name_of(name)) << name;
  }
  EXPECT_FALSE(endpoint_name_of(std::string(65, 'a') + ".7.8.endpoint"));
}

TEST(UserOfNodeFolder, IsTheInverseOfThePath) {
  EXPECT_EQ(user_of_node_folder(node_marks_directory("/b", 1000, "7.0.0").substr(3)), 1000U);
  for (const char* name : {"jaxprof.1000.7.0.0", "jaxprof.x.7.0.0.node", "jaxprof.99999999999.7.node", ".node", ""}) {
    EXPECT_FALSE(user_of_node_folder(name)) << name;
  }
}

}  // namespace
}  // namespace jaxprof::run_layout
