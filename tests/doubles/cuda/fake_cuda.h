// What a test may ask of the fake CUDA driver (libcuda.so.1) and the fake CUPTI (libcupti.so.13) beyond NVIDIA's own
// interface. Nobody links to them: programs find the functions here by dlsym(), as they find the real ones. Kernels are
// registered with fake_cuda_kernel(); streams, events, graphs and copies are NVIDIA's API. Device memory is host
// memory.
//
// Switches are integers, set in the environment before the library is loaded, or at any time by fake_cuda_set() and
// fake_cupti_set() with the name after the prefix.
//
// FAKE_CUDA_...
//   DEVICES=1              number of GPUs
//   KERNEL_NS=5000         duration of a kernel that says nothing else
//   COPY_NS=2000           duration of a copy or memset, and COPY_MBPS=20000 more by size
//   LAUNCH_NS=2000         from a launch to the earliest begin
//   DELIVERY_US=0          from an operation's end until CUPTI learns its times; -1: never
//   DELIVERY_JITTER_US=0   so much more, at random, each operation for itself: out of order between streams
//   CLOCK_OFFSET_NS=0      of the GPU clock, which is CUPTI's, from CLOCK_REALTIME
//   CLOCK_DRIFT_PPB=0      how much faster it runs, in parts per thousand million
//   CLOCK_STEP_NS=0        it steps by so much,
//   CLOCK_STEP_AT_MS=0     so long after the driver was loaded
//   POISON_NAMES=0         1: kernel names of an unloaded module become 'poisoned', where they lie
//   SLOT_HELD=0            1: a debugger or profiler has the process: no CUPTI can subscribe
//
// FAKE_CUPTI_... (CUPTI's own numbers for results and kinds)
//   VERSION=               22, 28, 130001, 130101, 130300, 130500 or 140000, which is made up; else the file's own
//   VERSION_RESULT=0       result of cuptiGetVersion: 13.3 and later have 999 where they find no driver
//   PER_THREAD=-1          buffers a thread (1), global (0), as the version has it (-1)
//   LATE_RECORDS=0         1: device records enter a buffer when the operation ends, on CUPTI's own thread; 0: on
//   launch,
//                          incomplete, so that cuptiActivityFlushAll(0) holds their buffer back
//   SUBSCRIBE_RESULT=0     result of every subscription; 39 names the holder
//   SUBSCRIBE_US=0         it takes so long
//   ENABLE_RESULT=0        result of enabling a kind; ENABLE_RESULT_KIND=0: of this kind only
//   MULTIPLE=1             several _v2 subscribers: 1 accepted from 13.3 on, 0 refused with 39
//   V2_RESULT=0            result of cuptiGetTimestamp_v2 (27: an old driver)
//   FLUSH_HANG=0           1: cuptiActivityFlushAll never returns; 2: only the forced one
//   DISABLE_HANG=0         1: cuptiActivityDisable never returns
//   HES=0                  1: the GPUs have hardware events, as from Blackwell on; 0: as a Hopper
//   FLUSH_US=0             it takes so long
//   CROSS_THREAD=0         1: buffers are completed by another thread while Flush or Disable waits: a lock that the
//                          caller holds and its callback wants shows as violation lock_across
//   LATE_END=0             1: an operation in flight when its kind is disabled ends, on record, at the next enable
//   FATAL_AFTER=0          after so many device records: state callback FATAL_ERROR, and nothing works any more
//   DROP_EVERY=0           every nth record is dropped and counted
//   ZERO_EVERY=0           every nth device record has begin and end 0
//   FORK_HANG=0            1: a lock is held for ever in forked children, where FlushAll hangs
//   UNKNOWN_EVERY=4        version 140000: after every nth device record one of a kind nobody knows
//
// FAKE_CUPTI_REPORT=FILE (%p: process id) is appended to: a line (record_file.h) `what=violation kind=...` as it
// happens, and `what=counts` with all of FakeCuptiCounts when the process ends by exit().
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- libcuda.so.1

enum FakeCudaClock { kFakeCudaClockNone = 0, kFakeCudaClockRaw = 1, kFakeCudaClockRealtime = 2 };

// A kernel as it runs. Times in nanoseconds.
struct FakeCudaExecution {
  const char* name;
  void* data;                  // of fake_cuda_kernel()
  const uint64_t* parameters;  // [parameter_count], copied from kernelParams at the launch
  uint32_t parameter_count;
  uint32_t device;
  uint32_t context;      // CUPTI's number
  uint32_t stream;       // CUPTI's number
  uint32_t correlation;  // of the driver call
  uint32_t graph;        // 0: not from a graph
  uint64_t graph_node;
  // Written by the body, if it states its times itself; the record then has them to the nanosecond.
  int64_t begin_ns;
  int64_t end_ns;
  enum FakeCudaClock clock;  // of both: CLOCK_MONOTONIC_RAW or CLOCK_REALTIME
};

