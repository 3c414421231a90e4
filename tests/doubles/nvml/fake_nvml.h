// A libnvidia-ml.so.1 that plays boards by a script, on a machine without any. Two libraries are built: fake_nvml/ with
// all functions, fake_nvml_old/ without those that not every driver has. What they play depends on the time since the
// library was loaded and on variables of the environment, numbers unless said otherwise:
//
//   FAKE_NVML_GPUS=2            boards
//   FAKE_NVML_MIG=0             mask of boards that are partitioned, into two instances each
//   FAKE_NVML_DENIED=0          mask of boards that may not be used
//   FAKE_NVML_INIT_RESULT=0     what nvmlInit_v2 answers
//   FAKE_NVML_INIT_MS=0         how long it takes
//   FAKE_NVML_CAP_MASK=0        boards that run into their power cap: at
//   FAKE_NVML_CAP_AT_MS=0         this time, for
//   FAKE_NVML_CAP_FOR_MS=0        so long
//   FAKE_NVML_LOST_MASK=0       boards that fall off the bus at
//   FAKE_NVML_LOST_AT_MS=0        this time
//   FAKE_NVML_HANG_AT_MS=-1     from then on every question about a board hangs for ever
//   FAKE_NVML_CRASH_AT_MS=-1    from then on every question about a board is a segmentation fault
//   FAKE_NVML_PRINTS=0          1: prints a line to standard output when it is loaded
//   FAKE_NVML_PCIE_BITS=64      width of the PCIe byte counters
//   FAKE_NVML_UNSUPPORTED=      names of functions, separated by commas, that answer NOT_SUPPORTED
//   FAKE_NVML_FORBIDDEN=        the same with NO_PERMISSION
//   FAKE_NVML_REPORT=           file that gets a line for each call: function, board, result (../record_file.h)
//
// It declares NVML's structures for itself, so that a mistake in jaxprof's own would show.
#pragma once

#include <cstdint>

namespace jaxprof::fake_nvml {

// What every board does, so that a test can tell what it must have seen.
inline constexpr unsigned kSmClock = 1980;        // MHz
inline constexpr unsigned kCappedSmClock = 1200;  // MHz, while the power cap holds it back
inline constexpr unsigned kMemoryClock = 2619;    // MHz
inline constexpr unsigned kMaxSmClock = 1995;     // MHz
inline constexpr unsigned kPower = 350'000;       // mW
inline constexpr unsigned kPowerCap = 700'000;    // mW; used up while capped
inline constexpr unsigned kTemperature = 50;      // Celsius, plus the board's number
inline constexpr unsigned kMemoryTemperature = 60;
inline constexpr unsigned kUtilization = 90;  // percent
inline constexpr unsigned kMemoryUtilization = 40;
inline constexpr unsigned kEccCorrected = 3;  // plus the board's number
inline constexpr unsigned kPcieReplays = 7;
inline constexpr unsigned kNvlinkTxKibAMs = 100;  // KiB a millisecond over all links
inline constexpr unsigned kNvlinkRxKibAMs = 50;
inline constexpr unsigned kPcieBytesAMs = 1'000'000;
inline constexpr std::uint64_t kMemoryBytes = 141ULL << 30U;
inline constexpr unsigned kFirstBus = 0x1b;  // PCI bus of board 0; the others follow
inline constexpr const char* kName = "NVIDIA Fake H200";
inline constexpr const char* kDriver = "999.01";

}  // namespace jaxprof::fake_nvml
