#include "launcher/slot_copy.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "agent/contract/run_layout.h"
#include "agent/spool/ring_salvage.h"
#include "launcher/slot_text.h"

namespace jaxprof::launcher {
namespace {

// -1: there is no such file.
std::int64_t size_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? static_cast<std::int64_t>(status.st_size) : -1;
}

void add_note(std::string* note, const std::string& text) {
  if (text.empty()) return;
  *note += (note->empty() ? "" : "; ") + text;
}

const char* window_state_name(WindowState state) {
  switch (state) {
    case WindowState::kArmed:
      return "armed";
    case WindowState::kOpen:
      return "open";
    case WindowState::kDone:
      return "done";
  }
  return "";
}

// The page is memory of the job's: whatever stands there, sums of counts stay sums, also those over all tasks of a run.
constexpr std::int64_t kMostEvents = std::int64_t{1} << 48;
std::int64_t add_count(std::int64_t sum, std::uint64_t count) {
  const auto room = static_cast<std::uint64_t>(std::max<std::int64_t>(kMostEvents - sum, 0));
  return sum + static_cast<std::int64_t>(std::min(count, room));
}

}  // namespace

SlotCopy::SlotCopy(const SpoolSource& source, std::uint32_t index)
    : source_(source), slot_(source.page->slots[index]), index_(index) {}

void SlotCopy::advance(NameClaims& names, const Pace& pace, std::span<char> room) {
  if (!published_name_.empty()) return;
  const SlotState state = slot_.state.load(std::memory_order_acquire);
  const bool has_spool = state == SlotState::kRecording || state == SlotState::kEnded;
  if (!has_spool || slot_.spool_bytes.load(std::memory_order_acquire) == 0) return;
  find_end();
  if (!spool_path_.empty() && published_name_.empty()) {
    if (!publish(names, pace, room, false)) return;
  }
}

PublishedProcess SlotCopy::finish(NameClaims& names, const Pace& pace, std::span<char> room) {
  PublishedProcess process;
  process.slot = index_;
  process.pid = slot_.pid;
  process.rank = slot_.rank.rank;
  process.note = text_of(slot_.note);
  const SlotState state = slot_.state.load(std::memory_order_acquire);
  if (state == SlotState::kNotSelected) {
    process.state = "not-selected";
  } else if (state == SlotState::kFailed) {
    process.state = "failed";
  } else if (state == SlotState::kStopped) {
    process.state = "stopped";
  } else {
    find_end();
    const std::int64_t size = spool_path_.empty() ? -1 : size_of(spool_path_);
    Status published;
    // What has vanished from the folder can still be read by whoever has it open.
    if (!published_name_.empty() || size > 0 || publisher_) {
      process.state = end_ == End::kEnded ? "ended" : end_ == End::kSaved ? "saved" : "cut";
      if (published_name_.empty()) published = publish(names, pace, room, true);
    } else if (!spool_path_.empty() && size < 0 && name_part(&process)) {
      process.state = "cut";
      process.note = "its spool vanished from the node";
    } else {
      process.state = "failed";
      process.note = spool_path_.empty() ? "it ended while the agent was starting"
                     : size == 0         ? "its spool is empty"
                                         : "its spool " + spool_path_ + " is gone";
    }
    add_note(&process.note, saving_note_);
    if (!published) {
      add_note(&process.note, published.error().message);
      if (size >= 0) {
        process.kept = spool_path_;
      } else {
        process.state = "cut";
        add_note(&process.note, "its spool vanished from the node");
        name_part(&process);
      }
    }
  }
  if (!published_name_.empty()) {
    process.spool = published_name_;
    process.bytes = static_cast<std::int64_t>(published_bytes_);
  } else if (process.spool.empty()) {
    process.bytes = static_cast<std::int64_t>(published_bytes_);
  }
  process.events = add_count(static_cast<std::int64_t>(saved_events_), slot_.events.load(std::memory_order_relaxed));
  if (!is_always_open(source_.page->plan.window)) {
    process.window = window_state_name(slot_.window.load(std::memory_order_relaxed));
    process.segments = slot_.segments.load(std::memory_order_relaxed);
  }
  if (slot_.gpu_mode.load(std::memory_order_acquire) == GpuMode::kUnavailable) {
    process.gpu_fault = text_of(slot_.gpu_note);
    if (process.gpu_fault.empty()) process.gpu_fault = "CUPTI could not be used";
  }
  for (std::uint16_t i = 0; i < static_cast<std::uint16_t>(Drop::kCount); ++i) {
    if (is_kept_in_part(static_cast<Drop>(i))) continue;
    process.dropped = add_count(process.dropped, slot_.drops[i].load(std::memory_order_relaxed));
  }
  if (end_ == End::kSaved) process.dropped = add_count(process.dropped, lost_gpu_buffers());
  return process;
}

