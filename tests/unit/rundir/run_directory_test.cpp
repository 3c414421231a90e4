#include "merge/rundir/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/unit/base/temp_folder.h"
#include "tests/unit/rundir/node_spool.h"
#include "tests/unit/rundir/task_files.h"
#include "tests/unit/spool/recording.h"

namespace jaxprof::rundir {
namespace {

using spool::IdentityKey;
using test::Recording;
using testing::ElementsAre;
using testing::HasSubstr;

class RunDirectoryTest : public testing::Test {
 protected:
  // A run's state folder.
  std::string state(const std::string& run_id) {
    const std::string path = run_layout::run_state_directory(folder_.path(), run_id);
    std::filesystem::create_directories(path);
    return path;
  }
  void spool_of(const std::string& run_id, const std::string& name) {
    Recording recording;
    recording.set(IdentityKey::kRunId, run_id);
    recording.write(folder_.path(), name);
  }
  RunDirectory read() {
    auto directory = read_run_directory(folder_.path());
    EXPECT_TRUE(directory) << directory.error().message;
    return directory ? std::move(*directory) : RunDirectory{};
  }

  test::TempFolder folder_;
};

TEST_F(RunDirectoryTest, FindsWhatObserversOfNodesLeft) {
  const std::string folder = state("7.0.0");
  const std::string second = test::NodeSpool("n1").write(folder, 1);
  const std::string first = test::NodeSpool("n1").write(folder, 0);
  test::write_file(folder + "/node.txt", "x");
  const RunDirectory directory = read();
  ASSERT_EQ(directory.runs.size(), 1u);
  EXPECT_THAT(directory.runs[0].node_spools, ElementsAre(first, second));
  EXPECT_THAT(directory.runs[0].spools, testing::IsEmpty());
}

TEST_F(RunDirectoryTest, SortsSpoolsAndRecordsByRun) {
  spool_of("7.0.0", "b.jxspool");
  spool_of("7.0.0", "a.jxspool.part");
  spool_of("7.1.0", "c.jxspool");
  test::write_start(state("7.0.0"), test::task_start(1, 2));
  test::write_start(state("7.0.0"), test::task_start(0, 2));
  test::write_end(state("7.0.0"), test::task_end(0));
  const RunDirectory directory = read();
  ASSERT_EQ(directory.runs.size(), 2u);
  EXPECT_EQ(directory.runs[0].run_id, "7.0.0");
  EXPECT_THAT(directory.runs[0].spools, ElementsAre(folder_.file("a.jxspool.part"), folder_.file("b.jxspool")));
  ASSERT_EQ(directory.runs[0].tasks.size(), 2u);
  EXPECT_EQ(directory.runs[0].tasks[0].start.rank, 0);
  EXPECT_TRUE(directory.runs[0].tasks[0].end);
  EXPECT_FALSE(directory.runs[0].tasks[1].end);
  EXPECT_EQ(directory.runs[1].run_id, "7.1.0");
  EXPECT_TRUE(directory.runs[1].tasks.empty());
}

TEST_F(RunDirectoryTest, TheSpoolSaysWhoseItIsWhateverItsName) {
  spool_of("9.0.1", "7.0.0.jxspool");
  EXPECT_EQ(read().runs.at(0).run_id, "9.0.1");
}

TEST_F(RunDirectoryTest, KeepsVariablesThatTasksShareOnce) {
  for (std::int64_t rank = 0; rank < 3; ++rank) {
    TaskStart start = test::task_start(rank, 3);
    start.environment = {{"NCCL_ALGO", rank == 1 ? "Tree" : "Ring"}, {"NCCL_DEBUG", "WARN"}};
    start.has_environment = true;
    test::write_start(state("7.0.0"), start);
  }
  const FoundRun run = read().runs.at(0);
  EXPECT_EQ(run.variables.size(), 3u);
  const auto value = [&run](std::size_t task, std::size_t i) {
    return run.variables.at(run.tasks.at(task).variables.at(i)).value;
  };
  EXPECT_EQ(value(0, 0) + value(1, 0) + value(2, 0), "RingTreeRing");
  EXPECT_EQ(run.tasks[0].variables[1], run.tasks[2].variables[1]);
  EXPECT_EQ(run.variables.at(run.tasks[0].variables[1]).name, "NCCL_DEBUG");
  EXPECT_TRUE(run.tasks[0].start.environment.empty()) << "it is in the pool";
}

TEST_F(RunDirectoryTest, PutsTasksWithoutARankLast) {
  TaskStart nameless = test::task_start(0, 2);
  nameless.task = "host.5";
  nameless.rank = -1;
  test::write_start(state("7.0.0"), nameless);
  test::write_start(state("7.0.0"), test::task_start(1, 2));
  const RunDirectory directory = read();
  ASSERT_EQ(directory.runs.at(0).tasks.size(), 2u);
  EXPECT_EQ(directory.runs[0].tasks[1].start.task, "host.5");
}

TEST_F(RunDirectoryTest, ListsSpoolsThatCannotBeRead) {
  spool_of("7.0.0", "good.jxspool");
  test::write_file(folder_.file("empty.jxspool"), "");
  test::write_file(folder_.file("random.jxspool"), std::string(1000, 'r'));
  test::write_file(folder_.file("cut.jxspool"), Recording().bytes().substr(0, 40));
  std::filesystem::create_directory(folder_.file("folder.jxspool"));
  const RunDirectory directory = read();
  ASSERT_EQ(directory.runs.size(), 1u);
  std::vector<std::string> reasons;
  for (const UnreadableFile& file : directory.unreadable_spools) reasons.push_back(file.reason);
  EXPECT_THAT(reasons, ElementsAre(HasSubstr("cut.jxspool: no block says whose spool it is"),
                                   HasSubstr("empty.jxspool is empty"), HasSubstr("folder.jxspool is not a regular"),
                                   HasSubstr("random.jxspool is no jaxprof spool")));
}

TEST_F(RunDirectoryTest, TellsSpoolsOfNodesFromThoseOfProcesses) {
  spool_of("7.0.0", "rank0.jxspool");
  test::write_file(folder_.file("n1.jxspool"), test::NodeSpool("n1").bytes());
  const FoundRun run = read().runs.at(0);
  EXPECT_THAT(run.spools, ElementsAre(folder_.file("rank0.jxspool")));
  EXPECT_THAT(run.node_spools, ElementsAre(folder_.file("n1.jxspool")));
}

TEST_F(RunDirectoryTest, OfAFileNothingElseIsRead) {
  spool_of("7.0.0", "rank0.jxspool");
  test::write_file(folder_.file("of a node"), test::NodeSpool("n1").bytes());
  const auto directory = read_run_directory(folder_.file("of a node"));
  ASSERT_TRUE(directory) << directory.error().message;
  ASSERT_EQ(directory->runs.size(), 1u);
  EXPECT_THAT(directory->runs[0].spools, testing::IsEmpty());
  EXPECT_THAT(directory->runs[0].node_spools, ElementsAre(folder_.file("of a node")));
  test::write_file(folder_.file("run.h5"), "no spool");
  EXPECT_THAT(
      read_run_directory(folder_.file("run.h5")).error().message,
      testing::AllOf(HasSubstr("run.h5 is no jaxprof spool"), HasSubstr("give the directory that jaxprof-exec")));
}

TEST_F(RunDirectoryTest, TakesAnEmptyPartFileForAClaim) {
  spool_of("7.0.0", "rank0.jxspool");
  test::write_file(folder_.file("rank1.jxspool.part"), "");
  test::write_file(folder_.file("rank2.jxspool.part"), "JXSP");
  const RunDirectory directory = read();
  ASSERT_EQ(directory.runs.size(), 1u);
  EXPECT_THAT(directory.runs[0].spools, ElementsAre(folder_.file("rank0.jxspool")));
  ASSERT_EQ(directory.unreadable_spools.size(), 1u);
  EXPECT_EQ(directory.unreadable_spools[0].path, folder_.file("rank2.jxspool.part"));
}

TEST_F(RunDirectoryTest, ListsRecordsThatCannotBeRead) {
  test::write_start(state("7.0.0"), test::task_start(0, 3));
  test::write_start(state("7.0.0"), test::task_start(1, 3));
  test::write_file(run_layout::task_end_path(state("7.0.0"), "1"), "{\"task\":");
  test::write_file(run_layout::task_start_path(state("7.0.0"), "2"), "not json");
  const FoundRun run = read().runs.at(0);
  ASSERT_EQ(run.tasks.size(), 2u);
  EXPECT_FALSE(run.tasks[1].end);
  ASSERT_EQ(run.unreadable_records.size(), 2u);
  EXPECT_THAT(run.unreadable_records[0].path, HasSubstr("task.1.end.json"));
  EXPECT_THAT(run.unreadable_records[1].path, HasSubstr("task.2.start.json"));
  EXPECT_THAT(run.unreadable_records[1].reason, HasSubstr("task start record"));
}

TEST_F(RunDirectoryTest, AFifoAmongSpoolsOrRecordsIsListedAndNotWaitedFor) {
  ASSERT_EQ(mkfifo(folder_.file("a.jxspool").c_str(), 0600), 0);
  ASSERT_EQ(mkfifo(run_layout::task_start_path(state("7.0.0"), "0").c_str(), 0600), 0);
  const RunDirectory directory = read();
  ASSERT_EQ(directory.unreadable_spools.size(), 1u);
  EXPECT_THAT(directory.unreadable_spools[0].reason, HasSubstr("a.jxspool is not a regular file"));
  ASSERT_EQ(directory.runs.at(0).unreadable_records.size(), 1u);
  EXPECT_THAT(directory.runs[0].unreadable_records[0].reason, HasSubstr("start.json is not a regular file"));
}

TEST_F(RunDirectoryTest, AStateFolderThatIsNoneIsListed) {
  test::write_file(run_layout::run_state_directory(folder_.path(), "7.0.0"), "a file");
  const FoundRun run = read().runs.at(0);
  ASSERT_EQ(run.unreadable_records.size(), 1u);
  EXPECT_THAT(run.unreadable_records[0].reason, HasSubstr("cannot read directory"));
}

TEST_F(RunDirectoryTest, AFolderWithoutARunIsAnError) {
  test::write_file(folder_.file("notes.txt"), "hello");
  const auto empty = read_run_directory(folder_.path());
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, ErrorCode::kInputUnreadable);
  EXPECT_THAT(empty.error().message, HasSubstr("holds no run: no *.jxspool and no .run-*"));
  const auto missing = read_run_directory(folder_.file("none"));
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("none: No such file or directory"));
}

}  // namespace
}  // namespace jaxprof::rundir
