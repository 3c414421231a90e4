#include "tests/puppets/stream.h"

#include <string_view>

#include "tests/puppets/clock.h"

namespace jaxprof::puppets {
namespace {

// 16-bit floating point has no MPI type: its bit patterns are reduced as integers, which moves the same bytes.
MPI_Datatype mpi_type(const DataType& type) {
  const std::string_view name = type.option;
  if (name == "float32") return MPI_FLOAT;
  if (name == "float64") return MPI_DOUBLE;
  if (name == "int8") return MPI_INT8_T;
  if (name == "uint8") return MPI_UINT8_T;
  if (name == "int32") return MPI_INT32_T;
  if (name == "uint32") return MPI_UINT32_T;
  if (name == "int64") return MPI_INT64_T;
  if (name == "uint64") return MPI_UINT64_T;
  return MPI_UINT16_T;
}

// An average is a sum that nobody divides: only its bytes matter.
MPI_Op mpi_op(const Reduction& reduction) {
  const std::string_view name = reduction.option;
  if (name == "prod") return MPI_PROD;
  if (name == "max") return MPI_MAX;
  if (name == "min") return MPI_MIN;
  return MPI_SUM;
}

// A send or receive starts and is added to `requests`; a collective is carried out.
void start(const Call& call, std::vector<MPI_Request>* requests) {
  const int count = static_cast<int>(call.count);
  const MPI_Datatype type = mpi_type(*call.type);
  const MPI_Comm comm = call.comm->mpi;
  const void* const from = call.send_buffer;
  void* const to = call.receive_buffer;
  switch (call.function) {
    case Function::kAllGather:
      MPI_Allgather(from, count, type, to, count, type, comm);
      break;
    case Function::kAllReduce:
      MPI_Allreduce(from, to, count, type, mpi_op(*call.reduction), comm);
      break;
    case Function::kAlltoAll:
      MPI_Alltoall(from, count, type, to, count, type, comm);
      break;
    case Function::kBroadcast:
      if (call.comm->rank == call.root) {  // out of place in NCCL, in place in MPI: the root sends its send buffer
        MPI_Bcast(const_cast<void*>(from), count, type, call.root, comm);
      } else {
        MPI_Bcast(to, count, type, call.root, comm);
      }
      break;
    case Function::kGather:
      MPI_Gather(from, count, type, to, count, type, call.root, comm);
      break;
    case Function::kReduce:
      MPI_Reduce(from, to, count, type, mpi_op(*call.reduction), call.root, comm);
      break;
    case Function::kReduceScatter:
      MPI_Reduce_scatter_block(from, to, count, type, mpi_op(*call.reduction), comm);
      break;
    case Function::kScatter:
      MPI_Scatter(from, count, type, to, count, type, call.root, comm);
      break;
    case Function::kSend:
      MPI_Isend(from, count, type, call.root, 0, comm, &requests->emplace_back());
      break;
    case Function::kRecv:
      MPI_Irecv(to, count, type, call.root, 0, comm, &requests->emplace_back());
      break;
  }
}

// Nobody ends before what the slow link holds has come through.
void hold_up(const Call& call) {
  if (call.holdup.delay_ns == 0 || is_p2p(call.function)) return;
  if (call.holdup.is_here) sleep_ns(call.holdup.delay_ns);
  MPI_Barrier(call.comm->mpi);
}

}  // namespace

Stream::Stream(const TruthLog& log, Gpu* gpu, int device) : log_(log), gpu_(gpu), device_(device) {
  if (gpu_ == nullptr) {
    thread_ = std::thread([this] { run(); });
    return;
  }
  gpu_->use_device(device_);
  cuda_stream_ = gpu_->create_stream();
}

Stream::~Stream() {
  if (gpu_ != nullptr) {
    synchronize();
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Stream::launch(Launch launch) {
  auto item = std::make_unique<Item>(Item{this, std::move(launch), is_capturing_});
  Item* const queued = item.get();
  {
    const std::lock_guard lock(mutex_);
    items_.push_back(std::move(item));
    if (gpu_ == nullptr) {
      (is_capturing_ ? captured_.push_back(queued) : queue_.push_back(queued));
    }
  }
  gpu_ != nullptr ? launch_on_gpu(queued) : changed_.notify_all();
}

void Stream::launch_on_gpu(Item* item) {
  gpu_->use_device(device_);
  if (item->launch.before != nullptr) {
    gpu_->launch_host_function(run_before, item, cuda_stream_);
  }
  if (!item->launch.kernel.empty()) {
    gpu_->launch_kernel(item->launch.kernel, run_kernel, item->launch.n_channels, cuda_stream_, item);
    return;
  }
  gpu_->launch_host_function(run_copies, item, cuda_stream_);
}

void Stream::run_kernel(FakeCudaExecution* execution) {
  auto* const item = reinterpret_cast<Item*>(execution->parameters[0]);
  item->stream->carry_out(*item, execution);
}
void Stream::run_before(void* item) {
  static_cast<Item*>(item)->launch.before();
}
void Stream::run_copies(void* item) {
  auto* const copies = static_cast<Item*>(item);
  copies->stream->carry_out(*copies, nullptr);
}

void Stream::begin_capture() {
  is_capturing_ = true;
  if (gpu_ != nullptr) {
    gpu_->use_device(device_);
    gpu_->begin_capture(cuda_stream_);
  }
}

void Stream::end_capture() {
  is_capturing_ = false;
  if (gpu_ != nullptr) {
    graph_ = gpu_->end_capture(cuda_stream_);
  }
}

void Stream::replay() {
  if (gpu_ != nullptr) {
    gpu_->launch_graph(graph_, cuda_stream_);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    queue_.insert(queue_.end(), captured_.begin(), captured_.end());
  }
  changed_.notify_all();
}

void Stream::synchronize() {
  if (gpu_ != nullptr) {
    gpu_->use_device(device_);
    gpu_->synchronize(cuda_stream_);
    if (graph_ != nullptr) {
      gpu_->destroy_graph(graph_);
      graph_ = nullptr;
    }
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return queue_.empty() && !is_busy_; });
  captured_.clear();
  items_.clear();
}

void Stream::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_ending_ || !queue_.empty(); });
    if (queue_.empty()) {
      return;
    }
    Item& item = *queue_.front();
    queue_.pop_front();
    is_busy_ = true;
    lock.unlock();
    if (item.launch.before != nullptr) {
      item.launch.before();
    }
    carry_out(item, nullptr);
    lock.lock();
    is_busy_ = false;
    changed_.notify_all();
  }
}

