#include "tests/unit/study/sampled_run.h"

#include <algorithm>

#include "merge/runfile/table_rows.h"

namespace jaxprof::study::test {
namespace {

using namespace jaxprof::runfile;

CounterTable& table_of(const std::string& driver, RunTables* run) {
  for (CounterTable& table : run->counters) {
    if (table.driver == driver) return table;
  }
  CounterTable& table = run->counters.emplace_back();
  table.driver = driver;
  return table;
}

void add_rows(const Port& port, CounterTable* table) {
  const std::size_t first = table->time_ns.size();
  const std::size_t n = port.counters.empty() ? 0 : port.counters[0].values.size();
  for (std::size_t i = 0; i < n; ++i) table->time_ns.push_back(static_cast<std::int64_t>(i) * 1'000'000'000);
  table->read_ns.resize(first + n, 0);
  table->flags.resize(first + n, 0);
  for (CounterColumn& column : table->columns) column.values.resize(first + n, kNoSample);
  for (const Counter& counter : port.counters) {
    auto column = std::find_if(table->columns.begin(), table->columns.end(),
                               [&counter](const CounterColumn& c) { return c.name == counter.name; });
    if (column == table->columns.end()) {
      table->columns.push_back({counter.name, counter.scale, counter.unit, counter.kind, counter.bits, counter.is_error,
                                std::vector<std::uint64_t>(first + n, kNoSample)});
      column = table->columns.end() - 1;
    }
    std::copy(counter.values.begin(), counter.values.end(),
              column->values.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

}  // namespace

RunTables sampled_run(std::uint32_t n_nodes, const std::vector<Port>& ports) {
  RunTables run;
  run.attributes.n_nodes = n_nodes;
  for (std::uint32_t node = 0; node < n_nodes; ++node) {
    const std::size_t row = add_row(run.nodes);
    run.nodes.node[row] = node;
    run.nodes.host[row] = run.strings.intern("n" + std::to_string(node));
    const std::size_t observer = add_row(run.observers);
    run.observers.observer[observer] = node;
    run.observers.node[observer] = node;
    run.observers.start_ns[observer] = 0;
    run.observers.end_ns[observer] = 10'000'000'000;
  }
  for (const Port& port : ports) {
    const std::size_t nic = add_row(run.nics);
    run.nics.nic[nic] = static_cast<std::uint32_t>(nic);
    run.nics.node[nic] = port.node;
    run.nics.name[nic] = port.name;
    run.nics.full_name[nic] = run.strings.intern(port.name);
    run.nics.driver[nic] = run.strings.intern(port.driver);
    run.nics.rate_gbps[nic] = port.rate_gbps;
    run.nics.port[nic] = port.is_netdev ? 0 : 1;
    run.nics.source[nic] = port.is_netdev ? NicSource::kNetdev : NicSource::kNetlink;
    table_of(port.driver, &run);
  }
  // Each table's ports in the order of /job/nics.
  for (CounterTable& table : run.counters) {
    table.offset = {0};
    for (const Port& port : ports) {
      if (port.driver == table.driver) add_rows(port, &table);
      table.offset.push_back(table.time_ns.size());
    }
  }
  return run;
}

}  // namespace jaxprof::study::test
