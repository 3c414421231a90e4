#include "netsampler/nic/port_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "agent/base/directory_listing.h"
#include "agent/spool/sample_codec.h"
#include "netsampler/nic/counter_table.h"
#include "netsampler/nic/rdma_counters.h"
#include "netsampler/nic/sysfs_counters.h"
#include "netsampler/nic/sysfs_text.h"

namespace jaxprof::netsampler {
namespace {

using spool::NicSource;

// A column to be, and the one place that it is read from.
struct Candidate {
  Column column;
  std::optional<SysfsCounter> file;  // none: netlink's answer
};

// Gathers the counters of one port, then puts them in order.
class PortOpening {
 public:
  PortOpening(const FoundPort& port, NicSource wanted, RdmaLink* link, int rdma_error)
      : port_(port), wanted_(wanted), link_(link), rdma_error_(rdma_error) {
    reader_.driver = port.info.driver;
  }

  PortReader finish() && {
    if (port_.info.port == 0) {
      add_files(port_.folder + "/statistics", CounterPlace::kNetdev);
      reader_.source = candidates_.empty() ? NicSource::kNone : NicSource::kNetdev;
      if (candidates_.empty()) reader_.reason = "its statistics cannot be read";
    } else {
      add_hw_counters();
      add_files(port_.folder + "/counters", CounterPlace::kPma);
      choose_source();
      if (!port_.device_folder.empty()) add_files(port_.device_folder + "/hw_counters", CounterPlace::kDeviceHw);
      reader_.reason = tell_reason();
    }
    order_columns();
    make_sources();
    return std::move(reader_);
  }

 private:
  void add_hw_counters() {
    if (wanted_ != NicSource::kSysfs) add_netlink();
    const std::string folder = port_.folder + "/hw_counters";
    if (!rdma_names_.empty() || wanted_ == NicSource::kNetlink || port_.folder.empty()) return;
    const std::vector<std::string> names = list_directory(folder);
    if (reader_.driver.empty()) recognize(names);
    add_files(folder, CounterPlace::kPortHw);
    has_hw_files_ = !candidates_.empty();
    reader_.lifespan_ns = parse_lifespan(read_text(folder + "/lifespan"));
  }

  void add_netlink() {
    if (rdma_error_ != 0 || !port_.rdma_device) {
      why_not_netlink_ = rdma_error_ != 0 ? std::strerror(rdma_error_) : "it does not list this card";
      return;
    }
    RdmaNames found = ask_counter_names(link_, *port_.rdma_device, port_.info.port);
    if (found.error == EMSGSIZE) {
      why_not_netlink_ = "its counters do not fit into one answer";
    } else if (found.error == EINVAL || found.error == ENODATA) {
      why_not_netlink_ = "it has no counters of this port";
      netlink_has_none_ = true;
    } else if (found.error != 0) {
      why_not_netlink_ = std::strerror(found.error);
    }
    rdma_names_ = std::move(found.names);
    if (reader_.driver.empty()) recognize(rdma_names_);
    for (const std::string& name : rdma_names_) {
      candidates_.push_back({describe_counter(reader_.driver, CounterPlace::kPortHw, name), {}});
    }
    // They all come with the first one that is wanted.
    const bool is_fast = std::any_of(candidates_.begin(), candidates_.end(),
                                     [](const Candidate& candidate) { return candidate.column.is_fast; });
    for (Candidate& candidate : candidates_) candidate.column.is_fast = is_fast;
  }

  void recognize(const std::vector<std::string>& names) {
    reader_.driver = recognize_driver(names);
    is_recognized_ = !reader_.driver.empty();
  }

  // Every file in `folder` that can be read and holds a number. Of a network interface only those that are known: the
  // others are parts of its errors.
  void add_files(const std::string& folder, CounterPlace place) {
    for (const std::string& name : list_directory(folder)) {
      if (name == "lifespan" || has(name)) continue;
      if (place == CounterPlace::kNetdev && !is_known_counter(reader_.driver, place, name)) continue;
      int error = 0;
      SysfsCounter file = SysfsCounter::open(folder + "/" + name, name, &error);
      if (error != 0) {
        reader_.dropped.push_back({name, error == ENODATA ? "no number in it" : std::strerror(error)});
        continue;
      }
      candidates_.push_back({describe_counter(reader_.driver, place, name), std::move(file)});
    }
  }

