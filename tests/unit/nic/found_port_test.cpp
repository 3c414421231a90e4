#include "netsampler/nic/found_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jaxprof::netsampler {
namespace {

using testing::ElementsAre;
using testing::Eq;
using testing::Optional;

FoundPort card(const std::string& name, const std::string& pci, const std::string& guid = "1", unsigned port = 1) {
  FoundPort found;
  found.info.name = name;
  found.info.driver = "efa";
  found.info.pci = pci;
  found.info.guid = guid;
  found.info.port = port;
  return found;
}
FoundPort software(const std::string& name, const std::string& netdev, const std::string& guid) {
  FoundPort found = card(name, "", guid);
  found.info.netdev = netdev;
  return found;
}

TEST(RecognizePorts, KnowsARenamedCard) {
  EXPECT_THAT(recognize_ports({card("rdmap0s6", "a")}, {card("efa_0", "a")}), ElementsAre(Optional(0U)));
}

TEST(RecognizePorts, IsNotDeceivedByNamesThatChangedPlaces) {
  EXPECT_THAT(recognize_ports({card("x", "a"), card("y", "b")}, {card("y", "a"), card("x", "b")}),
              ElementsAre(Optional(0U), Optional(1U)));
}

TEST(RecognizePorts, TellsPortsOfOneCardApart) {
  EXPECT_THAT(recognize_ports({card("x", "a", "1", 2)}, {card("x", "a", "1", 1), card("x", "a", "1", 2)}),
              ElementsAre(Optional(1U)));
  EXPECT_THAT(recognize_ports({card("x", "a", "1", 3)}, {card("x", "a", "1", 1)}), ElementsAre(Eq(std::nullopt)));
}

// Sub-functions of one card share its PCI address.
TEST(RecognizePorts, GoesByTheGuidWhereCardsShareAnAddress) {
  EXPECT_THAT(recognize_ports({card("x", "a", "2"), card("y", "a", "1")}, {card("p", "a", "1"), card("q", "a", "2")}),
              ElementsAre(Optional(1U), Optional(0U)));
}

TEST(RecognizePorts, KnowsACardWhoseGuidWasSetAnew) {
  EXPECT_THAT(recognize_ports({card("x", "a", "2")}, {card("x", "a", "1")}), ElementsAre(Optional(0U)));
}

TEST(RecognizePorts, KnowsSoftwareDevicesByTheirInterface) {
  EXPECT_THAT(recognize_ports({software("new", "eth0", "1"), software("rxe1", "eth1", "2")},
                              {software("rxe1", "eth1", "2"), software("rxe0", "eth0", "1")}),
              ElementsAre(Optional(1U), Optional(0U)));
}

TEST(RecognizePorts, TakesAnotherAddressForAnotherCard) {
  EXPECT_THAT(recognize_ports({card("x", "b")}, {card("x", "a")}), ElementsAre(Eq(std::nullopt)));
}

}  // namespace
}  // namespace jaxprof::netsampler
