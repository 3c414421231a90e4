// pread, compare, decode.
#include "merge/runfile/chunk_cursor.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace jaxprof::runfile {

Status ChunkCursor::load(std::uint64_t chunk, Bytes& encoded) const {
  const ChunkPlace& place = places_->chunks[chunk];
  encoded.resize(place.size_bytes);
  for (std::size_t done = 0; done < encoded.size();) {
    const ssize_t got =
        ::pread(fd_, encoded.data() + done, encoded.size() - done, static_cast<off_t>(place.offset_bytes + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(ErrorCode::kInputUnreadable, "cannot be read");
    if (got == 0) return fail(ErrorCode::kInputUnreadable, "cannot be read: the file became shorter");
    done += static_cast<std::size_t>(got);
  }
  return {};
}

Status ChunkCursor::decode(std::uint64_t chunk, std::span<std::byte> out, ChunkDecoder& decoder) {
  auto status = load(chunk, next_);
  if (status && out.data() == decoded_at_ && next_ == encoded_) return {};
  decoded_at_ = nullptr;
  if (status) status = decoder.decode(next_, places_->filters, places_->element_bytes, out);
  if (!status) {
    return std::move(status).map_error([&](Error&& error) {
      return std::move(error).wrap("the chunk of row " + std::to_string(chunk * places_->chunk_rows));
    });
  }
  encoded_.swap(next_);
  decoded_at_ = out.data();
  return {};
}

Status ChunkCursor::read(std::uint64_t first, std::span<std::byte> out, ChunkDecoder& decoder) {
  const std::size_t chunk_bytes = places_->chunk_rows * places_->element_bytes;
  while (!out.empty()) {
    const std::uint64_t chunk = first / places_->chunk_rows;
    const std::size_t skipped = (first % places_->chunk_rows) * places_->element_bytes;
    const std::size_t taken = std::min(out.size(), chunk_bytes - skipped);
    if (taken == chunk_bytes) {
      if (auto decoded = decode(chunk, out.first(taken), decoder); !decoded) return decoded;
    } else {
      elements_.resize(chunk_bytes);
      if (auto decoded = decode(chunk, elements_, decoder); !decoded) return decoded;
      std::memcpy(out.data(), elements_.data() + skipped, taken);
    }
    out = out.subspan(taken);
    first += taken / places_->element_bytes;
  }
  return {};
}

}  // namespace jaxprof::runfile
