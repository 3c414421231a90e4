#include "agent/contract/task_record.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace jaxprof {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kRecordVersion = 1;

// Marks a member that older records of the same version do not have: it then keeps its default.
struct Optional {};
constexpr Optional kOptional;

// The members of each record, once for both directions: `visit(name, member)`.
template <typename Record, typename Visit>
void visit_start(Record& r, Visit&& visit) {
  visit("run_id", r.run_id);
  visit("job_id", r.job_id);
  visit("step_id", r.step_id);
  visit("restart", r.restart);
  visit("task", r.task);
  visit("rank", r.rank);
  visit("world_size", r.world_size);
  visit("local_rank", r.local_rank);
  visit("node_index", r.node_index);
  visit("launcher", r.launcher);
  visit("rank_variable", r.rank_variable);
  visit("host", r.host);
  visit("boot_id", r.boot_id);
  visit("pid", r.pid);
  visit("realtime_ns", r.realtime_ns);
  visit("is_profiled", r.is_profiled);
  visit("has_inner_ranks", r.has_inner_ranks);
  visit("reason", r.reason);
  visit("output", r.output);
  visit("can_replace_files", r.can_replace_files, kOptional);
  visit("stem", r.stem);
  visit("spool_directory", r.spool_directory);
  visit("notes", r.notes);
  visit("selection", r.selection);
  visit("window", r.window, kOptional);
  visit("trace", r.trace, kOptional);
  visit("cupti", r.cupti, kOptional);
  visit("t0_realtime_ns", r.t0_realtime_ns, kOptional);
  visit("command", r.command);
  visit("environment", r.environment, kOptional);
  visit("has_environment", r.has_environment, kOptional);
  visit("environment_dropped", r.environment_dropped, kOptional);
  visit("version", r.version);
}

template <typename Record, typename Visit>
void visit_process(Record& p, Visit&& visit) {
  visit("slot", p.slot);
  visit("pid", p.pid);
  visit("rank", p.rank);
  visit("state", p.state);
  visit("spool", p.spool);
  visit("kept", p.kept);
  visit("note", p.note);
  visit("events", p.events);
  visit("dropped", p.dropped);
  visit("bytes", p.bytes);
  visit("window", p.window, kOptional);
  visit("segments", p.segments, kOptional);
  visit("gpu_fault", p.gpu_fault, kOptional);
}

template <typename Record, typename Visit>
void visit_end(Record& r, Visit&& visit) {
  visit("task", r.task);
  visit("pid", r.pid, kOptional);
  visit("exit_code", r.exit_code);
  visit("signal", r.signal);
  visit("realtime_ns", r.realtime_ns);
  visit("is_collected", r.is_collected, kOptional);
  visit("notes", r.notes);
}

struct ToJson {
  Json& json;
  template <typename T>
  void operator()(const char* name, const T& member) const {
    json[name] = member;
  }
  template <typename T>
  void operator()(const char* name, const T& member, Optional) const {
    json[name] = member;
  }
};

// A member whose number no int64 holds. The JSON library would cast it, which for 1e128 is undefined behaviour.
struct BadNumber {
  std::string name;
};

void read_value(const char* name, const Json& value, std::int64_t& member) {
  const bool is_too_large = value.is_number_unsigned() && !std::in_range<std::int64_t>(value.get<std::uint64_t>());
  if (value.is_number_float() || is_too_large) throw BadNumber{name};
  value.get_to(member);
}

template <typename T>
void read_value(const char*, const Json& value, T& member) {
  value.get_to(member);
}

struct FromJson {
  const Json& json;
  template <typename T>
  void operator()(const char* name, T& member) const {
    read_value(name, json.at(name), member);
  }
  template <typename T>
  void operator()(const char* name, T& member, Optional) const {
    if (const auto found = json.find(name); found != json.end()) read_value(name, *found, member);
  }
};

// Commands and paths are bytes, JSON is UTF-8: what is not UTF-8 becomes U+FFFD.
std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// What the library says, without the name that it gives to the kind of error: "[json.exception.parse_error.101] …".
std::string cause_of(const nlohmann::json::exception& error) {
  const std::string text = error.what();
  const std::size_t end = text.find("] ");
  return text.starts_with('[') && end != std::string::npos ? text.substr(end + 2) : text;
}

// The JSON library throws; nothing of that leaves this file.
template <typename Record, typename Read>
Result<Record> parse(const std::string& text, const char* what, Read&& read) {
  try {
    const Json json = Json::parse(text);
    std::int64_t version = 0;
    FromJson{json}("version_of_record", version);
    if (version != kRecordVersion) {
      return fail(ErrorCode::kInputUnreadable, std::string(what) + " has version " + std::to_string(version) +
                                                   ", this program reads " + std::to_string(kRecordVersion));
    }
    Record record;
    read(json, record);
    return record;
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kInputUnreadable, std::string("not a ") + what + ": " + cause_of(error));
  } catch (const BadNumber& number) {
    return fail(ErrorCode::kInputUnreadable,
                std::string("not a ") + what + ": " + number.name + " is no 64-bit integer");
  }
}

}  // namespace

std::string to_json(const TaskStart& start) {
  Json json;
  json["version_of_record"] = kRecordVersion;
  visit_start(start, ToJson{json});
  return dump(json);
}

std::string to_json(const TaskEnd& end) {
  Json json;
  json["version_of_record"] = kRecordVersion;
  visit_end(end, ToJson{json});
  json["processes"] = Json::array();
  for (const PublishedProcess& process : end.processes) {
    Json item;
    visit_process(process, ToJson{item});
    json["processes"].push_back(item);
  }
  return dump(json);
}

Result<TaskStart> parse_task_start(const std::string& text) {
  return parse<TaskStart>(text, "task start record",
                          [](const Json& json, TaskStart& start) { visit_start(start, FromJson{json}); });
}

Result<TaskEnd> parse_task_end(const std::string& text) {
  return parse<TaskEnd>(text, "task end record", [](const Json& json, TaskEnd& end) {
    visit_end(end, FromJson{json});
    for (const Json& item : json.at("processes")) {
      visit_process(end.processes.emplace_back(), FromJson{item});
    }
  });
}

}  // namespace jaxprof
