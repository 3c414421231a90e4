#include "launcher/collect/node_report.h"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace jaxprof::launcher {
namespace {

using nlohmann::json;

// "FAULT" makes a node unfit; a note has no port or GPU of its own.
enum class State { kOk, kFault, kNote, kNone };

const char* word_of(State state) {
  switch (state) {
    case State::kOk:
      return "ok";
    case State::kFault:
      return "FAULT";
    case State::kNote:
      return "note";
    case State::kNone:
      return "none";
  }
  return "";
}

class Rows {
 public:
  void add(const char* part, State state, const std::string& text) {
    report_.text += fmt::format("{:<5} {:<5} {}\n", word_of(state), part, text);
    is_fit_ = is_fit_ && state != State::kFault;
  }
  NodeReport finish() && {
    report_.is_fit = is_fit_;
    return std::move(report_);
  }

 private:
  NodeReport report_;
  bool is_fit_ = true;
};

// "a, b" of those that are not empty.
std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!word.empty()) text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

std::string numa_of(const json& entry) {
  const auto node = entry.at("numa").get<std::int64_t>();
  return node < 0 ? "" : fmt::format("NUMA node {}", node);
}

void add_port(const json& port, Rows* rows) {
  const auto number = port.at("port").get<unsigned>();
  const auto bits_per_s = port.at("bits_per_s").get<double>();
  const auto netdev = port.at("netdev").get<std::string>();
  const auto name = port.at("name").get<std::string>();
  const std::string place =
      join({port.at("driver").get<std::string>(), port.at("pci").get<std::string>(), netdev == name ? "" : netdev,
            numa_of(port), bits_per_s > 0 ? fmt::format("{:g} Gbit/s", bits_per_s / 1e9) : "",
            port.at("is_active").get<bool>() ? "" : "link down"});
  const auto source = port.at("source").get<std::string>();
  const auto hz = port.at("hz").get<double>();
  const bool is_read = source != "none" && hz > 0;
  std::string text = name + (number > 0 ? fmt::format(" port {}", number) : "") + " (" + place + "): ";
  if (is_read) {
    text += fmt::format("{} counters by {}, {:g} Hz, a read takes {} us", port.at("columns").size(), source, hz,
                        port.at("read_us").get<std::uint64_t>());
  } else {
    text += "cannot be read";
  }
  const auto reason = port.at("reason").get<std::string>();
  rows->add("nic", is_read ? State::kOk : State::kFault, text + (reason.empty() ? "" : "; " + reason));
}

void add_board(const json& board, double hz, Rows* rows) {
  const bool is_instance = board.at("is_instance").get<bool>();
  const bool is_lost = board.at("is_lost").get<bool>();
  const auto driver = board.at("driver").get<std::string>();
  const std::string place = join({board.at("pci").get<std::string>(), board.at("uuid").get<std::string>(),
                                  driver.empty() ? "" : "driver " + driver, numa_of(board)});
  const std::size_t values = board.at("columns").size();
  std::string text = board.at("name").get<std::string>() + " (" + place + "): ";
  if (is_lost) {
    text += "lost; it must be reset";
  } else if (is_instance) {
    text += "an instance: its values are its board's";
  } else {
    text += values > 0 ? fmt::format("{} values, {:g} Hz", values, hz) : "gives no values";
  }
  rows->add("gpu", is_lost || (!is_instance && values == 0) ? State::kFault : State::kOk, text);
}

void add_notes(const char* part, const json& notes, Rows* rows) {
  for (const json& note : notes) {
    const auto kind = note.at("kind").get<std::string>();
    rows->add(part, kind == "no-nic" || kind == "no-gpu" ? State::kNone : State::kNote,
              note.at("text").get<std::string>());
  }
}

std::string wall_clock_of(const json& clock) {
  if (!clock.at("is_wall_known").get<bool>()) return "wall clock unknown";
  if (!clock.at("is_wall_synchronised").get<bool>()) return "wall clock unsynchronised";
  return fmt::format("wall clock synchronised within {:.3g} ms, says the kernel",
                     clock.at("wall_bound_ns").get<double>() / 1e6);
}

