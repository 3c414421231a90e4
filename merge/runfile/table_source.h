// What tables are read from: an open run file, which may be damaged, and may be older than what this program writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "merge/runfile/check.h"
#include "merge/runfile/dataset_reader.h"
#include "merge/runfile/hdf5_types.h"
#include "merge/runfile/schema.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::runfile {

// A file of an older minor version may lack what came later.
struct TableSource {
  hid_t file;
  bool is_older;
  bool lacks(const std::string& path) const { return is_older && !has_dataset(file, path); }
};

// Values [first, first + count) of a column, or, if `count` is kNoRow, all of them.
template <typename T>
Status read_values(const DatasetReader& source, const std::string& path, std::vector<T>& values, std::uint64_t first,
                   std::uint64_t count, T missing) {
  const Handle type = memory_type<T>();
  if (auto same = source.check(type.get()); !same) return same;
  if (count == kNoRow) count = source.rows();
  if (count > source.rows())
    return fail(ErrorCode::kInputUnreadable, "dataset " + path + " has " + std::to_string(source.rows()) + " rows");
  values.assign(count, missing);
  return source.read(first, count, type.get(), values.data());
}

// The rows of a table of columns, measured on its first column; 0 for a table that an older file lacks.
template <typename Table>
Result<std::uint64_t> measure_rows(const TableSource& source, const Table& table) {
  const TableSpec spec = spec_of(table);
  const std::string path =
      spec.is_compound ? std::string(spec.path) : std::string(spec.path) + "/" + first_column_name(table);
  if (source.lacks(path)) return 0;
  const auto dataset = DatasetReader::open(source.file, path);
  if (!dataset) return tl::unexpected(dataset.error());
  return dataset->rows();
}

// The same of every table, whether it was read or not; `n_strings` are the strings, which have no columns.
Result<TableRows> measure_tables(const TableSource& source, std::uint64_t n_strings);

}  // namespace jaxprof::runfile
