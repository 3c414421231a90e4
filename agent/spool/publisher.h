// A spool grows on a disk of the node, and has to end up in the run directory on shared storage, whatever happens to
// the job meanwhile. The publisher copies it there under NAME.part, in append order, so that the copy is at every
// instant a byte prefix of the spool and a later publisher goes on where this one stopped; the last step gives the
// copy its final name. It knows nothing of a spool's content: whoever uses it says when the spool is complete.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "agent/base/result.h"
#include "agent/base/unique_fd.h"

namespace jaxprof::spool {

// Asked between pieces of work of at most 1 MiB; true ends the work early.
using IsTimeUp = std::function<bool()>;

// Gives the file `from` the name `to`, which it must not take from another file. False: `to` exists. Works where the
// file system has neither RENAME_NOREPLACE nor hard links.
Result<bool> rename_if_absent(const std::string& from, const std::string& to);

// One spool on its way. Used by one thread at a time.
class Publisher {
 public:
  enum class Name {
    kIfAbsent,  // another file of the final name stays
    kReplace,   // it is replaced
  };

  // `part_path` may exist: what is in it is taken for the beginning of `spool_path` (its claim made sure that it is).
  // kInputUnreadable for the spool, kOutputFailed for the copy, also when the copy is longer than the spool.
  static Result<Publisher> open(const std::string& spool_path, const std::string& part_path);

  // Copies what the spool has beyond the copy. Returns the number of bytes copied by this call; fewer than there are
  // if time is up.
  Result<std::uint64_t> advance(const IsTimeUp& is_time_up);

  // True if the copy had all of the spool when advance returned.
  bool is_level() const { return is_level_; }
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
  bool is_level_ = false;
};

}  // namespace jaxprof::spool
