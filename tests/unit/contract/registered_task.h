// A process that is registered in the folder of a node as a wrapper is: it holds its file locked until it dies.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "agent/base/file_lock.h"
#include "agent/contract/run_layout.h"

namespace jaxprof::test {

class RegisteredTask {
 public:
  // Returns when it is registered. The folder is made.
  explicit RegisteredTask(const std::string& folder) {
    mkdir(folder.c_str(), 0700);
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid_ = fork();
    if (pid_ == 0) {
      const auto lock = try_lock(run_layout::node_task_path(folder, getpid()), Missing::kCreate);
      const char byte = lock && lock->is_held() ? 'y' : 'n';
      if (write(ends[1], &byte, 1) == 1) pause();
      _exit(1);
    }
    char byte = 'n';
    EXPECT_EQ(read(ends[0], &byte, 1), 1);
    EXPECT_EQ(byte, 'y');
    close(ends[0]);
    close(ends[1]);
  }
  RegisteredTask(const RegisteredTask&) = delete;
  RegisteredTask& operator=(const RegisteredTask&) = delete;
  ~RegisteredTask() { die(); }

  // By SIGKILL: its file stays.
  void die() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
};

}  // namespace jaxprof::test
