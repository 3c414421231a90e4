#include "tests/unit/spool/spool_bytes.h"

#include <cstring>
#include <fstream>

namespace jaxprof::test {

SpoolBytes::SpoolBytes(std::uint64_t file_id, std::uint32_t version) {
  spool::FileHeader header{};
  std::memcpy(header.magic, spool::kFileMagic, sizeof header.magic);
  header.version = version;
  header.header_bytes = sizeof header;
  header.file_id = file_id;
  header.checksum = spool::file_header_checksum(header);
  append_bytes(&bytes_, header);
}

void SpoolBytes::add(spool::BlockKind kind, std::string_view payload) {
  spool::BlockHeader header{};
  header.magic = spool::kBlockMagic;
  header.payload_bytes = static_cast<std::uint32_t>(payload.size());
  header.kind = static_cast<std::uint16_t>(kind);
  header.sequence = sequence_++;
  header.checksum = spool::block_checksum(header, payload.data());
  append_bytes(&bytes_, header);
  bytes_ += payload;
  block_ends_.push_back(bytes_.size());
}

void write_file(const std::string& path, std::string_view content) {
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
}

}  // namespace jaxprof::test
