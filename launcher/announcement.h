// The two lines that a job's stderr gets: "4 of 4 ranks traced, output prof/5.0/" before it starts, and what was
// written after it ended. The first is computed by rank 0 alone, from the command line and the launcher's variables,
// since no rank waits for another; where they do not tell the number, the line says what is known instead of guessing.
// Functions from values to values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/env.h"
#include "agent/contract/task_record.h"
#include "launcher/launch_plan.h"

namespace jaxprof::launcher {

// How many of the job's ranks `selection` takes. None if that depends on what one rank cannot know of the others: how
// ranks lie on nodes, or variables of theirs.
std::optional<std::int64_t> count_selected_ranks(const RankSelection& selection, const RankIdentity& own,
                                                 const Env& env);

std::string first_line(const Options& options, const LaunchPlan& plan, const Env& env);

// The line after the last task's end. `expected_ranks`: count_selected_ranks, if known.
std::string last_line(const std::vector<TaskEnd>& ends, std::optional<std::int64_t> expected_ranks,
                      const std::string& directory, const WindowPlan& window = {});

// 41200 -> "41 200"; 1234567 -> "1.2 MB".
std::string grouped(std::int64_t number);
std::string readable_bytes(std::int64_t bytes);

}  // namespace jaxprof::launcher
