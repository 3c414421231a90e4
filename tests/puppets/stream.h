// Where the data really moves. NCCL's calls return when the kernel is queued; the transfer happens later, in order, on
// a CUDA stream. Here a stream is one thread that carries out what was queued with the matching MPI operation, so
// that a call's host time and its transfer are as separate as they are with NCCL. Sends and receives of one group
// make progress together.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/puppets/communicator.h"
#include "tests/puppets/truth_log.h"

namespace jaxprof::puppets {

class Stream {
 public:
  explicit Stream(const TruthLog& log) : log_(log), thread_([this] { run(); }) {}
  // Waits for what is queued.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  struct QueuedCall {
    Call call;
    std::uint64_t n_call;
  };
  // Queues the calls of one group. Buffers must stay as they are until synchronize.
  void launch(std::vector<QueuedCall> calls);
  // Waits until everything queued is carried out.
  void synchronize();
  // A number that depends on all data received so far; equal between runs of the same command. After synchronize.
  std::uint64_t digest() const { return digest_; }

 private:
  void run();
  void carry_out(const std::vector<QueuedCall>& calls);
  void absorb(const Call& call);

  const TruthLog& log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<QueuedCall>> queue_;
  bool is_busy_ = false;
  bool is_ending_ = false;
  std::uint64_t digest_ = 0xcbf29ce484222325U;
  std::thread thread_;
};

}  // namespace jaxprof::puppets
