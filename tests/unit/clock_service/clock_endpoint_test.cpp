#include "netsampler/clock/clock_endpoint.h"

#include <gtest/gtest.h>

#include "tests/unit/clock_service/sample_endpoint.h"

namespace jaxprof::netsampler {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ClockEndpoint, SurvivesWriting) {
  ClockEndpoint endpoint = test::sample_endpoint();
  EXPECT_EQ(parse_endpoint(to_text(endpoint)), endpoint);
  endpoint.address = *parse_address("fd00::17", 65535);
  endpoint.clocksource.clear();
  endpoint.nonce = UINT64_MAX;
  EXPECT_EQ(parse_endpoint(to_text(endpoint)), endpoint);
}

TEST(ClockEndpoint, IsATextOfNamedLines) {
  EXPECT_EQ(
      to_text(test::sample_endpoint()),
      "jaxprof-clock-endpoint-1\nhost=n1\nboot=0123-abcd\nnetns=4026531840\nnonce=7\naddress=10.0.0.1\nport=40000\n"
      "interface=eth0\nclocksource=tsc\nstamps=3\nstart=1796043484484040510\nend\n");
}

TEST(ClockEndpoint, WordsCannotEndTheirLine) {
  ClockEndpoint endpoint = test::sample_endpoint();
  endpoint.host = "n1\nend\n";
  endpoint.interface = std::string(1000, 'x');
  const std::string text = to_text(endpoint);
  EXPECT_LE(text.size(), kEndpointBytes);
  const auto parsed = parse_endpoint(text);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->host, "n1_end_");
  EXPECT_EQ(parsed->interface.size(), 256U);
}

TEST(ClockEndpoint, EveryTextThatIsNotWholeIsRefused) {
  const std::string text = to_text(test::sample_endpoint());
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(parse_endpoint(text.substr(0, length))) << length;
    const bool is_frame = text[length] == '\n' || text[length] == '=';
    EXPECT_EQ(is_frame && parse_endpoint(std::string(text).erase(length, 1)).has_value(), false) << length;
  }
  EXPECT_FALSE(parse_endpoint(text + "\n"));
  EXPECT_FALSE(parse_endpoint(text + text));
}

TEST(ClockEndpoint, ValuesThatMeanNothingAreRefused) {
  const std::string text = to_text(test::sample_endpoint());
  const std::pair<const char*, const char*> changes[] = {{"endpoint-1", "endpoint-2"},
                                                         {"boot=0123-abcd", "boot=../abcd"},
                                                         {"boot=0123-abcd", "boot="},
                                                         {"netns=4026531840", "netns=-1"},
                                                         {"nonce=7", "nonce=0x7"},
                                                         {"nonce=7", "nonce=99999999999999999999"},
                                                         {"address=10.0.0.1", "address=n1"},
                                                         {"address=10.0.0.1", "address=0.0.0.0"},
                                                         {"address=10.0.0.1", "address=fe80::1%1"},
                                                         {"port=40000", "port=0"},
                                                         {"port=40000", "port=65536"},
                                                         {"host=n1", "host=n 1"},
                                                         {"host=n1", "host=n\x7f"},
                                                         {"stamps=3", "stamps=4294967296"},
                                                         {"start=1796043484484040510", "start=-1"},
                                                         {"port=40000\ninterface=eth0", "interface=eth0\nport=40000"}};
  for (const auto& [from, to] : changes) EXPECT_FALSE(parse_endpoint(replaced(text, from, to))) << to;
}

}  // namespace
}  // namespace jaxprof::netsampler
