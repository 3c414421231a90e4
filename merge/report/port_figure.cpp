#include "merge/report/port_figure.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "merge/study/port_rates.h"
#include "merge/study/port_traffic.h"

namespace jaxprof::report {
namespace {

using study::GrowthSpan;
using study::PortRates;

constexpr std::size_t kMostBins = 300;  // columns of more than a pixel on a laptop's screen
constexpr std::size_t kLeastBins = 60;

struct Bins {
  double begin_ns = 0;
  double width_ns = 1;
  std::size_t n = 0;
};

Bins bins_over(const std::vector<PortRates>& ports, std::size_t most_cells) {
  double begin_ns = std::numeric_limits<double>::infinity();
  double end_ns = -begin_ns;
  std::size_t most_spans = 1;
  for (const PortRates& port : ports) {
    for (const auto* spans : {&port.out, &port.in}) {
      if (spans->empty()) continue;
      begin_ns = std::min(begin_ns, spans->front().begin_ns);
      end_ns = std::max(end_ns, spans->back().end_ns);
      most_spans = std::max(most_spans, spans->size());
    }
  }
  Bins bins;
  if (!(begin_ns < end_ns)) return bins;
  const std::size_t fitting = std::max(kLeastBins, most_cells / std::max<std::size_t>(1, ports.size()));
  bins.n = std::min({kMostBins, fitting, 2 * most_spans});
  bins.begin_ns = begin_ns;
  bins.width_ns = (end_ns - begin_ns) / static_cast<double>(bins.n);
  return bins;
}

// The fastest interval that touches a bin, Gb/s: a short burst stays as high as it was.
void add_rates(const std::vector<GrowthSpan>& spans, const Bins& bins, std::span<double> row) {
  const auto bin_of = [&bins](double t_ns) {
    const double place = (t_ns - bins.begin_ns) / bins.width_ns;
    return std::min(bins.n - 1, static_cast<std::size_t>(std::max(0.0, place)));
  };
  for (const GrowthSpan& span : spans) {
    const double gbit_per_s = span.amount * 8 / (span.end_ns - span.begin_ns);
    const std::size_t first = bin_of(span.begin_ns);
    std::size_t last = bin_of(span.end_ns);
    // One that only touches a bin's begin is not in it.
    if (last > first && bins.begin_ns + static_cast<double>(last) * bins.width_ns >= span.end_ns - 1) --last;
    for (std::size_t bin = first; bin <= last; ++bin) {
      if (std::isnan(row[bin]) || gbit_per_s > row[bin]) row[bin] = gbit_per_s;
    }
  }
}

MapLayer layer_of(const std::vector<PortRates>& ports, const Bins& bins, const char* name, const char* heading,
                  std::vector<GrowthSpan> PortRates::*direction) {
  MapLayer layer{name, heading, study::Unit::kNone, false, {}};
  layer.values.assign(ports.size() * bins.n, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < ports.size(); ++i) {
    add_rates(ports[i].*direction, bins, std::span(layer.values).subspan(i * bins.n, bins.n));
  }
  return layer;
}

}  // namespace

Figure port_figure(const runfile::RunTables& run, study::Table bands, const std::string& why_none,
                   std::size_t most_cells) {
  Figure figure;
  figure.id = "F7";
  figure.title = "Network ports over time, Gb/s, and collectives below";
  figure.definition =
      "Each cell is the fastest interval between two readings of the port's counters in that stretch of time, in Gb/s "
      "(10^9 "
      "bits a second). Below: when at least one collective of an operation ran, from its first arrival to its last "
      "end; what is "
      "closer together than the figure can show is drawn as one. Counters belong to ports: on a shared node they hold "
      "others' "
      "traffic too.";
  const std::vector<PortRates> ports = study::port_rates(run);
  const Bins bins = bins_over(ports, most_cells);
  if (bins.n == 0) {
    figure.empty_reason = why_none.empty() ? "no port's counters of bytes were read twice" : why_none;
    return figure;
  }
  figure.map.row_name = "port";
  figure.map.column_name = "time";
  figure.map.column_unit = study::Unit::kTimeNs;
  for (const PortRates& port : ports) {
    figure.map.row_hosts.push_back(study::host_of_port(run, port.nic));
    figure.map.row_labels.push_back(study::name_of_port(run, port.nic));
  }
  for (std::size_t bin = 0; bin < bins.n; ++bin) {
    figure.map.column_begins.push_back(std::round(bins.begin_ns + static_cast<double>(bin) * bins.width_ns));
    figure.map.column_ends.push_back(std::round(bins.begin_ns + static_cast<double>(bin + 1) * bins.width_ns));
  }
  figure.map.layers.push_back(layer_of(ports, bins, "out_gbit_per_s", "out", &PortRates::out));
  figure.map.layers.push_back(layer_of(ports, bins, "in_gbit_per_s", "in", &PortRates::in));
  figure.tables.emplace_back("collectives", std::move(bands));
  return figure;
}

}  // namespace jaxprof::report