void add_met_node(const json& node, Rows* rows) {
  const auto n_answered = node.at("n_answered").get<std::uint64_t>();
  const auto trip_ns = node.at("round_trip_ns").get<double>();
  std::string text =
      fmt::format("{} ({}): {} of {} questions answered", node.at("host").get<std::string>(),
                  node.at("address").get<std::string>(), n_answered, node.at("n_asked").get<std::uint64_t>());
  if (trip_ns >= 0) text += fmt::format(", round trip {:.3g} us at least", trip_ns / 1e3);
  rows->add("clock", n_answered > 0 ? State::kOk : State::kFault, text);
}

// Who asked whether packets get through wants to see it fail.
void add_meeting(const json& meeting, Rows* rows) {
  const auto reason = meeting.at("reason").get<std::string>();
  const auto n_others = meeting.at("n_others").get<std::uint64_t>();
  const json& nodes = meeting.at("nodes");
  if (!reason.empty()) return rows->add("clock", State::kFault, "no other node can be met: " + reason);
  if (n_others == 0) return rows->add("clock", State::kNone, "no other node came to the meeting");
  if (nodes.size() < n_others) {
    rows->add("clock", State::kNote,
              fmt::format("{} other nodes came, of which {} were asked", n_others, nodes.size()));
  }
  for (const json& node : nodes) add_met_node(node, rows);
}

std::string stamps_of(const json& clock) {
  std::string stamps;
  for (const json& stamp : clock.at("stamps")) stamps += (stamps.empty() ? "" : "+") + stamp.get<std::string>();
  return stamps.empty() ? "no kernel stamps" : "kernel stamps " + stamps;
}

// Nodes that cannot be asked are aligned by their wall clocks: worse, and no fault.
void add_clock(const json& clock, Rows* rows) {
  const json& meeting = clock.at("meeting");
  if (!meeting.is_null() && meeting.at("is_anothers").get<bool>()) {
    return rows->add("clock", State::kNote, "another doctor of this node meets the other nodes, and tells of clocks");
  }
  const auto source = clock.at("clocksource").get<std::string>();
  const std::string about = join({source.empty() ? "" : "clocksource " + source, wall_clock_of(clock)});
  const std::string place = clock.at("interface").get<std::string>() + " " + clock.at("address").get<std::string>();
  if (clock.at("port").get<unsigned>() > 0) {
    const bool is_heard = clock.at("hears_itself").get<bool>();
    rows->add("clock", is_heard ? State::kOk : State::kNote,
              place + ": " + (is_heard ? stamps_of(clock) + ", " : "") + about +
                  (is_heard ? "" : "; its own test packets do not come back: UDP is filtered on this node?"));
  } else if (clock.at("notes").empty() || clock.at("notes")[0].at("kind") != "not-sampled") {
    rows->add("clock", State::kNote, "other nodes' clocks cannot be asked; " + about);
  }
  add_notes("clock", clock.at("notes"), rows);
  if (!meeting.is_null()) add_meeting(meeting, rows);
}

NodeReport read(const json& document) {
  Rows rows;
  const json& nic = document.at("nic");
  const json& gpu = document.at("gpu");
  for (const json& port : nic.at("ports")) add_port(port, &rows);
  add_notes("nic", nic.at("notes"), &rows);
  for (const json& board : gpu.at("boards")) add_board(board, gpu.at("hz").get<double>(), &rows);
  add_notes("gpu", gpu.at("notes"), &rows);
  add_clock(document.at("clock"), &rows);
  return std::move(rows).finish();
}

}  // namespace

Result<NodeReport> report_node(const std::string& probe) {
  try {
    return read(json::parse(probe));
  } catch (const json::exception& error) {
    return fail(ErrorCode::kNodeNotReady, std::string("jaxprof-netsampler --probe gave no report: ") + error.what());
  }
}

}  // namespace jaxprof::launcher
