// Who the ranks of a synthetic run are: what a spool's identity says, and the records that wrappers leave.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "agent/contract/task_record.h"
#include "agent/spool/identity.h"
#include "tests/synthetic/run.h"

namespace jaxprof::synthetic {

inline constexpr const char* kRunId = "1001.0.0";
inline constexpr const char* kJobId = "1001";

std::string stem_of(std::uint32_t rank);
std::string host_of(std::uint32_t node);
std::string boot_id_of(const RunPlan& plan, std::uint32_t node);
std::uint32_t tid_of(std::uint32_t rank);

std::map<spool::IdentityKey, std::string> identity_texts(const RunPlan& plan, std::uint32_t rank);
std::map<spool::IdentityKey, std::int64_t> identity_numbers(const Run& run, std::uint32_t rank, std::int64_t attach_ns);

TaskStart task_start_of(const Run& run, std::uint32_t rank);
// Of a task that ended by itself, without its processes.
TaskEnd task_end_of(const Run& run, std::uint32_t rank, std::int64_t true_ns);

}  // namespace jaxprof::synthetic
