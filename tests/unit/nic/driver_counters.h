// What each driver's hw_counters are called, as they list them, all at `value`.
#pragma once

#include "tests/unit/nic/netlink_bytes.h"

namespace jaxprof::test {

inline NicCounters counters_at(std::uint64_t value, std::initializer_list<const char*> names) {
  NicCounters counters;
  for (const char* name : names) counters.emplace_back(name, value);
  return counters;
}

inline NicCounters efa_counters(std::uint64_t value = 0) {
  return counters_at(value, {"tx_bytes",
                             "tx_pkts",
                             "rx_bytes",
                             "rx_pkts",
                             "rx_drops",
                             "send_bytes",
                             "send_wrs",
                             "recv_bytes",
                             "recv_wrs",
                             "rdma_read_bytes",
                             "rdma_read_wrs",
                             "rdma_read_wr_err",
                             "rdma_read_resp_bytes",
                             "rdma_write_bytes",
                             "rdma_write_wrs",
                             "rdma_write_wr_err",
                             "rdma_write_recv_bytes",
                             "retrans_bytes",
                             "retrans_pkts",
                             "retrans_timeout_events",
                             "unresponsive_remote_events",
                             "impaired_remote_conn_events"});
}

inline NicCounters mlx5_counters(std::uint64_t value = 0) {
  return counters_at(value, {"rx_write_requests", "rx_read_requests", "rx_atomic_requests", "out_of_buffer",
                             "out_of_sequence", "duplicate_request", "packet_seq_err", "local_ack_timeout_err",
                             "np_cnp_sent", "np_ecn_marked_roce_packets", "rp_cnp_handled", "req_cqe_error"});
}

inline NicCounters bnxt_counters(std::uint64_t value = 0) {
  return counters_at(value, {"active_pds", "active_qps", "watermark_qps", "rx_pkts", "rx_bytes", "tx_pkts", "tx_bytes",
                             "to_retransmits", "rx_out_of_buffer", "tx_cnp_pkts", "rx_roce_discards"});
}

inline NicCounters irdma_counters(std::uint64_t value = 0) {
  return counters_at(value, {"ip4InOctets", "ip4InPkts", "ip4OutOctets", "ip4OutPkts", "ip6InOctets", "ip6OutOctets",
                             "tcpRetransSegs", "iwInRdmaReads", "iwOutRdmaWrites", "cnpHandled", "RxECNMrkd"});
}

inline NicCounters rxe_counters(std::uint64_t value = 0) {
  return counters_at(
      value, {"sent_pkts", "rcvd_pkts", "duplicate_request", "out_of_seq_request", "rcvd_rnr_err", "send_rnr_err",
              "rcvd_seq_err", "ack_deferred", "retry_exceeded_err", "retry_rnr_exceeded_err", "completer_retry_err",
              "send_err", "link_downed", "rdma_sends", "rdma_recvs"});
}

}  // namespace jaxprof::test
