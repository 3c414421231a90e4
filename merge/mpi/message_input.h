// A message of another process of the merge, as cereal reads it. What cereal's own archive reads it believes: a length
// of 2^60 is memory that is asked for. Here a length is at most what is left of the message, and a flag is 0 or 1.
#pragma once

#include <cereal/archives/binary.hpp>
#include <cereal/cereal.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

namespace jaxprof::merge {

// Throws cereal::Exception where the message is not what its reader asks for. Reads what cereal::BinaryOutputArchive
// wrote.
class MessageInput : public cereal::InputArchive<MessageInput, cereal::AllowEmptyClassElision> {
 public:
  explicit MessageInput(std::span<const std::byte> message)
      : cereal::InputArchive<MessageInput, cereal::AllowEmptyClassElision>(this), rest_(message) {}

  void take(void* to, std::size_t size_bytes) {
    if (size_bytes > rest_.size()) throw cereal::Exception("is cut");
    if (size_bytes > 0) std::memcpy(to, rest_.data(), size_bytes);
    rest_ = rest_.subspan(size_bytes);
  }
  // How many things follow, of at least `least_bytes` each.
  std::uint64_t count(std::size_t least_bytes) {
    std::uint64_t n = 0;
    take(&n, sizeof n);
    if (n > rest_.size() / least_bytes) throw cereal::Exception("counts more than it holds");
    return n;
  }
  bool is_done() const { return rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
};

template <typename T>
std::enable_if_t<std::is_arithmetic_v<T>> CEREAL_LOAD_FUNCTION_NAME(MessageInput& archive, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    std::uint8_t flag = 0;
    archive.take(&flag, sizeof flag);
    if (flag > 1) throw cereal::Exception("has a flag of " + std::to_string(flag));
    value = flag == 1;
  } else {
    archive.take(&value, sizeof value);
  }
}

template <typename T>
void CEREAL_LOAD_FUNCTION_NAME(MessageInput& archive, cereal::NameValuePair<T>& pair) {
  archive(pair.value);
}

template <typename T>
void CEREAL_LOAD_FUNCTION_NAME(MessageInput& archive, cereal::SizeTag<T>& tag) {
  tag.size = static_cast<std::remove_reference_t<T>>(archive.count(1));
}

template <typename T>
void CEREAL_LOAD_FUNCTION_NAME(MessageInput& archive, cereal::BinaryData<T>& data) {
  archive.take(data.data, static_cast<std::size_t>(data.size));
}

}  // namespace jaxprof::merge

// Who wrote what it reads; BinaryOutputArchive has its own reader already.
template <>
struct cereal::traits::detail::get_output_from_input<jaxprof::merge::MessageInput> {
  using type = cereal::BinaryOutputArchive;
};
