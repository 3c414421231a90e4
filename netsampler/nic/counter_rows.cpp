#include "netsampler/nic/counter_rows.h"

namespace jaxprof::netsampler {
namespace {

using spool::SampleKind;
using spool::SampleUnit;
using Name = std::string_view;

constexpr CounterRow bytes(Name name) {
  return {.pattern = name, .unit = SampleUnit::kBytes, .is_fast = true};
}
constexpr CounterRow packets(Name name) {
  return {.pattern = name, .unit = SampleUnit::kPackets, .is_fast = true};
}
// Packets of one kind among others: slow.
constexpr CounterRow some_packets(Name name) {
  return {.pattern = name, .unit = SampleUnit::kPackets};
}
constexpr CounterRow count(Name name, std::uint8_t bits = 64) {
  return {.pattern = name, .bits = bits};
}
constexpr CounterRow error(Name name, std::uint8_t bits = 64) {
  return {.pattern = name, .bits = bits, .is_error = true};
}
constexpr CounterRow bad(SampleUnit unit, Name name) {
  return {.pattern = name, .unit = unit, .is_error = true};
}
constexpr CounterRow gauge(Name name) {
  return {.pattern = name, .kind = SampleKind::kGauge};
}
constexpr CounterRow stuck(Name name, std::uint8_t bits) {
  return {.pattern = name, .kind = SampleKind::kSaturating, .bits = bits, .is_error = true};
}

constexpr CounterRow kEfa[] = {
    bytes("tx_bytes"),
    bytes("rx_bytes"),
    packets("tx_pkts"),
    packets("rx_pkts"),
    bytes("send_bytes"),
    bytes("recv_bytes"),
    bytes("rdma_read_bytes"),
    bytes("rdma_read_resp_bytes"),
    bytes("rdma_write_bytes"),
    bytes("rdma_write_recv_bytes"),
    count("send_wrs"),
    count("recv_wrs"),
    count("rdma_read_wrs"),
    count("rdma_write_wrs"),
    bad(SampleUnit::kPackets, "rx_drops"),
    error("rdma_read_wr_err"),
    error("rdma_write_wr_err"),
    bad(SampleUnit::kBytes, "retrans_bytes"),
    bad(SampleUnit::kPackets, "retrans_pkts"),
    error("retrans_timeout_events"),
    error("unresponsive_remote_events"),
    error("impaired_remote_conn_events"),
};
constexpr CounterRow kEfaDevice[] = {
    count("submitted_cmds"), count("completed_cmds"),     count("keep_alive_rcvd"),
    error("cmds_err"),       error("no_completion_cmds"), error("*_err"),
};

// Q counters are 32 bits wide in the firmware's answer; those of congestion have 64.
constexpr CounterRow kMlx5[] = {
    count("rx_write_requests", 32),
    count("rx_read_requests", 32),
    count("rx_atomic_requests", 32),
    count("rx_dct_connect", 32),
    error("out_of_buffer", 32),
    error("out_of_sequence", 32),
    error("duplicate_request", 32),
    error("packet_seq_err", 32),
    error("implied_nak_seq_err", 32),
    error("rnr_nak_retry_err", 32),
    error("local_ack_timeout_err", 32),
    error("resp_*", 32),
    error("req_*", 32),
    error("roce_adp_retrans*", 32),
    count("roce_slow_restart*", 32),
    bad(SampleUnit::kPackets, "np_ecn_marked_roce_packets"),
    bad(SampleUnit::kPackets, "np_cnp_sent"),
    bad(SampleUnit::kPackets, "rp_cnp_handled"),
    bad(SampleUnit::kPackets, "rp_cnp_ignored"),
    bad(SampleUnit::kPackets, "rx_icrc_encapsulated"),
    bad(SampleUnit::kPackets, "cc_rx_ce_pkts"),
    bad(SampleUnit::kPackets, "cc_rx_cnp_pkts"),
    bad(SampleUnit::kPackets, "cc_tx_cnp_pkts"),
};

constexpr CounterRow kMlx4[] = {error("rq_num_*", 32), error("sq_num_*", 32), error("num_cqovf", 32)};

constexpr CounterRow kBnxtRe[] = {
    bytes("rx_bytes"),
    bytes("tx_bytes"),
    packets("rx_pkts"),
    packets("tx_pkts"),
    bytes("rx_roce_only_bytes"),
    bytes("tx_roce_only_bytes"),
    bytes("rx_roce_good_bytes"),
    packets("rx_roce_only_pkts"),
    packets("tx_roce_only_pkts"),
    packets("rx_roce_good_pkts"),
    gauge("active_*"),
    gauge("watermark_*"),
    bad(SampleUnit::kPackets, "tx_cnp_pkts"),
    bad(SampleUnit::kPackets, "rx_cnp_pkts"),
    bad(SampleUnit::kPackets, "rx_ecn_marked_pkts"),
    error("to_retransmits"),
    error("seq_err_naks_rcvd"),
    error("rnr_naks_rcvd"),
    error("max_retry_exceeded"),
    error("missing_resp"),
    error("dup_req"),
    error("oos_drop_count"),
    error("rx_out_of_buffer"),
    error("*_errors"),
    error("*_discards"),
};

// The driver adds the card's 24 to 56 bits up to 64.
constexpr CounterRow kIrdma[] = {
    bytes("ip4InOctets"),
    bytes("ip4OutOctets"),
    bytes("ip6InOctets"),
    bytes("ip6OutOctets"),
    packets("ip4InPkts"),
    packets("ip4OutPkts"),
    packets("ip6InPkts"),
    packets("ip6OutPkts"),
    count("iwInRdma*"),
    count("iwOutRdma*"),
    some_packets("RxUDP"),
    some_packets("TxUDP"),
    bad(SampleUnit::kPackets, "RxECNMrkd"),
    bad(SampleUnit::kPackets, "cnpSent"),
    bad(SampleUnit::kPackets, "cnpHandled"),
    bad(SampleUnit::kPackets, "cnpIgnored"),
    error("tcpRetransSegs"),
    bad(SampleUnit::kPackets, "*Discards"),
};

constexpr CounterRow kHns[] = {
    packets("rx_pkt"),
    packets("tx_pkt"),
    bad(SampleUnit::kPackets, "rx_err_pkt"),
    bad(SampleUnit::kPackets, "tx_err_pkt"),
    bad(SampleUnit::kPackets, "rx_cnp_pkt"),
    bad(SampleUnit::kPackets, "tx_cnp_pkt"),
    some_packets("rx_*_pkt"),
    some_packets("tx_*_pkt"),
    count("ecn_doorbell"),
};

// The driver outside of the kernel has "hw_" before its names.
constexpr CounterRow kErdma[] = {
    bytes("tx_bytes_cnt"),        bytes("rx_bytes_cnt"),        packets("tx_packets_cnt"),
    packets("rx_packets_cnt"),    bytes("hw_tx_bytes_cnt"),     bytes("hw_rx_bytes_cnt"),
    packets("hw_tx_packets_cnt"), packets("hw_rx_packets_cnt"), bad(SampleUnit::kPackets, "*_drop_cnt"),
};

constexpr CounterRow kMana[] = {
    error("requester_timeout"), error("requester_oos_nak"), error("requester_rnr_nak"),
    error("responder_rnr_nak"), error("responder_oos"),     error("responder_dup_request"),
};

constexpr CounterRow kIonic[] = {
    bytes("tx_rdma_ucast_bytes"),  bytes("rx_rdma_ucast_bytes"),  bytes("tx_rdma_mcast_bytes"),
    bytes("rx_rdma_mcast_bytes"),  packets("tx_rdma_ucast_pkts"), packets("rx_rdma_ucast_pkts"),
    packets("tx_rdma_mcast_pkts"), packets("rx_rdma_mcast_pkts"),
};

constexpr CounterRow kCxgb4Device[] = {
    count("ip4InSegs"),  count("ip4OutSegs"),     count("ip6InSegs"),      count("ip6OutSegs"),
    error("ip4OutRsts"), error("ip4RetransSegs"), error("ip6RetransSegs"), error("ip6OutRsts"),
};

// It counts no bytes; those of its network interface are its own.
constexpr CounterRow kRxe[] = {
    packets("sent_pkts"),         packets("rcvd_pkts"),        count("rdma_sends"),
    count("rdma_recvs"),          count("ack_deferred"),       error("duplicate_request"),
    error("out_of_seq_request"),  error("rcvd_rnr_err"),       error("send_rnr_err"),
    error("rcvd_seq_err"),        error("retry_exceeded_err"), error("retry_rnr_exceeded_err"),
    error("completer_retry_err"), error("send_err"),           error("link_downed"),
};

// Widths as in the kernel's table of the agent's attributes (drivers/infiniband/core/sysfs.c). port_*_data counts
// 4-octet words. Saturating ones stay at their end until someone resets them.
constexpr CounterRow kPma[] = {
    {.pattern = "port_xmit_data", .unit = SampleUnit::kBytes, .scale = 4, .is_fast = true},
    {.pattern = "port_rcv_data", .unit = SampleUnit::kBytes, .scale = 4, .is_fast = true},
    packets("port_xmit_packets"),
    packets("port_rcv_packets"),
    some_packets("unicast_*_packets"),
    some_packets("multicast_*_packets"),
    {.pattern = "port_xmit_wait", .unit = SampleUnit::kTicks, .bits = 32},
    stuck("symbol_error", 16),
    stuck("port_rcv_errors", 16),
    stuck("port_rcv_remote_physical_errors", 16),
    stuck("port_rcv_switch_relay_errors", 16),
    stuck("port_xmit_discards", 16),
    stuck("VL15_dropped", 16),
    stuck("link_error_recovery", 8),
    stuck("link_downed", 8),
    stuck("port_xmit_constraint_errors", 8),
    stuck("port_rcv_constraint_errors", 8),
    stuck("local_link_integrity_errors", 4),
    stuck("excessive_buffer_overrun_errors", 4),
};

constexpr CounterRow kNetdev[] = {
    bytes("rx_bytes"),
    bytes("tx_bytes"),
    packets("rx_packets"),
    packets("tx_packets"),
    bad(SampleUnit::kPackets, "rx_errors"),
    bad(SampleUnit::kPackets, "tx_errors"),
    bad(SampleUnit::kPackets, "rx_dropped"),
    bad(SampleUnit::kPackets, "tx_dropped"),
};

// Before 5.14 EFA's device counters were in the port's folder; describe_counter() looks there too.
constexpr DriverRows kDrivers[] = {
    {"efa", kEfa, kEfaDevice}, {"mlx5_core", kMlx5, {}},    {"mlx4_core", kMlx4, kMlx4}, {"bnxt_re", kBnxtRe, {}},
    {"irdma", kIrdma, {}},     {"hns", kHns, {}},           {"erdma", kErdma, {}},       {"mana_ib", kMana, {}},
    {"ionic", kIonic, {}},     {"cxgb4", {}, kCxgb4Device}, {"rdma_rxe", kRxe, {}},
};

}  // namespace

std::span<const DriverRows> driver_rows() {
  return kDrivers;
}
std::span<const CounterRow> pma_rows() {
  return kPma;
}
std::span<const CounterRow> netdev_rows() {
  return kNetdev;
}

}  // namespace jaxprof::netsampler
