#include "launcher/inner_ranks.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "launcher/launcher_words.h"

namespace jaxprof::launcher {
namespace {

using namespace std::string_view_literals;

constexpr std::array kPrograms = {"torchrun"sv, "accelerate"sv, "deepspeed"sv};
constexpr std::array kModules = {"torch.distributed.run"sv, "torch.distributed.launch"sv,
                                 "accelerate.commands.launch"sv};

template <typename List>
bool contains(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 == 0
}

// The module of `python [options] -m MODULE`, or "". Of Python's options only -m, -c, -W, -X and
// --check-hash-based-pycs take a value (python --help).
std::string_view python_module(const std::vector<std::string>& command) {
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string_view word = command[i];
    if (word == "-m") return i + 1 < command.size() ? std::string_view(command[i + 1]) : std::string_view();
    if (word.starts_with("-m")) return word.substr(2);
    if (word == "-W" || word == "-X" || word == "--check-hash-based-pycs") {
      ++i;
    } else if (!word.starts_with("-") || word.starts_with("-c")) {
      return {};
    }
  }
  return {};
}

}  // namespace

bool starts_ranks_of_its_own(const std::vector<std::string>& command) {
  if (command.empty()) return false;
  if (starts_ranks_on_nodes(command)) return true;
  const std::string_view program = file_name(command[0]);
  if (contains(kPrograms, program)) return true;
  return program.starts_with("python") && contains(kModules, python_module(command));
}

}  // namespace jaxprof::launcher
