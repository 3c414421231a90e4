// One port through the run: what the sampler shows of it, how it is read, and its last row, which tells what the next
// one means. It does not look for ports; nic_sampler does.
#pragma once

#include <cstdint>
#include <vector>

#include "netsampler/nic/found_port.h"
#include "netsampler/nic/port.h"
#include "netsampler/nic/port_reader.h"
#include "netsampler/nic/reading_period.h"

namespace jaxprof::netsampler {

class SampledPort {
 public:
  // Takes the port as it was found, with a reader for it, and reads it a few times to see how long that takes. `port`
  // is what the sampler shows; its columns and facts are set anew, its `column_set` grows if the columns are others.
  void begin(const FoundPort& found, PortReader reader, Port* port);
  // What a listing says of the port that goes on as it was.
  void update(const FoundPort& found, Port* port);
  void end(Port* port);

  // Reads the first columns or all of a port that is present; flags are against its row before, of this or of its life
  // before. is_ok is false if nothing came.
  void read(const Port& port, bool fast_only, Reading* reading);

  const FoundPort& found() const { return found_; }
  // The last reading said that the device is gone, or has other counters.
  bool wants_rescan() const { return outcome_ != ReadOutcome::kOk; }
  bool has_counters() const { return !reader_.sources.empty(); }
  PeriodWish wish(const Port& port) const;
  // Looks at what readings took since the last call. True if that is another time than wish() told before.
  bool revise();

 private:
  void measure(const Port& port);
  std::uint32_t compare(const Port& port, const Reading& reading) const;
  void keep(const Reading& reading);

  FoundPort found_;
  PortReader reader_;
  ReadOutcome outcome_ = ReadOutcome::kOk;
  std::uint64_t reading_ns_ = 0;        // typical, of the rows it is read most often for
  std::vector<std::uint64_t> took_ns_;  // the last of those readings, some at most
  std::vector<std::uint64_t> last_;     // by column, the last that was read, kMissingSample if never
  std::uint64_t last_ns_ = 0;           // when the row before began
  bool has_returned_ = false;           // and no row was read since
};

}  // namespace jaxprof::netsampler
