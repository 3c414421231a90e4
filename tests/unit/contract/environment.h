// An environment written down in a test: Environment{"A=1", "B=2"}.env().
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "agent/base/env.h"

namespace jaxprof::test {

class Environment {
 public:
  Environment(std::initializer_list<std::string> entries) : Environment(std::vector<std::string>(entries)) {}
  explicit Environment(std::vector<std::string> entries) : entries_(std::move(entries)) {
    for (const std::string& entry : entries_) pointers_.push_back(entry.c_str());
    pointers_.push_back(nullptr);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  // Lives as long as this.
  Env env() const { return Env(pointers_.data()); }

 private:
  std::vector<std::string> entries_;
  std::vector<const char*> pointers_;
};

}  // namespace jaxprof::test
