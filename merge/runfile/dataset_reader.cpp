// Checks first, then one H5Dread.
#include "merge/runfile/dataset_reader.h"

#include "merge/runfile/hdf5_session.h"

namespace jaxprof::runfile {
namespace {

// deflate cannot shrink data by more than 1032 to 1, so a file of B bytes holds at most about this many times B.
constexpr std::uint64_t kMaxInflation = 1100;

std::string describe(hid_t type) {
  const std::string bits = std::to_string(8 * H5Tget_size(type));
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return (H5Tget_sign(type) == H5T_SGN_NONE ? "u" : "i") + bits;
    case H5T_FLOAT:
      return "f" + bits;
    case H5T_ENUM:
      return "an enumeration of " + bits + " bits";
    case H5T_STRING:
      return "text";
    default:
      return "another type";
  }
}

bool is_readable_as(hid_t stored, hid_t wanted) {
  const H5T_class_t kind = H5Tget_class(wanted);
  if (H5Tget_class(stored) != kind) return false;
  if (kind == H5T_STRING) {
    if (H5Tis_variable_str(stored) != H5Tis_variable_str(wanted)) return false;
    return H5Tis_variable_str(wanted) > 0 || H5Tget_size(stored) <= H5Tget_size(wanted);
  }
  if (H5Tget_size(stored) != H5Tget_size(wanted)) return false;
  return kind != H5T_INTEGER || H5Tget_sign(stored) == H5Tget_sign(wanted);
}

std::uint64_t file_bytes(hid_t dataset) {
  hsize_t bytes = 0;
  const Handle file{H5Iget_file_id(dataset), H5Fclose};
  return H5Fget_filesize(file.get(), &bytes) < 0 ? 0 : bytes;
}

}  // namespace

Status check_type(hid_t stored, hid_t wanted) {
  if (is_readable_as(stored, wanted)) return {};
  return fail(ErrorCode::kInputUnreadable, "has the type " + describe(stored) + " instead of " + describe(wanted));
}

bool has_dataset(hid_t file, const std::string& path) {
  // H5Lexists fails where a group on the way is not there.
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    if (H5Lexists(file, path.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
    if (end == std::string::npos) return true;
  }
}

Result<DatasetReader> DatasetReader::open(hid_t file, const std::string& path) {
  DatasetReader reader;
  reader.path_ = path;
  reader.dataset_ = {H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose};
  if (!reader.dataset_) return fail(ErrorCode::kInputUnreadable, "dataset " + path + " is missing or damaged");
  reader.type_ = {H5Dget_type(reader.dataset_.get()), H5Tclose};
  const Handle space{H5Dget_space(reader.dataset_.get()), H5Sclose};
  hsize_t rows = 0;
  if (H5Sget_simple_extent_ndims(space.get()) != 1 || H5Sget_simple_extent_dims(space.get(), &rows, nullptr) < 0) {
    return fail(ErrorCode::kInputUnreadable, "dataset " + path + " does not have one dimension");
  }
  const std::uint64_t limit = kMaxInflation * file_bytes(reader.dataset_.get());
  if (rows > limit / H5Tget_size(reader.type_.get())) {
    return fail(ErrorCode::kInputUnreadable,
                path + " claims " + std::to_string(rows) + " rows, more than the file can hold");
  }
  reader.rows_ = rows;
  return reader;
}

Status DatasetReader::check(hid_t wanted) const {
  return check_type(type_.get(), wanted).map_error([this](Error&& error) {
    error.message = "dataset " + path_ + " " + error.message;
    return std::move(error);
  });
}

Status DatasetReader::read(std::uint64_t first, std::uint64_t count, hid_t memory_type, void* out) const {
  if (first > rows_ || count > rows_ - first) {
    return fail(ErrorCode::kInputUnreadable, path_ + " has " + std::to_string(rows_) + " rows, none at " +
                                                 std::to_string(first) + " + " + std::to_string(count));
  }
  if (count == 0) return {};
  const hsize_t start = first;
  const hsize_t n = count;
  const Handle from{H5Dget_space(dataset_.get()), H5Sclose};
  const Handle to{H5Screate_simple(1, &n, nullptr), H5Sclose};
  if (H5Sselect_hyperslab(from.get(), H5S_SELECT_SET, &start, nullptr, &n, nullptr) < 0 ||
      H5Dread(dataset_.get(), memory_type, to.get(), from.get(), H5P_DEFAULT, out) < 0) {
    return fail(ErrorCode::kInputUnreadable, "dataset " + path_ + " cannot be read: " + hdf5_cause());
  }
  return {};
}

void DatasetReader::reclaim(std::uint64_t count, hid_t memory_type, void* out) const {
  const hsize_t n = count;
  const Handle space{H5Screate_simple(1, &n, nullptr), H5Sclose};
  H5Dvlen_reclaim(memory_type, space.get(), H5P_DEFAULT, out);
}

}  // namespace jaxprof::runfile
