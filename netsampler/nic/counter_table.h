// What the drivers' counters mean. The same word is bytes on one card, 4-octet words on another and not there on a
// third; some counters wrap at 32 bits, some stay at their end, some are no counters at all. This is the one table of
// that. It is asked by driver, folder and file name, and never decides which counters exist: they are found by
// listing. A name that it does not have is kept raw: unit one, kind unknown, read once a second. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "netsampler/nic/column.h"

namespace jaxprof::netsampler {

// The folder that a counter lies in; netlink gives those of kPortHw.
enum class CounterPlace {
  kPortHw,    // ports/N/hw_counters
  kPma,       // ports/N/counters: what the port's performance management agent says, where a driver has one
  kDeviceHw,  // hw_counters of the device
  kNetdev,    // statistics of a network interface
};

// The name of the RDMA driver where `kernel_driver` is that of the card it sits on (bnxt_en -> bnxt_re, ice -> irdma);
// others as they are.
std::string rdma_driver(std::string_view kernel_driver);

Column describe_counter(std::string_view driver, CounterPlace place, std::string_view name);
bool is_known_counter(std::string_view driver, CounterPlace place, std::string_view name);

// The driver whose counters in kPortHw `names` are: at least four of them and more than half, and no other driver has
// as many. "" if there is no such. For where nothing else tells: netlink without /sys does not name the driver.
std::string recognize_driver(std::span<const std::string> names);

// How often the fast columns of a driver are worth reading, by default: 10 Hz for EFA, whose every reading is five
// commands to the queue that also registers memory; 1 Hz for bnxt_re, whose card refreshes them so often; 10 Hz for
// network interfaces (`place` kNetdev), 50 Hz for others.
std::uint64_t default_period_ns(std::string_view driver, CounterPlace place);

}  // namespace jaxprof::netsampler
