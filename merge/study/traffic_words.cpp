#include "merge/study/traffic_words.h"

#include <algorithm>
#include <iterator>

namespace jaxprof::study {
namespace {

struct Word {
  std::string_view name;
  Traffic traffic;
};

constexpr Word kWords[] = {
    // EFA, bnxt_re, network interfaces
    {"tx_bytes", Traffic::kOutBytes},
    {"rx_bytes", Traffic::kInBytes},
    {"tx_pkts", Traffic::kOutPackets},
    {"rx_pkts", Traffic::kInPackets},
    {"tx_packets", Traffic::kOutPackets},
    {"rx_packets", Traffic::kInPackets},
    // EFA
    {"send_bytes", Traffic::kSendBytes},
    {"recv_bytes", Traffic::kReceiveBytes},
    {"rdma_read_bytes", Traffic::kReadBytes},
    {"rdma_read_resp_bytes", Traffic::kReadServedBytes},
    {"rdma_write_bytes", Traffic::kWriteBytes},
    {"rdma_write_recv_bytes", Traffic::kWriteTakenBytes},
    {"retrans_pkts", Traffic::kRetransmits},
    {"retrans_timeout_events", Traffic::kRetransmits},
    {"impaired_remote_conn_events", Traffic::kCongestion},
    // counters/ of InfiniBand and mlx5
    {"port_xmit_data", Traffic::kOutBytes},
    {"port_rcv_data", Traffic::kInBytes},
    {"port_xmit_packets", Traffic::kOutPackets},
    {"port_rcv_packets", Traffic::kInPackets},
    // mlx5
    {"out_of_sequence", Traffic::kRetransmits},
    {"packet_seq_err", Traffic::kRetransmits},
    {"local_ack_timeout_err", Traffic::kRetransmits},
    {"rnr_nak_retry_err", Traffic::kRetransmits},
    {"roce_adp_retrans", Traffic::kRetransmits},
    {"np_cnp_sent", Traffic::kCongestion},
    {"np_ecn_marked_roce_packets", Traffic::kCongestion},
    {"rp_cnp_handled", Traffic::kCongestion},
    {"rp_cnp_ignored", Traffic::kCongestion},
    {"cc_rx_ce_pkts", Traffic::kCongestion},
    {"cc_rx_cnp_pkts", Traffic::kCongestion},
    {"cc_tx_cnp_pkts", Traffic::kCongestion},
    // bnxt_re
    {"to_retransmits", Traffic::kRetransmits},
    {"seq_err_naks_rcvd", Traffic::kRetransmits},
    {"tx_cnp_pkts", Traffic::kCongestion},
    {"rx_cnp_pkts", Traffic::kCongestion},
    {"rx_ecn_marked_pkts", Traffic::kCongestion},
    // irdma; the two families of IP add up
    {"ip4OutOctets", Traffic::kOutBytes},
    {"ip6OutOctets", Traffic::kOutBytes},
    {"ip4InOctets", Traffic::kInBytes},
    {"ip6InOctets", Traffic::kInBytes},
    {"ip4OutPkts", Traffic::kOutPackets},
    {"ip6OutPkts", Traffic::kOutPackets},
    {"ip4InPkts", Traffic::kInPackets},
    {"ip6InPkts", Traffic::kInPackets},
    {"tcpRetransSegs", Traffic::kRetransmits},
    {"RxECNMrkd", Traffic::kCongestion},
    {"cnpSent", Traffic::kCongestion},
    {"cnpHandled", Traffic::kCongestion},
    {"cnpIgnored", Traffic::kCongestion},
    // hns
    {"tx_pkt", Traffic::kOutPackets},
    {"rx_pkt", Traffic::kInPackets},
    {"tx_cnp_pkt", Traffic::kCongestion},
    {"rx_cnp_pkt", Traffic::kCongestion},
    // erdma, in the kernel and outside of it
    {"tx_bytes_cnt", Traffic::kOutBytes},
    {"rx_bytes_cnt", Traffic::kInBytes},
    {"tx_packets_cnt", Traffic::kOutPackets},
    {"rx_packets_cnt", Traffic::kInPackets},
    {"hw_tx_bytes_cnt", Traffic::kOutBytes},
    {"hw_rx_bytes_cnt", Traffic::kInBytes},
    {"hw_tx_packets_cnt", Traffic::kOutPackets},
    {"hw_rx_packets_cnt", Traffic::kInPackets},
    // ionic; unicast and multicast add up
    {"tx_rdma_ucast_bytes", Traffic::kOutBytes},
    {"tx_rdma_mcast_bytes", Traffic::kOutBytes},
    {"rx_rdma_ucast_bytes", Traffic::kInBytes},
    {"rx_rdma_mcast_bytes", Traffic::kInBytes},
    {"tx_rdma_ucast_pkts", Traffic::kOutPackets},
    {"tx_rdma_mcast_pkts", Traffic::kOutPackets},
    {"rx_rdma_ucast_pkts", Traffic::kInPackets},
    {"rx_rdma_mcast_pkts", Traffic::kInPackets},
    // rxe
    {"sent_pkts", Traffic::kOutPackets},
    {"rcvd_pkts", Traffic::kInPackets},
    {"completer_retry_err", Traffic::kRetransmits},
    {"rcvd_seq_err", Traffic::kRetransmits},
};

bool is_of_bytes(Traffic traffic) {
  return traffic == Traffic::kOutBytes || traffic == Traffic::kInBytes ||
         (traffic >= Traffic::kSendBytes && traffic <= Traffic::kWriteTakenBytes);
}

}  // namespace

Traffic traffic_of(const runfile::CounterColumn& column) {
  const auto* found = std::find_if(std::begin(kWords), std::end(kWords),
                                   [&column](const Word& word) { return word.name == column.name; });
  // A name is nothing without its unit: another driver may count something else under it.
  const bool is_bytes = column.unit == runfile::CounterUnit::kBytes;
  if (found != std::end(kWords) && is_of_bytes(found->traffic) == is_bytes) return found->traffic;
  return column.is_error ? Traffic::kErrors : Traffic::kOther;
}

}  // namespace jaxprof::study
