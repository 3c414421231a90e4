// HDF5 is told the length first, and then takes the chunks as they are.
#include "merge/runfile/column_dataset.h"

#include "merge/runfile/attributes.h"
#include "merge/runfile/hdf5_objects.h"
#include "merge/runfile/hdf5_session.h"

namespace jaxprof::runfile {
namespace {

Handle create_dataset(hid_t file, const ColumnText& text, hid_t type, const ColumnChunks& column) {
  const hsize_t rows = column.rows();
  const hsize_t unlimited = H5S_UNLIMITED;
  const hsize_t chunk = column.chunk_rows();
  const Handle space{H5Screate_simple(1, &rows, &unlimited), H5Sclose};
  const Handle creation = timeless(H5P_DATASET_CREATE);
  H5Pset_chunk(creation.get(), 1, &chunk);
  if (column.pool().compression() == Compression::kGzip) {
    if (column.element_bytes() > 1) H5Pset_shuffle(creation.get());
    H5Pset_deflate(creation.get(), 1);
  }
  H5Pset_fill_value(creation.get(), type, column.missing().data());
  H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER);  // every chunk is written whole
  H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_INCR);
  return {H5Dcreate2(file, text.path.c_str(), type, space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT), H5Dclose};
}

Status write_chunks(hid_t dataset, const ColumnChunks& column) {
  Bytes buffer;
  hsize_t row = 0;
  for (const StoredChunk& chunk : column.chunks()) {
    const auto encoded = column.pool().store().get(chunk, buffer);
    if (!encoded) return tl::unexpected(encoded.error());
    if (H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, &row, encoded->size(), encoded->data()) < 0) {
      return fail(ErrorCode::kOutputFailed, hdf5_cause());
    }
    row += column.chunk_rows();
  }
  return {};
}

}  // namespace

Status write_column_dataset(hid_t file, const ColumnText& text, hid_t type, const ColumnChunks& column) {
  const auto with_path = [&text](Error&& error) { return std::move(error).wrap(text.path); };
  const auto failed = [&] { return with_path({ErrorCode::kOutputFailed, hdf5_cause()}); };
  if (auto made = make_groups_above(file, text.path); !made) return made;
  Handle dataset = create_dataset(file, text, type, column);
  if (!dataset) return tl::unexpected(failed());
  auto status = write_text_attribute(dataset.get(), "units", text.unit);
  if (status) status = write_text_attribute(dataset.get(), "long_name", text.long_name);
  if (status) status = write_raw_attribute(dataset.get(), "missing_value", type, column.missing().data());
  if (status) status = write_chunks(dataset.get(), column);
  if (!status) return std::move(status).map_error(with_path);
  if (!dataset.close()) return tl::unexpected(failed());
  return {};
}

}  // namespace jaxprof::runfile
