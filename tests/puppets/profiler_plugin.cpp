#include "tests/puppets/profiler_plugin.h"

#include <dlfcn.h>
#include <strings.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace jaxprof::puppets {
namespace {

// NCCL's debug log: silent unless NCCL_DEBUG asks for it.
__attribute__((format(printf, 5, 6))) void log_message(int /*level*/, unsigned long /*flags*/, const char* file,
                                                       int line, const char* format, ...) {
  const char* const level = std::getenv("NCCL_DEBUG");
  if (level == nullptr || (strcasecmp(level, "INFO") != 0 && strcasecmp(level, "TRACE") != 0)) {
    return;
  }
  std::fprintf(stderr, "NCCL INFO %s:%d ", file == nullptr ? "?" : file, line);
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fputc('\n', stderr);
}

// A name that is a case-insensitive prefix of STATIC_PLUGIN ("s" is one) means the program itself.
void* open_library(const char* name) {
  const bool is_static = strncasecmp(name, "STATIC_PLUGIN", std::strlen(name)) == 0;
  return dlopen(is_static ? nullptr : name, RTLD_NOW | RTLD_LOCAL);
}

bool looks_like_library(const std::string& name) {
  return name.find('/') != std::string::npos ||
         (name.rfind("lib", 0) == 0 && name.size() > 3 && name.compare(name.size() - 3, 3, ".so") == 0);
}

// `name` as given, then libnccl-profiler-NAME.so; without a name libnccl-profiler.so. `path` becomes what was opened.
void* find_library(const char* name, std::string* path) {
  *path = (name == nullptr || *name == '\0') ? "libnccl-profiler.so" : name;
  void* library = open_library(path->c_str());
  if (library == nullptr && name != nullptr && *name != '\0' && !looks_like_library(*path)) {
    *path = "libnccl-profiler-" + *path + ".so";
    library = open_library(path->c_str());
  }
  return library;
}

}  // namespace

void ProfilerPlugin::load() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::kFailed || !is_enabled_) {
    return;
  }
  if (state_ == State::kLoaded) {
    ++n_references_;
    return;
  }
  state_ = State::kFailed;
  const char* const name = std::getenv("NCCL_PROFILER_PLUGIN");
  if (name != nullptr && strcasecmp(name, "none") == 0) {
    status_ = "disabled by NCCL_PROFILER_PLUGIN";
    return;
  }
  std::string path;
  library_ = find_library(name, &path);
  if (library_ == nullptr) {
    const char* const reason = dlerror();
    status_ = "not found: " + std::string(reason == nullptr ? path : reason);
    return;
  }
  for (int version = newest_version_; version > 0 && !calls_.is_loaded(); --version) {
    const std::string symbol = "ncclProfiler_v" + std::to_string(version);
    if (const void* const table = dlsym(library_, symbol.c_str()); table != nullptr) {
      calls_ = ProfilerCalls(version, table);
    }
  }
  if (!calls_.is_loaded()) {
    status_ = "no ncclProfiler_v" + std::to_string(newest_version_) + " or older in " + path;
    dlclose(library_);
    library_ = nullptr;
    return;
  }
  n_references_ = 1;
  state_ = State::kLoaded;
  const char* const plugin = calls_.name();
  status_ = "loaded " + std::string(plugin == nullptr ? "?" : plugin) + " version " + std::to_string(calls_.version()) +
            " from " + path;
}

void ProfilerPlugin::unload() {
  const std::lock_guard lock(mutex_);
  if (state_ != State::kLoaded || --n_references_ > 0) {
    return;
  }
  dlclose(library_);
  library_ = nullptr;
  calls_ = {};
  state_ = State::kReady;  // a later communicator loads again
}

void ProfilerPlugin::init(Communicator& comm) {
  load();
  if (!calls_.is_loaded()) {
    return;
  }
  // Up to 2.30.2 NCCL goes on after a failed init, with whatever context the plugin left.
  const int error = calls_.init(comm, &mask_, log_message);
  if (error != 0) {
    log_message(3, 1, __FILE__, __LINE__, "Profiler init failed with error %d. Continue without profiler.", error);
  }
}

void ProfilerPlugin::finalize(Communicator& comm) {
  if (calls_.is_loaded() && comm.profiler_context != nullptr) {
    calls_.finalize(comm.profiler_context);
  }
  unload();
}

std::string ProfilerPlugin::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

}  // namespace jaxprof::puppets
