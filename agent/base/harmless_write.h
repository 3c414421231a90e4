// A line of ours on a descriptor that is somebody else's. Whoever reads it may be gone (SIGPIPE), its file may have
// reached the size limit (SIGXFSZ), its pipe may be full and never read, its terminal may stop background writers
// (SIGTTOU): each of these would kill or hang the writer, and in front of a user's job that costs the job. Here the
// text is lost instead.
#pragma once

#include <string_view>

namespace jaxprof {

// Writes `text` to `fd` in pieces of at most PIPE_BUF bytes, waiting at most 100 ms in all for room. Text up to
// PIPE_BUF bytes goes out by one write(2). False: not all of it was written. The signal mask, dispositions and pending
// signals of the calling thread are afterwards what they were; other threads may run.
bool write_harmlessly(int fd, std::string_view text) noexcept;

}  // namespace jaxprof
