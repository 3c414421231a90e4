#include "netsampler/clock/clock_endpoint.h"

#include <algorithm>

#include "agent/base/parse_number.h"
#include "agent/contract/run_layout.h"

namespace jaxprof::netsampler {
namespace {

constexpr std::string_view kHead = "jaxprof-clock-endpoint-1\n";
constexpr std::string_view kEnd = "end\n";
constexpr std::size_t kWordBytes = 256;

bool is_word_character(char c) {
  return c > ' ' && c < '\x7f';
}

std::string as_word(std::string text) {
  if (text.size() > kWordBytes) text.resize(kWordBytes);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return !is_word_character(c); }, '_');
  return text;
}

void append(std::string* text, std::string_view name, std::string_view value) {
  text->append(name).append("=").append(value).append("\n");
}

// Takes lines off a text, each with the name that is expected there.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  bool skip(std::string_view expected) {
    if (!text_.starts_with(expected)) return fail();
    text_.remove_prefix(expected.size());
    return !has_failed_;
  }

  std::string word(std::string_view name) {
    const std::string_view value = take(name);
    if (value.size() > kWordBytes || !std::all_of(value.begin(), value.end(), is_word_character)) fail();
    return has_failed_ ? std::string() : std::string(value);
  }

  std::uint64_t number(std::string_view name, std::uint64_t most = UINT64_MAX) {
    const auto value = parse_uint64(take(name));
    if (!value || *value > most) fail();
    return has_failed_ ? 0 : *value;
  }

  bool is_over() const { return text_.empty() && !has_failed_; }

 private:
  std::string_view take(std::string_view name) {
    const std::size_t end = text_.find('\n');
    if (has_failed_ || end == std::string_view::npos || end < name.size() + 1 || !text_.starts_with(name) ||
        text_[name.size()] != '=') {
      fail();
      return {};
    }
    const std::string_view value = text_.substr(name.size() + 1, end - name.size() - 1);
    text_.remove_prefix(end + 1);
    return value;
  }

  bool fail() {
    has_failed_ = true;
    return false;
  }

  std::string_view text_;
  bool has_failed_ = false;
};

// A scope means something on its own node alone.
bool can_be_sent_to(std::string_view literal, const std::optional<PeerAddress>& address) {
  return address && !address->is_any() && address->port != 0 && literal.find('%') == std::string_view::npos;
}

}  // namespace

std::string to_text(const ClockEndpoint& endpoint) {
  std::string text(kHead);
  append(&text, "host", as_word(endpoint.host));
  append(&text, "boot", as_word(endpoint.boot_id));
  append(&text, "netns", std::to_string(endpoint.network_namespace));
  append(&text, "nonce", std::to_string(endpoint.nonce));
  append(&text, "address", endpoint.address.literal());
  append(&text, "port", std::to_string(endpoint.address.port));
  append(&text, "interface", as_word(endpoint.interface));
  append(&text, "clocksource", as_word(endpoint.clocksource));
  append(&text, "stamps", std::to_string(endpoint.stamps));
  append(&text, "start", std::to_string(endpoint.start_ns));
  return text.append(kEnd);
}

std::optional<ClockEndpoint> parse_endpoint(std::string_view text) {
  if (text.size() > kEndpointBytes) return std::nullopt;
  ClockEndpoint endpoint;
  Lines lines(text);
  lines.skip(kHead);
  endpoint.host = lines.word("host");
  endpoint.boot_id = lines.word("boot");
  endpoint.network_namespace = lines.number("netns");
  endpoint.nonce = lines.number("nonce");
  const std::string literal = lines.word("address");
  const auto port = static_cast<std::uint16_t>(lines.number("port", UINT16_MAX));
  endpoint.interface = lines.word("interface");
  endpoint.clocksource = lines.word("clocksource");
  endpoint.stamps = static_cast<std::uint32_t>(lines.number("stamps", UINT32_MAX));
  endpoint.start_ns = static_cast<std::int64_t>(lines.number("start", INT64_MAX));
  lines.skip(kEnd);
  const auto address = parse_address(literal, port);
  if (!lines.is_over() || !run_layout::is_clock_boot_id(endpoint.boot_id) || !can_be_sent_to(literal, address)) {
    return std::nullopt;
  }
  endpoint.address = *address;
  return endpoint;
}

}  // namespace jaxprof::netsampler
