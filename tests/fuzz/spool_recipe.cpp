#include "tests/fuzz/spool_recipe.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "agent/spool/block.h"
#include "tests/unit/spool/spool_bytes.h"

namespace jaxprof::fuzz {

std::string spool_of(std::span<const std::uint8_t> input) {
  if (input.empty()) return {};
  const bool is_raw = input[0] % 2 == 1;
  input = input.subspan(1);
  if (is_raw) return {input.begin(), input.end()};
  test::SpoolBytes spool;
  while (input.size() >= 3) {
    const std::size_t given = input[1] | static_cast<std::size_t>(input[2]) << 8;
    const std::size_t length = given < input.size() - 3 ? given : input.size() - 3;
    const auto payload = input.subspan(3, length);
    spool.add(static_cast<spool::BlockKind>(input[0]), std::string(payload.begin(), payload.end()));
    input = input.subspan(3 + length);
  }
  return spool.bytes();
}

std::string recipe_of(std::string_view spool) {
  std::string recipe(1, '\0');
  std::size_t at = sizeof(spool::FileHeader);
  while (at + sizeof(spool::BlockHeader) <= spool.size()) {
    spool::BlockHeader header{};
    std::memcpy(&header, spool.data() + at, sizeof header);
    at += sizeof header;
    recipe += static_cast<char>(header.kind);
    recipe += static_cast<char>(header.payload_bytes & 0xff);
    recipe += static_cast<char>(header.payload_bytes >> 8 & 0xff);
    recipe += spool.substr(at, header.payload_bytes);
    at += header.payload_bytes;
  }
  return recipe;
}

MemoryPath::MemoryPath(std::string_view content)
    : fd_(memfd_create("fuzz", MFD_CLOEXEC)), path_("/proc/self/fd/" + std::to_string(fd_)) {
  if (fd_ < 0 || write(fd_, content.data(), content.size()) != static_cast<ssize_t>(content.size())) std::abort();
}

MemoryPath::~MemoryPath() {
  close(fd_);
}

}  // namespace jaxprof::fuzz
