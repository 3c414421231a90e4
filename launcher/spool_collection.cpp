#include "launcher/spool_collection.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "agent/base/clocks.h"
#include "agent/contract/run_layout.h"
#include "agent/spool/ring_salvage.h"

namespace jaxprof::launcher {
namespace {

// Text of a slot, which its process may have left half written.
template <std::size_t N>
std::string text_of(const char (&text)[N]) {
  return std::string(text, std::find(text, text + N, '\0'));
}

std::int64_t size_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? static_cast<std::int64_t>(status.st_size) : 0;
}

bool is_running(const ProcessSlot& slot) {
  return slot.start_ticks != 0 && process_start_ticks(slot.pid) == slot.start_ticks;
}

class Collection {
 public:
  Collection(const Task& task, const spool::IsTimeUp& is_time_up)
      : task_(task), directory_(task.plan.directory), unused_claim_(task.claim), is_time_up_(is_time_up) {}

  PublishedProcess collect(std::uint32_t index) {
    const ProcessSlot& slot = task_.page->slots[index];
    PublishedProcess process;
    process.slot = index;
    process.pid = slot.pid;
    process.rank = slot.rank.rank;
    process.note = text_of(slot.note);
    process.events = static_cast<std::int64_t>(slot.events.load(std::memory_order_relaxed));
    for (const auto& drops : slot.drops) {
      process.dropped += static_cast<std::int64_t>(drops.load(std::memory_order_relaxed));
    }
    const SlotState state = slot.state.load(std::memory_order_acquire);
    const std::string name = text_of(slot.spool_name);
    if (state == SlotState::kNotSelected) {
      process.state = "not-selected";
    } else if (state == SlotState::kFailed) {
      process.state = "failed";
    } else if (name.empty() || name.find('/') != std::string::npos) {
      process.state = "failed";
      process.note = "it ended while the agent was starting";
    } else if (const std::string path = task_.spool_directory + "/" + name; size_of(path) == 0) {
      process.state = "failed";
      process.note = "its spool is empty";
    } else {
      process.state = state == SlotState::kEnded ? "ended" : save_rings(index, path, &process) ? "saved" : "cut";
      if (auto status = publish(slot, path, process.state != "cut", &process); !status) {
        process.kept = path;
        add_note(&process, status.error().message);
      }
    }
    return process;
  }

  const std::optional<OutputClaim>& unused_claim() const { return unused_claim_; }

 private:
  static void add_note(PublishedProcess* process, const std::string& note) {
    process->note += (process->note.empty() ? "" : "; ") + note;
  }

  // What the process had recorded and not written when it was killed, crashed, left by _exit or became another image by
  // exec. True if its spool is complete now.
  bool save_rings(std::uint32_t index, const std::string& spool_path, PublishedProcess* process) const {
    const ProcessSlot& slot = task_.page->slots[index];
    if (is_running(slot) && !has_successor(index)) return false;
    std::vector<spool::CounterRecord> counters;
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(Drop::kCount); ++i) {
      const std::uint64_t count = slot.drops[i].load(std::memory_order_relaxed);
      if (count > 0) counters.push_back({i, 0, count});
    }
    const auto saved = spool::salvage_rings(task_.spool_directory + "/" + text_of(slot.ring_name), spool_path, counters,
                                            slot.events.load(std::memory_order_relaxed));
    if (!saved) {
      add_note(process, saved.error().message);
      return false;
    }
    process->events += static_cast<std::int64_t>(saved->events);
    if (saved->damaged_rings > 0) {
      add_note(process, std::to_string(saved->damaged_rings) + " rings could not be read to their end");
    }
    return true;
  }

  // Has the process attached again since, under another image?
  bool has_successor(std::uint32_t index) const {
    const ProcessSlot& slot = task_.page->slots[index];
    const std::uint32_t claimed = std::min(task_.page->claimed_slots.load(std::memory_order_acquire), kMaxProcessSlots);
    for (std::uint32_t later = index + 1; later < claimed; ++later) {
      const ProcessSlot& other = task_.page->slots[later];
      if (other.pid == slot.pid && other.start_ticks == slot.start_ticks) return true;
    }
    return false;
  }

