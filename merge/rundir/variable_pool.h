// The variables of thousands of tasks are nearly the same. They are kept once each, and a task holds their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace jaxprof::rundir {

struct Variable {
  std::string name;
  std::string value;
};

// One thread.
class VariablePool {
 public:
  // The numbers of the variables of `environment` (value by name), by name.
  std::vector<std::uint32_t> intern(const std::map<std::string, std::string>& environment) {
    std::vector<std::uint32_t> numbers;
    numbers.reserve(environment.size());
    for (const auto& [name, value] : environment) {
      const auto [found, is_new] = numbers_.try_emplace({name, value}, static_cast<std::uint32_t>(variables_.size()));
      if (is_new) variables_.push_back({name, value});
      numbers.push_back(found->second);
    }
    return numbers;
  }

  const Variable& at(std::uint32_t number) const { return variables_[number]; }
  std::size_t size() const { return variables_.size(); }

 private:
  std::map<std::pair<std::string, std::string>, std::uint32_t> numbers_;
  std::vector<Variable> variables_;
};

}  // namespace jaxprof::rundir
