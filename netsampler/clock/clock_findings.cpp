#include "netsampler/clock/clock_findings.h"

#include <sys/random.h>

#include "agent/base/clocks.h"
#include "netsampler/clock/clock_discipline.h"
#include "netsampler/clock/own_interface.h"
#include "netsampler/clock/probe_engine.h"

namespace jaxprof::netsampler {
namespace {

// With a token of nobody's: what comes from elsewhere is dropped.
Status find_stamps(const PortRange& ports, ClockFindings* findings, const PeerAddress& address) {
  ProbeEngineOptions options;
  options.bind = address;
  options.ports = ports;
  if (getrandom(options.token.data(), options.token.size(), 0) != static_cast<ssize_t>(options.token.size())) {
    return fail_errno(ErrorCode::kNodeNotReady, "no random bytes");
  }
  options.node = clock_node_id("probe", 0);
  const auto engine = ProbeEngine::open(options, [](const spool::ProbeBurst&) {});
  if (!engine) return tl::unexpected(engine.error());
  findings->port = (*engine)->port();
  findings->stamps = (*engine)->stamps();
  findings->hears_itself = (*engine)->hears_itself();
  return {};
}

Status find_network(const std::string& interface, const PortRange& ports, ClockFindings* findings) {
  const auto own = find_own_interface(interface);
  if (!own) return tl::unexpected(own.error());
  findings->interface = own->name;
  findings->address = own->address.literal();
  findings->remark = own->remark;
  return find_stamps(ports, findings, own->address);
}

}  // namespace

ClockFindings find_clock(const std::string& interface, const PortRange& ports) {
  ClockFindings findings;
  findings.clocksource = read_clocksource();
  if (const auto discipline = read_discipline(0)) {
    findings.is_wall_known = true;
    findings.is_wall_synchronised = is_synchronised(*discipline);
    findings.wall_bound_ns = findings.is_wall_synchronised ? discipline->max_error_ns : 0;
  }
  if (auto status = find_network(interface, ports, &findings); !status) findings.reason = status.error().message;
  return findings;
}

}  // namespace jaxprof::netsampler
