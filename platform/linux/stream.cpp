#include "platform/linux/stream.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace vp::guest {
namespace {

constexpr std::size_t kMostFds = 8;  // VHOST_USER_SET_MEM_TABLE carries one per region

[[noreturn]] void refuse(const std::string& what) {
  throw ProtocolError(fmt::format("{}: {}", what, std::strerror(errno)));
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

void Fd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

std::size_t wait_readable(std::initializer_list<int> fds, unsigned limit_s, const std::string& waiting_for) {
  std::array<pollfd, 8> polled{};
  std::size_t count = 0;
  for (const int fd : fds) polled.at(count++) = {fd, POLLIN, 0};
  for (;;) {
    const int n = ::poll(polled.data(), count, static_cast<int>(limit_s) * 1000);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) refuse("poll");
    if (n == 0) throw Silence(fmt::format("{} for {} s of wall clock", waiting_for, limit_s));
    for (std::size_t i = 0; i < count; ++i)
      if (polled[i].revents != 0) return i;
  }
}

void Stream::read(void* to, std::size_t bytes, const std::string& waiting_for) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    wait_readable({fd()}, limit_s_, waiting_for);
    const ssize_t n = ::read(fd(), at, bytes);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) throw Disconnected("the guest has closed the connection");
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
}

void Stream::write(const void* from, std::size_t bytes) {
  const auto* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t n = ::send(fd(), at, bytes, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {  // a full socket: the guest is behind
      pollfd p{fd(), POLLOUT, 0};
      if (::poll(&p, 1, static_cast<int>(limit_s_) * 1000) == 0)
        throw Silence(
            fmt::format("the guest does not take what is sent to it for {} s of wall clock", limit_s_));
      continue;
    }
    if (n <= 0) throw Disconnected("the guest has closed the connection");
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
}

void Stream::read_with_fds(void* to, std::size_t bytes, std::vector<Fd>& fds,
                           const std::string& waiting_for) {
  wait_readable({fd()}, limit_s_, waiting_for);
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostFds * sizeof(int))> control{};
  iovec io{to, bytes};
  msghdr message{};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t n = 0;
  do {
    n = ::recvmsg(fd(), &message, MSG_CMSG_CLOEXEC);
  } while (n < 0 && (errno == EINTR || errno == EAGAIN));
  if (n <= 0) throw Disconnected("the guest has closed the connection");
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int received = -1;
      std::memcpy(&received, CMSG_DATA(c) + i * sizeof(int), sizeof received);
      fds.emplace_back(received);
    }
  }
  const auto got = static_cast<std::size_t>(n);
  if (got < bytes) read(static_cast<char*>(to) + got, bytes - got, waiting_for);
}

Listener::Listener(const std::string& path) : path_(path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw ProtocolError(fmt::format("{}: too long for a socket: set TMPDIR to a shorter folder", path));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  fd_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd_ || ::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd_.get(), 1) != 0)
    refuse(path);
}

Listener::~Listener() { ::unlink(path_.c_str()); }

Fd Listener::accept() const {
  Fd connection(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection) refuse(path_);
  return connection;
}

}  // namespace vp::guest
