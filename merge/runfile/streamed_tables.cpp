// Every part is checked before anything of it is taken.
#include "merge/runfile/streamed_tables.h"

#include <algorithm>

#include "merge/runfile/table_writer.h"

namespace jaxprof::runfile {
namespace {

tl::unexpected<Error> fault(std::string message) {
  return fail(ErrorCode::kOutputFailed, std::move(message));
}

tl::unexpected<Error> other_length(const std::string& path, std::uint64_t rows, std::uint64_t table_rows) {
  return fault(path + ": " + std::to_string(rows) + " rows where its table has " + std::to_string(table_rows));
}

// Known only when all calls are: whole parts may lack them.
bool may_be_late(std::string_view path) {
  return path == "/events/nccl/instance" || path == "/events/nccl/transfer";
}

// The calls that work carried out come when all processes are known, after the work.
bool may_point_ahead(std::string_view path) {
  return path == "/nccl_work/call";
}

// What pieces hold together.
std::uint64_t rows_in(const ColumnPieces& pieces, std::size_t element_bytes) {
  return (pieces.head.size() + pieces.tail.size()) / element_bytes + pieces.chunks.size() * kChunkRows;
}

bool are_for(const ColumnPieces& pieces, std::uint64_t first_row, std::size_t element_bytes) {
  if (rows_in(pieces, element_bytes) != pieces.facts.n_rows) return false;
  const std::uint64_t head_rows = pieces.head.size() / element_bytes;
  return (pieces.chunks.empty() && pieces.tail.empty()) || (first_row + head_rows) % kChunkRows == 0;
}

Status append_pieces(ColumnChunks& column, const ColumnPieces& pieces) {
  column.append(pieces.head);
  for (const Bytes& chunk : pieces.chunks) {
    if (auto kept = column.append_encoded(chunk); !kept) return kept;
  }
  column.append(pieces.tail);
  return {};
}

}  // namespace

StreamedTables::StreamedTables(ChunkPool& pool) : member_offset_(pool, element_of(kNoRow)) {
  const EventTables nothing;
  for_each_event_table(nothing, [&](const auto& table) {
    const TableSpec spec = spec_of(table);
    StreamedTable streamed;
    streamed.path = spec.path;
    streamed.is_a_target = std::string_view{spec.rows_attribute} == "n_rows";
    for_each_column(table, [&](const auto& column, const auto&) {
      streamed.facts.push_back({std::string(spec.path) + "/" + column.name, column.unit, std::nullopt});
    });
    streamed.columns = empty_columns(table, pool);
    tables_.push_back(std::move(streamed));
  });
  add_rows_to(rows_);
  const std::uint64_t first = 0;
  member_offset_.append(std::as_bytes(std::span(&first, 1)));
}

RowPositions StreamedTables::rows() const {
  RowPositions positions;
  for (const StreamedTable& table : tables_) positions.rows.push_back(table.n_rows);
  return positions;
}

void StreamedTables::add_rows_to(TableRows& rows) const {
  for (const StreamedTable& table : tables_) {
    if (table.is_a_target) rows[table.path] = table.n_rows;
  }
}

Status StreamedTables::check_index(const StreamedTable::Column& column, const TableRows& rows) const {
  const auto target = rows.find(target_of(column.unit));
  if (!column.highest || target == rows.end() || column.highest->index < target->second) return {};
  return fault(column.path + ": " + bad_index(column.unit, *column.highest, target->second));
}

// The part's rows have been counted: it may point to its own.
Status StreamedTables::take_facts(StreamedTable& table, std::size_t at, const ColumnFacts& facts,
                                  std::uint64_t first_row) {
  StreamedTable::Column& column = table.facts[at];
  const std::uint64_t part_rows = table.n_rows - first_row;
  if (facts.n_rows == 0 && may_be_late(column.path)) return {};
  if (facts.n_rows != part_rows) return other_length(column.path, facts.n_rows, part_rows);
  if (table.columns[at].rows() != first_row) {
    return other_length(column.path, table.columns[at].rows(), first_row);
  }
  if (!facts.highest || (column.highest && column.highest->index >= facts.highest->index)) return {};
  column.highest = HighestIndex{facts.highest->index, first_row + facts.highest->row};
  return may_point_ahead(column.path) ? Status{} : check_index(column, rows_);
}

Status StreamedTables::append(const EventTables& part) {
  const RowPositions first = rows();
  const RowPositions more = RowPositions::of(part);
  for (std::size_t i = 0; i < tables_.size(); ++i) tables_[i].n_rows += more.rows[i];
  add_rows_to(rows_);
  Status status;
  std::size_t next = 0;
  for_each_event_table(part, [&](const auto& table) {
    std::size_t column = 0;
    for_each_column(table, [&](const auto& spec, const auto& values) {
      if (status) status = take_facts(tables_[next], column++, facts_of(spec, values), first.rows[next]);
    });
    ++next;
  });
  if (!status) return status;
  next = 0;
  for_each_event_table(part, [&](const auto& table) { append_rows(tables_[next++].columns, table); });
  return {};
}

Status StreamedTables::append_encoded(const EncodedPart& part) {
  if (part.tables.size() != tables_.size()) return fault("an encoded part has other tables");
  const RowPositions first = rows();
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const TablePieces& pieces = part.tables[i];
    if (pieces.columns.size() != tables_[i].columns.size() || pieces.first_row != first.rows[i]) {
      return fault(std::string(tables_[i].path) + ": a part that was encoded for another place");
    }
    std::uint64_t more = 0;
    for (const ColumnPieces& column : pieces.columns) more = std::max(more, column.facts.n_rows);
    tables_[i].n_rows += more;
  }
  add_rows_to(rows_);
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    StreamedTable& table = tables_[i];
    for (std::size_t at = 0; at < table.columns.size(); ++at) {
      const ColumnPieces& pieces = part.tables[i].columns[at];
      if (!are_for(pieces, first.rows[i], table.columns[at].element_bytes())) {
        return fault(table.facts[at].path + ": a part that was cut for another place");
      }
      if (auto taken = take_facts(table, at, pieces.facts, first.rows[i]); !taken) return taken;
    }
  }
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    for (std::size_t at = 0; at < tables_[i].columns.size(); ++at) {
      auto appended = append_pieces(tables_[i].columns[at], part.tables[i].columns[at]);
      if (!appended) return appended;
    }
  }
  return {};
}

