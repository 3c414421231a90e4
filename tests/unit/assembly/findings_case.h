// A run of one or a few ranks whose wall clocks are known, and what the merge says of it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "tests/unit/assembly/assembled_folder.h"

namespace jaxprof::test {

inline constexpr std::int64_t kSecond = 1'000'000'000;

class FindingsTest : public testing::Test {
 protected:
  // Rank `rank` on `host`, recorded from second `from` to second `to` of the wall clock.
  static Recording recording(std::int64_t rank, const std::string& host, std::int64_t from, std::int64_t to,
                             std::int64_t world_size = 1) {
    Recording recorded(rank, world_size, host);
    recorded.set(spool::IdentityKey::kWrapperPid, 500 + rank);
    recorded.set_file_id(static_cast<std::uint64_t>(from * 1000 + to * 10 + rank) + std::hash<std::string>()(host));
    recorded.anchor({0, 0, from * kSecond, 0, 10});
    recorded.anchor({static_cast<std::uint64_t>((to - from) * kSecond), (to - from) * kSecond, to * kSecond,
                     (to - from) * kSecond, 10});
    return recorded;
  }
  void assemble() { assembled_ = run_.assemble(); }
  const runfile::RunTables& tables() const { return assembled_.tables; }

  RunFolder run_;
  assembly::AssembledRun assembled_;
};

}  // namespace jaxprof::test
