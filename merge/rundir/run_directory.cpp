#include "merge/rundir/run_directory.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "agent/base/atomic_file.h"
#include "agent/contract/run_layout.h"
#include "agent/spool/node_record.h"
#include "agent/spool/spool_reader.h"

namespace jaxprof::rundir {
namespace {

// Entries of a folder, sorted. The library's iterators throw; that ends here.
Result<std::vector<std::string>> list_folder(const std::string& path) {
  try {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(ErrorCode::kInputUnreadable, "cannot read directory " + path + ": " + error.code().message());
  }
}

// What a spool says of itself in its first block.
struct SpoolOwner {
  std::string run;
  bool is_of_node = false;
};

Result<SpoolOwner> owner_of_spool(const std::string& path) {
  auto reader = spool::SpoolReader::open(path);
  if (!reader) return tl::unexpected(std::move(reader.error()));
  spool::Block block;
  while (reader->next(&block)) {
    if (block.kind != spool::BlockKind::kIdentity) continue;
    const auto identity = spool::SpoolIdentity::parse(block.payload);
    SpoolOwner owner{identity.text(spool::IdentityKey::kRunId)};
    owner.is_of_node =
        identity.number(spool::IdentityKey::kSpoolKind) == static_cast<std::int64_t>(spool::SpoolKind::kNode);
    if (!owner.run.empty()) return owner;
  }
  return fail(ErrorCode::kInputUnreadable, path + ": no block says whose spool it is (cut off or damaged)");
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

// A name that a task has taken, and nothing published to it yet.
bool is_claim(const std::string& path) {
  std::error_code error;
  return run_layout::is_part_spool(path) && std::filesystem::is_regular_file(path, error) &&
         std::filesystem::file_size(path, error) == 0;
}

// A FIFO or device of a record's name would wait for a writer.
Result<std::string> read_record(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    return fail(ErrorCode::kInputUnreadable, path + " is not a regular file");
  }
  return read_small_file(path);
}

void read_records(const std::string& folder, FoundRun* run) {
  auto names = list_folder(folder);
  if (!names) {
    run->unreadable_records.push_back({folder, names.error().message});
    return;
  }
  for (const std::string& name : *names) {
    if (run_layout::is_node_spool(name)) run->node_spools.push_back(folder + "/" + name);
    const std::string task = run_layout::task_of_start_record(name);
    if (task.empty()) continue;
    const auto read = [&run](const std::string& path, auto parse) {
      auto record = read_record(path).and_then([&](const std::string& text) {
        return parse(text).map_error([&path](Error error) { return std::move(error).wrap(path); });
      });
      if (!record) run->unreadable_records.push_back({path, record.error().message});
      return record;
    };
    auto start = read(run_layout::task_start_path(folder, task), parse_task_start);
    if (!start) continue;
    auto variables = run->variables.intern(start->environment);
    start->environment.clear();
    FoundTask found{std::move(*start), std::nullopt, std::move(variables)};
    const std::string end_path = run_layout::task_end_path(folder, task);
    if (std::find(names->begin(), names->end(), std::filesystem::path(end_path).filename()) != names->end()) {
      if (auto end = read(end_path, parse_task_end)) found.end = std::move(*end);
    }
    run->tasks.push_back(std::move(found));
  }
}

bool is_before(const FoundTask& a, const FoundTask& b) {
  const auto order = [](const FoundTask& t) { return t.start.rank < 0 ? INT64_MAX : t.start.rank; };
  if (order(a) != order(b)) return order(a) < order(b);
  return a.start.task < b.start.task;
}

}  // namespace

Result<RunDirectory> read_run_directory(const std::string& given) {
  std::error_code error;
  const bool is_file = std::filesystem::is_regular_file(given, error);
  const std::string path = is_file ? folder_of(given) : given;
  auto names = is_file ? std::vector<std::string>{std::filesystem::path(given).filename()} : list_folder(given);
  if (!names) return tl::unexpected(std::move(names.error()));
  RunDirectory directory;
  directory.path = path;
  std::map<std::string, FoundRun> runs;
  const auto run_named = [&runs, &path](const std::string& id) -> FoundRun& {
    FoundRun& run = runs[id];
    run.directory = path;
    run.run_id = id;
    return run;
  };
  for (const std::string& name : *names) {
    const std::string entry = path + "/" + name;
    if (name.rfind(run_layout::kRunPrefix, 0) == 0) {
      read_records(entry, &run_named(name.substr(std::strlen(run_layout::kRunPrefix))));
    } else if (is_file || run_layout::is_spool(name)) {
      if (is_claim(entry)) continue;
      auto owner = owner_of_spool(entry);
      if (owner) {
        FoundRun& run = run_named(owner->run);
        (owner->is_of_node ? run.node_spools : run.spools).push_back(entry);
      } else if (is_file) {
        return fail(ErrorCode::kInputUnreadable,
                    owner.error().message + " (give the directory that jaxprof-exec -o named, or one spool)");
      } else {
        directory.unreadable_spools.push_back({entry, owner.error().message});
      }
    }
  }
  for (auto& [id, run] : runs) {
    std::sort(run.tasks.begin(), run.tasks.end(), is_before);
    directory.runs.push_back(std::move(run));
  }
  if (directory.runs.empty() && directory.unreadable_spools.empty()) {
    return fail(ErrorCode::kInputUnreadable,
                path + " holds no run: no *.jxspool and no .run-* (give the directory that jaxprof-exec -o named)");
  }
  return directory;
}

}  // namespace jaxprof::rundir
