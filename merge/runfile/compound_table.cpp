// The HDF5 side of the compound tables.
#include "merge/runfile/compound_table.h"

#include <hdf5_hl.h>

#include <algorithm>

#include "merge/runfile/attributes.h"
#include "merge/runfile/dataset_reader.h"
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

Status write_compound(hid_t file, const TableSpec& spec, const CompoundRows& rows) {
  std::vector<const char*> names;
  std::vector<std::size_t> offsets;
  std::vector<hid_t> types;
  for (const CompoundField& field : rows.fields) {
    names.push_back(field.name.c_str());
    offsets.push_back(field.offset_bytes);
    types.push_back(field.type.get());
  }
  const hsize_t n = rows.bytes.size() / rows.row_bytes;
  const herr_t made =
      H5TBmake_table(spec.long_name, file, spec.path, names.size(), n, rows.row_bytes, names.data(), offsets.data(),
                     types.data(), std::clamp<hsize_t>(n, 1, kMaxChunkRows), nullptr, 1, rows.bytes.data());
  if (made < 0) return fail(ErrorCode::kOutputFailed, std::string(spec.path) + ": " + hdf5_cause());
  const Handle dataset{H5Dopen2(file, spec.path, H5P_DEFAULT), H5Dclose};
  return describe(dataset.get(), spec, rows, n).map_error([&spec](Error&& error) {
    return std::move(error).wrap(spec.path);
  });
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
