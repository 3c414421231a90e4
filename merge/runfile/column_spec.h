// What is said of a column, a table, an offset column and an attribute of the run file. schema.h, gpu_schema.h and
// node_schema.h say it.
#pragma once

#include <concepts>
#include <limits>
#include <type_traits>

#include "merge/runfile/string_table.h"

namespace jaxprof::runfile {

template <typename T>
struct ColumnSpec {
  const char* name;
  const char* unit;       // "ns", "bytes", "index of /job/processes", "1" for a plain number, "flag", "bits", "word"
  const char* long_name;  // one line
  T missing;              // value of "the source did not say"
};
template <typename T>
ColumnSpec(const char*, const char*, const char*, T) -> ColumnSpec<T>;

// Where a table lies. A compound table is one H5TB dataset at `path` (pandas reads it); else `path` is a group with
// one dataset a column.
struct TableSpec {
  const char* path;
  bool is_compound;
  const char* sorted_by;
  const char* rows_attribute;  // "n_rows"; member tables share their owner's group and use "n_members"
  const char* long_name;
};

// An offset column: the rows of part i of `partitions` are [offset[i], offset[i + 1]).
struct OffsetSpec {
  const char* path;
  const char* unit;
  const char* long_name;
};

struct AttributeSpec {
  const char* name;
  const char* unit;
  const char* long_name;
};

template <typename T, typename Table>
concept Is = std::same_as<std::remove_const_t<T>, Table>;

inline constexpr StringId kNoText = StringId::kEmpty;
inline constexpr double kNoReal = std::numeric_limits<double>::quiet_NaN();

}  // namespace jaxprof::runfile
