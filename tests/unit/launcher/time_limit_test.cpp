#include "launcher/time_limit.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "tests/unit/contract/environment.h"

namespace jaxprof::launcher {
namespace {

std::string show_job(const std::string& end, const std::string& name = "bash") {
  return "JobId=1 JobName=" + name + " UserId=root(0) JobState=RUNNING TimeLimit=00:05:00 SubmitTime=1795984219 " +
         "StartTime=1795984219 EndTime=" + end + " Deadline=N/A NodeList=n1 Power= \n";
}

TEST(ParseEndTime, TakesSeconds) {
  EXPECT_EQ(parse_end_time(show_job("1795984519")), 1795984519);
}

TEST(ParseEndTime, TakesLocalTimeFromASlurmThatKnowsNoFormat) {
  setenv("TZ", "UTC-2", 1);
  tzset();
  EXPECT_EQ(parse_end_time(show_job("2026-11-29T20:35:19")), 1795984519 - 7200);
  EXPECT_EQ(time_of_day(1795984519), "22:35:19");
  unsetenv("TZ");
  tzset();
}

TEST(ParseEndTime, KnowsNoEndWhereThereIsNone) {
  for (const char* end : {"Unknown", "N/A", "", "0", "-5", "tomorrow", "2026-11-29 20:35:19", "2026-11-29T20:35:1"}) {
    EXPECT_FALSE(parse_end_time(show_job(end))) << end;
  }
  EXPECT_FALSE(parse_end_time(""));
  EXPECT_FALSE(parse_end_time("slurm_load_jobs error: Invalid job id specified\n"));
  EXPECT_FALSE(parse_end_time("EndTime=1795984519"));
}

TEST(ParseEndTime, IsNotMisledByAJobsName) {
  EXPECT_EQ(parse_end_time(show_job("1795984519", "a EndTime=5 b")), 1795984519);
}

TEST(ParseEndTime, TakesTheFirstOfSeveralComponents) {
  EXPECT_EQ(parse_end_time(show_job("1795984519") + show_job("1795989999")), 1795984519);
}

TEST(EndTimeOf, NeedsATime) {
  EXPECT_EQ(end_time_of(test::Environment({"SLURM_JOB_END_TIME=1795984519"}).env()), 1795984519);
  EXPECT_FALSE(end_time_of(test::Environment({"SLURM_JOB_END_TIME=0"}).env()));
  EXPECT_FALSE(end_time_of(test::Environment({"SLURM_JOB_END_TIME=soon"}).env()));
  EXPECT_FALSE(end_time_of(test::Environment({}).env()));
}

TEST(NodeCount, IsTheStepsOrTheJobs) {
  EXPECT_EQ(node_count(test::Environment({"SLURM_STEP_NUM_NODES=2", "SLURM_JOB_NUM_NODES=8"}).env()), 2);
  EXPECT_EQ(node_count(test::Environment({"SLURM_JOB_NUM_NODES=8"}).env()), 8);
  EXPECT_EQ(node_count(test::Environment({"SLURM_NNODES=x"}).env()), 1);
}

}  // namespace
}  // namespace jaxprof::launcher
