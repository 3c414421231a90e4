#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "agent/base/parse_number.h"
#include "launcher/check.h"

namespace jaxprof::launcher {
namespace {

constexpr const char* kHead = "jaxprof-check-1";
constexpr std::size_t kMaxHostsShown = 4;

struct Group {
  std::vector<std::int64_t> ranks;
  std::set<std::string> hosts;
};

std::string list_hosts(const std::set<std::string>& hosts) {
  std::string text;
  std::size_t shown = 0;
  for (const std::string& host : hosts) {
    if (shown++ == kMaxHostsShown) return text + fmt::format(" and {} more", hosts.size() - kMaxHostsShown);
    text += (text.empty() ? "" : ",") + host;
  }
  return text;
}

std::vector<std::int64_t> silent_ranks(const std::vector<RankFindings>& all, std::int32_t world_size) {
  std::set<std::int64_t> heard;
  for (const RankFindings& findings : all) heard.insert(findings.rank);
  std::vector<std::int64_t> silent;
  for (std::int64_t rank = 0; rank < world_size; ++rank) {
    if (!heard.contains(rank)) silent.push_back(rank);
  }
  return silent;
}

// Takes the text up to the next tab or line's end off `text`.
std::string_view take_field(std::string_view* text, char end) {
  const std::size_t length = std::min(text->find(end), text->size());
  const std::string_view field = text->substr(0, length);
  text->remove_prefix(std::min(length + 1, text->size()));
  return field;
}

}  // namespace

std::string to_text(const RankFindings& findings) {
  std::string text =
      fmt::format("{}\t{}\t{}\t{}\n", kHead, findings.rank, findings.host, findings.has_made_directory ? 1 : 0);
  for (const Finding& finding : findings.findings) {
    std::string line = finding.text;
    std::replace(line.begin(), line.end(), '\n', ' ');
    text += fmt::format("{}\t{}\n", finding.is_fault ? "fault" : "remark", line);
  }
  return text;
}

Result<RankFindings> parse_findings(std::string_view text) {
  RankFindings findings;
  std::string_view head = take_field(&text, '\n');
  const bool is_record = take_field(&head, '\t') == kHead;
  const auto rank = parse_int64(take_field(&head, '\t'));
  findings.host = take_field(&head, '\t');
  findings.has_made_directory = head == "1";
  if (!is_record || !rank) return fail(ErrorCode::kInputUnreadable, "not a record of --check");
  findings.rank = *rank;
  while (!text.empty()) {
    std::string_view line = take_field(&text, '\n');
    const bool is_fault = take_field(&line, '\t') == "fault";
    findings.findings.push_back({is_fault, std::string(line)});
  }
  return findings;
}

std::string compact_ranks(std::vector<std::int64_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] <= ranks[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(ranks[i]);
    if (ranks[last] != ranks[i]) text += "-" + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

std::string make_table(const std::vector<RankFindings>& all, std::int32_t world_size, const std::string& directory) {
  std::map<std::pair<bool, std::string>, Group> groups;  // faults first: false sorts before true
  std::set<std::int64_t> faulty;
  for (const RankFindings& one : all) {
    for (const Finding& finding : one.findings) {
      Group& group = groups[{!finding.is_fault, finding.text}];
      group.ranks.push_back(one.rank);
      group.hosts.insert(one.host);
      if (finding.is_fault) faulty.insert(one.rank);
    }
  }
  const std::vector<std::int64_t> silent = silent_ranks(all, world_size);
  std::string text;
  const auto total = world_size > 0 ? static_cast<std::size_t>(world_size) : all.size();
  text +=
      fmt::format("jaxprof check: {} of {} ranks ready, output {}/\n", all.size() - faulty.size(), total, directory);
  if (groups.empty() && silent.empty()) return text;
  text += fmt::format("{:<7} {:<12} {:<16} {}\n", "kind", "ranks", "nodes", "what");
  const auto add = [&text](const char* kind, const std::vector<std::int64_t>& ranks, const std::string& hosts,
                           const std::string& what) {
    const bool has_rank = !ranks.empty() && ranks.front() >= 0;
    text += fmt::format("{:<7} {:<12} {:<16} {}\n", kind, has_rank ? compact_ranks(ranks) : "-", hosts, what);
  };
  if (!silent.empty()) add("fault", silent, "-", "no report: they did not start in time, or cannot reach " + directory);
  for (const auto& [key, group] : groups) {
    add(key.first ? "remark" : "fault", group.ranks, list_hosts(group.hosts), key.second);
  }
  return text;
}

}  // namespace jaxprof::launcher
