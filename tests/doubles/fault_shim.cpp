// LD_PRELOAD: a disk that fails on demand. What a full disk, a dying server or a read-only mount does to one call among
// hundreds cannot be had from a real one at a chosen call; this makes the N-th call of a kind below a folder fail, or
// all from the N-th on. It counts in a file that all processes of a job share, so a test first counts the calls and
// then breaks each in turn. Only for programs that link the C library dynamically.
//
//   JAXPROF_FAULT=CALL:ERRNO:FIRST:COUNT   CALL is a name of the table below; FIRST counts from 1, 0: only count;
//                                          COUNT 0: from there on all. ERRNO 0: a write takes half, others are let by
//   JAXPROF_FAULT_BELOW=FOLDER             absolute
//   JAXPROF_FAULT_COUNTER=FILE             of 8 bytes
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

struct Plan {
  char call[16] = {};
  int error = 0;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  const char* below = nullptr;
  std::atomic<std::uint64_t>* counter = nullptr;
};

std::atomic<std::uint64_t>* map_counter(const char* path) {
  const int fd = next<int(const char*, int, ...)>("open")(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0 || next<int(int, off_t)>("ftruncate")(fd, 8) != 0) return nullptr;
  void* memory =
      next<void*(void*, size_t, int, int, int, off_t)>("mmap")(nullptr, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return memory == MAP_FAILED ? nullptr : static_cast<std::atomic<std::uint64_t>*>(memory);
}

Plan read_plan() {
  Plan plan;
  const char* text = getenv("JAXPROF_FAULT");
  const char* counter = getenv("JAXPROF_FAULT_COUNTER");
  plan.below = getenv("JAXPROF_FAULT_BELOW");
  unsigned long first = 0, count = 0;
  if (text == nullptr || counter == nullptr || plan.below == nullptr ||
      sscanf(text, "%15[a-z]:%d:%lu:%lu", plan.call, &plan.error, &first, &count) != 4) {
    return Plan();
  }
  plan.first = first;
  plan.count = count;
  plan.counter = map_counter(counter);
  return plan;
}

const Plan& plan() {
  static const Plan the_plan = read_plan();
  return the_plan;
}

bool is_below(const char* path) {
  const size_t length = strlen(plan().below);
  return strncmp(path, plan().below, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

// True if this call is to fail.
bool is_struck(const char* call, const char* path) {
  const Plan& p = plan();
  if (p.counter == nullptr || strcmp(p.call, call) != 0 || !is_below(path)) return false;
  const std::uint64_t number = p.counter->fetch_add(1) + 1;
  if (p.first == 0 || number < p.first || (p.count != 0 && number >= p.first + p.count)) return false;
  errno = p.error;
  return true;
}

// The agent's thread has descriptors of its own: /proc/self would be another table.
bool is_struck(const char* call, int fd) {
  if (plan().counter == nullptr || strcmp(plan().call, call) != 0) return false;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/thread-self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return false;
  path[length] = '\0';
  return is_struck(call, path);
}

int open_as(const char* name, const char* path, int flags, mode_t mode) {
  if (is_struck("open", path)) return -1;
  return next<int(const char*, int, ...)>(name)(path, flags, mode);
}

ssize_t write_as(const char* call, int fd, const void* bytes, size_t length, off_t offset) {
  const bool is_fault = is_struck(call, fd);
  if (is_fault && (plan().error != 0 || length < 2)) return -1;
  if (is_fault) length /= 2;
  if (offset < 0) return next<ssize_t(int, const void*, size_t)>("write")(fd, bytes, length);
  return next<ssize_t(int, const void*, size_t, off_t)>("pwrite")(fd, bytes, length, offset);
}

}  // namespace

EXPORT int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_as("open", path, flags, mode);
}
EXPORT int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_as("open64", path, flags, mode);
}
EXPORT int mkdir(const char* path, mode_t mode) {
  if (is_struck("mkdir", path)) return -1;
  return next<int(const char*, mode_t)>("mkdir")(path, mode);
}
EXPORT ssize_t write(int fd, const void* bytes, size_t length) {
  return write_as("write", fd, bytes, length, -1);
}
EXPORT ssize_t pwrite(int fd, const void* bytes, size_t length, off_t offset) {
  return write_as("pwrite", fd, bytes, length, offset);
}
EXPORT ssize_t pwrite64(int fd, const void* bytes, size_t length, off64_t offset) {
  return write_as("pwrite", fd, bytes, length, offset);
}
EXPORT int posix_fallocate(int fd, off_t offset, off_t length) {
  if (is_struck("fallocate", fd)) return plan().error;
  return next<int(int, off_t, off_t)>("posix_fallocate")(fd, offset, length);
}
EXPORT int posix_fallocate64(int fd, off64_t offset, off64_t length) {
  if (is_struck("fallocate", fd)) return plan().error;
  return next<int(int, off64_t, off64_t)>("posix_fallocate64")(fd, offset, length);
}
EXPORT void* mmap(void* address, size_t length, int protection, int flags, int fd, off_t offset) noexcept {
  if (fd >= 0 && is_struck("mmap", fd)) return MAP_FAILED;
  return next<void*(void*, size_t, int, int, int, off_t)>("mmap")(address, length, protection, flags, fd, offset);
}
EXPORT void* mmap64(void* address, size_t length, int protection, int flags, int fd, off64_t offset) noexcept {
  if (fd >= 0 && is_struck("mmap", fd)) return MAP_FAILED;
  return next<void*(void*, size_t, int, int, int, off64_t)>("mmap64")(address, length, protection, flags, fd, offset);
}
EXPORT int fsync(int fd) {
  if (is_struck("fsync", fd)) return -1;
  return next<int(int)>("fsync")(fd);
}
EXPORT int fdatasync(int fd) {
  if (is_struck("fdatasync", fd)) return -1;
  return next<int(int)>("fdatasync")(fd);
}
EXPORT int ftruncate(int fd, off_t length) noexcept {
  if (is_struck("ftruncate", fd)) return -1;
  return next<int(int, off_t)>("ftruncate")(fd, length);
}
EXPORT int rename(const char* from, const char* to) noexcept {
  if (is_struck("rename", to)) return -1;
  return next<int(const char*, const char*)>("rename")(from, to);
}
EXPORT int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  if (is_struck("rename", to)) return -1;
  return next<int(int, const char*, int, const char*, unsigned)>("renameat2")(from_folder, from, to_folder, to, flags);
}
EXPORT int link(const char* from, const char* to) noexcept {
  if (is_struck("link", to)) return -1;
  return next<int(const char*, const char*)>("link")(from, to);
}
EXPORT int unlink(const char* path) noexcept {
  if (is_struck("unlink", path)) return -1;
  return next<int(const char*)>("unlink")(path);
}
