// A spool grows on a disk of the node, and has to end up in the run directory on shared storage, whatever happens to
// the job meanwhile. The publisher copies it there under NAME.part, in append order, so that the copy is at every
// instant a byte prefix of the spool and a later publisher goes on where this one stopped; the last step gives the
// copy its final name. It knows nothing of a spool's content: whoever uses it says when the spool is complete.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "agent/base/result.h"
#include "agent/base/unique_fd.h"

namespace jaxprof::spool {

// Asked between pieces of work of at most 1 MiB; true ends the work early.
using IsTimeUp = std::function<bool()>;

// Gives the file `from` the name `to`, which it must not take from another file. False: `to` exists. Works where the
// file system has neither RENAME_NOREPLACE nor hard links.
Result<bool> rename_if_absent(const std::string& from, const std::string& to);

// Is the file `path` the beginning of the spool at `spool_path`, or all of it? Told by the spool's file header, which
// holds a random number: no two spools share it. False for an empty file, and where either cannot be read.
bool is_copy_of_spool(const std::string& spool_path, const std::string& path);

// One spool on its way. Used by one thread at a time.
class Publisher {
 public:
  static constexpr std::size_t kPieceBytes = 1 << 20;

  enum class Name {
    kIfAbsent,  // another file of the final name stays
    kReplace,   // it is replaced
  };

  // `part_path` may exist and then is the beginning of `spool_path`. kInputUnreadable for the spool, kOutputFailed for
  // the copy, also when it is longer than the spool or another's.
  static Result<Publisher> open(const std::string& spool_path, const std::string& part_path);

  // Appends to the copy what the spool has beyond it, as far as it fits into `room`, at most kPieceBytes. Returns the
  // number of bytes; 0: the copy has all of the spool. A spool that is being written may end in half a block, which its
  // writer could cut off again: whoever copies one gives no more room than up to its last whole block.
  Result<std::uint64_t> copy_piece(std::span<char> room);

  std::uint64_t published_bytes() const { return published_bytes_; }

  // Brings the copy to stable storage and names it `final_path`. To be called once, when the spool is complete and the
  // copy level with it. False: the name is taken, the copy stays under its .part name.
  Result<bool> finish(const std::string& final_path, Name name);

 private:
  Publisher(UniqueFd spool, UniqueFd part, std::string part_path, std::uint64_t published_bytes);

  UniqueFd spool_;
  UniqueFd part_;
  std::string part_path_;
  std::uint64_t published_bytes_;
};

}  // namespace jaxprof::spool
