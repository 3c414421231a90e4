// Cuts columns at the borders of chunks, encodes what lies between, and turns the result into bytes and back.
#include "merge/runfile/encoded_part.h"

#include <algorithm>
#include <cstring>

#include "merge/runfile/column_chunks.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::runfile {
namespace {

Bytes copy_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

template <typename T>
ColumnPieces cut(const ColumnSpec<T>& spec, const std::vector<T>& column, std::uint64_t first_row,
                 ChunkEncoder& encoder) {
  ColumnPieces pieces;
  pieces.facts = facts_of(spec, column);
  const std::uint64_t rows_to_border = (kChunkRows - first_row % kChunkRows) % kChunkRows;
  auto rest = std::span<const T>(column);
  const auto take = [&rest](std::uint64_t rows) {
    const auto taken = rest.first(std::min<std::uint64_t>(rows, rest.size()));
    rest = rest.subspan(taken.size());
    return std::as_bytes(taken);
  };
  pieces.head = copy_of(take(rows_to_border));
  while (rest.size() >= kChunkRows) pieces.chunks.push_back(copy_of(encoder.encode(take(kChunkRows), sizeof(T))));
  pieces.tail = copy_of(take(rest.size()));
  return pieces;
}

class Packer {
 public:
  void add(std::uint64_t number) { add_raw(std::as_bytes(std::span(&number, 1))); }
  void add(std::span<const std::byte> bytes) {
    add(bytes.size());
    add_raw(bytes);
  }
  Bytes take() { return std::move(out_); }

 private:
  void add_raw(std::span<const std::byte> bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  Bytes out_;
};

// After the first number or length that is not there all others are 0.
class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    if (const auto bytes = take(sizeof value); !bytes.empty()) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  // How many things follow, of at least `least_bytes` each.
  std::uint64_t count(std::size_t least_bytes) {
    const std::uint64_t n = number();
    if (n <= rest_.size() / least_bytes) return n;
    is_sound_ = false;
    return 0;
  }
  Bytes bytes() { return copy_of(take(number())); }
  bool is_done() const { return is_sound_ && rest_.empty(); }

 private:
  std::span<const std::byte> take(std::uint64_t size) {
    is_sound_ = is_sound_ && size <= rest_.size();
    if (!is_sound_) return {};
    const auto taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  std::span<const std::byte> rest_;
  bool is_sound_ = true;
};

void pack(const ColumnPieces& column, Packer& packer) {
  packer.add(column.facts.n_rows);
  packer.add(std::uint64_t{column.facts.highest.has_value()});
  packer.add(column.facts.highest ? column.facts.highest->index : 0);
  packer.add(column.facts.highest ? column.facts.highest->row : 0);
  packer.add(column.head);
  packer.add(column.chunks.size());
  for (const Bytes& chunk : column.chunks) packer.add(chunk);
  packer.add(column.tail);
}

ColumnPieces unpack_column(Unpacker& unpacker) {
  ColumnPieces column;
  column.facts.n_rows = unpacker.number();
  const bool has_highest = unpacker.number() != 0;
  const std::uint64_t index = unpacker.number();
  const std::uint64_t row = unpacker.number();
  if (has_highest) column.facts.highest = HighestIndex{index, row};
  column.head = unpacker.bytes();
  column.chunks.resize(unpacker.count(sizeof(std::uint64_t)));
  for (Bytes& chunk : column.chunks) chunk = unpacker.bytes();
  column.tail = unpacker.bytes();
  return column;
}

}  // namespace

RowPositions RowPositions::none() {
  return of({});
}

RowPositions RowPositions::of(const EventTables& part) {
  RowPositions positions;
  for_each_event_table(part, [&](const auto& table) { positions.rows.push_back(longest_column(table)); });
  return positions;
}

RowPositions& RowPositions::operator+=(const RowPositions& more) {
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] += more.rows[i];
  return *this;
}

EncodedPart encode_part(const EventTables& part, const RowPositions& first_rows, Compression compression) {
  ChunkEncoder encoder{compression};
  EncodedPart encoded;
  for_each_event_table(part, [&](const auto& table) {
    TablePieces pieces;
    pieces.first_row = first_rows.rows[encoded.tables.size()];
    for_each_column(table, [&](const auto& spec, const auto& column) {
      pieces.columns.push_back(cut(spec, column, pieces.first_row, encoder));
    });
    encoded.tables.push_back(std::move(pieces));
  });
  return encoded;
}

Bytes EncodedPart::packed() const {
  Packer packer;
  packer.add(tables.size());
  for (const TablePieces& table : tables) {
    packer.add(table.first_row);
    packer.add(table.columns.size());
    for (const ColumnPieces& column : table.columns) pack(column, packer);
  }
  return packer.take();
}

Result<EncodedPart> EncodedPart::unpacked(std::span<const std::byte> bytes) {
  Unpacker unpacker{bytes};
  EncodedPart part;
  part.tables.resize(unpacker.count(2 * sizeof(std::uint64_t)));
  for (TablePieces& table : part.tables) {
    table.first_row = unpacker.number();
    table.columns.resize(unpacker.count(7 * sizeof(std::uint64_t)));
    for (ColumnPieces& column : table.columns) column = unpack_column(unpacker);
  }
  if (!unpacker.is_done()) return fail(ErrorCode::kInputUnreadable, "an encoded part of a run is cut or damaged");
  return part;
}

}  // namespace jaxprof::runfile
