// NVML's interface, as far as jaxprof-probe uses it, in our own words: results, constants, structs, and the types of
// its functions. libnvidia-ml belongs to the driver of the node, so headers that were at hand when this was built would
// say nothing about the one that it meets. Names and numbers are those of NVIDIA's "NVML API Reference Guide" (groups
// nvmlDeviceEnumvs, nvmlDeviceStructs, nvmlFieldValueEnums, nvmlClocksEventReasons), where each number is promised
// never to change. Agent-safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jaxprof::netsampler::nvml {

using Device = void*;  // nvmlDevice_t; never followed

// nvmlReturn_t. Any other value may come.
enum Return : std::int32_t {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNoPermission = 4,
  kNotFound = 6,
  kDriverNotLoaded = 9,
  kTimeout = 10,
  kFunctionNotFound = 13,
  kGpuIsLost = 15,
  kResetRequired = 16,
  kVersionMismatch = 18,  // the library is not of the running driver
  kVgpuEccNotSupported = 22,
  kArgumentVersionMismatch = 25,
  kDeprecated = 26,
  kGpuNotFound = 28,
  kUnknown = 999,
};

enum ClockType : std::int32_t { kClockSm = 1, kClockMemory = 2 };                    // nvmlClockType_t
enum TemperatureSensor : std::int32_t { kTemperatureGpu = 0 };                       // nvmlTemperatureSensors_t
enum MemoryErrorType : std::int32_t { kErrorCorrected = 0, kErrorUncorrected = 1 };  // nvmlMemoryErrorType_t
enum EccCounterType : std::int32_t { kVolatileEcc = 0 };                             // since the driver was loaded
inline constexpr std::uint32_t kMigEnabled = 1;                                      // NVML_DEVICE_MIG_ENABLE

// NVML_FI_DEV_*: what nvmlDeviceGetFieldValues is asked for.
enum Field : std::uint32_t {
  kPerfPolicyPower = 74,    // ns held back by the power cap, as CLOCKS_EVENT_REASON_SW_POWER_CAP
  kPerfPolicyThermal = 75,  // ns held back by temperature
  kMemoryTemperature = 82,  // Celsius
  kEnergyConsumption = 83,  // mJ since the driver was loaded
  kNvlinkDataTx = 138,      // KiB of payload; the scope is the link, kAllLinks the sum over them
  kNvlinkDataRx = 139,
  kPowerInstant = 186,  // mW; the scope is 0 for the GPU
  kPcieTxBytes = 197,   // "Value can be wrapped"
  kPcieRxBytes = 198,
  kSwThermalSlowdown = 269,     // ns
  kHwThermalSlowdown = 270,     // ns
  kHwPowerBrakeSlowdown = 271,  // ns
};
inline constexpr std::uint32_t kAllLinks = UINT32_MAX;

// nvmlValueType_t: how a field's value is stored.
enum ValueType : std::int32_t {
  kDouble = 0,
  kUnsignedInt = 1,
  kUnsignedLong = 2,
  kUnsignedLongLong = 3,
  kSignedLongLong = 4,
  kSignedInt = 5,
  kUnsignedShort = 6,
};

struct FieldValue {  // nvmlFieldValue_t
  std::uint32_t field;
  std::uint32_t scope;
  std::int64_t timestamp_us;
  std::int64_t latency_us;
  std::int32_t value_type;
  std::int32_t result;
  unsigned char value[8];
};

struct PciInfo {  // nvmlPciInfo_t, of nvmlDeviceGetPciInfo_v3
  char bus_id_legacy[16];
  std::uint32_t domain;
  std::uint32_t bus;
  std::uint32_t device;
  std::uint32_t device_id;
  std::uint32_t subsystem_id;
  char bus_id[32];
};

struct Temperature {  // nvmlTemperature_v1_t
  std::uint32_t version;
  std::int32_t sensor;
  std::int32_t celsius;
};
inline constexpr std::uint32_t kTemperatureVersion = sizeof(Temperature) | 1U << 24U;  // nvmlTemperature_v1

struct Memory {  // nvmlMemory_t
  std::uint64_t total;
  std::uint64_t free;
  std::uint64_t used;
};

struct Utilization {  // nvmlUtilization_t, percent
  std::uint32_t gpu;
  std::uint32_t memory;
};

static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, value) == 32);
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, domain) == 16 && offsetof(PciInfo, bus_id) == 36);
static_assert(sizeof(Temperature) == 12 && kTemperatureVersion == 0x100000C);
static_assert(sizeof(Memory) == 24 && sizeof(Utilization) == 8);

// The library's functions; each may be missing. Their names are beside them in nvml_library.cpp.
struct Functions {
  Return (*init)();
  const char* (*error_string)(Return);
  Return (*driver_version)(char* text, unsigned length);
  Return (*device_count)(unsigned* count);
  Return (*device)(unsigned index, Device* device);
  Return (*name)(Device, char* text, unsigned length);
  Return (*uuid)(Device, char* text, unsigned length);
  Return (*pci)(Device, PciInfo*);
  Return (*memory)(Device, Memory*);
  Return (*power_limit)(Device, unsigned* milliwatts);
  Return (*max_clock)(Device, ClockType, unsigned* mhz);
  Return (*mig_mode)(Device, unsigned* current, unsigned* pending);
  Return (*max_mig_devices)(Device, unsigned* count);
  Return (*mig_device)(Device, unsigned index, Device* instance);
  Return (*clock)(Device, ClockType, unsigned* mhz);
  Return (*power)(Device, unsigned* milliwatts);
  Return (*temperature)(Device, TemperatureSensor, unsigned* celsius);
  Return (*temperature_v)(Device, Temperature*);
  Return (*utilization)(Device, Utilization*);
  Return (*clock_reasons)(Device, unsigned long long* bits);
  Return (*ecc_errors)(Device, MemoryErrorType, EccCounterType, unsigned long long* count);
  Return (*pcie_replays)(Device, unsigned* count);
  Return (*field_values)(Device, int count, FieldValue* values);
};

}  // namespace jaxprof::netsampler::nvml
