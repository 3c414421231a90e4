#include "netsampler/clock/peer_address.h"

#include <gtest/gtest.h>
#include <net/if.h>

namespace jaxprof::netsampler {
namespace {

TEST(PeerAddress, LiteralsSurvive) {
  for (const char* literal : {"10.0.0.1", "127.0.0.1", "255.255.255.255", "::1", "fd00::12:0:1", "2001:db8::1"}) {
    const auto address = parse_address(literal, 4711);
    ASSERT_TRUE(address) << literal;
    EXPECT_EQ(address->literal(), literal);
    EXPECT_EQ(address->port, 4711);
    EXPECT_FALSE(address->is_any());
    EXPECT_EQ(PeerAddress::from_socket_address(address->to_socket_address()), *address);
  }
}

TEST(PeerAddress, V4IsOneAddressInEitherSpelling) {
  const auto plain = parse_address("10.0.0.1", 1);
  const auto mapped = parse_address("::ffff:10.0.0.1", 1);
  ASSERT_TRUE(plain && mapped);
  EXPECT_EQ(*plain, *mapped);
  EXPECT_TRUE(mapped->is_v4());
  EXPECT_FALSE(parse_address("::1", 1)->is_v4());
}

TEST(PeerAddress, AnyIsAnyOfEitherFamily) {
  EXPECT_TRUE(PeerAddress{}.is_any());
  EXPECT_TRUE(parse_address("0.0.0.0", 1)->is_any());
  EXPECT_TRUE(parse_address("::", 1)->is_any());
}

TEST(PeerAddress, AScopeIsANumberOrAnInterfaceOfThisNode) {
  EXPECT_EQ(parse_address("fe80::1%7", 1)->scope, 7U);
  EXPECT_EQ(parse_address("fe80::1%7", 1)->literal(), "fe80::1%7");
  EXPECT_EQ(parse_address("fe80::1%lo", 1)->scope, if_nametoindex("lo"));
  EXPECT_FALSE(parse_address("fe80::1%nosuch0", 1));
  EXPECT_FALSE(parse_address("fe80::1%", 1));
  EXPECT_FALSE(parse_address("10.0.0.1%lo", 1)) << "v4 has no scopes";
}

TEST(PeerAddress, NamesAndOddTextsAreRefused) {
  for (const char* text : {"", "localhost", "10.0.0", "10.0.0.1.2", "10.0.0.256", " 10.0.0.1", "10.0.0.1 ", "1:2",
                           ":::", "0x0a000001", "g::1"}) {
    EXPECT_FALSE(parse_address(text, 1)) << text;
  }
  EXPECT_FALSE(parse_address(std::string(1000, '1'), 1));
  EXPECT_FALSE(parse_address(std::string_view("10.0.0.1\0x", 10), 1));
}

}  // namespace
}  // namespace jaxprof::netsampler
