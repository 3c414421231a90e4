// The innermost range of a thread is the one that began last.
#include "merge/study/ranges_around.h"

#include <algorithm>
#include <map>

#include "merge/study/row_cursor.h"
#include "merge/study/time_span.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

struct Found {
  StringId domain{};
  StringId name{};
  std::int64_t begin_ns = -1;
};

bool is_column_wanted(std::string_view path) {
  return path == "/events/nvtx/start_ns" || path == "/events/nvtx/dur_ns" || path == "/events/nvtx/name" ||
         path == "/events/nvtx/domain" || path == "/events/nvtx/tid" || path == "/events/nvtx/kind";
}

// One row against the probes of its process, which ascend.
void look(const NvtxTable& t, std::size_t i, const std::vector<RangeProbe>& probes,
          const std::vector<std::size_t>& order, std::vector<Found>& found) {
  if (t.kind[i] != NvtxKind::kPushPop || t.start_ns[i] < 0) return;
  const std::int64_t end_ns =
      t.dur_ns[i] < 0 ? std::numeric_limits<std::int64_t>::max() : instant_after(t.start_ns[i], t.dur_ns[i]);
  const auto is_before = [&probes](std::size_t probe, std::int64_t at_ns) { return probes[probe].at_ns < at_ns; };
  for (auto at = std::lower_bound(order.begin(), order.end(), t.start_ns[i], is_before);
       at != order.end() && probes[*at].at_ns < end_ns; ++at) {
    if (probes[*at].tid != kNoRow && probes[*at].tid != t.tid[i]) continue;
    if (t.start_ns[i] >= found[*at].begin_ns) found[*at] = {t.domain[i], t.name[i], t.start_ns[i]};
  }
}

}  // namespace

Status find_ranges(const StudyRun& run, std::vector<RangeProbe>& probes) {
  std::map<std::size_t, std::vector<std::size_t>> by_process;
  for (std::size_t i = 0; i < probes.size(); ++i) by_process[probes[i].process].push_back(i);
  std::vector<Found> found(probes.size());
  auto cursor = RowCursor<NvtxTable>::open(run.reader, is_column_wanted);
  if (!cursor) return tl::unexpected(cursor.error());
  const std::vector<std::uint64_t>& offset = run.tables.nvtx_process_offset;
  for (auto& [process, order] : by_process) {
    if (process + 1 >= offset.size()) continue;
    std::sort(order.begin(), order.end(),
              [&probes](std::size_t a, std::size_t b) { return probes[a].at_ns < probes[b].at_ns; });
    for (std::uint64_t row = offset[process]; row < offset[process + 1]; ++row) {
      if (auto read = cursor->seek(row); !read) return read;
      look(cursor->table(), row - cursor->begin(), probes, order, found);
    }
  }
  for (std::size_t i = 0; i < probes.size(); ++i) {
    const std::string domain(run.tables.strings.text(found[i].domain));
    probes[i].range = (domain.empty() ? "" : domain + ":") + std::string(run.tables.strings.text(found[i].name));
  }
  return {};
}

}  // namespace jaxprof::study
