#include "merge/report/critical_figure.h"

#include <algorithm>
#include <array>
#include <map>

#include "merge/report/table_columns.h"
#include "merge/study/time_span.h"

namespace jaxprof::report {
namespace {

using study::Table;

constexpr std::size_t kShownRanks = 15;        // those longest on the path; the others share a row
constexpr std::int64_t kPiecesOfWidth = 1200;  // pieces that are closer together and alike are drawn as one
constexpr std::array kKinds = {"transfer", "compute", "copy", "comm", "host", "other", "unknown"};

struct Piece {
  std::string rank;
  std::string node;
  std::int64_t step = kNoInteger;
  std::size_t kind = 0;  // the longest part of it
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

std::vector<Piece> pieces_of(const Table& table) {
  const std::size_t rank = column_of(table, "rank");
  const std::size_t node = column_of(table, "node");
  const std::size_t step = column_of(table, "step");
  const std::size_t begin = column_of(table, "begin_ns");
  const std::size_t end = column_of(table, "end_ns");
  std::array<std::size_t, kKinds.size()> parts{};
  for (std::size_t i = 0; i < kKinds.size(); ++i) parts[i] = column_of(table, std::string(kKinds[i]) + "_ns");
  std::vector<Piece> pieces;
  for (const study::Row& row : table.rows) {
    const std::int64_t number = integer_at(row, rank);
    Piece piece{rank_label(number == kNoInteger ? -1 : static_cast<std::int32_t>(number)),
                text_at(row, node),
                integer_at(row, step),
                0,
                integer_at(row, begin),
                integer_at(row, end)};
    for (std::size_t i = 1; i < kKinds.size(); ++i) {
      if (integer_at(row, parts[i]) > integer_at(row, parts[piece.kind])) piece.kind = i;
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

// The row of a rank that is seldom on the path is that of all of them.
void gather_short_ranks(std::vector<Piece>& pieces) {
  std::map<std::string, std::int64_t> time_ns;
  for (const Piece& piece : pieces) {
    time_ns[piece.rank] = study::instant_after(time_ns[piece.rank], study::span_ns(piece.begin_ns, piece.end_ns));
  }
  if (time_ns.size() <= kShownRanks + 1) return;
  std::vector<std::int64_t> all;
  for (const auto& [rank, ns] : time_ns) all.push_back(ns);
  std::sort(all.rbegin(), all.rend());
  for (Piece& piece : pieces) {
    if (time_ns[piece.rank] >= all[kShownRanks - 1]) continue;
    piece.rank = "others";
    piece.node.clear();
  }
}

std::vector<Piece> joined(const std::vector<Piece>& pieces) {
  if (pieces.empty()) return {};
  const std::int64_t length_ns =
      std::max<std::int64_t>(0, study::span_ns(pieces.front().begin_ns, pieces.back().end_ns));
  const std::int64_t gap_ns = length_ns / kPiecesOfWidth;
  std::map<std::pair<std::string, std::size_t>, std::size_t> newest;  // by rank and kind
  std::vector<Piece> kept;
  for (const Piece& piece : pieces) {
    const auto [place, is_new] = newest.try_emplace({piece.rank, piece.kind}, kept.size());
    if (!is_new && study::span_ns(kept[place->second].end_ns, piece.begin_ns) <= gap_ns) {
      kept[place->second].end_ns = std::max(kept[place->second].end_ns, piece.end_ns);
      continue;
    }
    place->second = kept.size();
    kept.push_back(piece);
  }
  return kept;
}

}  // namespace

Figure critical_figure(const Table& table) {
  Figure figure;
  figure.id = "F10";
  figure.title = "What steps were waiting for, and what mending it would bring";
  figure.definition =
      "Strip: the critical path, on the rank that all others were waiting for, coloured by what that piece was mostly "
      "spent on; "
      "the 15 ranks that are longest on it have rows of their own (jaxprof-study critical --explain). Pieces of one "
      "kind that are "
      "closer together than the figure can show are drawn as one. Bars: by how much the job's time would shrink in "
      "each what-if "
      "scenario (jaxprof-study whatif --explain).";
  figure.study = "whatif";
  std::vector<Piece> pieces = pieces_of(table);
  gather_short_ranks(pieces);
  Table strip;
  strip.columns = {{"rank", "rank"},
                   {"node", "node"},
                   {"step", "step"},
                   {"kind", "mostly"},
                   {"begin_ns", "from", study::Unit::kTimeNs},
                   {"end_ns", "to", study::Unit::kTimeNs}};
  for (const Piece& piece : joined(pieces)) {
    study::Row& row = strip.rows.emplace_back();
    row.emplace_back(piece.rank);
    row.emplace_back(piece.node);
    row.emplace_back(study::Missing{});
    if (piece.step != kNoInteger) row.back() = piece.step;
    row.emplace_back(std::string(kKinds[piece.kind]));
    row.emplace_back(piece.begin_ns);
    row.emplace_back(piece.end_ns);
  }
  strip.empty_reason = table.empty_reason;
  figure.tables.emplace_back("path", std::move(strip));
  return figure;
}

}  // namespace jaxprof::report
