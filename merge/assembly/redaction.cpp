// One walk over a text: at each position the first rule that fits takes something out, else a byte is copied.
#include "merge/assembly/redaction.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>

#include "agent/contract/fitted_name.h"

namespace jaxprof::assembly {
namespace {

constexpr std::string_view kHidden = "…";
constexpr std::string_view kAddress = "address";

// In the last part of a path that is no person's name.
constexpr std::string_view kFileSuffixes[] = {".jxspool", ".so", ".py", ".sh", ".h5", ".json"};

// Below these nothing is named after people.
constexpr std::string_view kSystemFolders[] = {"/sys/", "/proc/", "/dev/", "/usr/"};
// Of "/dev/", where people's files may be.
constexpr std::string_view kSharedMemory = "/dev/shm/";

// Of a boot id as it stands in names of spools.
constexpr std::size_t kBootIdInNames = 8;

// Variables whose values may be told without a '_' in their name.
constexpr std::string_view kPlainVariables[] = {"RANK", "HOST", "HOSTNAME"};

bool is_alnum(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Can a word begin at `at`: is no letter or digit before it?
bool is_border(std::string_view text, std::size_t at) {
  return at == 0 || at >= text.size() || !is_alnum(text[at - 1]) || !is_alnum(text[at]);
}

// The end of a path that begins at `at`: texts put paths between blanks, quotes, brackets and commas.
std::size_t end_of_path(std::string_view text, std::size_t at) {
  return std::min(text.find_first_of(" \t\n\"'`,;()<>|", at), text.size());
}

bool is_system_path(std::string_view path) {
  if (path.starts_with(kSharedMemory)) return false;
  return std::any_of(std::begin(kSystemFolders), std::end(kSystemFolders),
                     [path](std::string_view folder) { return path.starts_with(folder); });
}

// True if an absolute path that people may have named begins at `at`.
bool is_path(std::string_view text, std::size_t at) {
  constexpr std::string_view kBefore = " \t\n\"'`=:,;([{<>|@";
  if (text[at] != '/' || (at > 0 && kBefore.find(text[at - 1]) == std::string_view::npos)) return false;
  const std::string_view path = text.substr(at, end_of_path(text, at) - at);
  return path.size() > 1 && path[1] != '/' && !is_system_path(path);
}

// What is left of a path: its last part, if that is a file's by its name and not, as in "/home/NAME", a person's.
std::string_view shown_part(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  const std::string_view last = path.substr(slash);
  const auto has = [last](std::string_view suffix) {  // ".so.1" and ".py:12", not ".sommer"
    const std::size_t at = last.find(suffix);
    return at != std::string_view::npos && is_border(last, at + suffix.size());
  };
  return std::any_of(std::begin(kFileSuffixes), std::end(kFileSuffixes), has) ? last : std::string_view{};
}

// The length of an IPv4 address at `at`, 0 if there is none.
std::size_t ipv4_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  for (int part = 0; part < 4; ++part) {
    if (part > 0) {
      if (end >= text.size() || text[end] != '.') return 0;
      ++end;
    }
    int value = 0;
    std::size_t n_digits = 0;
    for (; end < text.size() && is_digit(text[end]) && n_digits < 4; ++end, ++n_digits)
      value = 10 * value + text[end] - '0';
    if (n_digits == 0 || n_digits > 3 || value > 255) return 0;
  }
  const bool goes_on = end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1]);
  return goes_on || !is_border(text, end) ? 0 : end - at;
}

// The length of "NAME=" at `at`, 0 if there is none that looks like a variable of an environment.
std::size_t variable_at(std::string_view text, std::size_t at) {
  if (at > 0 && (is_alnum(text[at - 1]) || text[at - 1] == '_')) return 0;
  std::size_t end = at;
  while (end < text.size() && ((text[end] >= 'A' && text[end] <= 'Z') || text[end] == '_' || is_digit(text[end])))
    ++end;
  if (end == at || is_digit(text[at]) || end >= text.size() || text[end] != '=') return 0;
  const std::string_view name = text.substr(at, end - at);
  const bool is_variable =
      (name.size() > 2 && name.find('_') != std::string_view::npos) ||
      std::find(std::begin(kPlainVariables), std::end(kPlainVariables), name) != std::end(kPlainVariables);
  return is_variable ? end + 1 - at : 0;
}

