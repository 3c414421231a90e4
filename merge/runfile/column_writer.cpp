// Buffers rows to a chunk, sends it to the pool, and writes what the pool has finished in order.
#include "merge/runfile/column_writer.h"

#include <algorithm>
#include <chrono>

#include "merge/runfile/attributes.h"
#include "merge/runfile/hdf5_session.h"

namespace jaxprof::runfile {

RawColumnWriter::RawColumnWriter(hid_t file, ChunkPool& pool, ColumnText text, Handle type, Bytes missing)
    : file_(file), pool_(pool), text_(std::move(text)), type_(std::move(type)), missing_(std::move(missing)) {}

tl::unexpected<Error> RawColumnWriter::failed() const {
  return fail(ErrorCode::kOutputFailed, text_.path + ": " + hdf5_cause());
}

Status RawColumnWriter::create(std::size_t chunk_rows) {
  chunk_rows_ = chunk_rows;
  const hsize_t none = 0;
  const hsize_t unlimited = H5S_UNLIMITED;
  const hsize_t chunk = chunk_rows;
  const Handle space{H5Screate_simple(1, &none, &unlimited), H5Sclose};
  const Handle creation{H5Pcreate(H5P_DATASET_CREATE), H5Pclose};
  H5Pset_chunk(creation.get(), 1, &chunk);
  if (missing_.size() > 1) H5Pset_shuffle(creation.get());
  H5Pset_deflate(creation.get(), 1);
  H5Pset_fill_value(creation.get(), type_.get(), missing_.data());
  H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER);  // every chunk is written whole
  const Handle links{H5Pcreate(H5P_LINK_CREATE), H5Pclose};
  H5Pset_create_intermediate_group(links.get(), 1);
  dataset_ = {H5Dcreate2(file_, text_.path.c_str(), type_.get(), space.get(), links.get(), creation.get(), H5P_DEFAULT),
              H5Dclose};
  if (!dataset_) return failed();
  return write_text_attribute(dataset_.get(), "units", text_.unit)
      .and_then([this] { return write_text_attribute(dataset_.get(), "long_name", text_.long_name); })
      .and_then([this] { return write_raw_attribute(dataset_.get(), "missing_value", type_.get(), missing_.data()); })
      .map_error([this](Error&& error) { return std::move(error).wrap(text_.path); });
}

Status RawColumnWriter::append(std::span<const std::byte> elements) {
  const std::size_t chunk_bytes = kChunkRows * missing_.size();
  while (!elements.empty()) {
    const std::size_t taken = std::min(elements.size(), chunk_bytes - buffer_.size());
    buffer_.insert(buffer_.end(), elements.begin(), elements.begin() + static_cast<std::ptrdiff_t>(taken));
    elements = elements.subspan(taken);
    if (buffer_.size() < chunk_bytes) break;
    if (!dataset_) {
      if (auto made = create(kChunkRows); !made) return made;
    }
    if (auto sent = submit_chunk(); !sent) return sent;
  }
  return {};
}

Status RawColumnWriter::submit_chunk() {
  const std::size_t element_bytes = missing_.size();
  rows_submitted_ += buffer_.size() / element_bytes;
  // A chunk always lies whole in the file; what is beyond the last row is never read.
  while (buffer_.size() < chunk_rows_ * element_bytes) {
    buffer_.insert(buffer_.end(), missing_.begin(), missing_.end());
  }
  pending_.push_back(pool_.submit(std::exchange(buffer_, {}), element_bytes));
  return write_ready(false);
}

Status RawColumnWriter::write_ready(bool wait) {
  while (!pending_.empty()) {
    if (!wait && pending_.front().wait_for(std::chrono::seconds(0)) != std::future_status::ready) break;
    Bytes encoded = pending_.front().get();
    pending_.pop_front();
    if (auto written = write_encoded(std::move(encoded)); !written) return written;
  }
  return {};
}

Status RawColumnWriter::write_encoded(Bytes encoded) {
  const hsize_t offset = rows_written_;
  const hsize_t extent = std::min(rows_submitted_, rows_written_ + chunk_rows_);
  if (H5Dset_extent(dataset_.get(), &extent) < 0 ||
      H5Dwrite_chunk(dataset_.get(), H5P_DEFAULT, 0, &offset, encoded.size(), encoded.data()) < 0) {
    return failed();
  }
  rows_written_ = extent;
  return {};
}

Status RawColumnWriter::finish() {
  if (!dataset_) {
    if (auto made = create(std::max<std::size_t>(1, buffer_.size() / missing_.size())); !made) return made;
  }
  if (!buffer_.empty()) {
    if (auto sent = submit_chunk(); !sent) return sent;
  }
  if (auto written = write_ready(true); !written) return written;
  if (!dataset_.close()) return failed();
  return {};
}

}  // namespace jaxprof::runfile
