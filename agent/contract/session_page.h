// The session page: one small file a task, mapped by the wrapper and by every process of the task that an agent is
// loaded into. The wrapper writes the plan before it starts the job; each process claims a slot and keeps its state and
// counters there. It is the only channel between the two, and it needs no daemon and no handshake, so that neither side
// can make the other wait. It is fully allocated before it is mapped: a sparse page on a full disk would be SIGBUS in
// the user's process. Node-local, same build on both sides: the version is checked, nothing else is converted.
// Agent-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/contract/output_template.h"
#include "agent/contract/rank_identity.h"
#include "agent/contract/rank_selection.h"
#include "agent/contract/run_identity.h"
#include "agent/contract/step_marker.h"
#include "agent/contract/trace_kinds.h"
#include "agent/contract/window_plan.h"

namespace jaxprof {

// The environment variable that holds the page's absolute path.
inline constexpr const char* kSessionVariable = "JAXPROF_SESSION";

inline constexpr std::uint32_t kSessionVersion = 6;
inline constexpr std::uint32_t kMaxProcessSlots = 1024;
// A rank, or a host and a process id, and once more behind it where that name was taken.
inline constexpr std::size_t kTaskNameBytes = 192;

// Why something was not recorded. The values are stored in spools: add at the end only.
enum class Drop : std::uint16_t {
  kRingFull = 0,          // events: the thread's ring was full
  kStateLogFull = 1,      // strings, schemas, …: the process's registration log was full
  kPayloadTruncated = 2,  // payloads cut to kMaxPayloadBytes
  kForkedChild = 3,       // events of a forked child that did not exec: it shares its parent's state and is ignored
  kAfterEnd = 4,          // events after the process's last flush, or after its recording was stopped
  kNoThreadRing = 5,      // events of threads beyond kMaxThreadRings, or without memory for a ring
  kSpoolWriteFailed = 6,  // events, and blocks of registrations, that the local disk did not take
  kForeignHandle = 7,     // NCCL parents or handles that are not this process's (PXN, stale graph parents)
  kUnbalancedPop = 8,     // NVTX pops without a push since attach
  kGpuBuffersFull = 9,    // GPU records: the pool of buffers was empty (--buffer-size)
  kGpuDropped = 10,       // GPU records that CUPTI itself dropped
  kGpuWithoutTime = 11,   // GPU records whose start or end CUPTI could not tell; they are recorded, without times
  kGpuUnflushed = 12,     // launches whose work CUPTI had not told in time, and buffers that it never gave back
  kGpuUnknownKind = 13,   // GPU records of a kind or size that is not known here
  kGpuNameLost = 14,      // names of kernels that were freed, or may have been, before they were read
  kCount = 15,
};
// A stable short word for files and messages, e.g. "ring-full".
const char* drop_name(Drop drop) noexcept;

// True of what counts events that are there, and lack something: they are no loss, and not to be added to one.
bool is_kept_in_part(Drop drop) noexcept;

enum class SlotState : std::uint32_t {
  kFree = 0,
  kStarting = 1,
  kRecording = 2,
  kNotSelected = 3,  // attached, found its rank unselected, does nothing
  kFailed = 4,       // attached, could not record; `note` says why
  kEnded = 5,        // wrote its footer
  kStopped = 6,      // attached after its task's recording had been stopped, does nothing; `note` says why
};

// Why the wrapper ends the recording of all processes of its task, while they go on.
enum class StopReason : std::uint32_t {
  kNone = 0,
  kDeadline = 1,     // the job's time limit is near
  kSpoolLimit = 2,   // the task's spools have reached SessionPlan::spool_limit_bytes
  kDiskReserve = 3,  // the spool's file system is nearly full, and the job may need the rest
  kWriteFailed = 4,  // a process could not write its spool; its slot's `note` says why
};
// A stable short word for files and messages, e.g. "spool-limit".
const char* stop_reason_name(StopReason reason) noexcept;

enum HookBit : std::uint32_t {
  kHookCuda = 1,
  kHookNvtx = 2,
  kHookNvtxExtension = 4,
  kHookNccl = 8,
};

// How the process records what its GPUs do. Stored in spools: add at the end only.
enum class GpuMode : std::uint32_t {
  kNone = 0,         // CUDA was not used, or is not traced
  kShared = 1,       // CUPTI beside other subscribers (its interface version 2)
  kAlone = 2,        // CUPTI as its only subscriber
  kUnavailable = 3,  // CUPTI could not be used; `gpu_note` says why
};

// Where the process's window is.
enum class WindowState : std::uint32_t {
  kArmed = 0,  // closed, may open
  kOpen = 1,
  kDone = 2,  // closed for good
};

// One process. Written by that process only, except for the counters, which a forked child may raise too, and for
// `published_stem`, which is the wrapper's.
struct ProcessSlot {
  std::atomic<SlotState> state;
  std::int32_t pid;
  std::uint64_t start_ticks;  // field 22 of /proc/PID/stat: tells the process from a later one with the same pid
  RankIdentity rank;          // rank_variable is meaningless outside the process; see below
  char rank_variable[kVariableNameBytes];
  char stem[kStemBytes];    // the expanded STEM of the output template
  char unset_variable[64];  // a variable that the template wanted and the process did not have; "" if none
  char spool_name[64];      // in the spool directory
  char ring_name[64];
  char note[256];                             // of kFailed, or why the spool could not be written
  std::atomic<std::uint32_t> hooks;           // HookBit
  std::atomic<std::uint32_t> nvtx_instances;  // copies of NVTX in the process that called us
  std::atomic<std::uint32_t> nccl_api;        // profiler API version that NCCL chose; 0: none
  std::atomic<std::uint32_t> nccl_communicators;
  std::atomic<GpuMode> gpu_mode;
  std::atomic<std::uint32_t> cupti_version;  // cuptiGetVersion; 0: none loaded
  char gpu_note[192];                        // one line, "" if there is nothing to say; written before `gpu_mode`
  // Buffers that CUPTI was given and that are not in the spool yet: what a process that dies takes with it.
  std::atomic<std::uint32_t> gpu_buffers_held;
  std::atomic<WindowState> window;
  std::atomic<std::uint32_t> segments;  // openings so far
  std::atomic<std::uint64_t> events;
  std::atomic<std::uint64_t> spool_bytes;
  std::atomic<std::uint64_t> drops[static_cast<int>(Drop::kCount)];
  // The STEM that was claimed for its copy in the run directory, "" as long as there is none. Written after the claim,
  // so that whoever goes on with the copy after the wrapper's death finds it.
  char published_stem[kStemBytes];
};

// When a process takes CUPTI's subscriber slot (--cupti). Stored in spools: add at the end only.
enum class CuptiPolicy : std::uint32_t {
  kAuto = 0,   // at the window's opening, and gives it back after its end, unless the window needs it before
  kEarly = 1,  // when CUDA is initialised
  kOff = 2,    // never
};

// What the wrapper decided before the job started; constant from then on.
struct SessionPlan {
  char magic[8];  // "JXSESSN"
  std::uint32_t version;
  std::uint32_t page_bytes;
  std::int32_t wrapper_pid;
  std::uint32_t ring_bytes;         // a thread's ring; a power of two
  std::uint64_t state_log_bytes;    // cap of a process's registration log
  std::uint64_t spool_limit_bytes;  // of all spools of the task together
  std::uint64_t pid_namespace;      // the wrapper's, inode of /proc/self/ns/pid; 0: unknown
  RunIdentity run;
  SlurmPlace slurm;          // the wrapper's
  RankIdentity task_rank;    // as the wrapper resolved it; its rank_variable is meaningless here
  RankSources task_sources;  // all that told the wrapper a rank
  char task_rank_variable[kVariableNameBytes];
  char spool_directory[kPathBytes];  // node-local, private to the task
  char stem_template[kPathBytes];    // the STEM part of the output template
  char host[65];
  char boot_id[40];
  RankSelection selection;         // what each process still has to decide; selects all if nothing
  std::uint32_t is_task_taken;     // 1: the wrapper has decided for `task_rank`; the rest is for ranks other than that
  RankVariables rank_variables;    // --rank-from
  std::uint32_t has_inner_ranks;   // 1: the command starts ranks of its own
  StepMarker step_marker;          // --step-marker
  char task[kTaskNameBytes];       // the name of its records in the run directory
  WindowPlan window;               // --delay, --duration, --capture-range
  std::uint32_t trace;             // TraceKind bits
  CuptiPolicy cupti;               // --cupti
  std::uint64_t gpu_buffer_bytes;  // cap of a process's pool of CUPTI buffers
};

struct SessionPage {
  SessionPlan plan;
  alignas(64) std::atomic<std::uint32_t> claimed_slots;  // may exceed kMaxProcessSlots
  std::atomic<StopReason> stop;                          // set once, by the wrapper or by a process that meets a limit
  std::atomic<std::uint32_t> stranger_processes;         // that attached from another run and stayed dead
  std::atomic<std::uint64_t> spool_bytes;                // of all processes
  std::atomic<std::uint32_t> asks_shutdown;              // 1: a window ended that was to end the job (stop-shutdown)
  alignas(64) ProcessSlot slots[kMaxProcessSlots];
};

inline constexpr char kSessionMagic[8] = "JXSESSN";

// Maps an existing page and checks magic, version and size; null if it is not one. Never unmapped: callbacks may come
// at any time.
SessionPage* map_session_page(const char* path) noexcept;

// A new page at `path`, allocated, mapped and zeroed but for magic, version and size and for the task's rank, which is
// unknown. Null with errno on failure; the file is then gone.
SessionPage* create_session_page(const char* path) noexcept;

// The wrapper's part of telling ranks: fills task_rank, task_sources and task_rank_variable from its environment and
// from plan->rank_variables, which are there by then.
void set_task_rank(SessionPlan* plan, const Env& env, pid_t wrapper_pid) noexcept;

// The rank of a process of the task. The variables that --rank-from names decide where they tell a rank. Else it is the
// task's, but for a process that a launcher inside the task has given another since (resolve_new_rank): JAXPROF_RANK
// and what told the wrapper's rank are inherited by all of its processes, and a process that has dropped them is still
// the task's. Two sources may mean something else, unless the command is known to start ranks: RANK and WORLD_SIZE,
// which programs set for other ends, beat no rank that comes before them in the table; a rank without a size, as a
// library may set for itself, beats none. The result's rank_variable points into `plan` or to a literal.
RankIdentity resolve_process_rank(const SessionPlan& plan, const Env& env) noexcept;

// True if `rank` of a process is the one that the wrapper has for the task, and not one that the command has started.
bool is_rank_of_task(const SessionPlan& plan, const RankIdentity& rank) noexcept;

// Ends the recording of all processes of the task, unless it has been ended before. True if this call did it.
bool stop_recording(SessionPage* page, StopReason reason) noexcept;

// Takes the next free slot; null if none is left.
ProcessSlot* claim_slot(SessionPage* page, std::uint32_t* index) noexcept;

// Field 22 of /proc/`pid`/stat, in clock ticks since boot; 0 if the process is gone.
std::uint64_t process_start_ticks(pid_t pid) noexcept;

}  // namespace jaxprof
