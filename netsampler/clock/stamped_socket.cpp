#include "netsampler/clock/stamped_socket.h"

#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "agent/base/clocks.h"
#include "agent/spool/clock_record.h"

namespace jaxprof::netsampler {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
// After a send that failed: for so long no stamps of sent packets, so that none of before is left when numbers begin
// anew.
constexpr std::int64_t kDistrustNs = kSecondNs;
constexpr std::size_t kControlBytes = 512;
constexpr int kMostStampsAtOnce = 256;

// Errors of finding the way, before the kernel has given a number.
bool is_before_numbering(int error) {
  return error == ENETUNREACH || error == EINVAL || error == EAFNOSUPPORT || error == EACCES;
}

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

SocketAddress to_socket_address(const PeerAddress& peer, bool is_v4) {
  SocketAddress address;
  const sockaddr_in6 v6 = peer.to_socket_address();
  if (!is_v4) {
    std::memcpy(&address.storage, &v6, sizeof v6);
    address.size = sizeof v6;
    return address;
  }
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = v6.sin6_port;
  if (peer.is_v4()) std::memcpy(&v4.sin_addr, peer.bytes.data() + 12, sizeof v4.sin_addr);
  std::memcpy(&address.storage, &v4, sizeof v4);
  address.size = sizeof v4;
  return address;
}

PeerAddress from_v4(const in_addr& address, std::uint16_t port) {
  PeerAddress peer;
  peer.bytes[10] = peer.bytes[11] = 0xff;
  std::memcpy(peer.bytes.data() + 12, &address, sizeof address);
  peer.port = port;
  return peer;
}

PeerAddress from_socket_address(const sockaddr_storage& storage) {
  if (storage.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &storage, sizeof v4);
    return from_v4(v4.sin_addr, ntohs(v4.sin_port));
  }
  sockaddr_in6 v6{};
  std::memcpy(&v6, &storage, sizeof v6);
  return PeerAddress::from_socket_address(v6);
}

bool set_option(int fd, int level, int option, int value) {
  return setsockopt(fd, level, option, &value, sizeof value) == 0;
}

// The value of a control message.
template <typename T>
T value_of(const cmsghdr* header) {
  T value{};
  std::memcpy(&value, CMSG_DATA(header), sizeof value);
  return value;
}

bool is_of(const cmsghdr* header, int level, int type, std::size_t bytes) {
  return header->cmsg_level == level && header->cmsg_type == type && header->cmsg_len >= CMSG_LEN(bytes);
}

template <typename Visit>
void for_each_control(msghdr* message, const Visit& visit) {
  for (cmsghdr* header = CMSG_FIRSTHDR(message); header != nullptr; header = CMSG_NXTHDR(message, header)) {
    visit(header);
  }
}

// kNoStamp if it is none of software.
std::int64_t stamp_of(const cmsghdr* header) {
  const auto stamp = value_of<scm_timestamping>(header).ts[0];
  if (stamp.tv_sec == 0 && stamp.tv_nsec == 0) return spool::kNoStamp;
  return static_cast<std::int64_t>(stamp.tv_sec) * kSecondNs + stamp.tv_nsec;
}

template <typename Info>
void put_own_address(msghdr* message, int level, int type, const Info& own) {
  message->msg_controllen = CMSG_SPACE(sizeof own);
  cmsghdr* const header = CMSG_FIRSTHDR(message);
  header->cmsg_level = level;
  header->cmsg_type = type;
  header->cmsg_len = CMSG_LEN(sizeof own);
  std::memcpy(CMSG_DATA(header), &own, sizeof own);
}

}  // namespace

Result<std::optional<StampedSocket>> StampedSocket::open(const PeerAddress& address, bool wants_stamps,
                                                         RawClock raw_ns) {
  const bool is_any = address.is_any();
  bool is_v4 = address.is_v4();
  const auto refuse = [&address](const char* what) {
    return fail_errno(ErrorCode::kNodeNotReady, std::string("clock probes: ") + what + " " + address.literal() +
                                                    " port " + std::to_string(address.port));
  };
  constexpr int kType = SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
  UniqueFd fd(socket(is_v4 ? AF_INET : AF_INET6, kType, 0));
  if (!fd && is_any && !is_v4) {  // a kernel without v6
    is_v4 = true;
    fd.reset(socket(AF_INET, kType, 0));
  }
  if (!fd) return refuse("no UDP socket for");
  if (!is_v4) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, is_any ? 0 : 1);
  if (is_any) {
    set_option(fd.get(), is_v4 ? IPPROTO_IP : IPPROTO_IPV6, is_v4 ? IP_PKTINFO : IPV6_RECVPKTINFO, 1);
  }
  SocketAddress local = to_socket_address(address, is_v4);
  if (bind(fd.get(), local.get(), local.size) != 0) {
    if (errno == EADDRINUSE) return std::optional<StampedSocket>();
    return refuse("cannot bind to");
  }
  StampedSocket made(std::move(fd), is_v4, is_any, wants_stamps, std::move(raw_ns));
  if (getsockname(made.fd(), local.get(), &local.size) != 0) return refuse("no port for");
  made.own_address_ = from_socket_address(local.storage);
  if (is_any) made.own_address_ = *parse_address("127.0.0.1", made.own_address_.port);
  return std::optional<StampedSocket>(std::move(made));
}

StampedSocket::StampedSocket(UniqueFd fd, bool is_v4, bool is_any, bool wants_stamps, RawClock raw_ns)
    : fd_(std::move(fd)), is_v4_(is_v4), is_any_(is_any), raw_ns_(std::move(raw_ns)) {
  if (wants_stamps) has_sent_stamps_ = ask_for_stamps(true);
}

