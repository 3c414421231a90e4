#include "launcher/run_start_time.h"

#include <unistd.h>

#include <utility>

#include "agent/base/atomic_file.h"
#include "agent/base/parse_number.h"
#include "agent/contract/run_layout.h"

namespace jaxprof::launcher {

Result<std::int64_t> agree_on_start_time(const std::string& state_directory, std::int64_t own_realtime_ns) {
  const std::string path = run_layout::start_time_path(state_directory);
  if (access(run_layout::mark_path(state_directory, "last").c_str(), F_OK) == 0) {
    return fail(ErrorCode::kOutputFailed, path + " is of an earlier run of the same name");
  }
  auto is_first =
      write_atomic_file(path, std::to_string(own_realtime_ns) + "\n", Publish::kIfAbsent, Durable::kInCache);
  if (!is_first) return tl::unexpected(std::move(is_first.error()));
  if (*is_first) return own_realtime_ns;
  auto text = read_small_file(path);
  if (!text) return tl::unexpected(std::move(text.error()));
  if (text->ends_with('\n')) text->pop_back();
  const auto start_ns = parse_int64(*text);
  if (!start_ns || *start_ns <= 0) return fail(ErrorCode::kOutputFailed, path + " holds no time");
  return *start_ns;
}

}  // namespace jaxprof::launcher
