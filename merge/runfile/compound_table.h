// pandas opens only tables that carry PyTables' marks, those of HDF5's own H5TB. So the small tables of /job and
// /diagnostics are H5TB compounds: this packs the columns of a table into rows, and reads rows back by the names of
// their fields, whatever their order and width in the file. They are made here and not by H5TBmake_table, which stamps
// them with the time.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "merge/runfile/chunk_encoder.h"
#include "merge/runfile/hdf5_types.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::runfile {

struct CompoundField {
  std::string name;
  std::size_t offset_bytes;
  Handle type;
  const char* unit;
  const char* long_name;
  std::vector<std::byte> missing;  // one value of `type`
};

struct CompoundRows {
  std::vector<CompoundField> fields;
  std::size_t row_bytes = 0;
  std::vector<std::byte> bytes;  // rows after each other, fields packed
};

// `file` gives the committed word lists; -1 for memory only.
template <typename Table>
CompoundRows describe_rows(const Table& table, hid_t file) {
  CompoundRows rows;
  for_each_column(table, [&]<typename T>(const ColumnSpec<T>& spec, const auto&) {
    Handle type = file < 0 ? memory_type<T>() : file_type<T>(file);
    const auto* missing = reinterpret_cast<const std::byte*>(&spec.missing);
    rows.fields.push_back(
        {spec.name, rows.row_bytes, std::move(type), spec.unit, spec.long_name, {missing, missing + sizeof(T)}});
    rows.row_bytes += sizeof(T);
  });
  return rows;
}

template <typename Table>
CompoundRows pack_rows(const Table& table, hid_t file) {
  CompoundRows rows = describe_rows(table, file);
  const std::size_t n = n_rows(table);
  rows.bytes.resize(n * rows.row_bytes);
  if (n == 0) return rows;
  std::size_t field = 0;
  for_each_column(table, [&]<typename T>(const ColumnSpec<T>&, const std::vector<T>& column) {
    std::byte* to = rows.bytes.data() + rows.fields[field++].offset_bytes;
    for (std::size_t i = 0; i < n; ++i, to += rows.row_bytes) std::memcpy(to, &column[i], sizeof(T));
  });
  return rows;
}

template <typename Table>
void unpack_rows(const CompoundRows& rows, Table& table) {
  const std::size_t n = rows.bytes.size() / rows.row_bytes;
  resize_rows(table, n);
  if (n == 0) return;
  std::size_t field = 0;
  for_each_column(table, [&]<typename T>(const ColumnSpec<T>&, std::vector<T>& column) {
    const std::byte* from = rows.bytes.data() + rows.fields[field++].offset_bytes;
    for (std::size_t i = 0; i < n; ++i, from += rows.row_bytes) std::memcpy(&column[i], from, sizeof(T));
  });
}

// Adds the table, its attributes and, per field i, FIELD_i_UNITS, FIELD_i_LONG_NAME and FIELD_i_MISSING.
Status write_compound(hid_t file, const TableSpec& spec, const CompoundRows& rows, Compression compression);

// Fills rows.bytes from the table at `spec.path`; every field of `rows` must be there with a type that converts, unless
// `may_lack_fields`: then it comes out missing.
Status read_compound(hid_t file, const TableSpec& spec, bool may_lack_fields, CompoundRows& rows);

}  // namespace jaxprof::runfile
