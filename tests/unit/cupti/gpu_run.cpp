#include "tests/unit/cupti/gpu_run.h"

#include <fstream>
#include <sstream>

namespace jaxprof::test {

GpuRun::GpuRun()
    : log_path_(child_.folder() + "/truth.log"),
      report_path_(child_.folder() + "/cupti.report"),
      libraries_(JAXPROF_LIBRARIES "/fake_cuda") {
  plan().gpu_buffer_bytes = 64 << 20;
  plan().cupti = CuptiPolicy::kAuto;
  set("CUDA_INJECTION64_PATH=" JAXPROF_LIBRARIES "/libjaxprof-agent.so");
  set("FAKE_CUPTI_REPORT=" + report_path_);
}

void GpuRun::use_libcupti(const std::string& path) {
  const std::string whole = std::string(JAXPROF_LIBRARIES "/") + path;
  libraries_ = whole.substr(0, whole.rfind('/')) + ":" + libraries_;
  set("JAXPROF_LIBCUPTI=" + whole);
}

int GpuRun::run(const std::string& options) {
  set("LD_LIBRARY_PATH=" + libraries_);
  // env splits the one argument that a scenario is.
  return child_.run("/usr/bin/env", "-S" JAXPROF_PUPPET " --log " + log_path_ + " " + options);
}

std::vector<spool::Event> GpuRun::activities(const rundir::SpoolTrace& trace, spool::EventKind kind) const {
  std::vector<spool::Event> found;
  trace.for_each_activity([&](const spool::Event& event) {
    if (event.kind == kind) found.push_back(event);
  });
  return found;
}

std::vector<LogLine> GpuRun::lines_of(const std::string& path) const {
  std::vector<LogLine> lines;
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    LogLine line;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, '\t');) {
      const std::size_t equals = word.find('=');
      if (equals != std::string::npos) line[word.substr(0, equals)] = word.substr(equals + 1);
    }
    lines.push_back(line);
  }
  return lines;
}

std::vector<LogLine> GpuRun::log(const std::string& what) const {
  std::vector<LogLine> found;
  for (const LogLine& line : lines_of(log_path_)) {
    if (const auto kind = line.find("what"); kind != line.end() && kind->second == what) found.push_back(line);
  }
  return found;
}

std::vector<std::string> GpuRun::violations() const {
  std::vector<std::string> found;
  for (const LogLine& line : lines_of(report_path_)) {
    if (line.contains("kind") && line.at("what") == "violation") found.push_back(line.at("kind"));
  }
  return found;
}

std::int64_t GpuRun::count(const std::string& name) const {
  std::int64_t value = -1;
  for (const LogLine& line : lines_of(report_path_)) {
    if (line.contains("what") && line.at("what") == "counts" && line.contains(name)) value = std::stoll(line.at(name));
  }
  return value;
}

}  // namespace jaxprof::test
