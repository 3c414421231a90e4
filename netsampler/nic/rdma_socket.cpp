#include "netsampler/nic/rdma_socket.h"

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#include "netsampler/nic/rdma_reply.h"

namespace jaxprof::netsampler {
namespace {

// The kernel makes answers of a page, and parts of a dump of at most 32 KiB.
constexpr std::size_t kReceiveBytes = 64UL << 10;
constexpr std::size_t kMostDumpBytes = 8UL << 20;

struct FreeSocket {
  void operator()(nl_sock* socket) const { nl_socket_free(socket); }
};
struct FreeMessage {
  void operator()(nl_msg* message) const { nlmsg_free(message); }
};
using Socket = std::unique_ptr<nl_sock, FreeSocket>;
using Message = std::unique_ptr<nl_msg, FreeMessage>;

}  // namespace

class RdmaSocket::Impl {
 public:
  Impl() : socket_(nl_socket_alloc()), message_(nlmsg_alloc()), received_(kReceiveBytes) {
    if (!socket_ || !message_) {
      error_ = ENOMEM;
      return;
    }
    errno = 0;
    if (nl_connect(socket_.get(), NETLINK_RDMA) < 0) error_ = errno != 0 ? errno : EPROTO;
  }

  RdmaReply ask(const RdmaRequest& request) {
    if (error_ != 0) return {.error = error_};
    if (has_leftovers_) drain();
    has_leftovers_ = true;
    const RdmaReply reply = ask_clean(request);
    has_leftovers_ = reply.error != 0;
    return reply;
  }

 private:
  RdmaReply ask_clean(const RdmaRequest& request) {
    if (const int error = send(request); error != 0) return {.error = error};
    const RdmaReply first = receive(0);
    if (first.error != 0) return first;
    if (const int error = find_netlink_error(first.bytes); error != 0) return {.error = error};
    return request.is_dump ? receive_rest(first.bytes.size()) : first;
  }

  // errno, 0 if it was sent.
  int send(const RdmaRequest& request) {
    nlmsghdr* header = nlmsg_hdr(message_.get());
    header->nlmsg_len = NLMSG_HDRLEN;
    header->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, request.command);
    header->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | (request.is_dump ? NLM_F_DUMP : 0));
    header->nlmsg_seq = ++sequence_;
    header->nlmsg_pid = nl_socket_get_local_port(socket_.get());
    if ((request.device && nla_put_u32(message_.get(), RDMA_NLDEV_ATTR_DEV_INDEX, *request.device) < 0) ||
        (request.port && nla_put_u32(message_.get(), RDMA_NLDEV_ATTR_PORT_INDEX, *request.port) < 0)) {
      return ENOMEM;
    }
    return ::send(nl_socket_get_fd(socket_.get()), header, header->nlmsg_len, MSG_NOSIGNAL) < 0 ? errno : 0;
  }

  // Behind the first `used` bytes of what was received.
  RdmaReply receive(std::size_t used) {
    if (received_.size() < used + kReceiveBytes) received_.resize(used + kReceiveBytes);
    const ssize_t size =
        ::recv(nl_socket_get_fd(socket_.get()), received_.data() + used, kReceiveBytes, MSG_DONTWAIT | MSG_TRUNC);
    if (size < 0) return {.error = errno};
    if (static_cast<std::size_t>(size) > kReceiveBytes) return {.error = EMSGSIZE};
    return {.bytes = {received_.data() + used, static_cast<std::size_t>(size)}};
  }

  // The parts of a dump, which follow as they are fetched.
  RdmaReply receive_rest(std::size_t used) {
    std::size_t part = 0;
    while (!is_end_of_dump({received_.data() + part, used - part})) {
      part = (used + NLMSG_ALIGNTO - 1) / NLMSG_ALIGNTO * NLMSG_ALIGNTO;
      const RdmaReply more = receive(part);
      if (more.error != 0) return more;
      used = part + more.bytes.size();
      if (used > kMostDumpBytes) return {.error = EMSGSIZE};
    }
    return {.bytes = {received_.data(), used}};
  }

  // What a question that failed half way has left.
  void drain() {
    while (::recv(nl_socket_get_fd(socket_.get()), received_.data(), received_.size(), MSG_DONTWAIT) > 0) {
    }
  }

  Socket socket_;
  Message message_;
  std::vector<std::uint8_t> received_;
  std::uint32_t sequence_ = 0;
  bool has_leftovers_ = false;
  int error_ = 0;
};

RdmaSocket::RdmaSocket() : impl_(std::make_unique<Impl>()) {}
RdmaSocket::~RdmaSocket() = default;

RdmaReply RdmaSocket::ask(const RdmaRequest& request) {
  return impl_->ask(request);
}

}  // namespace jaxprof::netsampler
