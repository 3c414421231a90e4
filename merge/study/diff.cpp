// One sample a thing and run, joined by the thing's key.
#include "merge/study/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "merge/study/call_kinds.h"
#include "merge/study/distribution.h"
#include "merge/study/human.h"
#include "merge/study/two_samples.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

// What is compared: the text is for people and joins.
struct Thing {
  int order = 0;  // steps, then calls, then kernels
  std::string what;
  std::string name;
  auto operator<=>(const Thing&) const = default;
};

struct Sample {
  std::vector<std::int64_t> values_ns;
  std::string time;  // gpu, host; "" where there is only one kind
};

using Samples = std::map<Thing, Sample>;

bool is_wanted(std::string_view path) {
  return path.starts_with("/job/") || call_kinds_want(path);
}

std::string name_of(const CallKind& kind) {
  std::string name = fmt::format("{} {} {} {}", word(kind.coll), word(kind.dtype), word(kind.algo), word(kind.proto));
  if (kind.n_ranks != kNoIndex) name += fmt::format(", {} ranks", kind.n_ranks);
  if (kind.size_bytes != kNoRow) name += ", " + human_bytes(static_cast<double>(kind.size_bytes));
  return kind.is_grouped ? name + ", grouped" : name;
}

void add_steps(const Scope& scope, Samples& samples) {
  Sample& sample = samples[{0, "step", "length"}];
  for (std::uint32_t i = 0; i < scope.axis().steps().size(); ++i) {
    if (scope.is_step_wanted(i)) sample.values_ns.push_back(scope.axis().steps()[i].length_ns);
  }
  if (sample.values_ns.empty()) samples.erase({0, "step", "length"});
}

void add_calls(const RunTables& run, const Scope& scope, const StudyOptions& options, Samples& samples) {
  CallTimes calls = collect_calls(run, scope, options, By::kRun);
  for (KindTimes& times : calls.kinds) {
    const bool has_gpu = !times.fast_ns.empty() || !times.raw_ns.empty();
    auto& values_ns = !times.fast_ns.empty() ? times.fast_ns : has_gpu ? times.raw_ns : times.host_ns;
    if (values_ns.empty()) continue;
    samples[{1, "nccl", name_of(times.kind)}] = {std::move(values_ns), has_gpu ? "gpu" : "host"};
  }
}

struct Side {
  Samples samples;
  std::string words;  // of its scope
};

Result<Side> read_side(const std::string& run_file, const StudyOptions& options) {
  const auto reader = RunFileReader::open(run_file);
  if (!reader) return tl::unexpected(reader.error());
  const auto run = reader->read(is_wanted);
  if (!run) return tl::unexpected(run.error());
  if (auto known = check_scope(*run, options); !known) return tl::unexpected(std::move(known.error()).wrap(run_file));
  const Scope scope(*run, options);
  Side side{{}, scope.words()};
  add_steps(scope, side.samples);
  add_calls(*run, scope, options, side.samples);
  return side;
}

struct Comparison {
  Thing thing;
  std::string time;
  Distribution a, b;
  std::optional<double> ratio;
  std::optional<RatioInterval> interval;
  std::optional<double> p;
  bool is_comparable = true;   // not host times with GPU times
  std::size_t n_compared = 1;  // with it, at once

  bool differs() const {
    return ratio && interval && std::abs(*ratio - 1) > kSmallestDifference && interval->excludes(1) && p &&
           *p * static_cast<double>(n_compared) < kChance;
  }
  double weight_ns() const { return ratio ? std::abs(*b.p50 - *a.p50) * static_cast<double>(b.n) : 0; }
};

Comparison compare(const Thing& thing, const Sample* a, const Sample* b) {
  Comparison result;
  result.thing = thing;
  if (a != nullptr) result.a = describe(a->values_ns);
  if (b != nullptr) result.b = describe(b->values_ns);
  const auto& either = a != nullptr ? *a : *b;
  result.time = either.time;
  if (a == nullptr || b == nullptr) return result;
  result.is_comparable = a->time == b->time;
  if (!result.is_comparable) {
    result.time = a->time + " / " + b->time;
    return result;
  }
  if (*result.a.p50 > 0) result.ratio = *result.b.p50 / *result.a.p50;
  result.interval = median_ratio_interval(a->values_ns, b->values_ns);
  result.p = mann_whitney_p(a->values_ns, b->values_ns);
  return result;
}

