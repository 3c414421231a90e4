// The columns of tables about nodes, their GPUs and network ports, who observed them, and the environment of tasks:
// names in the file, units, meanings, missing values. As in schema.h, which includes this.
#pragma once

#include "merge/runfile/column_spec.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::runfile {

template <Is<DeviceTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"device", "1", "index of the GPU, equal to the row", kNoIndex}, t.device);
  visit(ColumnSpec{"node", "index of /job/nodes", "node that holds the GPU", kNoIndex}, t.node);
  visit(ColumnSpec{"process", "index of /job/processes", "process that used the GPU, missing if several did", kNoIndex},
        t.process);
  visit(ColumnSpec{"ordinal", "1", "CUDA's number for the GPU in that process", kNoNumber}, t.ordinal);
  visit(ColumnSpec{"uuid", "text", "GPU or MIG UUID", FixedText<48>{}}, t.uuid);
  visit(ColumnSpec{"pci", "text", "PCI address", FixedText<16>{}}, t.pci);
  visit(ColumnSpec{"name", "index of /strings/value", "model", kNoText}, t.name);
  visit(ColumnSpec{"capability", "1", "compute capability, 10 * major + minor", kNoIndex}, t.capability);
  visit(ColumnSpec{"processors", "1", "streaming multiprocessors", kNoIndex}, t.processors);
  visit(ColumnSpec{"memory_bytes", "bytes", "device memory", kNoRow}, t.memory_bytes);
  visit(ColumnSpec{"numa", "1", "NUMA node of the GPU", kNoNumber}, t.numa);
  visit(ColumnSpec{"driver", "index of /strings/value", "version of the kernel driver", kNoText}, t.driver);
  visit(ColumnSpec{"power_limit_mw", "mW", "power limit when the run began", kNoRow}, t.power_limit_mw);
  visit(ColumnSpec{"sm_clock_max_mhz", "MHz", "highest clock of its processors", kNoIndex}, t.sm_clock_max_mhz);
}

template <Is<NodeTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"node", "1", "index of the node, equal to the row", kNoIndex}, t.node);
  visit(ColumnSpec{"host", "index of /strings/value", "host name", kNoText}, t.host);
  visit(ColumnSpec{"boot_id", "text", "boot id of the operating system", FixedText<40>{}}, t.boot_id);
  visit(ColumnSpec{"n_processes", "1", "profiled processes on the node", kNoIndex}, t.n_processes);
  visit(ColumnSpec{"n_tasks", "1", "tasks on the node that were wrapped or should have been", kNoIndex}, t.n_tasks);
}

template <Is<NicTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"nic", "1", "index of the network port, equal to the row", kNoIndex}, t.nic);
  visit(ColumnSpec{"node", "index of /job/nodes", "node that holds the port", kNoIndex}, t.node);
  visit(ColumnSpec{"name", "text", "device name, cut to 15 bytes", FixedText<16>{}}, t.name);
  visit(ColumnSpec{"guid", "text", "port GUID", FixedText<24>{}}, t.guid);
  visit(ColumnSpec{"port", "1", "port number on the device", kNoNumber}, t.port);
  visit(ColumnSpec{"link_layer", "text", "InfiniBand or Ethernet", FixedText<16>{}}, t.link_layer);
  visit(ColumnSpec{"rate_gbps", "Gb/s", "line rate", kNoReal}, t.rate_gbps);
  visit(ColumnSpec{"numa", "1", "NUMA node of the device", kNoNumber}, t.numa);
  visit(ColumnSpec{"driver", "index of /strings/value", "driver, which names the group of its counters", kNoText},
        t.driver);
  visit(ColumnSpec{"pci", "text", "PCI address, empty for a software device", FixedText<16>{}}, t.pci);
  visit(ColumnSpec{"netdev", "index of /strings/value", "network interface of the port", kNoText}, t.netdev);
  visit(ColumnSpec{"full_name", "index of /strings/value", "device name", kNoText}, t.full_name);
  visit(ColumnSpec{"source", "word", "where its counters were read", NicSource::kMissing}, t.source);
  visit(ColumnSpec{"reason", "index of /strings/value", "why they were not read in a better way", kNoText}, t.reason);
  visit(ColumnSpec{"period_ns", "ns", "from one reading of the fast counters to the next, as planned", kNoTime},
        t.period_ns);
  visit(ColumnSpec{"slow_period_ns", "ns", "the same of all counters", kNoTime}, t.slow_period_ns);
  visit(ColumnSpec{"lifespan_ns", "ns", "how old a value may be that the kernel keeps for sysfs, 0 if it is read anew",
                   kNoTime},
        t.lifespan_ns);
  visit(ColumnSpec{"is_active", "flag", "1 if the link was up at the end", kNoByte}, t.is_active);
}