  // The name for a process: its own STEM for the first one of it, else with host and pid.
  Result<OutputClaim> claim_for(const ProcessSlot& slot) {
    const std::string stem = text_of(slot.stem);
    if (unused_claim_ && unused_claim_->stem == stem) return *std::exchange(unused_claim_, std::nullopt);
    const std::string own = run_layout::stem_of_process(stem, task_.node.host, slot.pid);
    const bool is_first = seen_stems_.insert(stem).second && (!task_.claim || task_.claim->stem != stem);
    for (const std::string& candidate : {is_first ? stem : own, own, own + ".1", own + ".2"}) {
      auto claim = claim_output(directory_, candidate, task_.claim_rules);
      if (!claim) return tl::unexpected(std::move(claim.error()));
      if (*claim) return **claim;
    }
    return fail(ErrorCode::kOutputFailed, run_layout::spool_path(directory_, own) + " is taken");
  }

  Status publish(const ProcessSlot& slot, const std::string& path, bool is_ended, PublishedProcess* process) {
    if (is_time_up_()) return fail(ErrorCode::kOutputFailed, "no time was left to publish it");
    const auto claim = claim_for(slot);
    if (!claim) return tl::unexpected(claim.error());
    const std::string part_path = run_layout::part_spool_path(directory_, claim->stem);
    auto publisher = spool::Publisher::open(path, part_path);
    if (!publisher) return tl::unexpected(std::move(publisher.error()));
    if (auto copied = publisher->advance(is_time_up_); !copied) return tl::unexpected(std::move(copied.error()));
    process->bytes = static_cast<std::int64_t>(publisher->published_bytes());
    if (!publisher->is_level())
      return fail(ErrorCode::kOutputFailed, "time was up while it was copied to " + part_path);
    if (!is_ended && is_running(slot)) {
      return fail(ErrorCode::kOutputFailed, "it outlived its task and goes on recording; copied so far: " + part_path);
    }
    const std::string final_path = run_layout::spool_path(directory_, claim->stem);
    const auto named = publisher->finish(
        final_path, claim->is_replacing ? spool::Publisher::Name::kReplace : spool::Publisher::Name::kIfAbsent);
    if (!named) return tl::unexpected(named.error());
    if (!*named) return fail(ErrorCode::kOutputFailed, final_path + " was taken by another; the copy is " + part_path);
    process->spool = claim->stem + run_layout::kSpoolSuffix;
    return {};
  }

  const Task& task_;
  const std::string& directory_;
  std::optional<OutputClaim> unused_claim_;
  std::set<std::string> seen_stems_;
  const spool::IsTimeUp& is_time_up_;
};

}  // namespace

TaskEnd collect_spools(const Task& task, const JobStatus& job, const spool::IsTimeUp& is_time_up) {
  TaskEnd end;
  end.task = task.name;
  end.exit_code = job.exit_code;
  end.signal = job.signal;
  end.realtime_ns = clock_ns(CLOCK_REALTIME);
  Collection collection(task, is_time_up);
  const std::uint32_t claimed = task.page->claimed_slots.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < std::min(claimed, kMaxProcessSlots); ++i) {
    end.processes.push_back(collection.collect(i));
  }
  if (claimed > kMaxProcessSlots) {
    end.notes.push_back(std::to_string(claimed - kMaxProcessSlots) +
                        " more processes than the session page has slots (" + std::to_string(kMaxProcessSlots) +
                        ") were not recorded");
  }
  if (job.exec_errno != 0) {
    end.notes.push_back(describe_exec_failure(task.start.command.front(), job.exec_errno));
  } else if (claimed == 0) {
    end.notes.push_back("no process called NVTX, CUDA or NCCL");
  }
  if (collection.unused_claim()) release_claim(task.plan.directory, *collection.unused_claim());
  const bool is_all_published =
      std::all_of(end.processes.begin(), end.processes.end(), [](const PublishedProcess& p) { return p.kept.empty(); });
  if (is_all_published) remove_spool_directory(task);
  return end;
}

}  // namespace jaxprof::launcher
