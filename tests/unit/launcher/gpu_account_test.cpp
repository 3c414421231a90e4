#include "launcher/gpu_account.h"

#include <gtest/gtest.h>

namespace jaxprof::launcher {
namespace {

PublishedProcess process(const char* gpu_fault) {
  PublishedProcess process;
  process.spool = "x.jxspool";
  process.gpu_fault = gpu_fault;
  return process;
}

std::string account(const std::vector<PublishedProcess>& processes) {
  TaskEnd end;
  end.processes = processes;
  return describe_missing_gpus({end});
}

TEST(DescribeMissingGpus, SaysOnHowManyAndWhy) {
  EXPECT_EQ(account({process("CUPTI is another's")}),
            "; GPU records are missing on 1 of 1 process: CUPTI is another's");
  EXPECT_EQ(account({process(""), process("no libcupti"), process("no libcupti")}),
            "; GPU records are missing on 2 of 3 processes: no libcupti");
  EXPECT_EQ(account({process("a"), process("b"), process("b")}),
            "; GPU records are missing on 3 of 3 processes: a (2 for other reasons)");
}

TEST(DescribeMissingGpus, SaysNothingWhereNoneAreAndOfWhatLeftNoSpool) {
  EXPECT_EQ(account({process(""), process("")}), "");
  PublishedProcess failed = process("no libcupti");
  failed.spool.clear();
  EXPECT_EQ(account({failed}), "");
  EXPECT_EQ(account({}), "");
}

}  // namespace
}  // namespace jaxprof::launcher