// Asking for numbers where they were not asked for before lets them begin with 0.
bool StampedSocket::ask_for_stamps(bool of_sent_ones) {
  int flags = SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE;
  if (of_sent_ones) flags |= SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY;
  return set_option(fd(), SOL_SOCKET, SO_TIMESTAMPING, flags);
}

void StampedSocket::distrust_numbers() {
  if (!has_sent_stamps_) return;
  has_sent_stamps_ = false;
  ask_for_stamps(false);
  sent_.restart();
  untrusted_until_raw_ns_ = raw_ns_() + kDistrustNs;
}

void StampedSocket::trust_numbers_again() {
  read_stamps({});
  has_sent_stamps_ = ask_for_stamps(true);
  untrusted_until_raw_ns_.reset();
}

bool StampedSocket::send(const PacketBytes& bytes, const PeerAddress& to, const PeerAddress& own,
                         const SentPacket& packet) {
  if (untrusted_until_raw_ns_ && raw_ns_() >= *untrusted_until_raw_ns_) trust_numbers_again();
  if (is_v4_ && !to.is_v4()) return false;
  SocketAddress address = to_socket_address(to, is_v4_);
  iovec content{const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(in6_pktinfo))> control{};
  msghdr message{};
  message.msg_name = address.get();
  message.msg_namelen = address.size;
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  if (is_any_ && !own.is_any()) {
    message.msg_control = control.data();
    if (is_v4_) {
      in_pktinfo from{};
      std::memcpy(&from.ipi_spec_dst, own.bytes.data() + 12, sizeof from.ipi_spec_dst);
      put_own_address(&message, IPPROTO_IP, IP_PKTINFO, from);
    } else {
      in6_pktinfo from{};
      std::memcpy(&from.ipi6_addr, own.bytes.data(), own.bytes.size());
      put_own_address(&message, IPPROTO_IPV6, IPV6_PKTINFO, from);
    }
  }
  const std::int64_t wall_ns = has_sent_stamps_ ? clock_ns(CLOCK_REALTIME) : 0;
  if (sendmsg(fd(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
    if (!is_before_numbering(errno)) distrust_numbers();
    return false;
  }
  if (has_sent_stamps_) sent_.note(packet, wall_ns);
  return true;
}

bool StampedSocket::receive(ReceivedPacket* packet) {
  sockaddr_storage source{};
  iovec content{packet->bytes.data(), packet->bytes.size()};
  alignas(cmsghdr) std::array<char, kControlBytes> control;
  msghdr message{};
  message.msg_name = &source;
  message.msg_namelen = sizeof source;
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t size = recvmsg(fd(), &message, MSG_DONTWAIT);
  packet->raw_ns = raw_ns_();
  if (size < 0) return false;
  packet->n_bytes = static_cast<std::size_t>(size);
  packet->source = from_socket_address(source);
  packet->own = {};
  packet->wall_ns = spool::kNoStamp;
  for_each_control(&message, [packet](const cmsghdr* header) {
    if (is_of(header, SOL_SOCKET, SCM_TIMESTAMPING, sizeof(scm_timestamping))) {
      packet->wall_ns = stamp_of(header);
    } else if (is_of(header, IPPROTO_IP, IP_PKTINFO, sizeof(in_pktinfo))) {
      packet->own = from_v4(value_of<in_pktinfo>(header).ipi_spec_dst, 0);
    } else if (is_of(header, IPPROTO_IPV6, IPV6_PKTINFO, sizeof(in6_pktinfo))) {
      const auto own = value_of<in6_pktinfo>(header);
      std::memcpy(packet->own.bytes.data(), &own.ipi6_addr, packet->own.bytes.size());
    }
  });
  if (packet->wall_ns != spool::kNoStamp) stamps_ |= spool::kStampReceive;
  return true;
}

std::uint64_t StampedSocket::read_stamps(const std::function<void(const SentPacket&, std::int64_t wall_ns)>& take) {
  std::uint64_t n_unpaired = 0;
  for (int i = 0; i < kMostStampsAtOnce; ++i) {
    alignas(cmsghdr) std::array<char, kControlBytes> control;
    msghdr message{};
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (recvmsg(fd(), &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
      // What else may have made poll(2) say POLLERR is taken away by asking for it.
      int error = 0;
      socklen_t size = sizeof error;
      if (i == 0) getsockopt(fd(), SOL_SOCKET, SO_ERROR, &error, &size);
      break;
    }
    std::int64_t wall_ns = spool::kNoStamp;
    std::optional<std::uint32_t> number;
    for_each_control(&message, [&](const cmsghdr* header) {
      if (is_of(header, SOL_SOCKET, SCM_TIMESTAMPING, sizeof(scm_timestamping))) {
        wall_ns = stamp_of(header);
      } else if (is_of(header, IPPROTO_IP, IP_RECVERR, sizeof(sock_extended_err)) ||
                 is_of(header, IPPROTO_IPV6, IPV6_RECVERR, sizeof(sock_extended_err))) {
        const auto error = value_of<sock_extended_err>(header);
        if (error.ee_origin == SO_EE_ORIGIN_TIMESTAMPING && error.ee_info == SCM_TSTAMP_SND) number = error.ee_data;
      }
    });
    std::optional<SentPacket> packet;
    if (number && wall_ns != spool::kNoStamp) packet = sent_.pair(*number, wall_ns);
    if (!packet) {
      ++n_unpaired;
      continue;
    }
    stamps_ |= spool::kStampSend;
    if (take) take(*packet, wall_ns);
    if (!sent_.is_waiting()) break;  // one system call less; poll(2) tells if there is more
  }
  return n_unpaired;
}

}  // namespace jaxprof::netsampler
