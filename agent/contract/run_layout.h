// Where everything lies: the only place that spells a file name of the run directory or of a task's spool directory.
//
//   DIRECTORY/                     the run directory, shared by all ranks
//     STEM.jxspool                 what one process recorded, complete or not
//     STEM.jxspool.part            the same while it is being copied
//     .run-JOB.STEP.RESTART/       state of one run; several runs may share DIRECTORY
//       task.NAME.start.json       a task began (contract/task_record.h)
//       task.NAME.end.json         it ended, and what it left
//       said.WHAT                  a line that one task of the run prints for all: the first to make the mark prints
//       unprofiled.NAME            a task that runs without a wrapper: it has a start record and never an end record
//       check.NAME                 what one task found under --check; gone when the table is printed
//       node.HOST.BOOT.N.jxspool   what the N-th observer of a node recorded; BOOT is the start of the node's boot id
//       clock/                     where the observers of the run's nodes find each other; nobody else may enter
//         BOOT.NETNS.NONCE.endpoint  where one can be asked for its clock: BOOT is the whole boot id, NETNS the inode
//         of
//                                  its network namespace, NONCE another for each observer
//         reference                the boot id of the node of rank 0
//         BOOT.NETNS.NONCE.reference  the same before it has that name
//         token                    32 random bytes by which they know each other
//       t0                         when the run began, CLOCK_REALTIME in ns: what --delay counts from
//   SPOOL/                         one folder a task, on a disk of the node
//     session                      the session page
//     end.json                     the task's end record, kept here until the run directory has it
//     owner                        locked (fcntl) by the wrapper as long as it lives
//     slotN.pPID.jxspool           what the N-th process records
//     slotN.pPID.jxspool.saving    while its memory file is being saved into it: where its own end was
//     slotN.pPID.rings             its memory file
//     unattached.PID.ERRNO         an empty folder: a process that could not open the session page
//   BASE/jaxprof.UID.RUN.node/     beside the spool directories: what the tasks of one node and run share
//     unprofiled.N                 marks that count lines on stderr
//     publish                      whose turn it is to copy, and how fast (flock)
//     deadline                     when the job's time limit ends it, asked of the batch system once a node
//     deadline.asked.N             the N-th question has somebody who asks it
//     observer                     locked (fcntl) by the node's observer as long as it lives
//     observer.start.N             the N-th start of an observer has a task that does it
//     rank0                        a wrapper of rank 0 is on this node
//     plain.PID.TICKS              a task that runs without a wrapper: its pid, and its start (field 22 of its stat)
//     task.PID                     locked (fcntl) by a wrapper as long as it lives; the last task removes the folder
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace jaxprof::run_layout {

inline constexpr const char* kSpoolSuffix = ".jxspool";
inline constexpr const char* kPartSuffix = ".part";
inline constexpr const char* kRunPrefix = ".run-";
inline constexpr const char* kTaskPrefix = "task.";
inline constexpr const char* kTaskStartSuffix = ".start.json";
inline constexpr const char* kTaskEndSuffix = ".end.json";
inline constexpr const char* kSessionName = "session";
inline constexpr const char* kOwnerName = "owner";
inline constexpr const char* kKeptEndName = "end.json";
inline constexpr const char* kMarkPrefix = "said.";
inline constexpr const char* kUnforeseenRanks = "inner-ranks";  // a mark: commands have started ranks of their own
inline constexpr const char* kUnprofiledPrefix = "unprofiled.";
inline constexpr const char* kCheckPrefix = "check.";
inline constexpr const char* kNodeSpoolPrefix = "node.";
inline constexpr const char* kEndpointSuffix = ".endpoint";
inline constexpr const char* kPlainTaskPrefix = "plain.";
inline constexpr const char* kNodeFolderPrefix = "jaxprof.";
inline constexpr const char* kNodeFolderSuffix = ".node";

inline std::string run_state_directory(const std::string& directory, const std::string& run_id) {
  return directory + "/" + kRunPrefix + run_id;
}
inline std::string task_start_path(const std::string& state_directory, const std::string& task) {
  return state_directory + "/" + kTaskPrefix + task + kTaskStartSuffix;
}
inline std::string task_end_path(const std::string& state_directory, const std::string& task) {
  return state_directory + "/" + kTaskPrefix + task + kTaskEndSuffix;
}
inline std::string spool_path(const std::string& directory, const std::string& stem) {
  return directory + "/" + stem + kSpoolSuffix;
}
inline std::string part_spool_path(const std::string& directory, const std::string& stem) {
  return spool_path(directory, stem) + kPartSuffix;
}
inline std::string mark_path(const std::string& state_directory, const std::string& what) {
  return state_directory + "/" + kMarkPrefix + what;
}
inline std::string unprofiled_mark_path(const std::string& state_directory, const std::string& task) {
  return state_directory + "/" + kUnprofiledPrefix + task;
}
inline std::string check_record_path(const std::string& state_directory, const std::string& task) {
  return state_directory + "/" + kCheckPrefix + task;
}
// `attempt` counts the observers of a node from 0: one that finds the file there takes the next.
inline std::string node_spool_path(const std::string& state_directory, const std::string& host,
                                   const std::string& boot_id, std::uint32_t attempt) {
  return state_directory + "/" + kNodeSpoolPrefix + host + "." + boot_id.substr(0, 8) + "." + std::to_string(attempt) +
         kSpoolSuffix;
}
inline std::string clock_directory(const std::string& state_directory) {
  return state_directory + "/clock";
}
inline std::string clock_reference_path(const std::string& state_directory) {
  return clock_directory(state_directory) + "/reference";
}
inline std::string clock_token_path(const std::string& state_directory) {
  return clock_directory(state_directory) + "/token";
}
// `boot_id` is one for which is_clock_boot_id holds.
inline std::string clock_endpoint_path(const std::string& state_directory, const std::string& boot_id,
                                       std::uint64_t network_namespace, std::uint64_t nonce) {
  return clock_directory(state_directory) + "/" + boot_id + "." + std::to_string(network_namespace) + "." +
         std::to_string(nonce) + kEndpointSuffix;
}
// What becomes the reference: named after the endpoint at `endpoint_path`.
inline std::string clock_claim_path(const std::string& endpoint_path) {
  return endpoint_path.substr(0, endpoint_path.rfind('.')) + ".reference";
}
inline std::string start_time_path(const std::string& state_directory) {
  return state_directory + "/t0";
}
inline std::string session_path(const std::string& spool_directory) {
  return spool_directory + "/" + kSessionName;
}
inline std::string owner_path(const std::string& spool_directory) {
  return spool_directory + "/" + kOwnerName;
}
inline std::string kept_end_path(const std::string& spool_directory) {
  return spool_directory + "/" + kKeptEndName;
}
inline std::string node_publish_path(const std::string& node_directory) {
  return node_directory + "/publish";
}
inline std::string node_deadline_path(const std::string& node_directory) {
  return node_directory + "/deadline";
}
inline std::string node_deadline_mark_path(const std::string& node_directory, std::int64_t question) {
  return node_deadline_path(node_directory) + ".asked." + std::to_string(question);
}
inline std::string node_observer_path(const std::string& node_directory) {
  return node_directory + "/observer";
}
inline std::string node_observer_start_path(const std::string& node_directory, int number) {
  return node_observer_path(node_directory) + ".start." + std::to_string(number);
}
inline std::string node_rank0_path(const std::string& node_directory) {
  return node_directory + "/rank0";
}
inline std::string node_plain_task_path(const std::string& node_directory, std::int64_t pid, std::uint64_t ticks) {
  return node_directory + "/" + kPlainTaskPrefix + std::to_string(pid) + "." + std::to_string(ticks);
}
inline std::string node_task_path(const std::string& node_directory, std::int64_t pid) {
  return node_directory + "/" + kTaskPrefix + std::to_string(pid);
}

// The name under which a process writes when STEM is not its own: it is taken, or the process is not its rank's first.
inline std::string stem_of_process(const std::string& stem, const std::string& host, std::int64_t pid) {
  return stem + "." + host + "." + std::to_string(pid);
}

// The private folder of a task, and the one that all tasks of a user's run on this node share, below the spool base.
std::string task_spool_directory(const std::string& base, std::uint32_t uid, const std::string& run_id,
                                 const std::string& task, std::int64_t pid);
std::string node_marks_directory(const std::string& base, std::uint32_t uid, const std::string& run_id);

// A task's name in its records: its rank, or host and pid where no rank is known.
std::string task_name(std::int32_t rank, const std::string& host, std::int64_t pid);

// If `name` is a task's start (or end) record, its task; else "".
std::string task_of_start_record(const std::string& name);
std::string task_of_end_record(const std::string& name);
bool is_spool(const std::string& name);       // STEM.jxspool or STEM.jxspool.part
bool is_part_spool(const std::string& name);  // STEM.jxspool.part
bool is_node_spool(const std::string& name);  // node.….jxspool

// A task without a wrapper, as its file in the folder of the node names it; nothing if `name` is not such a file's.
struct PlainTask {
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;
};
std::optional<PlainTask> plain_task_of(const std::string& name);

// True if `boot_id` can be a part of an endpoint's name: 1 to 64 letters, digits and '-'.
bool is_clock_boot_id(const std::string& boot_id);

// What the name of an endpoint's file tells; nothing if `name` is not such a file's.
struct EndpointName {
  std::string boot_id;
  std::uint64_t network_namespace = 0;
  std::uint64_t nonce = 0;
  bool operator==(const EndpointName&) const = default;
};
std::optional<EndpointName> endpoint_name_of(const std::string& name);

// The user whose folder of a node this is: `name` is the last part of a node_marks_directory. Nothing if it is none.
std::optional<std::uint32_t> user_of_node_folder(const std::string& name);

}  // namespace jaxprof::run_layout