template <Is<ObserverTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"observer", "1", "index of the observer, equal to the row", kNoIndex}, t.observer);
  visit(ColumnSpec{"node", "index of /job/nodes", "node that it observed", kNoIndex}, t.node);
  visit(ColumnSpec{"segment", "1", "0, or the how many-th after others that had died", kNoIndex}, t.segment);
  visit(ColumnSpec{"start_ns", "ns", "its first reading of a clock, on the run's time axis", kNoTime}, t.start_ns);
  visit(ColumnSpec{"end_ns", "ns", "its last, on the run's time axis", kNoTime}, t.end_ns);
  visit(ColumnSpec{"is_complete", "flag", "1 if it ended by itself, 0 if it was killed", kNoByte}, t.is_complete);
  visit(
      ColumnSpec{"is_shared", "flag", "1 if another run was on the node too, whose traffic the counters hold", kNoByte},
      t.is_shared);
  visit(ColumnSpec{"ticks", "1", "times at which it should have read", kNoRow}, t.ticks);
  visit(ColumnSpec{"missed_ticks", "1", "of them, those left out because the next was due", kNoRow}, t.missed_ticks);
  visit(ColumnSpec{"lateness_max_ns", "ns", "by how much it was late, at most", kNoTime}, t.lateness_max_ns);
  visit(ColumnSpec{"lateness_sum_ns", "ns", "the same, summed over the ticks that were not missed", kNoTime},
        t.lateness_sum_ns);
  visit(ColumnSpec{"reading_ns", "ns", "time that it spent in readings", kNoTime}, t.reading_ns);
  visit(ColumnSpec{"cpu_ns", "ns", "processor time that it took", kNoTime}, t.cpu_ns);
  visit(ColumnSpec{"spool", "index of /strings/value", "its spool file", kNoText}, t.spool);
  visit(ColumnSpec{"spool_bytes", "bytes", "length of the spool file", kNoRow}, t.spool_bytes);
}

template <Is<EnvTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"name", "index of /strings/value", "name of the variable", kNoText}, t.name);
  visit(ColumnSpec{"value", "index of /strings/value", "its value, empty if it is empty, not set or redacted", kNoText},
        t.value);
  visit(ColumnSpec{"is_set", "flag", "1 if it is set on these tasks, 0 if it is not", kNoByte}, t.is_set);
  visit(ColumnSpec{"n_tasks", "1", "tasks with this value", kNoIndex}, t.n_tasks);
  visit(ColumnSpec{"ranks", "index of /strings/value", "their ranks, as people write them", kNoText}, t.ranks);
  visit(ColumnSpec{"scope", "word", "between what the variable differs", EnvScope::kMissing}, t.scope);
  visit(ColumnSpec{"is_per_task", "flag", "1 if launchers set it by task or node, 0 if it should be alike", kNoByte},
        t.is_per_task);
}

template <Is<EnvTaskTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"task", "index of /job/tasks", "task with that variable and value", kNoIndex}, t.task);
}

}  // namespace jaxprof::runfile
