// What a process of a merge unpacks from another one. The first byte says what the rest is taken for. Whatever it is,
// memory is taken for what is there and not for what it says that there is.
#include <cstdint>
#include <cstdlib>
#include <new>
#include <span>

#include "merge/mpi/part_messages.h"
#include "tests/fuzz/planted_fault.h"

using namespace jaxprof;

namespace {

std::size_t allocated_bytes = 0;  // since the input came; one thread

void* allocate(std::size_t size) {
  allocated_bytes += size;
  void* memory = std::malloc(size > 0 ? size : 1);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) {
  return allocate(size);
}
void* operator new[](std::size_t size) {
  return allocate(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace {

void unpack(std::uint8_t kind, std::span<const std::byte> bytes) {
  const merge::Message message(bytes.begin(), bytes.end());
  if (kind % 4 == 0) {
    const auto head = merge::unpack_head(message);
    if (!head) return;
    fuzz::plant_fault(head->n_events > 1'000'000);
    const auto again = merge::unpack_head(merge::pack(*head));
    fuzz::demand(again.has_value(), "a head survives packing");
  } else if (kind % 4 == 1) {
    const auto placement = merge::unpack_placement(message);
    if (placement) fuzz::demand(merge::pack(*placement) == message, "a placement survives packing");
  } else if (kind % 4 == 2) {
    (void)merge::unpack_rows(message);
  } else {
    const auto part = runfile::EncodedPart::unpacked(message);
    if (!part) return;
    const auto again = runfile::EncodedPart::unpacked(part->packed());
    fuzz::demand(again && *again == *part, "a part survives packing");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  // The smallest thing of a message is a length of eight bytes; what it becomes is below 200, and it is packed again.
  constexpr std::size_t kBytesForByte = 100;
  constexpr std::size_t kBytesForNothing = 64 << 10;
  if (size == 0) return 0;
  allocated_bytes = 0;
  unpack(bytes[0], std::as_bytes(std::span(bytes + 1, size - 1)));
  fuzz::demand(allocated_bytes <= kBytesForNothing + kBytesForByte * size, "memory is what the input justifies");
  return 0;
}
