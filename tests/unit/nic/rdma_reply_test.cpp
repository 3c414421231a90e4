#include "netsampler/nic/rdma_reply.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "tests/unit/nic/driver_counters.h"

namespace jaxprof::netsampler {
namespace {

using test::AnsweredDevice;
using test::AnsweredPort;
using test::Octets;

AnsweredDevice card(const std::string& name, test::NicCounters counters) {
  return {.index = 3,
          .name = name,
          .guid = 0x0123'4567'89ab'cdef,
          .ports = {{.number = 1, .counters = std::move(counters), .netdev = "eth0", .is_active = true, .error = 0}}};
}

// The sizes were seen on a running kernel: what the tests answer is laid out as that did.
TEST(RecordedAnswers, AreAsLongAsTheKernels) {
  const AnsweredDevice rxe = card("rxe0", test::rxe_counters());
  EXPECT_EQ(test::answer_counters(rxe, rxe.ports[0]).size(), 588U);
  const AnsweredDevice efa = card("rdmap16s0", test::efa_counters());
  EXPECT_EQ(test::answer_counters(efa, efa.ports[0]).size(), 860U);
}

TEST(ParseRdmaDevices, ReadsADump) {
  const std::vector<RdmaDevice> devices = parse_rdma_devices(test::answer_devices({card("a", {}), card("b", {})}));
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[1].name, "b");
  EXPECT_EQ(devices[1].index, 3U);
  EXPECT_EQ(devices[1].guid, "0123:4567:89ab:cdef");
  EXPECT_EQ(devices[1].port_count, 1U);
}

TEST(ParseRdmaDevices, TakesAGuidOfZerosForNone) {
  AnsweredDevice device = card("a", {});
  device.guid = 0;
  EXPECT_EQ(parse_rdma_devices(test::answer_devices({device}))[0].guid, "");
}

TEST(ParseRdmaPorts, ReadsLinkAndInterface) {
  AnsweredDevice device = card("a", {});
  device.ports.push_back({.number = 2, .counters = {}, .netdev = "", .is_active = false, .error = 0});
  const std::vector<RdmaPort> ports = parse_rdma_ports(test::answer_ports(device));
  ASSERT_EQ(ports.size(), 2U);
  EXPECT_EQ(ports[0].netdev, "eth0");
  EXPECT_TRUE(ports[0].is_active);
  EXPECT_EQ(ports[1].port, 2U);
  EXPECT_EQ(ports[1].netdev, "");
  EXPECT_FALSE(ports[1].is_active);
}

TEST(ParseRdmaCounters, ReadsAllInTheirOrder) {
  test::NicCounters counters = test::efa_counters();
  for (std::size_t i = 0; i < counters.size(); ++i) counters[i].second = UINT64_MAX - 7 - i;
  const AnsweredDevice device = card("rdmap16s0", counters);
  const Octets bytes = test::answer_counters(device, device.ports[0]);
  std::vector<RdmaCounter> found;
  ASSERT_TRUE(parse_rdma_counters(bytes, &found));
  ASSERT_EQ(found.size(), counters.size());
  for (std::size_t i = 0; i < counters.size(); ++i) {
    EXPECT_EQ(found[i].name, counters[i].first);
    EXPECT_EQ(found[i].value, counters[i].second);
  }
}

TEST(ParseRdmaCounters, HasNoneInAnAnswerToSomethingElse) {
  std::vector<RdmaCounter> found = {{.name = "old", .value = 1}};
  EXPECT_FALSE(parse_rdma_counters(test::answer_devices({card("a", {})}), &found));
  EXPECT_TRUE(found.empty());
  EXPECT_FALSE(parse_rdma_counters(test::answer_error(EINVAL), &found));
  EXPECT_FALSE(parse_rdma_counters({}, &found));
}

// Whatever is cut off, what is left is read as far as it is whole.
TEST(ParseRdmaCounters, NeverReadsBeyondACutAnswer) {
  const AnsweredDevice device = card("rdmap16s0", test::efa_counters(5));
  const Octets whole = test::answer_counters(device, device.ports[0]);
  std::vector<RdmaCounter> found;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Octets cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(parse_rdma_counters(cut, &found)) << size;
  }
}

TEST(FindNetlinkError, IsTheKernelsErrno) {
  EXPECT_EQ(find_netlink_error(test::answer_error(EINVAL)), EINVAL);
  EXPECT_EQ(find_netlink_error(test::answer_error(0)), 0);
  EXPECT_EQ(find_netlink_error(test::answer_devices({})), 0);
  EXPECT_EQ(find_netlink_error({}), EBADMSG);
}

TEST(IsEndOfDump, IsSeenBehindOtherMessages) {
  const Octets dump = test::answer_devices({card("a", {}), card("b", {})});
  EXPECT_TRUE(is_end_of_dump(dump));
  EXPECT_FALSE(is_end_of_dump(NetlinkBytes(dump).first(dump.size() - 20)));
}

}  // namespace
}  // namespace jaxprof::netsampler