// The length of a value at `at`: up to what findings put behind values.
std::size_t value_at(std::string_view text, std::size_t at) {
  std::size_t end = text.size();
  for (const std::string_view behind : {" (", " is ", ": ", "; ", " of ", ", which "}) {
    end = std::min(end, text.find(behind, at));
  }
  return end - at;
}

// Names that stand for hosts must be nobody's, since a text may pass here twice.
std::string free_prefix(const std::set<std::string>& hosts, std::initializer_list<const char*> prefixes) {
  const auto is_taken = [&hosts](std::string_view prefix) {
    return std::any_of(hosts.begin(), hosts.end(), [prefix](const std::string& host) {
      return host.starts_with(prefix) &&
             std::all_of(host.begin() + static_cast<std::ptrdiff_t>(prefix.size()), host.end(), is_digit);
    });
  };
  return *std::find_if_not(prefixes.begin(), prefixes.end() - 1, is_taken);
}

std::set<std::string> hosts_of(const RunSources& sources) {
  std::set<std::string> hosts;
  for (const SourceNode& node : sources.nodes) hosts.insert(node.host);
  for (const rundir::FoundTask& task : sources.tasks) hosts.insert(task.start.host);
  for (const SourceProcess& process : sources.processes) {
    hosts.insert(process.trace.identity().text(spool::IdentityKey::kHost));
  }
  for (const SourceObserver& observer : sources.observers) {
    hosts.insert(observer.trace.identity().text(spool::IdentityKey::kHost));
  }
  for (const ForeignSpool& spool : sources.foreign) hosts.insert(spool.host);
  hosts.erase("");
  return hosts;
}

// A host by its whole name, by the first part of it, and as it stands in names of files.
void replace_host(const std::string& host, const std::string& name, Redaction* redaction) {
  redaction->replace(host, name);
  const std::string first = host.substr(0, host.find('.'));
  const bool is_number = std::all_of(first.begin(), first.end(), is_digit);
  if (!is_number) redaction->replace(first, name);
  std::string in_files = host;
  std::transform(in_files.begin(), in_files.end(), in_files.begin(), file_name_character);
  redaction->replace(in_files, name);
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

void hide_folders(const RunSources& sources, Redaction* redaction) {
  redaction->hide_folder(sources.directory);
  for (const rundir::FoundTask& task : sources.tasks) {
    redaction->hide_folder(folder_of(task.start.spool_directory));
    redaction->hide_folder(folder_of(task.start.output));
  }
}

void hide_addresses(const RunSources& sources, Redaction* redaction) {
  for (const SourceObserver& observer : sources.observers) {
    for (const rundir::ClockService& service : observer.trace.clock().services()) {
      redaction->replace(service.address, std::string(kAddress));
    }
  }
}

}  // namespace

void Redaction::replace(const std::string& word, const std::string& replacement) {
  if (word.empty() || !words_.emplace(word, replacement).second) return;
  lengths_.insert(word.size());
}

void Redaction::hide_folder(const std::string& folder) {
  std::string name = folder;
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  if (name.empty() || name == "/" || name == ".") return;
  if (std::find(folders_.begin(), folders_.end(), name) == folders_.end()) folders_.push_back(name);
}

