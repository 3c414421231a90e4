#include "merge/assembly/step_findings.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>
#include <utility>

#include "merge/runfile/rank_ranges.h"

namespace jaxprof::assembly {
namespace {

using runfile::Severity;
using runfile::StepSource;

constexpr std::uint32_t source_bit(StepSource source) {
  return 1U << static_cast<unsigned>(source);
}

// "payload and ordinal"
std::string source_words(std::uint32_t sources) {
  std::string text;
  for (const StepSource source : {StepSource::kPayload, StepSource::kOrdinal, StepSource::kXlaModule}) {
    if ((sources & source_bit(source)) == 0) continue;
    text += (text.empty() ? "" : " and ") + std::string(runfile::word(source));
  }
  return text;
}

// ---- one process --------------------------------------------------------------------------------------------------

struct Overlap {
  std::uint64_t count = 0;
  std::size_t outer = 0;  // rows of the first
  std::size_t inner = 0;
};

Overlap find_overlap(const runfile::StepTable& steps, std::size_t begin) {
  Overlap overlap;
  std::int64_t last_end_ns = 0;
  std::size_t last = begin;
  for (std::size_t row = begin; row < steps.step.size(); ++row) {
    if (row > begin && steps.start_ns[row] < last_end_ns && ++overlap.count == 1) {
      overlap.outer = last;
      overlap.inner = row;
    }
    if (steps.dur_ns[row] == runfile::kNoTime) continue;
    const std::int64_t end_ns = steps.start_ns[row] + steps.dur_ns[row];
    if (row > begin && end_ns <= last_end_ns) continue;
    last_end_ns = end_ns;
    last = row;
  }
  return overlap;
}

std::string step_words(const runfile::StepTable& steps, std::size_t row) {
  return "step " + std::to_string(steps.step[row]) + " (thread " + std::to_string(steps.tid[row]) + ")";
}

// Ranges that carry the marker and are no steps, or not with the number that they were given.
void diagnose_markers(const match::ProcessSteps& found, const Place& place, const std::string& told_by,
                      Diagnostics* diagnostics) {
  constexpr const char* kRanges = "range with the step marker lies|ranges with the step marker lie";
  if (found.nested > 0) {
    diagnostics->add(Severity::kInfo, "step.nested", place, found.nested,
                     told_by + counted(found.nested, kRanges) + " inside another step of the thread and " +
                         (found.nested == 1 ? "is no step" : "are no steps"));
  }
  if (found.swallowed > 0) {
    diagnostics->add(Severity::kWarning, "step.swallowed", place, found.swallowed,
                     told_by + counted(found.swallowed, kRanges) +
                         " inside a step of the thread that never ended, and " +
                         (found.swallowed == 1 ? "is no step" : "are no steps") +
                         ": pop each range that is pushed, also when an error passes");
  }
  if (found.unusable_payloads > 0) {
    diagnostics->add(Severity::kWarning, "step.payload", place, found.unusable_payloads,
                     told_by + counted(found.unusable_payloads, "step has|steps have") +
                         " a payload that is no integer below 2^63: what was counted stands for it");
  }
}

}  // namespace

RankSteps steps_of_rank(const runfile::StepTable& steps, std::size_t begin, std::int32_t rank) {
  RankSteps found;
  found.rank = rank;
  const auto at = static_cast<std::ptrdiff_t>(begin);
  found.numbers = StepNumbers({steps.step.begin() + at, steps.step.end()});
  for (std::size_t row = begin; row < steps.source.size(); ++row) found.sources |= source_bit(steps.source[row]);
  return found;
}

std::vector<std::pair<std::int64_t, std::int64_t>> stretches_of(const runfile::StepTable& steps, std::size_t begin,
                                                                const std::vector<Segment>& segments) {
  if (segments.size() < 2) return {};
  std::map<std::size_t, std::pair<std::int64_t, std::int64_t>> by_segment;
  for (std::size_t row = begin; row < steps.step.size(); ++row) {
    // The last segment that had opened by then.
    std::size_t segment = 0;
    while (segment + 1 < segments.size() && segments[segment + 1].open_ns <= steps.start_ns[row]) ++segment;
    const std::int64_t number = steps.step[row];
    const auto [stretch, is_new] = by_segment.try_emplace(segment, number, number);
    stretch->second = {std::min(stretch->second.first, number), std::max(stretch->second.second, number)};
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> stretches;
  for (const auto& [segment, stretch] : by_segment) stretches.push_back(stretch);
  return stretches;
}

void diagnose_process_steps(const runfile::StepTable& steps, std::size_t begin, const match::ProcessSteps& found,
                            const Place& place, const std::string& told_by, Diagnostics* diagnostics) {
  diagnose_markers(found, place, told_by, diagnostics);
  const RankSteps own = steps_of_rank(steps, begin, place.rank);
  // Threads of XLA's, one a device, count for themselves and run at once.
  if (own.numbers.is_empty() || (own.sources & source_bit(StepSource::kXlaModule)) != 0) return;
  if (std::popcount(own.sources) > 1) {
    diagnostics->add(Severity::kWarning, "step.mixed", place, 1,
                     told_by + "its steps are numbered by " + source_words(own.sources) +
                         ": give all of them an integer payload, or none");
  }
  if (const Overlap overlap = find_overlap(steps, begin); overlap.count > 0) {
    diagnostics->add(Severity::kWarning, "step.overlap", place, overlap.count,
                     told_by + counted(overlap.count, "step begins|steps begin") +
                         " before an earlier one of the process has ended, the first being " +
                         step_words(steps, overlap.inner) + " inside " + step_words(steps, overlap.outer) +
                         ": their times do not add up");
  }
  const std::uint64_t repeated = steps.step.size() - begin - own.numbers.size();
  if (repeated > 0) {
    diagnostics->add(Severity::kWarning, "step.repeated", place, repeated,
                     told_by + counted(repeated, "step has|steps have") +
                         " the number of an earlier one of the process: a number does not tell which is meant");
  }
  std::uint64_t backward = 0;
  for (std::size_t row = begin + 1; row < steps.step.size(); ++row) {
    backward += steps.step[row] < steps.step[row - 1] ? 1 : 0;
  }
  if (backward > 0) {
    diagnostics->add(Severity::kWarning, "step.backward", place, backward,
                     told_by + counted(backward, "step has|steps have") + " a lower number than the one before");
  }
}

// ---- all ranks ----------------------------------------------------------------------------------------------------

namespace {

using Ranks = std::vector<std::int32_t>;

std::vector<RankSteps> join_processes(const std::vector<RankSteps>& processes) {
  std::map<std::int32_t, std::vector<const RankSteps*>> by_rank;
  for (const RankSteps& process : processes) by_rank[process.rank].push_back(&process);
  std::vector<RankSteps> ranks;
  for (const auto& [rank, parts] : by_rank) {
    RankSteps joined;
    joined.rank = rank;
    std::vector<StepNumbers> numbers;
    for (const RankSteps* part : parts) {
      numbers.push_back(part->numbers);
      joined.shared += part->numbers.size();
      joined.sources |= part->sources;
      joined.stretches.insert(joined.stretches.end(), part->stretches.begin(), part->stretches.end());
    }
    joined.numbers = StepNumbers::unite(numbers);
    joined.shared -= joined.numbers.size();
    ranks.push_back(std::move(joined));
  }
  return ranks;
}

// The numbers that others have and a rank lacks, within what it recorded.
StepNumbers gap_of(const RankSteps& rank, const StepNumbers& all) {
  if (rank.stretches.empty()) return all.between(rank.numbers.first(), rank.numbers.last()).without(rank.numbers);
  std::vector<StepNumbers> gaps;
  for (const auto& [first, last] : rank.stretches) gaps.push_back(all.between(first, last).without(rank.numbers));
  return StepNumbers::unite(gaps);
}

// Findings about many ranks carry a rank only if it is one.
Place place_of(const Ranks& ranks) {
  Place place;
  if (ranks.size() == 1) place.rank = ranks.front();
  return place;
}

std::string verb(const Ranks& ranks, const char* one, const char* many) {
  return runfile::rank_ranges(ranks) + " " + (ranks.size() == 1 ? one : many) + " ";
}

void diagnose_sources(const std::vector<RankSteps>& ranks, Diagnostics* diagnostics) {
  std::map<std::uint32_t, Ranks> by_sources;
  for (const RankSteps& rank : ranks) {
    if (std::popcount(rank.sources) == 1) by_sources[rank.sources].push_back(rank.rank);
  }
  if (by_sources.size() < 2) return;
  std::string text;
  for (const auto& [sources, list] : by_sources) {
    text += (text.empty() ? "" : ", ") + source_words(sources) + " on " + runfile::rank_ranges(list);
  }
  diagnostics->add(Severity::kWarning, "step.mixed", {}, 1,
                   "steps are numbered by " + text + ": one number may not mean one step");
}

// XLA's executions are numbered by thread, so that one number is nothing strange there.
void diagnose_shared_numbers(const std::vector<RankSteps>& ranks, Diagnostics* diagnostics) {
  for (const RankSteps& rank : ranks) {
    if (rank.shared == 0 || (rank.sources & source_bit(StepSource::kXlaModule)) != 0) continue;
    Place place;
    place.rank = rank.rank;
    diagnostics->add(Severity::kWarning, "step.repeated", place, rank.shared,
                     "rank " + std::to_string(rank.rank) + ": " +
                         counted(rank.shared, "step number occurs|step numbers occur") +
                         " in several of its processes: select by process, or give one of them another marker");
  }
}

}  // namespace

void diagnose_ranks(const std::vector<RankSteps>& processes, Diagnostics* diagnostics) {
  const std::vector<RankSteps> ranks = join_processes(processes);
  std::vector<StepNumbers> sets;
  for (const RankSteps& rank : ranks) sets.push_back(rank.numbers);
  const StepNumbers all = StepNumbers::unite(sets);
  if (all.is_empty()) return;
  Ranks without_steps;
  std::map<StepNumbers, Ranks> by_gap;
  std::map<std::int64_t, Ranks> late;   // by first number
  std::map<std::int64_t, Ranks> early;  // by last number
  for (const RankSteps& rank : ranks) {
    if (rank.numbers.is_empty()) {
      without_steps.push_back(rank.rank);
      continue;
    }
    const std::int64_t first = rank.numbers.first();
    const std::int64_t last = rank.numbers.last();
    const StepNumbers gap = gap_of(rank, all);
    if (!gap.is_empty()) by_gap[gap].push_back(rank.rank);
    if (first != all.first()) late[first].push_back(rank.rank);
    if (last != all.last()) early[last].push_back(rank.rank);
  }
  diagnose_sources(ranks, diagnostics);
  diagnose_shared_numbers(ranks, diagnostics);
  if (!without_steps.empty()) {
    diagnostics->add(Severity::kWarning, "step.missing", place_of(without_steps), all.size(),
                     verb(without_steps, "has", "have") + "no steps, others have " + all.words());
  }
  for (const auto& [gap, list] : by_gap) {
    diagnostics->add(Severity::kWarning, "step.missing", place_of(list), gap.size(),
                     verb(list, "lacks", "lack") + gap.words());
  }
  for (const auto& [first, list] : late) {
    diagnostics->add(Severity::kInfo, "step.range", place_of(list), 1,
                     verb(list, "begins", "begin") + "with step " + std::to_string(first) + ", others with step " +
                         std::to_string(all.first()));
  }
  for (const auto& [last, list] : early) {
    diagnostics->add(Severity::kInfo, "step.range", place_of(list), 1,
                     verb(list, "ends", "end") + "with step " + std::to_string(last) + ", others with step " +
                         std::to_string(all.last()));
  }
}

// ---- none ---------------------------------------------------------------------------------------------------------

namespace {

std::string quoted(const std::string& text) {
  return "\"" + text + "\"";
}

// The marker that takes ranges `name` of `domain`, as a word of a shell. The last @ divides, so that a domain with one
// cannot be named.
std::string marker_word(const std::string& name, const std::string& domain) {
  const bool is_plain = domain.empty() && name.find('@') == std::string::npos;
  const bool is_any = domain.find('@') != std::string::npos || (domain.empty() && !is_plain);
  std::string word = is_plain ? name : name + "@" + (is_any ? "*" : domain);
  const auto is_harmless = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("@_./:%+=,-", c) != nullptr;
  };
  if (std::all_of(word.begin(), word.end(), is_harmless)) return word;
  std::string quoted_word = "'";
  for (const char c : word) quoted_word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted_word + "'";
}

// The most frequent first; a program may have thousands.
std::vector<std::pair<std::string, std::uint64_t>> by_count(const std::map<std::string, std::uint64_t>& counts) {
  constexpr std::size_t kShown = 5;
  std::vector<std::pair<std::string, std::uint64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  if (sorted.size() > kShown) sorted.resize(kShown);
  return sorted;
}

// " while the window (…) was open"; "" for one that always is.
std::string while_open(const UnmarkedSteps& marks) {
  return marks.windows.empty() ? "" : " while the window (" + marks.windows + ") was open";
}

std::string domain_words(const StepMarker& marker) {
  if (marker.is_any_domain != 0) return "any domain";
  if (marker.domain[0] != '\0') return "the domain " + quoted(marker.domain);
  return "the default domain or in " + quoted(kAnnotationDomain);
}

// Ranges outside of a window are not kept, so that nobody can say what there was instead.
std::string never_open_words(const UnmarkedSteps& marks) {
  const std::string text = "no step is recorded, as the window (" + marks.windows + ") never opened; a step is ";
  if (marks.marker.kind == StepMarkerKind::kXlaModule) return text + "the XLA module " + quoted(marks.marker.name);
  return text + "an NVTX range " + quoted(marks.marker.name) + " in " + domain_words(marks.marker) +
         (marks.marker.is_any_domain != 0 ? ""
                                          : ": --step-marker NAME@DOMAIN names one of another domain, NAME@* of any");
}

std::string no_module_words(const UnmarkedSteps& marks) {
  std::string text = "the XLA module " + quoted(marks.marker.name) + " was not seen to execute" + while_open(marks);
  if (marks.alternatives.empty()) return text + ", nor was any other: XLA marks them on GPUs";
  text += "; others were: ";
  bool is_first = true;
  for (const auto& [module, count] : by_count(marks.alternatives)) {
    text += (std::exchange(is_first, false) ? "" : ", ") + module + " (" + counted(count, "time") + ")";
  }
  return text + "; name the one that is a step with --step-marker xla:MODULE";
}

std::string no_range_words(const UnmarkedSteps& marks) {
  const std::string name = marks.marker.name;
  std::string text =
      "no NVTX range " + quoted(name) + " was begun in " + domain_words(marks.marker) + while_open(marks);
  for (const auto& [domain, count] : by_count(marks.alternatives)) {
    text += "; " + counted(count, "range has|ranges have") + " that name in " +
            (domain.empty() ? std::string("the default domain") : "the domain " + quoted(domain)) + ": --step-marker " +
            marker_word(name, domain);
  }
  if (!marks.alternatives.empty()) return text;
  return text +
         "; mark each step of the program with such a range, its number as integer payload, or name the "
         "program's own ranges with --step-marker";
}

}  // namespace

void diagnose_no_steps(const UnmarkedSteps& marks, Diagnostics* diagnostics) {
  if (marks.marker.kind == StepMarkerKind::kNone) return;  // as it was asked for
  const bool is_module = marks.marker.kind == StepMarkerKind::kXlaModule;
  std::string text = is_module ? no_module_words(marks) : no_range_words(marks);
  if (!marks.was_ever_open) text = never_open_words(marks);
  diagnostics->add(Severity::kInfo, "step.none", {}, 1, text);
}

}  // namespace jaxprof::assembly