std::vector<Comparison> compare_all(const Samples& a, const Samples& b) {
  std::vector<Comparison> all;
  for (const auto& [thing, sample] : a) {
    const auto other = b.find(thing);
    all.push_back(compare(thing, &sample, other == b.end() ? nullptr : &other->second));
  }
  for (const auto& [thing, sample] : b) {
    if (!a.contains(thing)) all.push_back(compare(thing, nullptr, &sample));
  }
  const auto n_compared = static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const Comparison& c) { return c.p.has_value(); }));
  for (Comparison& c : all) c.n_compared = std::max<std::size_t>(n_compared, 1);
  std::stable_sort(all.begin(), all.end(), [](const Comparison& x, const Comparison& y) {
    if (x.differs() != y.differs()) return x.differs();
    if ((x.thing.order == 0) != (y.thing.order == 0)) return x.thing.order == 0;
    return x.weight_ns() > y.weight_ns();
  });
  return all;
}

template <typename T>
Cell cell(const std::optional<T>& value) {
  return value ? Cell{*value} : Cell{Missing{}};
}

Row row_of(const Comparison& c) {
  return {c.thing.what,
          c.thing.name,
          c.time.empty() ? Cell{Missing{}} : Cell{c.time},
          static_cast<std::int64_t>(c.a.n),
          static_cast<std::int64_t>(c.b.n),
          cell(c.a.p50),
          cell(c.b.p50),
          cell(c.ratio),
          c.interval ? Cell{c.interval->low} : Cell{Missing{}},
          c.interval ? Cell{c.interval->high} : Cell{Missing{}},
          cell(c.p),
          c.interval ? Cell{std::int64_t{c.differs()}} : Cell{Missing{}},
          cell(c.a.p99),
          cell(c.b.p99)};
}

std::string percent(double ratio) {
  return fmt::format("{:+.1f} %", 100 * (ratio - 1));
}

std::string verdict_of(const std::vector<Comparison>& all, Table& table) {
  const auto step = std::find_if(all.begin(), all.end(), [](const Comparison& c) { return c.thing.order == 0; });
  std::string text;
  if (step != all.end() && step->ratio) {
    text = fmt::format("step p50 {} -> {} ({})", human_time(*step->a.p50), human_time(*step->b.p50),
                       percent(*step->ratio));
    if (step->interval)
      text += fmt::format(", 95 % interval {} to {}", percent(step->interval->low), percent(step->interval->high));
    if (step->differs() && *step->ratio > 1) table.finding = Finding::kWarning;
    text += "; ";
  }
  std::size_t n_compared = 0;
  std::size_t n_slower = 0;
  std::size_t n_faster = 0;
  const Comparison* most = nullptr;
  for (const Comparison& c : all) {
    if (c.thing.order == 0 || !c.interval) continue;
    ++n_compared;
    if (!c.differs()) continue;
    ++(*c.ratio > 1 ? n_slower : n_faster);
    if (most == nullptr) most = &c;
  }
  text += fmt::format("of {} kinds of calls and kernels {} slower, {} faster", n_compared, n_slower, n_faster);
  if (most != nullptr) text += fmt::format("; most: {} ({})", most->thing.name, percent(*most->ratio));
  return text;
}

}  // namespace

Result<Table> diff(std::span<const std::string> run_files, const StudyOptions& options) {
  if (run_files.size() != 2) {
    return fail(ErrorCode::kUsage,
                fmt::format("diff compares two run files, {} given; jaxprof-study diff A.h5 B.h5", run_files.size()));
  }
  auto a = read_side(run_files[0], options);
  if (!a) return tl::unexpected(std::move(a.error()));
  auto b = read_side(run_files[1], options);
  if (!b) return tl::unexpected(std::move(b.error()));
  Table table;
  table.study = kDiff.name;
  table.columns = {{"what", "what"},
                   {"name", "name"},
                   {"time", "time", Unit::kNone, true},
                   {"a_n", "n A"},
                   {"b_n", "n B"},
                   {"a_p50_ns", "p50 A", Unit::kTimeNs},
                   {"b_p50_ns", "p50 B", Unit::kTimeNs},
                   {"ratio", "ratio", Unit::kRatio},
                   {"ratio_low", "low", Unit::kRatio},
                   {"ratio_high", "high", Unit::kRatio},
                   {"p", "p", Unit::kNone},
                   {"differs", "differs"},
                   {"a_p99_ns", "p99 A", Unit::kTimeNs, true},
                   {"b_p99_ns", "p99 B", Unit::kTimeNs, true}};
  const std::vector<Comparison> all = compare_all(a->samples, b->samples);
  for (const Comparison& c : all) table.rows.push_back(row_of(c));
  table.heading = fmt::format("A: {}; B: {}", a->words, b->words);
  if (all.empty()) {
    table.verdict = "nothing to compare";
    table.empty_reason = "neither run has steps or NCCL calls with times in what is looked at";
    return table;
  }
  table.verdict = verdict_of(all, table);
  if (std::any_of(all.begin(), all.end(), [](const Comparison& c) { return !c.is_comparable; })) {
    table.notes.emplace_back("gpu / host: one run has GPU times and the other none; these are not compared");
  }
  table.notes.emplace_back("definitions: jaxprof-study diff --explain");
  return table;
}

}  // namespace jaxprof::study
