// Blocking, exact reads and writes on the sockets shared with the guest, with one wall-clock limit for its silence.
// The limit guards against a guest that hangs; it never influences simulated time.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

namespace vp::guest {

/// The guest has closed its end: it has ended, or died.
struct Disconnected : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Nothing came within the limit; the text says who waits for whom.
struct Silence : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// The guest broke a protocol, or the host's operating system refused a call.
struct ProtocolError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A file descriptor with one owner.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd() { reset(); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void reset();

 private:
  int fd_ = -1;
};

/// Index of the first of `fds` (negative ones are skipped) that can be read or is closed. Waits up to `limit_s` seconds
/// of wall clock, then throws Silence with `waiting_for` in its text.
std::size_t wait_readable(std::initializer_list<int> fds, unsigned limit_s, const std::string& waiting_for);

/// One stream socket.
class Stream {
 public:
  Stream() = default;
  Stream(Fd fd, unsigned limit_s) : fd_(std::move(fd)), limit_s_(limit_s) {}
  int fd() const { return fd_.get(); }
  bool connected() const { return static_cast<bool>(fd_); }

  /// Exactly `bytes`; throws Disconnected at the end of the stream, Silence after the limit.
  void read(void* to, std::size_t bytes, const std::string& waiting_for);
  void write(const void* from, std::size_t bytes);
  /// As read(), and takes the file descriptors that came along.
  void read_with_fds(void* to, std::size_t bytes, std::vector<Fd>& fds, const std::string& waiting_for);

 private:
  Fd fd_;
  unsigned limit_s_ = 0;
};

/// A listening socket in the file system, removed at the end.
class Listener {
 public:
  explicit Listener(const std::string& path);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  int fd() const { return fd_.get(); }
  Fd accept() const;

 private:
  std::string path_;
  Fd fd_;
};

}  // namespace vp::guest