Status StreamedTables::append_late(std::string_view path, std::span<const std::uint64_t> values) {
  for (StreamedTable& table : tables_) {
    for (std::size_t at = 0; at < table.facts.size(); ++at) {
      StreamedTable::Column& column = table.facts[at];
      if (column.path != path) continue;
      ColumnChunks& chunks = table.columns[at];
      const ColumnSpec<std::uint64_t> spec{"", column.unit, "", kNoRow};
      const auto highest = highest_index(spec, values);
      if (highest && (!column.highest || column.highest->index < highest->index)) {
        column.highest = HighestIndex{highest->index, chunks.rows() + highest->row};
      }
      chunks.append(std::as_bytes(values));
      if (chunks.rows() > table.n_rows) return other_length(column.path, chunks.rows(), table.n_rows);
      return check_index(column, rows_);
    }
  }
  return fault(std::string(path) + ": there is no such column");
}

Status StreamedTables::append_member_ends(std::span<const std::uint64_t> positions) {
  if (positions.empty()) return {};
  if (positions.front() < last_member_end_ || !std::is_sorted(positions.begin(), positions.end())) {
    return fault("/collectives/member_offset: does not ascend from 0");
  }
  last_member_end_ = positions.back();
  member_offset_.append(std::as_bytes(positions));
  return {};
}

Status StreamedTables::check_whole(const TableRows& rows) const {
  for (const StreamedTable& table : tables_) {
    for (std::size_t at = 0; at < table.facts.size(); ++at) {
      if (table.columns[at].rows() != table.n_rows) {
        return other_length(table.facts[at].path, table.columns[at].rows(), table.n_rows);
      }
      if (auto checked = check_index(table.facts[at], rows); !checked) return checked;
    }
  }
  const std::string path = "/collectives/member_offset: ";
  const std::uint64_t n_instances = rows_.at("/collectives");
  if (member_offset_.rows() != n_instances + 1) {
    return fault(path + std::to_string(member_offset_.rows()) + " values for " + std::to_string(n_instances) +
                 " parts");
  }
  for (const StreamedTable& table : tables_) {
    const bool has_members = !table.is_a_target && std::string_view{table.path} == "/collectives";
    if (has_members && table.n_rows != last_member_end_) {
      return fault(path + "ends at " + std::to_string(last_member_end_) + " of " + std::to_string(table.n_rows) +
                   " rows");
    }
  }
  return {};
}

void StreamedTables::close() {
  for (StreamedTable& table : tables_) {
    for (ColumnChunks& column : table.columns) column.close();
  }
  member_offset_.close();
}

}  // namespace jaxprof::runfile
