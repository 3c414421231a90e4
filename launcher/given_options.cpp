#include "launcher/given_options.h"

#include <algorithm>
#include <utility>

#include "agent/base/parse_size.h"
#include "agent/contract/condition.h"
#include "agent/contract/output_template.h"
#include "agent/contract/port_range.h"
#include "launcher/inner_ranks.h"
#include "launcher/option_words.h"
#include "launcher/rank_from.h"
#include "launcher/recorded_environment.h"

namespace jaxprof::launcher {
namespace {

template <std::size_t N>
Status copy_text(const char* name, const std::string& text, char (&target)[N]) {
  if (text.size() >= N) {
    return fail(ErrorCode::kUsage, std::string(name) + " has " + std::to_string(text.size()) + " characters, at most " +
                                       std::to_string(N - 1) + " fit");
  }
  std::copy(text.begin(), text.end(), target);
  return {};
}

template <std::size_t N>
Status convert_list(const char* name, const std::string& text, char (&target)[N]) {
  std::size_t offset = 0;
  if (!text.empty() && !check_number_list(text.c_str(), &offset)) {
    return fail(ErrorCode::kUsage, std::string(name) + " " + text + ": not a list at offset " + std::to_string(offset) +
                                       "; write 0,8-15,0-1023:128");
  }
  return copy_text(name, text, target);
}

Status convert_selection(const GivenOptions& given, RankSelection* selection) {
  if (auto s = convert_list("--ranks", given.ranks, selection->ranks); !s) return s;
  if (auto s = convert_list("--local-ranks", given.local_ranks, selection->local_ranks); !s) return s;
  if (auto s = convert_list("--nodes", given.nodes, selection->nodes); !s) return s;
  if (!given.condition.empty()) {
    const ConditionResult result = evaluate_condition(given.condition.c_str(), RankIdentity{}, Env());
    if (result.value == ConditionValue::kInvalid) {
      return fail(ErrorCode::kUsage,
                  "--if '" + given.condition + "': not a condition at offset " + std::to_string(result.fault_offset));
    }
    if (result.is_constant && result.value == ConditionValue::kUnknown) {
      return fail(ErrorCode::kUsage, "--if '" + given.condition + "' depends on " + result.unknown());
    }
  }
  if (auto s = copy_text("--if", given.condition, selection->condition); !s) return s;
  if (!given.sample_ranks.empty()) {
    std::uint64_t count = 0;
    if (!parse_decimal(given.sample_ranks.c_str(), &count) || count == 0 || count > UINT32_MAX) {
      return fail(ErrorCode::kUsage, "--sample-ranks " + given.sample_ranks + ": not a number of ranks, 1 or more");
    }
    selection->sample_ranks = static_cast<std::uint32_t>(count);
  }
  return {};
}

std::string selection_words(const GivenOptions& given) {
  std::vector<std::string> words;
  const auto add = [&words](const char* name, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {name, value});
  };
  add("--ranks", given.ranks);
  add("--local-ranks", given.local_ranks);
  add("--nodes", given.nodes);
  add("--sample-ranks", given.sample_ranks);
  add("--if", given.condition);
  return quote_words(words);
}

// Sizes and times.
Status convert_limits(const GivenOptions& given, Options* options) {
  if (!given.spool_limit.empty()) {
    options->spool_limit_bytes = parse_size(given.spool_limit);
    if (!options->spool_limit_bytes) {
      return fail(ErrorCode::kUsage, "--spool-limit " + given.spool_limit + ": not a size such as 4G");
    }
  }
  std::uint64_t margin_s = 0;
  if (!parse_decimal(given.margin_s.c_str(), &margin_s) || margin_s > 86400) {
    return fail(ErrorCode::kUsage, "--margin " + given.margin_s + ": not a whole number of seconds up to 86400");
  }
  options->margin_ns = static_cast<std::int64_t>(margin_s) * 1'000'000'000;
  std::uint64_t grace_s = 0;
  if (!parse_decimal(given.grace_s.c_str(), &grace_s) || grace_s > 3600) {
    return fail(ErrorCode::kUsage, "--grace " + given.grace_s + ": not a whole number of seconds up to 3600");
  }
  options->grace_ns = static_cast<std::int64_t>(grace_s) * 1'000'000'000;
  const auto publish_rate = parse_size(given.publish_rate);
  if (!publish_rate)
    return fail(ErrorCode::kUsage, "--publish-rate " + given.publish_rate + ": not a size such as 64M");
  options->publish_bytes_per_s = *publish_rate;
  return {};
}

// Options whose values are a few words.
Status convert_choices(const GivenOptions& given, Options* options) {
  if (!is_truth(given.overwrite)) {
    return fail(ErrorCode::kUsage, "--force-overwrite=" + given.overwrite + ": write true or false");
  }
  options->can_replace_files = given.overwrite == "true";
  if (given.on_conflict != "keep" && given.on_conflict != "replace") {
    return fail(ErrorCode::kUsage, "--on-conflict " + given.on_conflict + ": write keep or replace");
  }
  options->on_conflict = given.on_conflict == "replace" ? OnConflict::kReplace : OnConflict::kKeep;
  if (given.wait != "primary" && given.wait != "all") {
    return fail(ErrorCode::kUsage, "--wait " + given.wait + ": write primary or all");
  }
  options->waits_for_all = given.wait == "all";
  return {};
}

Status convert_observer(const GivenOptions& given, ObserverOptions* observer) {
  if (given.nic_nodes != "traced" && given.nic_nodes != "all" && given.nic_nodes != "none") {
    return fail(ErrorCode::kUsage, "--nic-nodes " + given.nic_nodes + ": write traced, all or none");
  }
  observer->nic_nodes = given.nic_nodes == "all"    ? NicNodes::kAll
                        : given.nic_nodes == "none" ? NicNodes::kNone
                                                    : NicNodes::kTraced;
  if (!given.nic_hz.empty()) {
    std::uint64_t hz = 0;
    if (!parse_decimal(given.nic_hz.c_str(), &hz) || hz == 0 || hz > 1000) {
      return fail(ErrorCode::kUsage, "--nic-hz " + given.nic_hz + ": not a whole number from 1 to 1000");
    }
    observer->nic_hz = static_cast<std::uint32_t>(hz);
  }
  const std::string& source = observer->nic_source;
  if (!source.empty() && source != "auto" && source != "netlink" && source != "sysfs" && source != "netdev") {
    return fail(ErrorCode::kUsage, "--nic-source " + source + ": write auto, netlink, sysfs or netdev");
  }
  if (given.clock != "auto" && given.clock != "off") {
    return fail(ErrorCode::kUsage, "--clock " + given.clock + ": write auto or off");
  }
  observer->has_clock = given.clock == "auto";
  if (!observer->clock_ports.empty() && !parse_port_span(observer->clock_ports)) {
    return fail(ErrorCode::kUsage,
                "--clock-port " + observer->clock_ports + ": not a range of ports such as 40000-40099");
  }
  return {};
}

Status check_output(const Options& options) {
  const TemplateReport report = check_template(options.output.c_str(), options.rank_variables);
  if (report.fault != TemplateFault::kNone) {
    return fail(ErrorCode::kUsage, "--output " + options.output + ": at offset " + std::to_string(report.fault_offset) +
                                       ", '" + options.output.substr(report.fault_offset, 12) +
                                       "': " + describe(report.fault));
  }
  if (const std::string stem = options.output.substr(stem_offset(options.output.c_str()));
      stem == "." || stem == "..") {
    return fail(ErrorCode::kUsage,
                "--output " + options.output + ": '" + stem + "' is no file name; write DIRECTORY/STEM");
  }
  return {};
}

// A variable of "A=1,B=x,--y=z": what does not begin as one belongs to the value before it, since values with commas
// are not rare. Here B is "x,--y=z".
bool begins_as_variable(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) return false;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return is_letter(text[0]) && std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(equals),
                                           [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

Status convert_job_variables(const std::vector<std::string>& given, std::vector<std::string>* environment) {
  for (const std::string& text : given) {
    if (!begins_as_variable(text)) {
      return fail(ErrorCode::kUsage, "--env-var " + text + ": write NAME=VALUE[,NAME=VALUE]");
    }
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find(',', at), text.size());
      const std::string piece = text.substr(at, end - at);
      if (begins_as_variable(piece)) {
        environment->push_back(piece);
      } else {
        environment->back() += "," + piece;
      }
      at = end + 1;
    }
  }
  return {};
}