  bool has(const std::string& name) const {
    return std::any_of(candidates_.begin(), candidates_.end(),
                       [&](const Candidate& candidate) { return candidate.column.name == name; });
  }

  void choose_source() {
    if (!rdma_names_.empty()) {
      reader_.source = NicSource::kNetlink;
    } else if (!candidates_.empty()) {
      reader_.source = NicSource::kSysfs;
    }
  }

  std::string tell_reason() const {
    std::string reason;
    const auto add = [&](const std::string& part) { reason += (reason.empty() ? "" : "; ") + part; };
    if (reader_.source == NicSource::kNone) {
      if (!why_not_netlink_.empty()) add("netlink: " + why_not_netlink_);
      if (wanted_ != NicSource::kNetlink) add("sysfs: " + tell_of_sysfs());
    } else if (!why_not_netlink_.empty() && (has_hw_files_ || !netlink_has_none_)) {
      // A driver that has no hw_counters at all misses nothing.
      add("netlink: " + why_not_netlink_);
    }
    const bool counts_words = reader_.driver == "mlx5_core" || reader_.driver == "mlx4_core";
    if (reader_.source != NicSource::kNone && counts_words && !has("port_xmit_data")) {
      add("its bytes are counted in ports/" + std::to_string(port_.info.port) +
          "/counters of sysfs alone, which is not there: in a container, use the host's network namespace or mount the "
          "host's /sys");
    }
    if (is_recognized_) add("driver known by its counters only");
    return reason;
  }

  std::string tell_of_sysfs() const {
    if (port_.folder.empty()) return "it does not show this card";
    if (!reader_.dropped.empty()) return "none of its counters can be read, " + reader_.dropped[0].why;
    return "no counters there; a container's network namespace hides them";
  }

  void order_columns() {
    std::stable_sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      if (a.column.is_fast != b.column.is_fast) return a.column.is_fast;
      return a.column.name < b.column.name;
    });
    if (candidates_.size() > spool::kMaxSampleColumns) {
      candidates_.erase(candidates_.begin() + spool::kMaxSampleColumns, candidates_.end());
    }
    for (const Candidate& candidate : candidates_) {
      reader_.columns.push_back(candidate.column);
      if (candidate.column.is_fast) ++reader_.fast_count;
    }
  }

  void make_sources() {
    if (!rdma_names_.empty()) {
      std::vector<RdmaColumn> columns;
      for (const std::string& name : rdma_names_) columns.push_back({name, column_of_netlink(name)});
      reader_.sources.push_back(
          std::make_unique<RdmaCounters>(link_, *port_.rdma_device, port_.info.port, std::move(columns)));
    }
    std::vector<std::pair<SysfsCounter, std::size_t>> files;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i].file) files.emplace_back(std::move(*candidates_[i].file), i);
    }
    if (!files.empty()) reader_.sources.push_back(std::make_unique<SysfsCounters>(std::move(files)));
  }

  std::size_t column_of_netlink(const std::string& name) const {
    const auto place = std::find_if(candidates_.begin(), candidates_.end(), [&](const Candidate& candidate) {
      return !candidate.file && candidate.column.name == name;
    });
    return static_cast<std::size_t>(place - candidates_.begin());
  }

  const FoundPort& port_;
  NicSource wanted_;
  RdmaLink* link_;
  int rdma_error_;
  PortReader reader_;
  std::vector<Candidate> candidates_;
  std::vector<std::string> rdma_names_;
  std::string why_not_netlink_;
  bool netlink_has_none_ = false;
  bool has_hw_files_ = false;
  bool is_recognized_ = false;
};

}  // namespace

ReadOutcome PortReader::read(std::span<std::uint64_t> values) {
  std::fill(values.begin(), values.end(), spool::kMissingSample);
  ReadOutcome outcome = ReadOutcome::kOk;
  for (const std::unique_ptr<CounterSource>& counters : sources) {
    const ReadOutcome of_these = counters->read(values);
    if (of_these == ReadOutcome::kLost) return of_these;
    if (of_these != ReadOutcome::kOk) outcome = of_these;
  }
  return outcome;
}

PortReader open_port(const FoundPort& port, NicSource wanted, RdmaLink* link, int rdma_error) {
  return PortOpening(port, wanted, link, rdma_error).finish();
}

}  // namespace jaxprof::netsampler