// What a kernel does. Runs on its stream's thread, and ends when it returns. It may block (a collective does), and may
// not call the driver.
typedef void (*FakeCudaBody)(struct FakeCudaExecution* execution);

// A CUfunction. Null body: it lasts KERNEL_NS. The name is copied. Never freed. Any thread, before cuInit too.
void* fake_cuda_kernel(const char* name, FakeCudaBody body, void* data);
// How many 8-byte parameters a launch copies from kernelParams (0 at first), and how long it lasts without a body.
void fake_cuda_kernel_shape(void* function, uint32_t parameter_count, int64_t duration_ns);

// Correlation id of the calling thread's latest driver call; 0: none yet. Counted from 1 in every process.
uint32_t fake_cuda_last_correlation(void);
// CUPTI's number of a CUstream (null: the current context's default stream).
uint32_t fake_cuda_stream_id(void* stream);

enum FakeCudaKind {
  kFakeCudaKernel = 1,
  kFakeCudaCopy = 2,
  kFakeCudaFill = 3,
  kFakeCudaHost = 4,
  kFakeCudaGraph = 5,
};
// An operation that has ended. The engine's truth, whether or not CUPTI records it. CLOCK_MONOTONIC_RAW.
struct FakeCudaOperation {
  enum FakeCudaKind kind;
  const char* name;  // of a kernel, else ""
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t correlation;
  uint32_t graph;
  uint64_t graph_node;
  uint64_t bytes;
  int64_t begin_raw_ns;
  int64_t end_raw_ns;
};
// `observer` is called on the stream's thread after each operation, before anything that waits for it goes on. One
// only.
void fake_cuda_observe(void (*observer)(const struct FakeCudaOperation* operation, void* data), void* data);

// The GPU clock's time of a CLOCK_MONOTONIC_RAW stamp, and now.
int64_t fake_cuda_clock_ns(int64_t raw_ns);
void fake_cuda_step_clock(int64_t by_ns);
// Waits until every operation has ended and has been delivered to CUPTI; not with DELIVERY_US=-1.
void fake_cuda_settle(void);
// True (1) if there is such a switch.
int fake_cuda_set(const char* name, int64_t value);

// What cudaLaunchKernel and its like do around the driver: callbacks and records of the runtime API by number (cbid of
// cupti_runtime_cbid.h). Driver calls in between share the correlation id. Pairs, on one thread.
void fake_cuda_runtime_begin(uint32_t cbid, const char* name);
void fake_cuda_runtime_end(void);

// ---- libcupti.so.13, .12

struct FakeCuptiCounts {
  uint64_t violations;         // of any kind; the report file says which
  uint64_t cuda_in_callback;   // driver calls inside callbacks, but for Synchronize inside API callbacks
  uint64_t flush_in_callback;  // cuptiActivityFlushAll inside buffer or resource callbacks
  uint64_t lock_across;        // see CROSS_THREAD
  uint64_t calls_in_child;     // any CUPTI call in a forked child
  uint64_t no_descriptors;     // a call that needs what cuInit opened, on a thread whose descriptor table lacks it
  uint64_t buffer_not_zeroed;  // promised by attribute ZEROED_OUT_ACTIVITY_BUFFER, and not kept
  uint64_t finalize_calls;
  uint64_t timestamp_callbacks;  // cuptiActivityRegisterTimestampCallback calls
  uint64_t subscriptions;
  uint64_t refused_subscriptions;
  uint64_t enables;
  uint64_t disables;
  uint64_t flushes;
  uint64_t forced_flushes;
  uint64_t buffers_requested;
  uint64_t buffers_requested_on_worker;  // of these, on CUPTI's own thread
  uint64_t buffers_completed;
  uint64_t null_buffers;
  uint64_t records;             // written into buffers
  uint64_t dropped_records;     // counted for cuptiActivityGetNumDroppedRecords
  uint64_t abandoned_records;   // given back incomplete by a forced flush
  uint64_t external_ids;        // records of external correlation
  uint64_t correlation_pushes;  // cuptiActivityPushExternalCorrelationId calls
  uint64_t hardware_traces;     // requests for hardware events that were granted
  uint64_t small_stack;         // a flush on a thread whose stack has less than 1 MiB
  uint64_t idle_flushes;        // a flush while nobody lends buffers
};
void fake_cupti_counts(struct FakeCuptiCounts* counts);
int fake_cupti_set(const char* name, int64_t value);

#ifdef __cplusplus
}
#endif
