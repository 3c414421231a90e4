// HDF5 knows the places; it is asked for each.
#include "merge/runfile/chunk_places.h"

#include <string>

#include "merge/runfile/hdf5_session.h"

namespace jaxprof::runfile {
namespace {

constexpr hsize_t kMostChunkRows = hsize_t{1} << 20;  // eight times ours; memory is asked for a chunk

// The filters of `creation`, if they are shuffle, deflate or both in this order.
std::optional<ChunkFilters> filters_of(hid_t creation) {
  ChunkFilters filters;
  const int n = H5Pget_nfilters(creation);
  for (int i = 0; i < n; ++i) {
    unsigned flags = 0;
    std::size_t n_values = 0;
    const H5Z_filter_t filter =
        H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &n_values, nullptr, 0, nullptr, nullptr);
    if (filter == H5Z_FILTER_SHUFFLE && i == 0) {
      filters.is_shuffled = true;
    } else if (filter == H5Z_FILTER_DEFLATE && i == n - 1) {
      filters.is_deflated = true;
    } else {
      return std::nullopt;
    }
  }
  return filters;
}

// Rows of a chunk; 0 if there are no chunks of one dimension and a bearable length.
hsize_t chunk_rows_of(hid_t creation) {
  hsize_t rows = 0;
  if (H5Pget_layout(creation) != H5D_CHUNKED || H5Pget_chunk(creation, 1, &rows) != 1) return 0;
  return rows <= kMostChunkRows ? rows : 0;
}

// A file whose addresses do not count from its first byte, or that lies in several files, is left to HDF5.
bool is_one_plain_file(hid_t file) {
  hsize_t user_block = 0;
  const Handle creation{H5Fget_create_plist(file), H5Pclose};
  const Handle access{H5Fget_access_plist(file), H5Pclose};
  return H5Pget_userblock(creation.get(), &user_block) >= 0 && user_block == 0 &&
         H5Pget_driver(access.get()) == H5FD_SEC2;
}

}  // namespace

Result<std::optional<ChunkPlaces>> find_chunks(const DatasetReader& dataset, hid_t wanted) {
  const Handle creation{H5Dget_create_plist(dataset.id()), H5Pclose};
  const Handle file{H5Iget_file_id(dataset.id()), H5Fclose};
  const auto filters = filters_of(creation.get());
  ChunkPlaces places;
  places.rows = dataset.rows();
  places.chunk_rows = chunk_rows_of(creation.get());
  places.element_bytes = H5Tget_size(wanted);
  if (!filters || places.chunk_rows == 0 || !is_one_plain_file(file.get()) || H5Tequal(dataset.type(), wanted) <= 0) {
    return std::nullopt;
  }
  places.filters = *filters;
  hsize_t file_bytes = 0;
  H5Fget_filesize(file.get(), &file_bytes);
  for (hsize_t row = 0; row < places.rows; row += places.chunk_rows) {
    unsigned left_out = 0;  // filters that this chunk did not go through
    haddr_t offset = HADDR_UNDEF;
    hsize_t size = 0;
    const herr_t asked = H5Dget_chunk_info_by_coord(dataset.id(), &row, &left_out, &offset, &size);
    if (asked < 0 || offset == HADDR_UNDEF || left_out != 0) return std::nullopt;
    if (size > file_bytes || offset > file_bytes - size) {
      return fail(ErrorCode::kInputUnreadable, "dataset " + dataset.path() + ": the chunk of row " +
                                                   std::to_string(row) + " lies outside of the file");
    }
    places.chunks.push_back({offset, size});
  }
  return places;
}

}  // namespace jaxprof::runfile
