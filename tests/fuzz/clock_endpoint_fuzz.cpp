// What another node has left where nodes find each other: an endpoint's text, or the name of its file.
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/contract/run_layout.h"
#include "netsampler/clock/clock_endpoint.h"
#include "tests/fuzz/planted_fault.h"

using namespace jaxprof;
using namespace jaxprof::netsampler;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto endpoint = parse_endpoint(text)) {
    fuzz::plant_fault(endpoint->address.port == 40001);
    fuzz::demand(endpoint->address.port != 0 && !endpoint->address.is_any(), "an endpoint can be sent to");
    fuzz::demand(endpoint->address.scope == 0, "a scope of another node is none here");
    const std::string written = to_text(*endpoint);
    fuzz::demand(written.size() <= kEndpointBytes, "a text is not too long for its reader");
    fuzz::demand(parse_endpoint(written) == endpoint, "an endpoint survives writing");
  }
  if (const auto name = run_layout::endpoint_name_of(std::string(text))) {
    const std::string path = run_layout::clock_endpoint_path("", name->boot_id, name->network_namespace, name->nonce);
    fuzz::demand(path.find('/', std::string_view("/clock/").size()) == std::string::npos, "a name is no path");
    fuzz::demand(run_layout::endpoint_name_of(path.substr(path.rfind('/') + 1)) == name, "a name survives writing");
  }
  return 0;
}