bool SlotCopy::name_part(PublishedProcess* process) const {
  const std::string stem = text_of(slot_.published_stem);
  if (!is_plain_name(stem)) return false;
  const std::int64_t size = size_of(run_layout::part_spool_path(source_.run_directory, stem));
  if (size <= 0) return false;
  process->spool = stem + run_layout::kSpoolSuffix + run_layout::kPartSuffix;
  process->bytes = size;
  return true;
}

bool SlotCopy::is_running() const {
  if (!source_.is_present(slot_)) return false;
  // Has the process attached again since, under another image?
  const std::uint32_t claimed = source_.page->claimed_slots.load(std::memory_order_acquire);
  for (std::uint32_t later = index_ + 1; later < std::min(claimed, kMaxProcessSlots); ++later) {
    const ProcessSlot& other = source_.page->slots[later];
    if (other.pid == slot_.pid && other.start_ticks == slot_.start_ticks) return false;
  }
  return true;
}

void SlotCopy::find_earlier_copy() {
  const std::string stem = text_of(slot_.published_stem);
  if (!is_plain_name(stem)) return;
  const std::string path = run_layout::spool_path(source_.run_directory, stem);
  const std::int64_t size = size_of(path);
  const std::int64_t spool_size = size_of(spool_path_);
  const bool is_whole = spool_size < 0 || (spool_size == size && spool::is_copy_of_spool(spool_path_, path));
  if (size <= 0 || !is_whole) return;
  published_name_ = stem + run_layout::kSpoolSuffix;
  published_bytes_ = static_cast<std::uint64_t>(size);
  end_ = slot_.state.load(std::memory_order_acquire) == SlotState::kEnded ? End::kEnded : End::kSaved;
}

void SlotCopy::find_end() {
  if (spool_path_.empty()) {
    const std::string name = text_of(slot_.spool_name);
    if (!is_plain_name(name)) return;
    spool_path_ = source_.spool_directory + "/" + name;
    find_earlier_copy();
  }
  if (end_ != End::kOpen || !published_name_.empty()) return;
  const bool is_gone = !is_running();  // asked first: what a process does before it ends is then seen
  if (slot_.state.load(std::memory_order_acquire) == SlotState::kEnded) {
    end_ = End::kEnded;
  } else if (is_gone && save_rings()) {
    end_ = End::kSaved;
  }
}

// It is in no file, but in memory that is gone.
std::uint64_t SlotCopy::lost_gpu_buffers() const {
  return slot_.gpu_buffers_held.load(std::memory_order_acquire);
}

// What the process had recorded and not written when it was killed, crashed, left by _exit or became another image by
// exec. True if its spool is complete now.
bool SlotCopy::save_rings() {
  if (size_of(spool_path_) <= 0) return false;
  std::vector<spool::CounterRecord> counters;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(Drop::kCount); ++i) {
    std::uint64_t count = slot_.drops[i].load(std::memory_order_relaxed);
    if (i == static_cast<std::uint32_t>(Drop::kGpuUnflushed)) count += lost_gpu_buffers();
    if (count > 0) counters.push_back({i, 0, count});
  }
  const std::string ring_name = text_of(slot_.ring_name);
  if (!is_plain_name(ring_name)) return false;
  const std::string memory_path = source_.spool_directory + "/" + ring_name;
  const bool has_lost = slot_.drops[static_cast<int>(Drop::kSpoolWriteFailed)].load(std::memory_order_relaxed) > 0;
  const auto reason = has_lost ? spool::FooterReason::kWriteFailed : spool::FooterReason::kSaved;
  const auto saved =
      spool::salvage_rings(memory_path, spool_path_, counters, slot_.events.load(std::memory_order_relaxed),
                           source_.ended_realtime_ns, reason);
  saving_note_ = saved ? "" : saved.error().message;
  if (!saved) return false;
  saved_events_ = saved->events;
  if (saved->damaged_rings > 0) {
    saving_note_ = std::to_string(saved->damaged_rings) + " rings could not be read to their end";
  }
  return true;
}

