// Lateness by member, then gathered by subject.
#include "merge/study/lateness.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "merge/study/arrival_words.h"
#include "merge/study/distribution.h"
#include "merge/study/human.h"
#include "merge/study/in_parallel.h"
#include "merge/study/member_lateness.h"
#include "merge/study/select_percentile.h"
#include "merge/study/subjects.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

constexpr std::size_t kAll = static_cast<std::size_t>(-1);

// How often; instances of one subject.
struct Counts {
  std::int64_t n = 0;
  std::int64_t n_last = 0;
  std::int64_t n_first = 0;
  std::int64_t n_resolved = 0;
  std::int64_t n_last_resolved = 0;
  std::int64_t n_first_resolved = 0;
  std::int64_t n_certain = 0;
  std::size_t newest = kAll;  // instance that was counted last
};

// Does the shortest kernel belong to who came last?
struct Agreement {
  std::int64_t n = 0;
  std::int64_t n_equal = 0;
  std::optional<double> share() const {
    return n == 0 ? std::nullopt : std::optional(static_cast<double>(n_equal) / static_cast<double>(n));
  }
};

// Of one subject.
struct Percentiles {
  std::optional<double> p05, p50, p95;
  std::int64_t max = 0;
};

std::vector<Column> columns(const Subjects& subjects, bool is_of_comms) {
  std::vector<Column> all = subjects.columns();
  const std::vector<Column> rest = {{"instances", "instances"},
                                    {"late_p50_ns", "late p50", Unit::kTimeNs, is_of_comms},
                                    {"late_p95_ns", "late p95", Unit::kTimeNs, is_of_comms},
                                    {"late_max_ns", "late max", Unit::kTimeNs, true},
                                    {"off_middle_p05_ns", "off p05", Unit::kTimeNs, true},
                                    {"off_middle_p50_ns", "off p50", Unit::kTimeNs, is_of_comms},
                                    {"off_middle_p95_ns", "off p95", Unit::kTimeNs, true},
                                    {"self_p50_ns", "own p50", Unit::kTimeNs, is_of_comms},
                                    {"self_p95_ns", "own p95", Unit::kTimeNs, is_of_comms},
                                    {"spread_p50_ns", "spread p50", Unit::kTimeNs, !is_of_comms},
                                    {"spread_p95_ns", "spread p95", Unit::kTimeNs, !is_of_comms},
                                    {"last_share", "last", Unit::kRatio, is_of_comms},
                                    {"first_share", "first", Unit::kRatio, is_of_comms},
                                    {"last_resolved_share", "last, resolved", Unit::kRatio, true},
                                    {"first_resolved_share", "first, resolved", Unit::kRatio, true},
                                    {"resolved", "resolved", Unit::kNone, !is_of_comms},
                                    {"certain", "certain"},
                                    {"resolution_ns", "clocks", Unit::kTimeNs, true}};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

class Lateness {
 public:
  Lateness(const RunTables& run, const StudyOptions& options, const Arrivals& arrivals, const Judged& judged)
      : options_(options),
        arrivals_(arrivals),
        judged_(judged),
        subjects_(run, arrivals, options.by.value_or(By::kRank)),
        resolution_ns_(resolutions_ns(run, arrivals)),
        counts_(subjects_.size()) {}

  void fill(Table& table) {
    count();
    measure();
    table.columns = columns(subjects_, options_.by == By::kComm);
    for (std::size_t subject = 0; subject < subjects_.size(); ++subject) {
      if (is_shown(subject)) table.rows.push_back(row_of(subject));
    }
    table.verdict = verdict();
    if (const auto share = agreement_.share()) {
      table.parameters.emplace_back("agreement", *share);
      table.parameters.emplace_back("agreement_instances", agreement_.n);
    }
    if (const std::string warning = doubt(); !warning.empty()) {
      table.notes.insert(table.notes.begin(), warning);
      table.finding = Finding::kWarning;
    }
  }

 private:
  bool is_shown(std::size_t subject) const {
    if (counts_[subject].n == 0) return false;
    const Subject& s = subjects_.at(subject);
    if (s.rank >= 0 || s.ranks.empty())
      return s.comm_rank < 0 && s.node == kNoIndex ? true : is_rank_wanted(s.rank, options_);
    return std::any_of(s.ranks.begin(), s.ranks.end(),
                       [this](std::int32_t rank) { return is_rank_wanted(rank, options_); });
  }

  void count() {
    for (std::size_t instance = 0; instance < arrivals_.size(); ++instance) {
      if (judged_.is_counted[instance] == 0) continue;
      const auto starts_ns = arrivals_.starts_ns(instance);
      const std::size_t begin = arrivals_.begin(instance);
      const auto first =
          static_cast<std::size_t>(std::min_element(starts_ns.begin(), starts_ns.end()) - starts_ns.begin());
      const auto last =
          starts_ns.size() - 1 -
          static_cast<std::size_t>(std::max_element(starts_ns.rbegin(), starts_ns.rend()) - starts_ns.rbegin());
      const bool is_resolved = arrivals_.has(instance, kArrivalResolved);
      for (std::size_t i = 0; i < starts_ns.size(); ++i) {
        Counts& counts = counts_[subjects_.of(begin + i)];
        if (counts.newest == instance) continue;  // another member of it
        counts.newest = instance;
        ++counts.n;
        counts.n_resolved += is_resolved ? 1 : 0;
        counts.n_certain += arrivals_.has(instance, kArrivalCertain) ? 1 : 0;
      }
      Counts& of_first = counts_[subjects_.of(begin + first)];
      Counts& of_last = counts_[subjects_.of(begin + last)];
      ++of_first.n_first;
      ++of_last.n_last;
      of_first.n_first_resolved += is_resolved ? 1 : 0;
      of_last.n_last_resolved += is_resolved ? 1 : 0;
      compare_lengths(instance);
    }
  }

  void compare_lengths(std::size_t instance) {
    if (!arrivals_.is_gpu || !arrivals_.has(instance, kArrivalSynchronizing | kArrivalResolved)) return;
    const std::int64_t limit_ns = std::max(kSignificantNs, resolution_ns_[instance]);
    const std::int64_t last_ns = arrivals_.instances.last_ns[instance];
    if (span_ns(arrivals_.instances.first_ns[instance], last_ns) <= limit_ns) return;
    const ArrivalMembers& members = arrivals_.members;
    std::size_t shortest = arrivals_.begin(instance);
    const auto length_ns = [&members](std::size_t i) { return span_ns(members.start_ns[i], members.end_ns[i]); };
    for (std::size_t i = shortest + 1; i < arrivals_.end(instance); ++i) {
      if (length_ns(i) < length_ns(shortest)) shortest = i;
    }
    ++agreement_.n;
    if (span_ns(members.start_ns[shortest], last_ns) <= limit_ns) ++agreement_.n_equal;
  }

  // Percentiles of `column` by subject, of what is there of it. `scratch` is as long as the column.
  std::vector<Percentiles> percentiles_of(const std::vector<std::int64_t>& column, std::vector<std::int64_t>& scratch) {
    std::vector<std::size_t> end(offset_.begin(), offset_.end() - 1);
    for (std::size_t i = 0; i < column.size(); ++i) {
      if (column[i] != kNoLateness) scratch[end[subjects_.of(i)]++] = column[i];
    }
    std::vector<Percentiles> found(subjects_.size());
    in_parallel(subjects_.size(), 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t subject = first; subject < last; ++subject) {
        const auto own = std::span(scratch).subspan(offset_[subject], end[subject] - offset_[subject]);
        if (own.empty()) continue;
        Percentiles& p = found[subject];
        p.p50 = select_percentile(own, 0.5);
        p.max = *std::max_element(own.begin(), own.end());
        if (own.size() < kMinForP05) continue;
        p.p05 = select_percentile(own, 0.05);
        p.p95 = select_percentile(own, 0.95);
      }
    });
    return found;
  }

  void measure() {
    MemberLateness by_member = member_lateness(arrivals_, judged_.is_counted);
    std::vector<std::int64_t> scratch(by_member.self_ns.size());
    offset_ = subjects_.offsets();
    late_ns_ = percentiles_of(by_member.after_first_ns, scratch);
    off_ns_ = percentiles_of(by_member.off_middle_ns, scratch);
    self_ns_ = percentiles_of(by_member.self_ns, scratch);
    // Of the instance, for each of its members: by_member's columns serve once more.
    std::vector<std::int64_t>& spread_ns = by_member.off_middle_ns;
    std::vector<std::int64_t>& clock_ns = by_member.self_ns;
    for (std::size_t instance = 0; instance < arrivals_.size(); ++instance) {
      const bool is_counted = judged_.is_counted[instance] != 0;
      const std::int64_t apart_ns =
          span_ns(arrivals_.instances.first_ns[instance], arrivals_.instances.last_ns[instance]);
      for (std::size_t i = arrivals_.begin(instance); i < arrivals_.end(instance); ++i) {
        spread_ns[i] = is_counted ? apart_ns : kNoLateness;
        clock_ns[i] = is_counted && resolution_ns_[instance] >= 0 ? resolution_ns_[instance] : kNoLateness;
      }
    }
    spread_ns_ = percentiles_of(spread_ns, scratch);
    clock_ns_ = percentiles_of(clock_ns, scratch);
  }

  static Cell cell(const std::optional<double>& value) { return value ? Cell{*value} : Cell{Missing{}}; }

  // "≤ 12 µs" for people, where clocks tell nothing of less.
  Cell limited(const std::optional<double>& value, const std::optional<double>& clock_ns) const {
    if (!value || options_.is_for_programs || !clock_ns || *value > *clock_ns || *clock_ns <= 0) return cell(value);
    return "≤ " + human_time(*clock_ns);
  }

  Row row_of(std::size_t subject) {
    const Counts& c = counts_[subject];
    const auto share = [](std::int64_t part, std::int64_t whole) {
      return whole == 0 ? Cell{Missing{}} : Cell{static_cast<double>(part) / static_cast<double>(whole)};
    };
    const std::optional<double> clock_ns = clock_ns_[subject].p50;
    const Percentiles& off = off_ns_[subject];
    Row row = subjects_.cells(subject);
    const Row rest = {c.n,
                      limited(late_ns_[subject].p50, clock_ns),
                      limited(late_ns_[subject].p95, clock_ns),
                      late_ns_[subject].max,
                      cell(off.p05),
                      cell(off.p50),
                      cell(off.p95),
                      cell(self_ns_[subject].p50),
                      cell(self_ns_[subject].p95),
                      limited(spread_ns_[subject].p50, clock_ns),
                      limited(spread_ns_[subject].p95, clock_ns),
                      share(c.n_last, c.n),
                      share(c.n_first, c.n),
                      share(c.n_last_resolved, c.n_resolved),
                      share(c.n_first_resolved, c.n_resolved),
                      c.n_resolved,
                      fmt::format("{} of {}", c.n_certain, c.n),
                      cell(clock_ns)};
    row.insert(row.end(), rest.begin(), rest.end());
    return row;
  }

  // "rank 3 (node n1) is last in 93 % of 80 instances, own lateness 1.2 ms in the median; …"
  std::string verdict() {
    std::string text =
        fmt::format("{}, {} resolved", count_of(judged_.n, "instance"), judged_.n - judged_.n_unresolved);
    if (options_.by == By::kComm || judged_.n == judged_.n_unresolved) return text;
    std::size_t latest = kAll;
    for (std::size_t subject = 0; subject < subjects_.size(); ++subject) {
      const Counts& c = counts_[subject];
      if (c.n_last_resolved > 0 && (latest == kAll || c.n_last_resolved > counts_[latest].n_last_resolved)) {
        latest = subject;
      }
    }
    if (latest == kAll) return text;
    const Counts& c = counts_[latest];
    text += fmt::format("; most often last: {}, in {} of its {} resolved ones", subjects_.name(latest),
                        c.n_last_resolved, c.n_resolved);
    if (const auto late_ns = late_ns_[latest].p50)
      text += fmt::format(", {} after the first in the median", human_time(*late_ns));
    if (const auto self_ns = self_ns_[latest].p50) text += fmt::format(", {} of its own", human_time(*self_ns));
    return text;
  }

  std::string doubt() const {
    const auto share = agreement_.share();
    if (!share || *share >= kLeastAgreement) return "";
    return fmt::format(
        "clock or matching suspect: in only {} of {} the member with the shortest kernel is the last to "
        "arrive (agreement {:.2f} < {}); do not trust lateness across nodes",
        agreement_.n_equal, count_of(static_cast<std::size_t>(agreement_.n), "instance"), *share, kLeastAgreement);
  }

  const StudyOptions& options_;
  const Arrivals& arrivals_;
  const Judged& judged_;
  Subjects subjects_;
  std::vector<std::int64_t> resolution_ns_;  // by instance
  std::vector<Counts> counts_;               // by subject
  Agreement agreement_;
  std::vector<std::size_t> offset_;  // of members, by subject
  std::vector<Percentiles> late_ns_, off_ns_, self_ns_, spread_ns_, clock_ns_;
};

