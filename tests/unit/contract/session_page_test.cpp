#include "agent/contract/session_page.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include "tests/unit/base/temp_folder.h"
#include "tests/unit/contract/environment.h"

namespace jaxprof {
namespace {

class SessionPageTest : public testing::Test {
 protected:
  void TearDown() override {
    for (SessionPage* page : mapped_) munmap(page, sizeof(SessionPage));
  }
  SessionPage* create() { return keep(create_session_page(path_.c_str())); }
  SessionPage* map() { return keep(map_session_page(path_.c_str())); }
  SessionPage* keep(SessionPage* page) {
    if (page != nullptr) mapped_.push_back(page);
    return page;
  }

  test::TempFolder folder_;
  std::string path_ = folder_.file("session");
  std::vector<SessionPage*> mapped_;
};

TEST_F(SessionPageTest, IsTheSameMemoryForBothSides) {
  SessionPage* wrapper = create();
  ASSERT_NE(wrapper, nullptr);
  SessionPage* process = map();
  ASSERT_NE(process, nullptr);
  wrapper->plan.ring_bytes = 4096;
  EXPECT_EQ(process->plan.ring_bytes, 4096u);
  std::uint32_t index = 99;
  ProcessSlot* slot = claim_slot(process, &index);
  ASSERT_NE(slot, nullptr);
  EXPECT_EQ(index, 0u);
  EXPECT_EQ(wrapper->slots[0].state.load(), SlotState::kStarting);
  EXPECT_EQ(wrapper->claimed_slots.load(), 1u);
}

TEST_F(SessionPageTest, HasNoRankUntilTheWrapperHasToldIt) {
  SessionPage* page = create();
  ASSERT_NE(page, nullptr);
  EXPECT_FALSE(resolve_process_rank(page->plan, Env()).is_known());
  const test::Environment environment({"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=4"});
  EXPECT_EQ(resolve_process_rank(page->plan, environment.env()).world_size, 4);
}

TEST_F(SessionPageTest, IsFullyAllocatedAndPrivate) {
  ASSERT_NE(create(), nullptr);
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_GE(static_cast<std::size_t>(status.st_size), sizeof(SessionPage));
  EXPECT_GE(status.st_blocks * 512, static_cast<long>(sizeof(SessionPage)));
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(SessionPageTest, IsNotMadeTwice) {
  ASSERT_NE(create(), nullptr);
  EXPECT_EQ(create(), nullptr);
  EXPECT_EQ(errno, EEXIST);
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(SessionPageTest, AForeignOrShortFileIsRefused) {
  std::ofstream(path_) << "JXSESSN";
  EXPECT_EQ(map(), nullptr);
  std::ofstream(path_) << std::string(sizeof(SessionPage), 'x');
  EXPECT_EQ(map(), nullptr);
  EXPECT_EQ(map_session_page("/no/such/page"), nullptr);
}

TEST_F(SessionPageTest, APageOfAnotherVersionIsRefused) {
  SessionPage* page = create();
  ASSERT_NE(page, nullptr);
  page->plan.version = kSessionVersion + 1;
  EXPECT_EQ(map(), nullptr);
}

TEST_F(SessionPageTest, EverySlotIsGivenOnceAndThenNone) {
  SessionPage* page = create();
  ASSERT_NE(page, nullptr);
  constexpr int kThreads = 4;
  std::vector<std::vector<std::uint32_t>> taken(kThreads);
  {
    std::vector<std::jthread> threads;
    for (auto& own : taken) {
      threads.emplace_back([page, &own] {
        for (std::uint32_t index; claim_slot(page, &index) != nullptr;) own.push_back(index);
      });
    }
  }
  std::set<std::uint32_t> all;
  for (const auto& own : taken) all.insert(own.begin(), own.end());
  EXPECT_EQ(all.size(), kMaxProcessSlots);
  EXPECT_GE(page->claimed_slots.load(), kMaxProcessSlots);
}

// A wrapper's plan, and what a process of its task is told.
class ProcessRank : public testing::Test {
 protected:
  static constexpr pid_t kWrapper = 500;

  void name_variables(const char* rank, const char* size) {
    TextBuffer(plan_.rank_variables.rank, kVariableNameBytes).append(rank);
    TextBuffer(plan_.rank_variables.world_size, kVariableNameBytes).append(size);
  }
  void wrap(const std::vector<std::string>& entries) {
    const test::Environment environment(entries);
    set_task_rank(&plan_, environment.env(), kWrapper);
  }
  // "LAUNCHER RANK VARIABLE".
  std::string rank_of(const std::vector<std::string>& entries) const {
    const test::Environment environment(entries);
    const RankIdentity rank = resolve_process_rank(plan_, environment.env());
    return std::string(launcher_name(rank.launcher)) + " " + std::to_string(rank.rank) + " " + rank.rank_variable;
  }

  SessionPlan plan_ = {};
  const std::vector<std::string> task_ = {"SLURM_STEP_ID=0",    "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2",
                                          "SLURM_TASK_PID=500", "RANK=0",         "WORLD_SIZE=8"};
};

std::vector<std::string> with(std::vector<std::string> entries, const std::vector<std::string>& more) {
  entries.insert(entries.end(), more.begin(), more.end());
  return entries;
}

TEST_F(ProcessRank, IsTheTasksOwn) {
  wrap(task_);
  EXPECT_EQ(rank_of(task_), "Slurm 1 SLURM_PROCID");
}

TEST_F(ProcessRank, IsThatOfAnInnerLauncher) {
  wrap(task_);
  EXPECT_EQ(rank_of({"SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2", "SLURM_TASK_PID=500", "RANK=5",
                     "WORLD_SIZE=8", "LOCAL_RANK=1", "TORCHELASTIC_RUN_ID=none"}),
            "torchrun 5 RANK");
}

// deepspeed and workers by hand set RANK and WORLD_SIZE only, which a task's own program may do as well.
TEST_F(ProcessRank, IsThatOfPlainVariablesOnlyBelowALauncherThatSetThem) {
  wrap(task_);
  const std::vector<std::string> worker = {"SLURM_STEP_ID=0",    "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2",
                                           "SLURM_TASK_PID=500", "RANK=5",         "WORLD_SIZE=8",
                                           "LOCAL_RANK=1"};
  EXPECT_EQ(rank_of(worker), "Slurm 1 SLURM_PROCID");
  plan_.has_inner_ranks = 1;
  EXPECT_EQ(rank_of(worker), "RANK and WORLD_SIZE 5 RANK");
  EXPECT_EQ(rank_of(task_), "Slurm 1 SLURM_PROCID");
}

TEST_F(ProcessRank, IsTheTasksWhereItsVariablesWereDropped) {
  wrap(task_);
  EXPECT_EQ(rank_of({}), "Slurm 1 SLURM_PROCID");
  EXPECT_EQ(rank_of({"SLURM_STEP_ID=0", "SLURM_PROCID=1"}), "Slurm 1 SLURM_PROCID");
}

// mpirun in a step of one task: without mpirun's variables all of its ranks would be that task.
TEST_F(ProcessRank, IsTheTasksAndNotThatOfALauncherFurtherOut) {
  const std::vector<std::string> step = {"SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=1",
                                         "SLURM_TASK_PID=77"};
  wrap(with(step, {"OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=3"}));
  EXPECT_EQ(rank_of(step), "Open MPI 2 OMPI_COMM_WORLD_RANK");
}

// What MPI_Init of Open MPI 4.1 sets in the environment of a program that nobody launched.
TEST_F(ProcessRank, IsNotThatOfAnMpiSingleton) {
  const std::vector<std::string> singleton = {"PMIX_RANK=0", "PMIX_NAMESPACE=315621377", "OMPI_MCA_ess=singleton"};
  const std::vector<std::string> pod = {"JOB_COMPLETION_INDEX=3"};
  wrap(pod);
  EXPECT_EQ(rank_of(with(pod, singleton)), "Kubernetes 3 JOB_COMPLETION_INDEX");
  wrap({});
  EXPECT_EQ(rank_of(singleton), "unknown -1 ");
  EXPECT_EQ(rank_of({"PMIX_RANK=0"}), "unknown -1 ") << "of a library that does not say so";
}

TEST_F(ProcessRank, WithoutASizeIsTheProcesssOwnOnlyWhereTheTaskHasNone) {
  wrap(task_);
  EXPECT_EQ(rank_of(with(task_, {"ALPS_APP_PE=5"})), "Slurm 1 SLURM_PROCID");
  EXPECT_EQ(rank_of(with(task_, {"JAXPROF_RANK=5"})), "JAXPROF_RANK 5 JAXPROF_RANK");
  wrap({});
  EXPECT_EQ(rank_of({"ALPS_APP_PE=5"}), "ALPS 5 ALPS_APP_PE");
}

TEST_F(ProcessRank, IsThatOfPlainVariablesWhereNothingElseToldTheTasks) {
  for (const std::vector<std::string>& wrapper :
       {std::vector<std::string>(), {"RANK=0", "WORLD_SIZE=2"}, {"JOB_COMPLETION_INDEX=3"}}) {
    wrap(wrapper);
    EXPECT_EQ(rank_of({"RANK=5", "WORLD_SIZE=8"}), "RANK and WORLD_SIZE 5 RANK");
  }
}

// Who starts ranks hands its own environment down, with what told the wrapper's rank.
TEST_F(ProcessRank, IsThatOfAnInnerLauncherWhateverToldTheWrappers) {
  plan_.has_inner_ranks = 1;
  const std::vector<std::vector<std::string>> wrappers = {
      {"JAXPROF_RANK=1", "JAXPROF_WORLD_SIZE=2"},
      {"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2"},
      {"RANK=1", "WORLD_SIZE=2"},
  };
  for (const std::vector<std::string>& wrapper : wrappers) {
    wrap(wrapper);
    std::vector<std::string> worker = wrapper[0] == "RANK=1" ? std::vector<std::string>() : wrapper;
    worker.insert(worker.end(), {"RANK=5", "WORLD_SIZE=8"});
    EXPECT_EQ(rank_of(worker), "RANK and WORLD_SIZE 5 RANK") << wrapper[0];
  }
}

TEST_F(ProcessRank, IsThatOfTheNamedVariableBelowAnInnerLauncherToo) {
  plan_.has_inner_ranks = 1;
  name_variables("MY_RANK", "MY_SIZE");
  wrap({"MY_RANK=6", "MY_SIZE=8"});
  EXPECT_EQ(rank_of({"MY_RANK=6", "MY_SIZE=8", "RANK=5", "WORLD_SIZE=8"}), "--rank-from 6 MY_RANK");
}

TEST_F(ProcessRank, IsThatOfTheNamedVariableAsItIsInTheProcess) {
  name_variables("MY_RANK", "MY_SIZE");
  wrap(with(task_, {"MY_RANK=6", "MY_SIZE=8"}));
  EXPECT_EQ(rank_of(with(task_, {"MY_RANK=6", "MY_SIZE=8"})), "--rank-from 6 MY_RANK");
  EXPECT_EQ(rank_of(with(task_, {"MY_RANK=7", "MY_SIZE=8"})), "--rank-from 7 MY_RANK");
}

TEST_F(ProcessRank, IsTheTasksWhereTheNamedVariableWasLost) {
  name_variables("MY_RANK", "MY_SIZE");
  wrap(with(task_, {"MY_RANK=6", "MY_SIZE=8"}));
  EXPECT_EQ(rank_of(task_), "--rank-from 6 MY_RANK");
  EXPECT_EQ(rank_of({}), "--rank-from 6 MY_RANK");
}

TEST_F(ProcessRank, MayBeNamedWhereTheWrapperHasNone) {
  name_variables("MY_RANK", "MY_SIZE");
  wrap(task_);
  EXPECT_EQ(rank_of(task_), "Slurm 1 SLURM_PROCID");
  EXPECT_EQ(rank_of(with(task_, {"MY_RANK=7", "MY_SIZE=8"})), "--rank-from 7 MY_RANK");
}

TEST(ProcessStartTicks, TellsALivingProcessFromOneThatIsGone) {
  EXPECT_GT(process_start_ticks(getpid()), 0u);
  EXPECT_EQ(process_start_ticks(getpid()), process_start_ticks(getpid()));
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(process_start_ticks(child), 0u);
}

TEST(DropName, IsThereForEveryReason) {
  std::set<std::string> names;
  for (int i = 0; i < static_cast<int>(Drop::kCount); ++i) names.insert(drop_name(static_cast<Drop>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Drop::kCount));
  EXPECT_FALSE(names.contains("unknown"));
}

}  // namespace
}  // namespace jaxprof
