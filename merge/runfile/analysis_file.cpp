// The new file is a copy of the old one in which the table is replaced. H5Ocopy of the other tables into an empty file
// would be plainer, but HDF5 1.10.8 crashes on more than eight attributes of variable length.
#include "merge/runfile/analysis_file.h"

#include <sys/stat.h>

#include <cstring>
#include <fstream>

#include "merge/runfile/attributes.h"
#include "merge/runfile/compound_table.h"
#include "merge/runfile/hdf5_objects.h"
#include "merge/runfile/hdf5_session.h"
#include "merge/runfile/output_file.h"
#include "merge/runfile/schema.h"

namespace jaxprof::runfile {
namespace {

constexpr std::string_view kAnalysisSchema = "jaxprof-analysis/1";

template <typename T>
std::vector<std::byte> bytes_of(const T& value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  return {bytes, bytes + sizeof(T)};
}

std::size_t length_of(const AnalysisColumn& column) {
  return std::visit([](const auto& values) { return values.size(); }, column.values);
}

// Bytes of a cell of text: the longest one and its NUL.
std::size_t text_bytes(const std::vector<std::string>& texts) {
  std::size_t longest = 0;
  for (const std::string& text : texts) longest = std::max(longest, text.size());
  return longest + 1;
}

CompoundField field_of(const AnalysisColumn& column, std::size_t offset_bytes) {
  CompoundField field{column.name, offset_bytes, {}, column.unit.c_str(), column.long_name.c_str(), {}};
  if (std::holds_alternative<std::vector<double>>(column.values)) {
    field.type = copied_type(H5T_IEEE_F64LE);
    field.missing = bytes_of(kNoReal);
  } else if (const auto* texts = std::get_if<std::vector<std::string>>(&column.values)) {
    field.type = text_type(text_bytes(*texts));
    field.missing.assign(text_bytes(*texts), std::byte{0});
  } else {
    field.type = copied_type(H5T_STD_I64LE);
    field.missing = bytes_of(std::numeric_limits<std::int64_t>::min());
  }
  return field;
}

void pack(const AnalysisColumn& column, std::byte* to, std::size_t row_bytes) {
  std::visit(
      [&]<typename T>(const std::vector<T>& values) {
        for (const T& value : values) {
          if constexpr (std::is_same_v<T, std::string>) {
            std::memcpy(to, value.data(), value.size());  // the rest of the cell is NUL
          } else {
            std::memcpy(to, &value, sizeof(T));
          }
          to += row_bytes;
        }
      },
      column.values);
}

CompoundRows rows_of(const AnalysisTable& table) {
  CompoundRows rows;
  for (const AnalysisColumn& column : table.columns) {
    rows.fields.push_back(field_of(column, rows.row_bytes));
    rows.row_bytes += rows.fields.back().missing.size();
  }
  rows.bytes.assign(length_of(table.columns.front()) * rows.row_bytes, std::byte{0});
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    pack(table.columns[i], rows.bytes.data() + rows.fields[i].offset_bytes, rows.row_bytes);
  }
  return rows;
}

Status write_one(hid_t file, const AnalysisTable& table) {
  const std::string path = "/" + table.name;
  const TableSpec spec{path.c_str(), true, "as the study orders them", "n_rows", table.long_name.c_str()};
  auto status = write_compound(file, spec, rows_of(table), Compression::kGzip);
  if (!status) return status;
  const Handle dataset{H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose};
  status = write_text_attribute(dataset.get(), "verdict", table.verdict);
  for (const auto& [name, value] : table.parameters) {
    if (status) status = write_text_attribute(dataset.get(), ("parameter." + name).c_str(), value);
  }
  return status;
}

bool exists(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0;
}

// Is what is at `path` a file of saved tables?
Status check_is_ours(const std::string& path) {
  const auto foreign = [&path](const std::string& cause) {
    return fail(ErrorCode::kOutputFailed, path + ": is there and no file of saved tables: " + cause);
  };
  const Handle access = file_access();
  const Handle file{H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose};
  if (!file) return foreign(hdf5_cause());
  const auto schema = read_text_attribute(file.get(), "schema");
  if (!schema) return foreign(schema.error().message);
  return *schema == kAnalysisSchema ? Status{} : foreign("its schema is \"" + *schema + "\"");
}

Status copy_bytes(const std::string& from, const std::string& to) {
  std::ifstream source(from, std::ios::binary);
  std::ofstream target(to, std::ios::binary | std::ios::trunc);
  target << source.rdbuf();
  target.close();
  return source && target ? Status{} : fail_errno(ErrorCode::kOutputFailed, to + ": cannot be written");
}

// The new file at `part`: empty, or with the tables of the one at `path` but `except`.
Result<Handle> open_part(const std::string& path, const std::string& part, const std::string& except) {
  const Handle access = file_access();
  if (!exists(path)) {
    const Handle creation = timeless(H5P_FILE_CREATE);
    Handle file{H5Fcreate(part.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose};
    if (!file) return fail(ErrorCode::kOutputFailed, path + ": " + hdf5_cause());
    if (auto named = write_text_attribute(file.get(), "schema", kAnalysisSchema); !named) {
      return tl::unexpected(std::move(named.error()));
    }
    return file;
  }
  auto status = check_is_ours(path).and_then([&] { return copy_bytes(path, part); });
  if (!status) return tl::unexpected(std::move(status.error()));
  Handle file{H5Fopen(part.c_str(), H5F_ACC_RDWR, access.get()), H5Fclose};
  if (!file) return fail(ErrorCode::kOutputFailed, path + ": " + hdf5_cause());
  // The space becomes that of the new table.
  if (H5Lexists(file.get(), except.c_str(), H5P_DEFAULT) > 0) H5Ldelete(file.get(), except.c_str(), H5P_DEFAULT);
  return file;
}

}  // namespace

Status write_analysis_table(const AnalysisTable& table, const std::string& path) {
  prepare_hdf5();
  auto output = OutputFile::create(path, true);
  if (!output) return tl::unexpected(std::move(output.error()));
  auto file = open_part(path, output->part_path(), table.name);
  if (!file) return tl::unexpected(std::move(file.error()));
  auto status = write_one(file->get(), table);
  if (!file->close() && status) status = fail(ErrorCode::kOutputFailed, path + ": " + hdf5_cause());
  if (!status) return status;
  return output->publish().map([](std::uint64_t) {});
}

}  // namespace jaxprof::runfile
