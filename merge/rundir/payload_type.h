// Widths of the basic types that NVTX payload schemas are made of (nvToolsExtPayload.h, NVTX_PAYLOAD_ENTRY_TYPE_*), for
// the 64-bit Linux ABI that a spool was written under.
#pragma once

#include <cstdint>

namespace jaxprof::rundir {

// Bytes of an integer or floating-point type; 0 for types that are none (strings, nested schemas, unknown).
constexpr std::uint64_t payload_type_bytes(std::uint64_t type) {
  switch (type) {
    case 1:   // char
    case 2:   // unsigned char
    case 11:  // int8
    case 12:  // uint8
    case 25:  // char8
    case 32:  // byte
      return 1;
    case 3:   // short
    case 4:   // unsigned short
    case 13:  // int16
    case 14:  // uint16
    case 26:  // char16
    case 42:  // float16
    case 50:  // bfloat16
      return 2;
    case 5:   // int
    case 6:   // unsigned
    case 15:  // int32
    case 16:  // uint32
    case 19:  // float
    case 24:  // wchar_t
    case 27:  // char32
    case 43:  // float32
    case 52:  // tf32
    case 68:  // category
    case 69:  // colour
    case 71:  // pid
    case 73:  // tid
      return 4;
    case 7:   // long
    case 8:   // unsigned long
    case 9:   // long long
    case 10:  // unsigned long long
    case 17:  // int64
    case 18:  // uint64
    case 20:  // double
    case 22:  // size_t
    case 23:  // address
    case 44:  // float64
    case 70:  // scope id
    case 72:  // pid, 64 bits
    case 74:  // tid, 64 bits
      return 8;
    case 21:  // long double
    case 33:  // int128
    case 34:  // uint128
    case 45:  // float128
      return 16;
    default:
      return 0;
  }
}

constexpr bool is_signed_payload_type(std::uint64_t type) {
  return type == 1 || type == 3 || type == 5 || type == 7 || type == 9 || type == 11 || type == 13 || type == 15 ||
         type == 17;
}

constexpr bool is_integer_payload_type(std::uint64_t type) {
  return (type >= 1 && type <= 18) || type == 22 || type == 23 || type == 32 || (type >= 68 && type <= 74);
}

}  // namespace jaxprof::rundir
