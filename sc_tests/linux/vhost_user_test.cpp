#include "platform/linux/vhost_user.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include "guest_memory.hpp"
#include "sc_tests/catch.hpp"

using namespace vp::guest;

namespace {

// Numbers of the vhost-user specification, written again here.
enum : std::uint32_t {
  get_features = 1,
  set_mem_table = 5,
  set_vring_num = 8,
  set_vring_addr = 9,
  get_protocol_features = 15,
  set_protocol_features = 16,
  set_vring_enable = 18,
  set_backend_req_fd = 21,
  vring_kick = 35,
};
constexpr std::uint32_t kVersion = 1, kReply = 4, kNeedReply = 8;

/// A front end: the other end of the socket.
struct FrontEnd {
  GuestMemory memory;
  std::vector<SharedRegion> shared;
  VhostUser device{memory.pointer(), [this](std::vector<SharedRegion>& r) { shared = std::move(r); }};
  Stream here, there;
  std::vector<Fd> no_fds;

  FrontEnd() {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    here = Stream(Fd(ends[0]), 5);
    there = Stream(Fd(ends[1]), 5);
  }
  template <class T>
  VhostUser::Result tell(std::uint32_t request, const T& payload, std::uint32_t flags = kVersion,
                         int fd = -1) {
    const VhostHeader header{request, flags, sizeof payload};
    std::vector<std::uint8_t> bytes(sizeof header + sizeof payload);
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, &payload, sizeof payload);
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
    iovec io{bytes.data(), bytes.size()};
    msghdr m{};
    m.msg_iov = &io;
    m.msg_iovlen = 1;
    if (fd >= 0) {
      m.msg_control = control;
      m.msg_controllen = sizeof control;
      cmsghdr* c = CMSG_FIRSTHDR(&m);
      c->cmsg_level = SOL_SOCKET;
      c->cmsg_type = SCM_RIGHTS;
      c->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    REQUIRE(::sendmsg(there.fd(), &m, 0) == static_cast<ssize_t>(bytes.size()));
    return device.receive(here);
  }
};

struct State {
  std::uint32_t index, value;
};
struct Addresses {
  std::uint32_t index, flags;
  std::uint64_t descriptors, used, available, log;
};

}  // namespace

TEST_CASE("the device offers virtio 1 and the protocol features a synchronous kick needs") {
  FrontEnd f;
  CHECK(f.tell(get_features, std::uint64_t{0}).reply == ((1ULL << 30) | (1ULL << 32)));
  const auto features = f.tell(get_protocol_features, std::uint64_t{0}).reply;
  REQUIRE(features);
  for (const unsigned bit : {3u, 5u, 14u}) CHECK((*features >> bit & 1) == 1);
  CHECK_NOTHROW(f.tell(set_protocol_features, *features));
  CHECK_THROWS_AS(f.tell(set_protocol_features, *features & ~(1ULL << 14)), ProtocolError);
}

TEST_CASE("an answer is framed with the request's number and the reply flag") {
  FrontEnd f;
  const auto asked = f.tell(set_vring_num, State{0, 256}, kVersion | kNeedReply);
  REQUIRE(asked.reply == 0u);
  f.device.reply(f.here, *asked.reply);
  struct {
    VhostHeader header;
    std::uint32_t low, high;
  } answer{};
  f.there.read(&answer, sizeof answer, "test");
  CHECK(answer.header.request == set_vring_num);
  CHECK(answer.header.flags == (kVersion | kReply));
  CHECK(answer.header.size == 8);
  CHECK(answer.low == 0);
}

