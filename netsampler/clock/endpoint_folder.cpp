#include "netsampler/clock/endpoint_folder.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <vector>

#include "agent/base/atomic_file.h"
#include "agent/base/clocks.h"
#include "agent/base/directory_listing.h"
#include "agent/contract/run_layout.h"

namespace jaxprof::netsampler {
namespace {

constexpr std::size_t kMostEndpoints = 65536;
constexpr std::size_t kReferenceBytes = 128;
constexpr const char* kTemporaryMark = ".tmp.";  // atomic_file.h's and clock_token.h's
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kLongestWriteNs = 600 * kSecondNs;

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// When the file was written, by the clock of its server; nothing if it is gone.
std::optional<std::int64_t> written_ns(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return std::nullopt;
  return status.st_mtim.tv_sec * kSecondNs + status.st_mtim.tv_nsec;
}

std::optional<ClockEndpoint> read_endpoint(const std::string& path, const run_layout::EndpointName& name) {
  const auto text = read_small_file(path, kEndpointBytes);
  if (!text) return std::nullopt;
  auto endpoint = parse_endpoint(*text);
  if (!endpoint || endpoint->boot_id != name.boot_id || endpoint->network_namespace != name.network_namespace ||
      endpoint->nonce != name.nonce) {
    return std::nullopt;
  }
  return endpoint;
}

}  // namespace

Result<EndpointFolder> EndpointFolder::open(const std::string& state_directory, std::int64_t longest_life_ns) {
  const std::string path = run_layout::clock_directory(state_directory);
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return fail_errno(ErrorCode::kNodeNotReady, "cannot make " + path);
  }
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return fail_errno(ErrorCode::kNodeNotReady, "cannot read " + path);
  if (!S_ISDIR(status.st_mode)) return fail(ErrorCode::kNodeNotReady, path + " is not a folder");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fail(ErrorCode::kNodeNotReady, path + " can be written by others than its owner");
  }
  return EndpointFolder(state_directory, longest_life_ns);
}

Status EndpointFolder::publish(const ClockEndpoint& own) {
  own_ = own;
  const std::string path = run_layout::clock_endpoint_path(state_, own.boot_id, own.network_namespace, own.nonce);
  if (auto written = write_atomic_file(path, to_text(own), Publish::kReplace); !written) {
    return tl::unexpected(std::move(written.error()));
  }
  own_path_ = path;
  published_ns_ = clock_ns(CLOCK_MONOTONIC);
  remove_remains();
  return {};
}

// Of this node's earlier observers none lives, for the place in the run is one's alone: what they left goes. Of others'
// files only those go that have had no name for a while, measured by the one clock of their server.
void EndpointFolder::remove_remains() {
  const std::string folder = run_layout::clock_directory(state_);
  const std::string own_prefix = own_.boot_id + "." + std::to_string(own_.network_namespace) + ".";
  const auto now_ns = written_ns(own_path_);
  for (const std::string& name : list_directory(folder)) {
    const std::string path = folder + "/" + name;
    const bool is_own = name.starts_with(own_prefix) && path != own_path_;
    const bool is_nameless = name.find(kTemporaryMark) != std::string::npos;
    const auto made_ns = is_nameless && now_ns ? written_ns(path) : std::nullopt;
    if (is_own || (made_ns && *made_ns + kLongestWriteNs < *now_ns)) unlink(path.c_str());
  }
}

// "Now" is when the own file was written, and the time since then: clocks of nodes differ, and the server has one.
void EndpointFolder::remove_dead(std::vector<std::string>* names) {
  const auto own_ns = written_ns(own_path_);
  if (longest_life_ns_ <= 0 || !own_ns) return;
  const std::int64_t born_ns = *own_ns + clock_ns(CLOCK_MONOTONIC) - published_ns_ - longest_life_ns_;
  const std::string folder = run_layout::clock_directory(state_);
  std::erase_if(*names, [&](const std::string& name) {
    const auto found = run_layout::endpoint_name_of(name);
    if (!found || found->boot_id == own_.boot_id) return false;
    const auto made_ns = written_ns(folder + "/" + name);
    if (!made_ns || *made_ns >= born_ns) return false;
    unlink((folder + "/" + name).c_str());
    dead_.insert(found->boot_id);
    return true;
  });
}

void EndpointFolder::withdraw() {
  if (!own_path_.empty()) unlink(own_path_.c_str());
  own_path_.clear();
}

// A listing without the own file is none: the folder cannot be read just now, or somebody has cleared it.
bool EndpointFolder::look() {
  const std::string folder = run_layout::clock_directory(state_);
  std::vector<std::string> names = list_directory(folder);
  if (!std::binary_search(names.begin(), names.end(), file_name(own_path_))) return false;
  remove_dead(&names);
  const std::size_t n_gone = std::erase_if(
      endpoints_, [&names](const auto& entry) { return !std::binary_search(names.begin(), names.end(), entry.first); });
  bool has_new = false;
  for (const std::string& name : names) {
    const auto found = run_layout::endpoint_name_of(name);
    if (!found || found->boot_id == own_.boot_id || endpoints_.contains(name)) continue;
    if (endpoints_.size() >= kMostEndpoints) break;
    if (auto endpoint = read_endpoint(folder + "/" + name, *found)) {
      endpoints_.emplace(name, std::move(*endpoint));
      has_new = true;
    }
  }
  if (n_gone == 0 && !has_new) return false;
  choose_nodes();
  return true;
}

void EndpointFolder::choose_nodes() {
  nodes_.clear();
  for (const auto& [name, endpoint] : endpoints_) {
    const auto [known, is_new] = nodes_.emplace(endpoint.boot_id, endpoint);
    if (!is_new && known->second.start_ns < endpoint.start_ns) known->second = endpoint;
  }
}

const std::string& EndpointFolder::reference() {
  if (is_there(reference_)) return reference_;
  const auto text = read_small_file(run_layout::clock_reference_path(state_), kReferenceBytes);
  if (!text || text->empty() || text->back() != '\n') return reference_;
  const std::string boot_id = text->substr(0, text->size() - 1);
  if (run_layout::is_clock_boot_id(boot_id)) reference_ = boot_id;
  return reference_;
}

// Under a name of this node's first, so that whatever is left of it by a kill is known for its own.
Status EndpointFolder::name_reference() {
  const std::string& known = reference();
  const bool is_stale = !known.empty() && !is_there(known);
  const std::string claim = run_layout::clock_claim_path(own_path_);
  const std::string path = run_layout::clock_reference_path(state_);
  if (auto written = write_atomic_file(claim, own_.boot_id + "\n", Publish::kReplace); !written) {
    return tl::unexpected(std::move(written.error()));
  }
  Status status;
  if ((is_stale ? rename(claim.c_str(), path.c_str()) : link(claim.c_str(), path.c_str())) != 0 && errno != EEXIST &&
      access(path.c_str(), F_OK) != 0) {  // NFS may say that a link failed which was made
    status = fail_errno(ErrorCode::kOutputFailed, "cannot name " + path);
  }
  unlink(claim.c_str());
  return status;
}

}  // namespace jaxprof::netsampler
