#include "merge/report/figures.h"

#include <algorithm>

#include "merge/report/arrival_figures.h"
#include "merge/report/critical_figure.h"
#include "merge/report/port_figure.h"
#include "merge/report/util_figure.h"
#include "merge/study/answer.h"
#include "merge/study/network.h"

namespace jaxprof::report {
namespace {

using study::Table;

// What a laptop's screen shows in columns of more than a pixel.
constexpr std::size_t kMostColumns = 300;

// One that is drawn from a study's table as it stands.
Figure of_table(const char* id, const char* title, const Table& table, const char* definition) {
  Figure figure;
  figure.id = id;
  figure.title = title;
  figure.definition = definition;
  figure.study = table.study;
  figure.empty_reason = table.rows.empty() ? table.empty_reason : "";
  return figure;
}

Result<Table> ask(const char* name, const runfile::RunFileReader& reader, const study::StudyOptions& options) {
  return study::answer(*study::find_study(name), reader, options);
}

Figure histogram_figure(const runfile::RunFileReader& reader, const Table& spread) {
  Figure figure =
      of_table("F2", "How many calls took how long", spread,
               "Calls of one kind by their time, and the share of them that took at most so long; raw holds waiting "
               "for other ranks, net does not. Dashed: nccl-tests' time, with --ref.");
  if (!figure.empty_reason.empty()) return figure;
  study::StudyOptions options;
  options.is_for_programs = true;
  options.has_histogram = true;
  auto histogram = ask("spread", reader, options);
  if (histogram) {
    figure.empty_reason = histogram->rows.empty() ? histogram->empty_reason : "";
    figure.tables.emplace_back("histogram", std::move(*histogram));
  } else {
    figure.empty_reason = histogram.error().message;
  }
  return figure;
}

Figure path_figure(const runfile::RunFileReader& reader) {
  study::StudyOptions options;
  options.is_for_programs = true;
  options.by = study::By::kMember;
  auto pieces = ask("critical", reader, options);
  if (pieces) return critical_figure(*pieces);
  Table none;
  none.empty_reason = pieces.error().message;
  return critical_figure(none);
}

// F4, F5 and F7, which look at arrivals or counters themselves. One that cannot be had takes the reason along.
struct Observed {
  Figure steps, course, ports;
};

Observed observe(const runfile::RunFileReader& reader, const Table& network) {
  Observed all;
  const auto wants = [](std::string_view path) {
    return study::straggler_facts_want(path) || study::network_wants(path) || path == "/collectives/coll";
  };
  const auto run = reader.read(wants);
  const auto facts = run ? study::StragglerFacts::gather(*run, &reader, {}) : tl::unexpected(run.error());
  if (!facts) {
    all.steps.empty_reason = all.course.empty_reason = all.ports.empty_reason = facts.error().message;
    return all;
  }
  const std::size_t n_ranks = std::max<std::size_t>(1, run->processes.process.size());
  all.steps = step_map_figure(*run, *facts, std::clamp<std::size_t>(kMostCells / n_ranks, 60, kMostColumns));
  all.course = arrival_course_figure(*run, *facts);
  all.ports = port_figure(*run, collective_bands(*run, *facts), network.empty_reason, kMostCells);
  return all;
}

}  // namespace

std::string rank_label(std::int32_t rank) {
  return rank < 0 ? "?" : std::to_string(rank);
}

std::vector<Figure> draw_figures(const runfile::RunFileReader& reader, const std::vector<Answer>& answers) {
  const Table& spread = table_of(answers, "spread");
  Observed observed = observe(reader, table_of(answers, "network"));
  std::vector<Figure> figures;
  figures.push_back(
      of_table("F1", "Spread of equal calls, raw and without waiting", spread,
               "Boxes from the 25th to the 75th percentile with the median; whiskers from the 5th to the 95th, "
               "from 20 calls on. Raw holds waiting for other ranks, net does not (jaxprof-study spread --explain). "
               "Dashed: nccl-tests' time, with --ref."));
  figures.push_back(histogram_figure(reader, spread));
  figures.push_back(
      of_table("F3", "Bus bandwidth by size", spread,
               "nccl-tests' bus bandwidth of the median time of the fastest member, which waits for nobody. Band: of "
               "the 5th to the 95th percentile of calls without waiting. Dashed: nccl-tests' own, with --ref; dotted: "
               "line rate of all network ports of a node together, where known."));
  figures.push_back(std::move(observed.steps));
  figures.push_back(std::move(observed.course));
  figures.push_back(of_table(
      "F6", "Fault by rank and cause", table_of(answers, "stragglers"),
      "What others waited for a rank by its own doing, split by cause in the proportion in which its own time "
      "exceeded its peers': slow kernels, idle for the host, copies, the rest; not split where the cause is not "
      "known. Line: what each rank would have if all were alike, 1/n of the sum."));
  figures.push_back(std::move(observed.ports));
  figures.push_back(util_figure(table_of(answers, "utilmap")));
  figures.push_back(of_table("F9", "What GPUs did with their time", table_of(answers, "breakdown"),
                             "Five classes that add up to the recorded time of the rank's GPUs, to the nanosecond "
                             "(jaxprof-study breakdown --explain)."));
  figures.push_back(path_figure(reader));
  figures.push_back(
      of_table("F11", "How well the nodes' clocks are known", table_of(answers, "clock"),
               "For each node: likely error (sigma), error at most (bound), and by how much its worst link disagrees "
               "with all others (residual); the worst of the run (jaxprof-study clock --explain)."));
  constexpr std::pair<std::size_t, const char*> kNames[] = {{3, "F4"}, {4, "F5"}, {6, "F7"}};
  for (const auto& [at, id] : kNames) figures[at].id = id;  // also of one that could not be had
  return figures;
}

}  // namespace jaxprof::report
