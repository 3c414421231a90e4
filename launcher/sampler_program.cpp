#include "launcher/sampler_program.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

namespace jaxprof::launcher {

Result<std::string> find_sampler(const std::string& program_path, const Env& env) {
  const char* given = env.get("JAXPROF_NETSAMPLER");
  const bool is_given = given != nullptr && *given != '\0';
  std::error_code ignored;
  const std::string path = is_given ? std::filesystem::absolute(given, ignored).string()
                                    : program_path.substr(0, program_path.rfind('/') + 1) + "jaxprof-netsampler";
  if (access(path.c_str(), X_OK) != 0) return fail_errno(ErrorCode::kNodeNotReady, "cannot execute " + path);
  return path;
}

}  // namespace jaxprof::launcher
