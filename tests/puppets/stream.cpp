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

}  // namespace

Stream::~Stream() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Stream::launch(std::vector<QueuedCall> calls) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(calls));
  }
  changed_.notify_all();
}

void Stream::synchronize() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return queue_.empty() && !is_busy_; });
}

void Stream::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_ending_ || !queue_.empty(); });
    if (queue_.empty()) {
      return;
    }
    const std::vector<QueuedCall> calls = std::move(queue_.front());
    queue_.pop_front();
    is_busy_ = true;
    lock.unlock();
    carry_out(calls);
    lock.lock();
    is_busy_ = false;
    changed_.notify_all();
  }
}

void Stream::carry_out(const std::vector<QueuedCall>& calls) {
  std::vector<MPI_Request> requests;
  std::vector<std::int64_t> begin_raw_ns;
  std::vector<std::int64_t> end_raw_ns;
  for (const QueuedCall& queued : calls) {
    begin_raw_ns.push_back(raw_ns());
    start(queued.call, &requests);
    end_raw_ns.push_back(raw_ns());
  }
  if (!requests.empty()) {
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }
  const std::int64_t all_done_raw_ns = raw_ns();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Call& call = calls[i].call;
    log_.transfer(call, calls[i].n_call, begin_raw_ns[i], is_p2p(call.function) ? all_done_raw_ns : end_raw_ns[i]);
    absorb(call);
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
