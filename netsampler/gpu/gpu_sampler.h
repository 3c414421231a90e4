// GPU clocks, power, temperature and throttling, once a node. The vendor's library cannot be loaded by a static
// program, and may hang or die on a sick board; so jaxprof-probe asks it in a process of its own and writes records to
// a pipe. This starts the probe, reads the pipe, and says in one line why there are no values. It never waits for the
// probe, and never starts it a second time: whatever happens to it costs the GPU values and nothing else.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "netsampler/gpu/gpu_board.h"
#include "netsampler/gpu/gpu_roster.h"

namespace jaxprof::netsampler {

struct GpuSettings {
  std::string probe;                // path of jaxprof-probe; "": beside the running program
  std::string sysfs_root = "/sys";  // where a board's NUMA node is read
  unsigned hz = 2;                  // 1 to 50
  // Longest silence before the first values, in which the driver may set up every board, and after them.
  std::chrono::milliseconds start_limit{60'000};
  std::chrono::milliseconds silence_limit{10'000};
};

// One thread, which must live as long as the object: the kernel ends the probe with the thread that started it.
class GpuSampler {
 public:
  explicit GpuSampler(GpuSettings settings);
  ~GpuSampler();  // stops
  GpuSampler(const GpuSampler&) = delete;
  GpuSampler& operator=(const GpuSampler&) = delete;

  // Starts the probe. False with one line in `why` if there is none to start; what goes wrong later is a note of
  // poll().
  bool start(std::string* why);
  // Takes what the probe has written. Costs one system call if that is nothing.
  GpuUpdate poll();
  // Readable when poll() has something to do; -1 while no probe runs.
  int descriptor() const;
  bool is_running() const;
  // All boards and instances so far, by number.
  const std::vector<GpuBoard>& boards() const;
  // Ends the probe. At most about a tenth of a second, then it is left to the kernel, which has its SIGKILL already.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace jaxprof::netsampler
