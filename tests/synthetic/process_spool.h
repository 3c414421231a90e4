// What every process's spool has around its events, whatever job it is of: who the process is, its clocks, its GPU and
// communicators before, the anchors in between, a footer behind.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tests/synthetic/gpu_writer.h"
#include "tests/synthetic/host_thread.h"
#include "tests/synthetic/run.h"

namespace jaxprof::synthetic {

class ProcessSpool {
 public:
  // `run` is borrowed. Times are those of a perfect clock.
  ProcessSpool(const Run& run, std::uint32_t rank);

  // kOutputFailed where that cannot be.
  Status create(const std::string& path);
  void begin(std::int64_t attach_ns);
  // The rank's communicators; `is_seen_made`: the agent was there when they were made. How many ranges that wrote.
  std::uint64_t register_comms(std::span<const Comm> comms, bool is_seen_made);
  // Anchors up to that time.
  void keep_time(std::int64_t true_ns);
  // The end by itself.
  void finish(std::int64_t end_ns, std::uint64_t dropped);
  // kOutputFailed if something could not be written.
  Status check() const;

  SpoolFile& file() { return spool_; }
  HostThread& host() { return host_; }
  GpuWriter& gpu() { return gpu_; }
  const std::string& path() const { return path_; }
  std::string name() const { return path_.substr(path_.rfind('/') + 1); }  // in the run directory

 private:
  void write_anchor(std::int64_t true_ns);

  const Run& run_;
  const std::uint32_t rank_;
  const std::uint32_t node_;
  std::string path_;
  SpoolFile spool_;
  HostThread host_;
  GpuWriter gpu_;
  std::int64_t next_anchor_ns_ = 0;
};

}  // namespace jaxprof::synthetic
