#include "agent/contract/run_layout.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "agent/base/parse_number.h"

namespace jaxprof::run_layout {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string task_of(const std::string& name, const char* suffix) {
  const std::size_t prefix_length = std::strlen(kTaskPrefix);
  if (name.compare(0, prefix_length, kTaskPrefix) != 0 || !ends_with(name, suffix)) return {};
  const std::size_t end = name.size() - std::strlen(suffix);
  return end > prefix_length ? name.substr(prefix_length, end - prefix_length) : std::string();
}

}  // namespace

std::string task_name(std::int32_t rank, const std::string& host, std::int64_t pid) {
  if (rank >= 0) return "rank" + std::to_string(rank);
  return host + "." + std::to_string(pid);
}

std::string task_spool_directory(const std::string& base, std::uint32_t uid, const std::string& run_id,
                                 const std::string& task, std::int64_t pid) {
  return base + "/jaxprof." + std::to_string(uid) + "." + run_id + "." + task + "." + std::to_string(pid);
}

std::string node_marks_directory(const std::string& base, std::uint32_t uid, const std::string& run_id) {
  return base + "/" + kNodeFolderPrefix + std::to_string(uid) + "." + run_id + kNodeFolderSuffix;
}

std::string task_of_start_record(const std::string& name) {
  return task_of(name, kTaskStartSuffix);
}
std::string task_of_end_record(const std::string& name) {
  return task_of(name, kTaskEndSuffix);
}

bool is_part_spool(const std::string& name) {
  return ends_with(name, std::string(kSpoolSuffix) + kPartSuffix);
}
bool is_spool(const std::string& name) {
  return ends_with(name, kSpoolSuffix) || is_part_spool(name);
}
bool is_node_spool(const std::string& name) {
  return name.rfind(kNodeSpoolPrefix, 0) == 0 && ends_with(name, kSpoolSuffix);
}

std::optional<PlainTask> plain_task_of(const std::string& name) {
  if (!name.starts_with(kPlainTaskPrefix)) return std::nullopt;
  const std::string_view rest = std::string_view(name).substr(std::strlen(kPlainTaskPrefix));
  const std::size_t dot = rest.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto pid = parse_int64(rest.substr(0, dot));
  const auto ticks = parse_uint64(rest.substr(dot + 1));
  if (!pid || *pid <= 0 || !ticks) return std::nullopt;
  return PlainTask{*pid, *ticks};
}

bool is_clock_boot_id(const std::string& boot_id) {
  constexpr std::size_t kMostCharacters = 64;
  return !boot_id.empty() && boot_id.size() <= kMostCharacters &&
         std::all_of(boot_id.begin(), boot_id.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
         });
}

std::optional<EndpointName> endpoint_name_of(const std::string& name) {
  if (!ends_with(name, kEndpointSuffix)) return std::nullopt;
  const std::string_view stem = std::string_view(name).substr(0, name.size() - std::strlen(kEndpointSuffix));
  const std::size_t first = stem.find('.');
  const std::size_t second = first == std::string_view::npos ? first : stem.find('.', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  EndpointName found;
  found.boot_id = stem.substr(0, first);
  const auto network_namespace = parse_uint64(stem.substr(first + 1, second - first - 1));
  const auto nonce = parse_uint64(stem.substr(second + 1));
  if (!is_clock_boot_id(found.boot_id) || !network_namespace || !nonce) return std::nullopt;
  found.network_namespace = *network_namespace;
  found.nonce = *nonce;
  return found;
}

std::optional<std::uint32_t> user_of_node_folder(const std::string& name) {
  if (!name.starts_with(kNodeFolderPrefix) || !ends_with(name, kNodeFolderSuffix)) return std::nullopt;
  const std::string_view rest = std::string_view(name).substr(std::strlen(kNodeFolderPrefix));
  const auto user = parse_uint64(rest.substr(0, rest.find('.')));
  if (!user || *user > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*user);
}

}  // namespace jaxprof::run_layout
