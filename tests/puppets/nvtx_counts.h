// The truth of the NVTX puppet: how often each kind of call was made, by domain and thread, and every name that was
// given, counted where the call is made and printed as one JSON object. Kinds are named as nvtx_recorder writes them.
// Any thread may count; a burst is added as a number, so that counting does not slow it down.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace jaxprof::puppets {

class NvtxCounts {
 public:
  // `domain` is its name, empty for the default domain; the thread is the calling one.
  void add(const std::string& domain, const std::string& kind, std::uint64_t n = 1);
  // A name given to something: kind `string`, `category`, `thread`, `resource`, with its number if it has one.
  void name(const std::string& domain, const std::string& kind, std::uint64_t number, const std::string& text);
  // A payload of a basic type: NVTX's type number and the eight bytes.
  void payload(const std::string& domain, const std::string& message, int type, std::uint64_t bits);
  // Forgets everything: a forked child starts its own account.
  void clear();
  // One line: {"pid", "parent", "image", "counts": [...], "names": [...], "payloads": [...]}.
  std::string json(int image) const;

 private:
  struct Name {
    std::string domain;
    std::string kind;
    std::uint64_t number;
    std::string text;
  };
  struct Payload {
    std::string domain;
    std::string message;
    int type;
    std::uint64_t bits;
  };
  mutable std::mutex mutex_;
  std::map<std::tuple<std::string, pid_t, std::string>, std::uint64_t> counts_;
  std::vector<Name> names_;
  std::vector<Payload> payloads_;
};

}  // namespace jaxprof::puppets
