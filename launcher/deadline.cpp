#include "launcher/deadline.h"

#include <algorithm>
#include <utility>

#include "agent/base/atomic_file.h"
#include "agent/base/parse_number.h"
#include "agent/contract/run_layout.h"
#include "launcher/run_marks.h"
#include "launcher/time_limit.h"

namespace jaxprof::launcher {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr unsigned kAskLimitS = 10;
constexpr std::int64_t kMaxSpreadNs = 60 * kSecondNs;
constexpr std::int64_t kSpreadPerNodeNs = 50'000'000;
// The second question is asked so long before its answer is needed, and the node's own delay more.
constexpr std::int64_t kLeadNs = (kAskLimitS + 2) * kSecondNs;
// Whoever was to ask is dead if no answer has come by then.
constexpr std::int64_t kPatienceNs = kMaxSpreadNs + 2 * kLeadNs;
constexpr std::int64_t kNoEnd = -1;  // in the shared answer

struct SharedAnswer {
  std::int64_t number = 0;  // of the question
  std::int64_t end_s = kNoEnd;
};

std::optional<SharedAnswer> read_answer(const std::string& path) {
  const auto text = read_small_file(path, 64);
  if (!text) return std::nullopt;
  const std::size_t blank = text->find(' ');
  const std::size_t end = text->find('\n');
  if (blank == std::string::npos || end == std::string::npos || blank > end) return std::nullopt;
  const auto number = parse_int64(std::string_view(*text).substr(0, blank));
  const auto end_s = parse_int64(std::string_view(*text).substr(blank + 1, end - blank - 1));
  if (!number || !end_s) return std::nullopt;
  return SharedAnswer{*number, *end_s};
}

}  // namespace

DeadlineSettings deadline_settings(const Env& env, std::int64_t margin_ns, const std::string& node_directory,
                                   std::uint64_t random) {
  DeadlineSettings settings;
  settings.margin_ns = margin_ns;
  settings.node_directory = node_directory;
  settings.end_s = end_time_of(env);
  if (const char* job = env.get("SLURM_JOB_ID"); job != nullptr) settings.job_id = job;
  const std::int64_t nodes = std::min(node_count(env), kMaxSpreadNs / kSpreadPerNodeNs);
  settings.delay_ns = static_cast<std::int64_t>(random % static_cast<std::uint64_t>(nodes * kSpreadPerNodeNs));
  return settings;
}

Deadline::Deadline(DeadlineSettings settings) : settings_(std::move(settings)) {}

bool Deadline::poll(std::int64_t now_ns) {
  if (settings_.margin_ns == 0) return false;
  // An end that has passed is one of another job, whose environment this one inherited.
  if (!end_s_ && !has_answer_ && settings_.end_s) learn(*settings_.end_s, now_ns);
  if (!settings_.job_id.empty() && !settings_.node_directory.empty()) {
    take_own_answer();
    read_shared_answer(now_ns);
    if (wants_to_ask(now_ns)) ask(now_ns);
  }
  return end_s_ && now_ns >= stop_ns();
}

void Deadline::learn(std::int64_t end_s, std::int64_t now_ns) {
  if (end_s == end_s_ || end_s > INT64_MAX / kSecondNs) return;
  const std::int64_t left_ns = end_s * kSecondNs - now_ns;
  if (left_ns <= 0) return;
  end_s_ = end_s;
  margin_ns_ = std::min(settings_.margin_ns, left_ns / 2);
}

bool Deadline::wants_to_ask(std::int64_t now_ns) const {
  if (asking_ != 0) return true;
  if (!end_s_) return !has_answer_;
  return confirmed_end_s_ != end_s_ && now_ns >= stop_ns() - kLeadNs - settings_.delay_ns;
}

void Deadline::ask(std::int64_t now_ns) {
  if (asking_ == 0) {
    asking_ = closed_ + 1;
    asking_since_ns_ = now_ns;
    is_asker_ = make_mark(run_layout::node_deadline_mark_path(settings_.node_directory, asking_));
  }
  if (now_ns - asking_since_ns_ > kPatienceNs) {  // the next question is anybody's
    closed_ = std::exchange(asking_, 0);
    answer_.reset();
    return;
  }
  // The second question has waited already.
  const bool is_time = end_s_ || now_ns - asking_since_ns_ >= settings_.delay_ns;
  if (!is_asker_ || answer_ || !is_time) return;
  answer_ = ChildAnswer::of_command({settings_.program, "show", "job", "-o", settings_.job_id},
                                    {"SLURM_TIME_FORMAT=%s"}, kAskLimitS);
}

void Deadline::take_own_answer() {
  if (!answer_) return;
  const auto text = answer_->poll();
  if (!text) return;
  const std::int64_t end_s = parse_end_time(*text).value_or(kNoEnd);
  answer_.reset();
  is_asker_ = false;  // where the answer cannot be written, the question is open until patience ends
  const std::string line = std::to_string(asking_) + " " + std::to_string(end_s) + "\n";
  // Its readers are on this node. Where it cannot be written, nobody learns of it, which is what patience is for.
  auto shared = write_atomic_file(run_layout::node_deadline_path(settings_.node_directory), line, Publish::kReplace,
                                  Durable::kInCache);
  (void)shared;
}

void Deadline::read_shared_answer(std::int64_t now_ns) {
  const auto shared = read_answer(run_layout::node_deadline_path(settings_.node_directory));
  if (!shared || shared->number <= closed_) return;
  const std::optional<std::int64_t> before = end_s_;
  closed_ = shared->number;
  has_answer_ = true;
  asking_ = 0;
  if (shared->end_s > 0) learn(shared->end_s, now_ns);
  // The same end again, or no answer: it stands. Another one will be asked for again when it is near.
  if (before == end_s_) confirmed_end_s_ = end_s_;
}

}  // namespace jaxprof::launcher
