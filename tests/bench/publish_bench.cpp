// What recording costs beside the program's own threads, at 20 MB a second of spool: the drain thread inside the
// program, and the process that publishes. The real chain runs: this program starts jaxprof-exec on itself, calls NVTX
// at the rate, and reads what the kernel says the two spent. The limit is a plain copy of the same number of bytes
// by read and write in pieces of 1 MiB, measured in the same run.
//
// Usage: publish_bench EXEC AGENT [FOLDER]; prints "NAME VALUE UNIT" lines.
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "agent/base/clocks.h"
#include "agent/base/unique_fd.h"
#include "agent/contract/session_page.h"

namespace {

namespace fs = std::filesystem;
using jaxprof::clock_ns;

constexpr double kBytesPerSecond = 20e6;
constexpr double kWarmUp_s = 2;
constexpr double kWindow_s = 6;
constexpr char kSpool[] = "prof/rank.jxspool";

void print(const char* name, double value, const char* unit) {
  std::printf("%-34s %10.3f %s\n", name, value, unit);
}

// Time on a processor of those threads of a process that have this name, ns (first field of schedstat).
double cpu_ns(const std::string& process, const std::string& thread_name) {
  double sum = 0;
  for (const auto& thread : fs::directory_iterator("/proc/" + process + "/task")) {
    std::string name;
    double ns = 0;
    std::getline(std::ifstream(thread.path() / "comm"), name);
    std::ifstream(thread.path() / "schedstat") >> ns;
    if (name == thread_name) sum += ns;
  }
  return sum;
}

// The wrapper's child that publishes; "" if there is none.
std::string find_publisher() {
  const std::string wrapper = std::to_string(getppid());
  std::ifstream children("/proc/" + wrapper + "/task/" + wrapper + "/children");
  for (std::string child, name; children >> child;) {
    std::getline(std::ifstream("/proc/" + child + "/comm"), name);
    if (name == "jaxprof-publish") return child;
  }
  return {};
}

struct Reading {
  double at_ns, spool_bytes, published_bytes, drain_ns, publisher_ns;
};

Reading take_reading(const jaxprof::ProcessSlot& slot, const std::string& publisher) {
  struct stat part {};
  if (stat((std::string(kSpool) + ".part").c_str(), &part) != 0) part.st_size = 0;
  return {static_cast<double>(clock_ns(CLOCK_MONOTONIC)), static_cast<double>(slot.spool_bytes.load()),
          static_cast<double>(part.st_size), cpu_ns("self", "jaxprof-drain"), cpu_ns(publisher, "jaxprof-publish")};
}

// Calls NVTX so often that the spool grows as fast as it should. The value of each mark is new, so it takes its bytes.
class Emitter {
 public:
  explicit Emitter(const jaxprof::ProcessSlot& slot) : slot_(slot) {}

  void run(double seconds) {
    const std::int64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
    for (double elapsed_s = 0; elapsed_s < seconds;) {
      const timespec pause{0, 1'000'000};
      nanosleep(&pause, nullptr);
      const double now_s = static_cast<double>(clock_ns(CLOCK_MONOTONIC) - begin_ns) / 1e9;
      const auto count = static_cast<std::uint64_t>((now_s - elapsed_s) * kBytesPerSecond / bytes_per_mark_);
      for (std::uint64_t i = 0; i < count; ++i) mark();
      elapsed_s = now_s;
      const auto bytes = static_cast<double>(slot_.spool_bytes.load());
      if (bytes > 1e6) bytes_per_mark_ = bytes / static_cast<double>(slot_.events.load());
    }
  }

 private:
  void mark() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    event_.payload.ullValue = state_;
    nvtxMarkEx(&event_);
  }
  static nvtxEventAttributes_t make_event() {
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = "mark";
    event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    return event;
  }

  const jaxprof::ProcessSlot& slot_;
  nvtxEventAttributes_t event_ = make_event();
  std::uint64_t state_ = 1;
  double bytes_per_mark_ = 20;
};

