// At its time limit a batch system ends a job with little time for last words, on all nodes at once. So recording stops
// a margin earlier, and what was recorded is published while the job still runs. Most Slurm releases do not tell a step
// when its job will end; then one wrapper of each node asks `scontrol` once, at a time of its own so that a thousand
// nodes do not ask at once, and leaves the answer for the others. Limits get extended: before it counts, it is asked
// for once more. Where there is no limit, or nobody to ask, nothing happens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agent/base/env.h"
#include "launcher/child_answer.h"

namespace jaxprof::launcher {

struct DeadlineSettings {
  std::int64_t margin_ns = 0;         // 0: no deadline is kept
  std::string job_id;                 // of Slurm; "": there is nobody to ask
  std::optional<std::int64_t> end_s;  // as the environment tells it
  std::string node_directory;         // shared by the tasks of the node; "": nobody is asked
  std::int64_t delay_ns = 0;          // how long to wait before asking
  std::string program = "scontrol";
};

// `random`: any number, to spread the nodes' questions over 50 ms a node, 60 s at most.
DeadlineSettings deadline_settings(const Env& env, std::int64_t margin_ns, const std::string& node_directory,
                                   std::uint64_t random);

// One thread. Times are CLOCK_REALTIME, which is what batch systems go by.
class Deadline {
 public:
  explicit Deadline(DeadlineSettings settings);

  // To be called about once a second. True once the recording has to stop. Never waits.
  bool poll(std::int64_t now_ns);

  // The job's end and the margin that is kept, which is never more than half of what was left when the end became
  // known: a short job shall not go unrecorded.
  std::optional<std::int64_t> end_s() const { return end_s_; }
  std::int64_t margin_ns() const { return margin_ns_; }

 private:
  void learn(std::int64_t end_s, std::int64_t now_ns);
  void read_shared_answer(std::int64_t now_ns);
  void ask(std::int64_t now_ns);
  void take_own_answer();
  bool wants_to_ask(std::int64_t now_ns) const;
  std::int64_t stop_ns() const { return *end_s_ * 1'000'000'000 - margin_ns_; }

  const DeadlineSettings settings_;
  std::optional<std::int64_t> end_s_;
  std::int64_t margin_ns_ = 0;
  std::int64_t closed_ = 0;  // number of the last question on this node that was answered, or given up
  bool has_answer_ = false;
  std::int64_t asking_ = 0;  // number of the question that is open; 0: none
  std::int64_t asking_since_ns_ = 0;
  bool is_asker_ = false;                        // this wrapper asks it
  std::optional<std::int64_t> confirmed_end_s_;  // asked for a second time
  std::optional<ChildAnswer> answer_;
};

}  // namespace jaxprof::launcher
