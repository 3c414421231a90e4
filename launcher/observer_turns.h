// Which of a node's tasks starts its observer. Nobody is in charge, all of them may die at any moment, and so may the
// observer; but it should be started once, and one that cannot live should not be started for ever. So a start takes a
// mark in the folder that the tasks share, of which there is a limited number, and whether an observer lives its lock
// tells. Several threads and processes.
#pragma once

#include <string>
#include <utility>

namespace jaxprof::launcher {

class ObserverTurns {
 public:
  // `node_folder` is the one that the run's tasks on the node share.
  explicit ObserverTurns(std::string node_folder) : folder_(std::move(node_folder)) {}

  // True if the caller is the run's first on the node to ask, and no observer lives.
  bool take_first() const;
  // True if no observer lives and the caller may start another; from the kMost-th start on never.
  bool take_next() const;

  static constexpr int kMost = 20;

 private:
  bool take(int number) const;

  std::string folder_;
};

}  // namespace jaxprof::launcher
