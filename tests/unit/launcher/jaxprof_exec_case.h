// A run of jaxprof-exec in an empty folder, with an environment and an agent of its own, and the records it leaves.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "agent/contract/run_layout.h"
#include "agent/contract/task_record.h"
#include "tests/unit/launcher/program_run.h"

namespace jaxprof::launcher {

class JaxprofExec : public testing::Test {
 protected:
  JaxprofExec() {
    std::filesystem::create_directories(folder_.file("spool"));
    set("PATH", "/usr/bin:/bin");
    set("JAXPROF_TMPDIR", folder_.file("spool"));
    set("JAXPROF_AGENT", "/bin/true");  // any shared object does, where nothing calls NVTX
  }

  void set(const std::string& name, const std::string& value) { environment_.push_back(name + "=" + value); }
  void unset(const std::string& name) {
    std::erase_if(environment_, [&](const std::string& entry) { return entry.starts_with(name + "="); });
  }
  void be_rank(int rank, int world_size) {
    set("JAXPROF_RANK", std::to_string(rank));
    set("JAXPROF_WORLD_SIZE", std::to_string(world_size));
    set("JAXPROF_RUN", "test");
  }
  test::Outcome run(const std::vector<std::string>& arguments, const std::string& input = "",
                    bool ignores_children = false) {
    return test::ProgramRun(folder_.path(), arguments, environment_, input, ignores_children).wait();
  }
  // What a job that is one line of shell does.
  test::Outcome run_shell(const std::string& line) { return run({"-o", "prof/rank%r", "sh", "-c", line}); }

  std::string state() const { return folder_.file("prof/.run-local.test.0"); }
  TaskStart start_record(const std::string& task) {
    auto text = read_small_file(run_layout::task_start_path(state(), task));
    auto record = text ? parse_task_start(*text) : fail(text.error().code, text.error().message);
    EXPECT_TRUE(record) << record.error().message;
    return record.value_or(TaskStart());
  }
  TaskEnd end_record(const std::string& task) {
    auto text = read_small_file(run_layout::task_end_path(state(), task));
    auto record = text ? parse_task_end(*text) : fail(text.error().code, text.error().message);
    EXPECT_TRUE(record) << record.error().message;
    return record.value_or(TaskEnd());
  }
  std::size_t files_in(const char* name) const {
    std::size_t count = 0;
    if (!std::filesystem::exists(folder_.file(name))) return 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.file(name))) {
      count += entry.is_regular_file() ? 1 : 0;
    }
    return count;
  }

  test::TempFolder folder_;
  std::vector<std::string> environment_;
};

}  // namespace jaxprof::launcher
