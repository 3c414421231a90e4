// The HDF5 side of the compound tables.
#include "merge/runfile/compound_table.h"

#include <algorithm>

#include "merge/runfile/attributes.h"
#include "merge/runfile/dataset_reader.h"
#include "merge/runfile/hdf5_objects.h"
#include "merge/runfile/hdf5_session.h"

namespace jaxprof::runfile {
namespace {

constexpr hsize_t kMaxChunkRows = 4096;

// PyTables reads every attribute but no enumerations in them: a word list's value is written as the byte that it is.
Status write_missing(hid_t dataset, const char* name, const CompoundField& field) {
  if (H5Tget_class(field.type.get()) != H5T_ENUM) {
    return write_raw_attribute(dataset, name, field.type.get(), field.missing.data());
  }
  const Handle byte = copied_type(H5T_STD_U8LE);
  return write_raw_attribute(dataset, name, byte.get(), field.missing.data());
}

// A text of fixed length, as H5TB and PyTables have it.
Status write_mark(hid_t dataset, const std::string& name, std::string_view text) {
  const Handle type = copied_type(H5T_C_S1);
  H5Tset_size(type.get(), text.size() + 1);
  return write_raw_attribute(dataset, name.c_str(), type.get(), std::string(text).c_str());
}

// What makes a compound dataset a table of H5TB (version 3.0), and by that one of PyTables.
Status mark_as_table(hid_t dataset, const TableSpec& spec, const CompoundRows& rows) {
  auto status = write_mark(dataset, "CLASS", "TABLE");
  if (status) status = write_mark(dataset, "VERSION", "3.0");
  if (status) status = write_mark(dataset, "TITLE", spec.long_name);
  for (std::size_t i = 0; status && i < rows.fields.size(); ++i) {
    status = write_mark(dataset, "FIELD_" + std::to_string(i) + "_NAME", rows.fields[i].name);
  }
  return status;
}

Status describe(hid_t dataset, const TableSpec& spec, const CompoundRows& rows, std::uint64_t n) {
  auto status = write_text_attribute(dataset, "long_name", spec.long_name);
  if (status) status = write_text_attribute(dataset, "sorted_by", spec.sorted_by);
  if (status) status = write_attribute(dataset, spec.rows_attribute, n);
  for (std::size_t i = 0; status && i < rows.fields.size(); ++i) {
    const std::string prefix = "FIELD_" + std::to_string(i);
    status = write_text_attribute(dataset, (prefix + "_UNITS").c_str(), rows.fields[i].unit);
    if (status) status = write_text_attribute(dataset, (prefix + "_LONG_NAME").c_str(), rows.fields[i].long_name);
    if (status) status = write_missing(dataset, (prefix + "_MISSING").c_str(), rows.fields[i]);
  }
  return status;
}

// The fields of `rows` that `stored` lacks.
std::vector<const CompoundField*> lacking_fields(const CompoundRows& rows, hid_t stored) {
  std::vector<const CompoundField*> lacking;
  for (const CompoundField& field : rows.fields) {
    if (H5Tget_member_index(stored, field.name.c_str()) < 0) lacking.push_back(&field);
  }
  return lacking;
}

// The compound type of `rows` in memory, of the fields that `stored` has; each is checked against it.
Result<Handle> memory_rows(const TableSpec& spec, const CompoundRows& rows, hid_t stored) {
  Handle type{H5Tcreate(H5T_COMPOUND, rows.row_bytes), H5Tclose};
  for (const CompoundField& field : rows.fields) {
    const std::string where = std::string(spec.path) + ": field " + field.name;
    const int index = H5Tget_member_index(stored, field.name.c_str());
    if (index < 0) continue;
    const Handle found{H5Tget_member_type(stored, static_cast<unsigned>(index)), H5Tclose};
    if (auto same = check_type(found.get(), field.type.get()); !same) {
      return tl::unexpected(std::move(same.error()).wrap(where));
    }
    H5Tinsert(type.get(), field.name.c_str(), field.offset_bytes, field.type.get());
  }
  return type;
}

}  // namespace

Status write_compound(hid_t file, const TableSpec& spec, const CompoundRows& rows, Compression compression) {
  if (auto made = make_groups_above(file, spec.path); !made) return made;
  const Handle type{H5Tcreate(H5T_COMPOUND, rows.row_bytes), H5Tclose};
  for (const CompoundField& field : rows.fields) {
    H5Tinsert(type.get(), field.name.c_str(), field.offset_bytes, field.type.get());
  }
  const hsize_t n = rows.bytes.size() / rows.row_bytes;
  const hsize_t unlimited = H5S_UNLIMITED;
  const hsize_t chunk = std::clamp<hsize_t>(n, 1, kMaxChunkRows);
  const Handle space{H5Screate_simple(1, &n, &unlimited), H5Sclose};
  const Handle creation = timeless(H5P_DATASET_CREATE);
  H5Pset_chunk(creation.get(), 1, &chunk);
  if (compression == Compression::kGzip) H5Pset_deflate(creation.get(), 1);
  const Handle dataset{H5Dcreate2(file, spec.path, type.get(), space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
                       H5Dclose};
  const bool is_written =
      dataset && (n == 0 || H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.bytes.data()) >= 0);
  if (!is_written) return fail(ErrorCode::kOutputFailed, std::string(spec.path) + ": " + hdf5_cause());
  return mark_as_table(dataset.get(), spec, rows)
      .and_then([&] { return describe(dataset.get(), spec, rows, n); })
      .map_error([&spec](Error&& error) { return std::move(error).wrap(spec.path); });
}

Status read_compound(hid_t file, const TableSpec& spec, bool may_lack_fields, CompoundRows& rows) {
  auto source = DatasetReader::open(file, spec.path);
  if (!source) return tl::unexpected(std::move(source.error()));
  if (H5Tget_class(source->type()) != H5T_COMPOUND) {
    return fail(ErrorCode::kInputUnreadable, std::string(spec.path) + " is not a table");
  }
  const auto lacking = lacking_fields(rows, source->type());
  if (!lacking.empty() && !may_lack_fields) {
    return fail(ErrorCode::kInputUnreadable,
                std::string(spec.path) + ": field " + lacking.front()->name + " is missing");
  }
  auto type = memory_rows(spec, rows, source->type());
  if (!type) return tl::unexpected(std::move(type.error()));
  rows.bytes.resize(source->rows() * rows.row_bytes);
  if (auto read = source->read(0, source->rows(), type->get(), rows.bytes.data()); !read) return read;
  for (const CompoundField* field : lacking) {
    for (std::size_t at = field->offset_bytes; at < rows.bytes.size(); at += rows.row_bytes) {
      std::copy(field->missing.begin(), field->missing.end(), rows.bytes.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  return {};
}

}  // namespace jaxprof::runfile