Table table_of(const RunTables& run, const StudyOptions& options, const Scope& scope, const Arrivals& arrivals) {
  const Judged judged = judged_instances(arrivals);
  Table table;
  table.study = kLateness.name;
  table.parameters = {{"source", std::string(arrivals.is_gpu ? "gpu" : "host")},
                      {"instances", static_cast<std::int64_t>(judged.n)},
                      {"unresolved", static_cast<std::int64_t>(judged.n_unresolved)}};
  Lateness study(run, options, arrivals, judged);
  add_arrival_notes(run, arrivals, judged, table);
  study.fill(table);
  table.heading = arrival_heading(arrivals, scope, judged);
  if (table.rows.empty()) {
    table.verdict = "nobody to compare";
    table.empty_reason = judged.n > 0 ? "none of the ranks in these instances fits --ranks " + options.ranks
                                      : why_no_arrivals(run, options, arrivals, judged);
    return table;
  }
  table.notes.emplace_back("definitions: jaxprof-study lateness --explain");
  return table;
}

}  // namespace

bool lateness_wants(std::string_view path) {
  return arrivals_of_gpus_want(path) || path == "/collectives/clock_sigma_ns";
}

Table lateness(const RunTables& run, const StudyOptions& options) {
  const Scope scope(run, options);
  return table_of(run, options, scope, find_arrivals(run, scope, options));
}

Result<Table> lateness_of_file(const StudyRun& run, const StudyOptions& options) {
  const Scope scope(run.tables, options);
  const auto arrivals = read_arrivals(run, scope, options);
  if (!arrivals) return tl::unexpected(arrivals.error());
  return table_of(run.tables, options, scope, *arrivals);
}

}  // namespace jaxprof::study