void Stream::carry_out(Item& item, FakeCudaExecution* execution) {
  const std::vector<QueuedCall>& calls = item.launch.calls;
  std::vector<MPI_Request> requests;
  std::vector<std::int64_t> begin_raw_ns;
  std::vector<std::int64_t> end_raw_ns;
  const std::int64_t launch_begin_raw_ns = raw_ns();
  for (const QueuedCall& queued : calls) {
    begin_raw_ns.push_back(raw_ns());
    start(queued.call, &requests);
    hold_up(queued.call);
    end_raw_ns.push_back(raw_ns());
  }
  if (!requests.empty()) {
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }
  const std::int64_t all_done_raw_ns = raw_ns();
  TruthLog::Execution how;
  how.kernel_begin_raw_ns = launch_begin_raw_ns;
  how.kernel_end_raw_ns = all_done_raw_ns;
  if (item.is_captured) {
    how.replay = item.n_runs++;
  }
  if (execution != nullptr) {
    execution->begin_ns = launch_begin_raw_ns;
    execution->end_ns = all_done_raw_ns;
    execution->clock = kFakeCudaClockRaw;
    how.kernel = item.launch.kernel;
    how.n_blocks = item.launch.n_channels;
    how.correlation = execution->correlation;
    how.stream = execution->stream;
    how.graph_node = execution->graph_node;
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Call& call = calls[i].call;
    how.begin_raw_ns = begin_raw_ns[i];
    how.end_raw_ns = is_p2p(call.function) ? all_done_raw_ns : end_raw_ns[i];
    log_.transfer(call, calls[i].n_call, how);
    absorb(call);
  }
  if (item.launch.after != nullptr) {
    item.launch.after(launch_begin_raw_ns, all_done_raw_ns);
  }
}

// First and last byte received, into an FNV-1a hash.
void Stream::absorb(const Call& call) {
  const bool is_root = call.comm->rank == call.root;
  const bool receives = call.function == Function::kBroadcast ? !is_root
                        : call.function == Function::kReduce || call.function == Function::kGather
                            ? is_root
                            : call.function != Function::kSend;
  if (!receives || call.bytes() == 0) {
    return;
  }
  const auto* const bytes = static_cast<const unsigned char*>(call.receive_buffer);
  for (std::size_t i = 0; i < call.type->size_bytes; ++i) {
    digest_ = (digest_ ^ bytes[i]) * 0x100000001b3U;
    digest_ = (digest_ ^ bytes[call.bytes() - 1 - i]) * 0x100000001b3U;
  }
}

}  // namespace jaxprof::puppets
