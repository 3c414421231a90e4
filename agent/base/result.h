// The tools' way to fail: a function that can fail returns Result<T>, and the function that decides the error
// writes its message (exact cause, the value that was wrong, then what to do). Callers add context with `wrap` and
// pass it on; `main` prints it once and exits with exit_status(code). Not used inside the user's process, where
// nothing throws and nothing allocates.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace jaxprof {

// What went wrong, for tests and for the exit status; the text is for people.
enum class ErrorCode {
  kUsage,            // wrong command line                         -> 2
  kInputUnreadable,  // input missing, foreign, damaged            -> 3
  kPartial,          // the result exists but is incomplete        -> 4
  kOutputFailed,     // output could not be written                -> 5
  kNodeNotReady,     // this node cannot run the profiler          -> 6
  kFinding,          // a finding, with --fail-on                  -> 1
};

struct [[nodiscard]] Error {
  ErrorCode code;
  std::string message;

  // This error with `context: ` before its message.
  Error wrap(const std::string& context) && { return Error{code, context + ": " + std::move(message)}; }
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

// "MESSAGE: text of errno"; reads errno before it does anything else.
inline tl::unexpected<Error> fail_errno(ErrorCode code, std::string message) {
  const int saved = errno;
  return fail(code, std::move(message) + ": " + std::strerror(saved));
}

// The exit status that the README's table gives for `code`.
constexpr int exit_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::kFinding:
      return 1;
    case ErrorCode::kUsage:
      return 2;
    case ErrorCode::kInputUnreadable:
      return 3;
    case ErrorCode::kPartial:
      return 4;
    case ErrorCode::kOutputFailed:
      return 5;
    case ErrorCode::kNodeNotReady:
      return 6;
  }
  return 3;
}

}  // namespace jaxprof