Status convert_environment(const GivenOptions& given, Options* options) {
  if (given.env != "auto" && given.env != "off") {
    return fail(ErrorCode::kUsage, "--env " + given.env + ": write auto or off");
  }
  options->records_environment = given.env == "auto";
  for (const std::string& text : given.env_allow) {
    auto patterns = parse_environment_patterns(text);
    if (!patterns) return tl::unexpected(std::move(patterns.error()));
    options->environment_patterns.insert(options->environment_patterns.end(), patterns->begin(), patterns->end());
  }
  return convert_job_variables(given.environment, &options->environment);
}

}  // namespace

Result<Options> convert_options(GivenOptions given) {
  Options& options = given.options;
  if (auto s = convert_selection(given, &options.selection); !s) return tl::unexpected(std::move(s.error()));
  options.selection_words = selection_words(given);
  if (const char* fault = parse_step_marker(given.step_marker.c_str(), &options.step_marker); fault != nullptr) {
    return fail(ErrorCode::kUsage, "--step-marker " + given.step_marker + ": " + fault);
  }
  auto recording = convert_recording(given.window, options.step_marker, &options.remarks);
  if (!recording) return tl::unexpected(std::move(recording.error()));
  options.recording = *recording;
  if (auto s = convert_choices(given, &options); !s) return tl::unexpected(std::move(s.error()));
  if (auto s = convert_observer(given, &options.observer); !s) return tl::unexpected(std::move(s.error()));
  if (auto s = convert_limits(given, &options); !s) return tl::unexpected(std::move(s.error()));
  if (auto s = convert_environment(given, &options); !s) return tl::unexpected(std::move(s.error()));
  if (!given.rank_from.empty()) {
    auto variables = parse_rank_from(given.rank_from);
    if (!variables) return tl::unexpected(std::move(variables.error()));
    options.rank_variables = *variables;
  }
  if (auto s = check_output(options); !s) return tl::unexpected(std::move(s.error()));
  if (given.is_dry_run && given.is_check) return fail(ErrorCode::kUsage, "--dry-run and --check exclude each other");
  if (given.is_dry_run) options.mode = Mode::kDryRun;
  if (given.is_check) options.mode = Mode::kCheck;
  if (options.command.empty() && !given.is_check) {
    return fail(ErrorCode::kUsage, std::string("no command; usage: ") + kUsageLine + "; --help lists the options");
  }
  options.has_inner_ranks = options.has_inner_ranks || starts_ranks_of_its_own(options.command);
  return std::move(given.options);
}

}  // namespace jaxprof::launcher
