// The processes of one merge, numbered from 0, and messages between them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace jaxprof::merge {

using Message = std::vector<std::byte>;

// Of one kind, messages from one process to another arrive in the order in which they were sent; kinds do not wait for
// each other.
enum class MessageKind { kSources = 1, kHead, kPlacement, kRows };

// One thread. A peer that dies ends all of them: nothing here fails.
class Peers {
 public:
  Peers() = default;
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;
  virtual ~Peers() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // May return before the message is there, or only when it is.
  virtual void send(int to, MessageKind kind, std::span<const std::byte> bytes) = 0;
  virtual Message receive(int from, MessageKind kind) = 0;
};

}  // namespace jaxprof::merge