// The job. What it found out goes to the file "readings", for the run that started it.
int emit() {
  nvtxMarkA("the agent attaches");
  const char* path = std::getenv(jaxprof::kSessionVariable);
  const jaxprof::SessionPage* page = path != nullptr ? jaxprof::map_session_page(path) : nullptr;
  const std::string publisher = find_publisher();
  if (page == nullptr || publisher.empty()) return 1;
  const jaxprof::ProcessSlot& slot = page->slots[0];
  Emitter emitter(slot);
  emitter.run(kWarmUp_s);
  const Reading begin = take_reading(slot, publisher);
  emitter.run(kWindow_s);
  const Reading end = take_reading(slot, publisher);
  std::uint64_t dropped = 0;
  for (const auto& drops : slot.drops) dropped += drops.load();
  std::ofstream("readings") << end.at_ns - begin.at_ns << ' ' << end.spool_bytes - begin.spool_bytes << ' '
                            << end.published_bytes - begin.published_bytes << ' ' << end.drain_ns - begin.drain_ns
                            << ' ' << end.publisher_ns - begin.publisher_ns << ' ' << dropped << '\n';
  return 0;
}

double copy_once_ns_per_byte(const std::string& path) {
  const jaxprof::UniqueFd from(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const jaxprof::UniqueFd to(open((path + ".copy").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  std::vector<char> piece(1 << 20);
  double bytes = 0;
  const std::int64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  for (ssize_t length; (length = read(from.get(), piece.data(), piece.size())) > 0;) {
    if (write(to.get(), piece.data(), static_cast<std::size_t>(length)) != length) return 0;
    bytes += static_cast<double>(length);
  }
  return static_cast<double>(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns) / bytes;
}

// Processor time of copying `path`, ns a byte: the best of some, since a shared machine only ever adds.
double copy_ns_per_byte(const std::string& path) {
  double best = 1e9;
  for (int i = 0; i < 5; ++i) best = std::min(best, copy_once_ns_per_byte(path));
  return best;
}

bool run_job(const char* own_path, const char* exec) {
  const pid_t wrapper = fork();
  if (wrapper == 0) {
    execl(exec, exec, "--quiet", "-o", "prof/rank", "--spool", "node", "--", own_path, "--emit", nullptr);
    _exit(127);
  }
  int status = 0;
  return waitpid(wrapper, &status, 0) == wrapper && status == 0;
}

int measure(const char* own_path, const char* exec) {
  double window_ns = 0, spool = 0, published = 0, drain_ns = 0, publisher_ns = 0, dropped = 0;
  if (!run_job(own_path, exec) ||
      !(std::ifstream("readings") >> window_ns >> spool >> published >> drain_ns >> publisher_ns >> dropped)) {
    std::fprintf(stderr, "publish_bench: the job was not profiled\n");
    return 1;
  }
  const double limit = copy_ns_per_byte(kSpool);
  print("publish.rate", spool / window_ns * 1e3, "MB of spool a second");
  print("publish.copy", limit, "ns a byte, plain copy");
  print("publish.drain_share", 100 * drain_ns / window_ns, "% of a processor, drain thread");
  print("publish.publisher_share", 100 * publisher_ns / window_ns, "% of a processor, publishing");
  print("publish.drain_to_copy", drain_ns / spool / limit, "of a plain copy");
  print("publish.publisher_to_copy", publisher_ns / published / limit, "of a plain copy");
  print("publish.dropped", dropped, "events");
  if (limit > 0 && published > 0 && dropped == 0) return 0;
  std::fprintf(stderr, "publish_bench: not everything was recorded and copied; the figures above mean nothing\n");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--emit") == 0) return emit();
  if (argc < 3) {
    std::fprintf(stderr, "usage: publish_bench EXEC AGENT [FOLDER]\n");
    return 2;
  }
  const std::string own_path = fs::absolute(argv[0]), exec = fs::absolute(argv[1]);
  setenv("JAXPROF_AGENT", fs::absolute(argv[2]).c_str(), 1);
  std::string folder = std::string(argc > 3 ? argv[3] : "/tmp") + "/publish_bench.XXXXXX";
  if (mkdtemp(folder.data()) == nullptr || chdir(folder.c_str()) != 0 || mkdir("node", 0700) != 0) {
    std::perror("publish_bench: cannot make a folder");
    return 1;
  }
  const int status = measure(own_path.c_str(), exec.c_str());
  fs::remove_all(folder);
  return status;
}
