#include "netsampler/nic/rdma_socket.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "netsampler/nic/rdma_reply.h"
#include "tests/unit/nic/netlink_bytes.h"

namespace jaxprof::netsampler {
namespace {

// Of this machine's own kernel, which may have no RDMA: then every question is answered by the same reason.
TEST(RdmaSocket, ListsTheDevicesOrSaysWhyNot) {
  RdmaSocket socket;
  const RdmaRequest list = {.command = test::kGet, .is_dump = true, .device = {}, .port = {}};
  const RdmaReply first = socket.ask(list);
  const int error = first.error;
  if (error == 0) {
    EXPECT_TRUE(is_end_of_dump(first.bytes));
  } else {
    EXPECT_TRUE(first.bytes.empty());
  }
  EXPECT_EQ(socket.ask(list).error, error);
}

TEST(RdmaSocket, HasNoCountersOfADeviceThatIsNotThere) {
  RdmaSocket socket;
  const RdmaReply listing = socket.ask({.command = test::kGet, .is_dump = true, .device = {}, .port = {}});
  const int error = listing.error;
  const RdmaReply reply = socket.ask({.command = test::kStatGet, .is_dump = false, .device = 0xfffe, .port = 1});
  EXPECT_EQ(reply.error, error == 0 ? EINVAL : error);
}

}  // namespace
}  // namespace jaxprof::netsampler