Status SlotCopy::publish(NameClaims& names, const Pace& pace, std::span<char> room, bool is_last) {
  if (!pace.may_go_on()) return fail(ErrorCode::kOutputFailed, "no time was left to publish it");
  // A spool that ends without a footer goes as it is once nobody can add to it.
  const bool is_running_on = end_ == End::kOpen && is_running();
  const bool is_settled = end_ != End::kOpen || (is_last && !is_running_on);
  const std::uint64_t whole_blocks = slot_.spool_bytes.load(std::memory_order_acquire);
  if (!publisher_) {
    if (auto opened = open_copy(names); !opened) return opened;
  }
  auto copied = copy(pace, room, is_settled ? UINT64_MAX : whole_blocks);
  published_bytes_ = publisher_ ? publisher_->published_bytes() : published_bytes_;
  if (!copied) return copied;
  if (is_settled) return give_name();
  if (!is_last) return {};
  return fail(ErrorCode::kOutputFailed, "it outlived its task and goes on recording; copied so far: " +
                                            run_layout::part_spool_path(source_.run_directory, claim_->stem));
}

Status SlotCopy::open_copy(NameClaims& names) {
  auto claim = names.claim_for(slot_, spool_path_);
  if (!claim) return tl::unexpected(std::move(claim.error()));
  claim_ = std::move(*claim);
  auto publisher =
      spool::Publisher::open(spool_path_, run_layout::part_spool_path(source_.run_directory, claim_->stem));
  if (!publisher) return tl::unexpected(std::move(publisher.error()));
  publisher_.emplace(std::move(*publisher));
  return {};
}

Status SlotCopy::copy(const Pace& pace, std::span<char> room, std::uint64_t end) {
  while (publisher_->published_bytes() < end) {
    if (!pace.begin_piece()) {
      return fail(ErrorCode::kOutputFailed, "time was up while it was copied to " +
                                                run_layout::part_spool_path(source_.run_directory, claim_->stem));
    }
    const std::uint64_t left = end - publisher_->published_bytes();
    auto copied = publisher_->copy_piece(room.first(std::min<std::uint64_t>(room.size(), left)));
    pace.end_piece(copied.value_or(0));
    if (!copied) {
      publisher_.reset();  // the next attempt opens it anew: the file may be another by then
      return tl::unexpected(std::move(copied.error()));
    }
    if (*copied == 0) break;
  }
  return {};
}

Status SlotCopy::give_name() {
  const std::string final_path = run_layout::spool_path(source_.run_directory, claim_->stem);
  const auto named = publisher_->finish(
      final_path, claim_->is_replacing ? spool::Publisher::Name::kReplace : spool::Publisher::Name::kIfAbsent);
  publisher_.reset();
  if (!named) return tl::unexpected(named.error());
  if (!*named) {
    return fail(ErrorCode::kOutputFailed, final_path + " was taken by another; the copy is " +
                                              run_layout::part_spool_path(source_.run_directory, claim_->stem));
  }
  published_name_ = claim_->stem + run_layout::kSpoolSuffix;
  unlink(spool_path_.c_str());
  if (const std::string ring_name = text_of(slot_.ring_name); is_plain_name(ring_name)) {
    unlink((source_.spool_directory + "/" + ring_name).c_str());
  }
  return {};
}

}  // namespace jaxprof::launcher
