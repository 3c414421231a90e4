#include "agent/contract/node_tasks.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "agent/contract/session_page.h"
#include "tests/unit/base/temp_folder.h"
#include "tests/unit/contract/registered_task.h"

namespace jaxprof {
namespace {

class NodeTasksTest : public testing::Test {
 protected:
  void make(const std::string& file) {
    std::filesystem::create_directory(folder_);
    std::ofstream(file) << "";
  }
  bool is_there() const { return std::filesystem::exists(folder_); }

  test::TempFolder base_;
  std::string folder_ = base_.file("jaxprof.0.7.0.0.node");
};

TEST_F(NodeTasksTest, AWrapperLivesAsLongAsItsLock) {
  NodeTasks tasks(folder_);
  EXPECT_FALSE(tasks.is_any_alive()) << "there is no folder";
  test::RegisteredTask task(folder_);
  EXPECT_TRUE(tasks.is_any_alive());
  EXPECT_TRUE(tasks.is_any_alive()) << "looking takes nothing";
  remove_deserted_node_folder(folder_);
  EXPECT_TRUE(is_there());
  task.die();
  EXPECT_FALSE(tasks.is_any_alive());
  remove_deserted_node_folder(folder_);
  EXPECT_FALSE(is_there());
}

TEST_F(NodeTasksTest, ATaskWithoutAWrapperLivesAsLongAsTheProcessOfThatStart) {
  NodeTasks tasks(folder_);
  const std::uint64_t ticks = process_start_ticks(getpid());
  make(run_layout::node_plain_task_path(folder_, getpid(), ticks + 1));
  EXPECT_FALSE(tasks.is_any_alive()) << "the number was another process's";
  make(run_layout::node_plain_task_path(folder_, getpid(), ticks));
  EXPECT_TRUE(tasks.is_any_alive());
  remove_deserted_node_folder(folder_);
  EXPECT_TRUE(is_there());
}

TEST_F(NodeTasksTest, OtherFilesAreNoTasks) {
  NodeTasks tasks(folder_);
  for (const char* name : {"/observer", "/publish", "/plain.", "/plain.x.y", "/plain.1", "/task."})
    make(folder_ + name);
  EXPECT_FALSE(tasks.is_any_alive());
  remove_deserted_node_folder(folder_);
  EXPECT_FALSE(is_there());
}

}  // namespace
}  // namespace jaxprof