TEST_CASE("the memory table hands over each region with its file") {
  FrontEnd f;
  struct {
    std::uint32_t count = 1, padding = 0;
    std::uint64_t guest = 0x65'0000, bytes = 0x10'0000, user = 0x65'0000, offset = 0x65'0000;
  } table;
  int pipe_ends[2];
  REQUIRE(::pipe(pipe_ends) == 0);
  const Fd read_end(pipe_ends[0]), write_end(pipe_ends[1]);
  f.tell(set_mem_table, table, kVersion, write_end.get());
  REQUIRE(f.shared.size() == 1);
  CHECK(f.shared[0].guest_address == 0x65'0000);
  CHECK(f.shared[0].bytes == 0x10'0000);
  CHECK(f.shared[0].file_offset == 0x65'0000);
  CHECK(f.shared[0].fd.get() >= 0);
  CHECK_THROWS_AS(f.tell(set_mem_table, table), ProtocolError);  // without its file
}

TEST_CASE("a kick names the queue to serve, and an unknown queue or request is refused") {
  FrontEnd f;
  const auto kicked = f.tell(vring_kick, State{1, 0}, kVersion | kNeedReply);
  CHECK(kicked.kicked == 1u);
  CHECK(kicked.reply == 0u);
  CHECK_THROWS_AS(f.tell(vring_kick, State{2, 0}), ProtocolError);
  CHECK_THROWS_AS(f.tell(99, State{0, 0}), ProtocolError);
  CHECK_THROWS_AS(f.tell(vring_kick, State{0, 0}, 2), ProtocolError);       // another version
  CHECK_THROWS_AS(f.tell(set_vring_num, std::uint16_t{0}), ProtocolError);  // too short
}

TEST_CASE("a queue set up by messages moves buffers") {
  FrontEnd f;
  f.tell(set_vring_num, State{0, DriverQueue::kEntries});
  f.tell(set_vring_addr,
         Addresses{0, 0, DriverQueue::kDescriptors, DriverQueue::kUsed, DriverQueue::kAvailable, 0});
  CHECK_FALSE(f.device.queue(0).ready());
  f.tell(set_vring_enable, State{0, 1});
  CHECK(f.device.queue(0).ready());
  DriverQueue driver{f.memory};
  driver.describe(0, GuestMemory::kBase + 0x5000, 4, kDescriptorWrite);
  driver.offer(0);
  const auto chain = f.device.queue(0).pop(f.memory.pointer());
  REQUIRE(chain);
  f.device.queue(0).push(*chain, 4);
  CHECK(driver.used_index() == 1);
}

TEST_CASE("a notification goes out on the back channel and waits for its acknowledge") {
  FrontEnd f;
  CHECK_THROWS_AS(f.device.call(1), ProtocolError);
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  Stream guest(Fd(ends[0]), 5);
  {
    const Fd handed(ends[1]);
    f.tell(set_backend_req_fd, std::uint64_t{0}, kVersion, handed.get());
  }
  f.device.call(1);
  struct {
    VhostHeader header;
    std::uint32_t index, value;
  } call{};
  guest.read(&call, sizeof call, "test");
  CHECK(call.header.request == 4);
  CHECK(call.header.flags == (kVersion | kNeedReply));
  CHECK(call.index == 1);
  const struct {
    VhostHeader header;
    std::uint32_t low, high;
  } good{{4, kVersion | kReply, 8}, 0, 0}, bad{{4, kVersion | kReply, 8}, 1, 0};
  guest.write(&good, sizeof good);
  CHECK_NOTHROW(f.device.take_acknowledge());
  guest.write(&bad, sizeof bad);
  CHECK_THROWS_AS(f.device.take_acknowledge(), ProtocolError);
}

TEST_CASE("a guest that closes its socket is seen as gone, a silent one is named after the limit") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  Stream here(Fd(ends[0]), 1);
  auto there = std::make_unique<Stream>(Fd(ends[1]), 1);
  char byte = 0;
  CHECK_THROWS_WITH(here.read(&byte, 1, "the guest says nothing"),
                    Catch::Contains("the guest says nothing for 1 s"));
  there.reset();
  CHECK_THROWS_AS(here.read(&byte, 1, ""), Disconnected);
}
