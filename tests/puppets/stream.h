// Where the data really moves. NCCL's calls return when the kernel is queued; the transfer happens later, in order, on
// a CUDA stream. Here the transfer is the matching MPI operation, carried out by whatever the stream is: a kernel of
// the tests' CUDA driver (gpu.h), or one thread, so that a call's host time and its transfer are as separate as they
// are with NCCL. Sends and receives of one launch make progress together. What is queued between begin_capture and
// end_capture runs when it is replayed, as often as that.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/puppets/communicator.h"
#include "tests/puppets/gpu.h"
#include "tests/puppets/truth_log.h"

namespace jaxprof::puppets {

class Stream {
 public:
  // `gpu` null: a thread. `device`: which GPU.
  explicit Stream(const TruthLog& log, Gpu* gpu = nullptr, int device = 0);
  // Waits for what is queued.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  struct QueuedCall {
    Call call;
    std::uint64_t n_call;
  };
  struct Launch {
    std::vector<QueuedCall> calls;
    std::string kernel;  // "": copies, without a kernel
    unsigned n_channels = 0;
    std::function<void()> before;                                                   // on CUDA's callback thread
    std::function<void(std::int64_t begin_raw_ns, std::int64_t end_raw_ns)> after;  // on the stream's thread
  };
  // Queues one plan's calls. Buffers must stay as they are until synchronize. The user's or a launching thread.
  void launch(Launch launch);
  void begin_capture();
  void end_capture();
  void replay();
  // Waits until everything queued is carried out, and forgets what was captured.
  void synchronize();

  // What NCCL would know the stream by.
  const void* handle() const { return cuda_stream_ != nullptr ? cuda_stream_ : this; }
  // A number that depends on all data received so far; equal between runs of the same command. After synchronize.
  std::uint64_t digest() const { return digest_; }

 private:
  struct Item {
    Stream* stream;
    Launch launch;
    bool is_captured;
    int n_runs = 0;
  };
  static void run_kernel(FakeCudaExecution* execution);
  static void run_before(void* item);
  static void run_copies(void* item);
  void launch_on_gpu(Item* item);
  void run();
  void carry_out(Item& item, FakeCudaExecution* execution);
  void absorb(const Call& call);

  const TruthLog& log_;
  Gpu* const gpu_;
  const int device_;
  void* cuda_stream_ = nullptr;
  void* graph_ = nullptr;
  std::vector<std::unique_ptr<Item>> items_;  // that may still run
  std::vector<Item*> captured_;
  bool is_capturing_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item*> queue_;
  bool is_busy_ = false;
  bool is_ending_ = false;
  std::uint64_t digest_ = 0xcbf29ce484222325U;
  std::thread thread_;  // where there is no GPU
};

}  // namespace jaxprof::puppets