std::size_t Redaction::take_path(std::string_view text, std::size_t at, std::string* out) const {
  if (at > 0 && (is_alnum(text[at - 1]) || text[at - 1] == '/')) return 0;
  std::size_t length = 0;  // of what is hidden for sure
  for (const std::string& folder : folders_) {
    if (!text.substr(at).starts_with(folder)) continue;
    const std::size_t end = at + folder.size();
    const bool is_above = end < text.size() && text[end] == '/';
    // What is absolute is a folder by itself; "prof" alone is a word.
    const bool is_whole = folder[0] == '/' && is_border(text, end);
    if (is_above || is_whole) length = std::max(length, folder.size());
  }
  if (length == 0 && !is_path(text, at)) return 0;
  const std::size_t end = end_of_path(text, at + length);
  const std::string_view shown = shown_part(text.substr(at, end - at));
  out->append(kHidden);
  return end - at - std::min(shown.size(), end - at - length);
}

std::size_t Redaction::take_word(std::string_view text, std::size_t at, std::string* out) const {
  for (const std::size_t length : lengths_) {
    if (at + length > text.size() || !is_border(text, at + length)) continue;
    const auto word = words_.find(std::string(text.substr(at, length)));
    if (word == words_.end()) continue;
    out->append(word->second);
    return length;
  }
  return 0;
}

std::string Redaction::text(std::string_view text) const {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t taken = take_path(text, at, &out);
    if (taken == 0 && is_border(text, at)) {
      taken = take_word(text, at, &out);
      if (taken == 0 && is_digit(text[at]) && (at < 2 || text[at - 1] != '.' || !is_digit(text[at - 2]))) {
        taken = ipv4_at(text, at);
        if (taken > 0) out.append(kAddress);
      }
      if (const std::size_t name = taken == 0 ? variable_at(text, at) : 0; name > 0) {
        out.append(text.substr(at, name)).append(kHidden);
        taken = name + value_at(text, at + name);
      }
    }
    if (taken == 0) out.push_back(text[at]);
    at += std::max<std::size_t>(taken, 1);
  }
  return out;
}

Redaction redaction_of(const RunSources& sources) {
  Redaction redaction;
  const std::set<std::string> hosts = hosts_of(sources);
  const std::string prefix = free_prefix(hosts, {"node", "machine", "redacted-node"});
  std::set<std::string> others = hosts;
  for (std::size_t i = 0; i < sources.nodes.size(); ++i) {
    const SourceNode& node = sources.nodes[i];
    replace_host(node.host, prefix + std::to_string(i), &redaction);
    others.erase(node.host);
    if (node.boot_id.size() <= kBootIdInNames) continue;
    const std::string boot = "boot" + std::to_string(i);
    redaction.replace(node.boot_id, boot);
    redaction.replace(node.boot_id.substr(0, kBootIdInNames), boot);
  }
  const std::string other = free_prefix(hosts, {"other", "otherhost", "redacted-host"});
  std::size_t n_others = 0;
  for (const std::string& host : others) replace_host(host, other + std::to_string(n_others++), &redaction);
  hide_addresses(sources, &redaction);
  hide_folders(sources, &redaction);
  return redaction;
}

void begin_redaction(const RunSources& sources, runfile::RunTables* run) {
  run->attributes.redacted = 1;
  run->strings.set_filter([redaction = redaction_of(sources)](std::string_view text) { return redaction.text(text); });
}

void redact_attributes(const RunSources& sources, runfile::RunAttributes* attributes) {
  const Redaction redaction = redaction_of(sources);
  for (std::string* text :
       {&attributes->run_id, &attributes->job_id, &attributes->step_id, &attributes->cmdline, &attributes->selection}) {
    *text = redaction.text(*text);
  }
  std::string& output = attributes->output_template;
  const std::size_t slash = output.rfind('/');
  output = slash == std::string::npos ? redaction.text(output)
                                      : std::string(kHidden) + "/" + redaction.text(output.substr(slash + 1));
}

void clear_hardware_ids(runfile::RunTables* run) {
  for (auto& uuid : run->devices.uuid) uuid = {};
  for (auto& guid : run->nics.guid) guid = {};
  for (auto& boot_id : run->nodes.boot_id) boot_id = {};
}

std::string program_of(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

}  // namespace jaxprof::assembly
