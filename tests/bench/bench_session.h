// A task's session for benches that are the profiled program themselves: a page in a folder of its own, as the wrapper
// lays it ready, and the variables that the program's NVTX finds the agent by. Each process that attaches has the next
// slot. The folder goes with the object.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "agent/contract/session_page.h"

namespace jaxprof::bench {

class BenchSession {
 public:
  // Below `parent`. Where it fails, has_page() is false and errno tells why.
  BenchSession(const std::string& parent, const char* name) : folder_(parent + "/" + name + ".XXXXXX") {
    if (mkdtemp(folder_.data()) == nullptr) {
      folder_.clear();
      return;
    }
    const std::string path = folder_ + "/session";
    page_ = create_session_page(path.c_str());
    if (page_ == nullptr) return;
    page_->plan.ring_bytes = 1 << 20;
    page_->plan.state_log_bytes = 16 << 20;
    page_->plan.trace = kDefaultTrace;
    TextBuffer(page_->plan.spool_directory, sizeof page_->plan.spool_directory).append(folder_.c_str());
    TextBuffer(page_->plan.stem_template, sizeof page_->plan.stem_template).append("bench");
    setenv(kSessionVariable, path.c_str(), 1);
  }
  BenchSession(const BenchSession&) = delete;
  BenchSession& operator=(const BenchSession&) = delete;
  ~BenchSession() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }

  bool has_page() const { return page_ != nullptr; }
  // To be changed before a process attaches.
  SessionPlan& plan() { return page_->plan; }
  const ProcessSlot& slot(std::uint32_t index = 0) const { return page_->slots[index]; }
  std::uint32_t claimed_slots() const { return page_->claimed_slots.load(); }
  std::string spool_path(std::uint32_t index = 0) const { return folder_ + "/" + slot(index).spool_name; }
  std::uint64_t dropped(std::uint32_t index = 0) const {
    std::uint64_t sum = 0;
    for (const auto& drops : slot(index).drops) sum += drops.load();
    return sum;
  }

 private:
  std::string folder_;
  SessionPage* page_ = nullptr;
};

// Before the first NVTX call of the process, which looks for it.
inline void inject(const char* agent) {
  setenv("NVTX_INJECTION64_PATH", agent, 1);
}

}  // namespace jaxprof::bench
