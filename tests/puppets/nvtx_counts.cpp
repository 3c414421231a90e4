#include "tests/puppets/nvtx_counts.h"

#include <unistd.h>

namespace jaxprof::puppets {
namespace {

// Our names have neither quotes nor control characters; UTF-8 passes as it is.
std::string quoted(const std::string& text) {
  return '"' + text + '"';
}

std::string field(const char* key, const std::string& value) {
  return quoted(key) + ": " + value;
}

template <typename Items, typename Write>
std::string array(const Items& items, Write write) {
  std::string text = "[";
  for (const auto& item : items) {
    text += (text.size() > 1 ? ", {" : "{") + write(item) + "}";
  }
  return text + "]";
}

}  // namespace

void NvtxCounts::add(const std::string& domain, const std::string& kind, std::uint64_t n) {
  const std::lock_guard lock(mutex_);
  counts_[{domain, gettid(), kind}] += n;
}

void NvtxCounts::name(const std::string& domain, const std::string& kind, std::uint64_t number,
                      const std::string& text) {
  add(domain, kind);
  const std::lock_guard lock(mutex_);
  names_.push_back({domain, kind, number, text});
}

void NvtxCounts::payload(const std::string& domain, const std::string& message, int type, std::uint64_t bits) {
  const std::lock_guard lock(mutex_);
  payloads_.push_back({domain, message, type, bits});
}

void NvtxCounts::clear() {
  const std::lock_guard lock(mutex_);
  counts_.clear();
  names_.clear();
  payloads_.clear();
}

std::string NvtxCounts::json(int image) const {
  const std::lock_guard lock(mutex_);
  std::string text = "{" + field("pid", std::to_string(getpid())) + ", " + field("parent", std::to_string(getppid()));
  text += ", " + field("image", std::to_string(image));
  text += ", " + field("counts", array(counts_, [](const auto& item) {
                         const auto& [domain, thread, kind] = item.first;
                         return field("domain", quoted(domain)) + ", " + field("tid", std::to_string(thread)) + ", " +
                                field("kind", quoted(kind)) + ", " + field("count", std::to_string(item.second));
                       }));
  text += ", " + field("names", array(names_, [](const Name& item) {
                         return field("domain", quoted(item.domain)) + ", " + field("kind", quoted(item.kind)) + ", " +
                                field("number", std::to_string(item.number)) + ", " + field("text", quoted(item.text));
                       }));
  text += ", " + field("payloads", array(payloads_, [](const Payload& item) {
                         return field("domain", quoted(item.domain)) + ", " + field("message", quoted(item.message)) +
                                ", " + field("type", std::to_string(item.type)) + ", " +
                                field("bits", std::to_string(item.bits));
                       }));
  return text + "}";
}

}  // namespace jaxprof::puppets
