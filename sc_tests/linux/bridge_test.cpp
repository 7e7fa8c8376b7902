// The bridge with a guest made of a thread that speaks the protocols: no kernel. The thread and the simulator take turns
// on the sockets, so the order of events is fixed.
#include "platform/linux/bridge.hpp"

#include <linux/pci_regs.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <tlm_utils/simple_target_socket.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "guest_memory.hpp"
#include "sc_tests/catch.hpp"

using namespace vp;
using namespace vp::guest;

namespace {

constexpr std::uint64_t kHost = 0x1000'0000, kRing = GuestMemory::kBase, kMessage = kRing + 0x8000,
                        kAnswer = kRing + 0x9000;

/// A device of one register: each access takes 40 ns; a write of n raises the interrupt n ns later, a write of 0 lowers it.
struct OneRegister : sc_core::sc_module {
  tlm_utils::simple_target_socket<OneRegister> socket{"socket"};
  IrqLine irq;
  std::uint32_t value = 0x5AFE;
  std::vector<sc_time> accesses;
  sc_core::sc_event raise;
  SC_HAS_PROCESS(OneRegister);
  explicit OneRegister(sc_core::sc_module_name module) : sc_module(module) {
    socket.register_b_transport(this, &OneRegister::transport);
    SC_METHOD(fire);
    sensitive << raise;
    dont_initialize();
  }
  void fire() { irq.set(true); }
  void transport(tlm::tlm_generic_payload& p, sc_time& delay) {
    accesses.push_back(sc_core::sc_time_stamp());
    delay += sc_time(40, sc_core::SC_NS);
    p.set_response_status(p.get_address() == kHost ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    if (p.is_read()) {
      std::memcpy(p.get_data_ptr(), &value, p.get_data_length());
    } else {
      std::memcpy(&value, p.get_data_ptr(), p.get_data_length());
      if (value == 0) irq.set(false);
      if (value != 0) raise.notify(sc_time(value, sc_core::SC_NS));
    }
  }
};

Fd connect_to(const std::string& path) {
  Fd fd(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("connect");
  return fd;
}

/// The guest's side. Its memory is a file shared by descriptor, as in life.
struct FakeGuest {
  Stream device, calendar, back;
  Fd memory_file;
  std::byte* memory;
  std::uint16_t offered[2] = {0, 0}, seen[2] = {0, 0};
  std::uint32_t sequence = 0;

  FakeGuest(const std::string& device_path, const std::string& calendar_path)
      : memory_file(::memfd_create("guest", 0)) {
    REQUIRE(::ftruncate(memory_file.get(), GuestMemory::kBytes) == 0);
    memory = static_cast<std::byte*>(
        ::mmap(nullptr, GuestMemory::kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_file.get(), 0));
    calendar = Stream(connect_to(calendar_path), 20);
    device = Stream(connect_to(device_path), 20);
  }
  ~FakeGuest() { ::munmap(memory, GuestMemory::kBytes); }

  template <class T>
  void put(std::uint64_t at, const T& v) {
    std::memcpy(memory + (at - kRing), &v, sizeof v);
  }
  template <class T>
  T get(std::uint64_t at) {
    T v;
    std::memcpy(&v, memory + (at - kRing), sizeof v);
    return v;
  }
  static std::uint64_t ring(unsigned q) { return kRing + q * 0x3000; }

  /// A vhost-user request; waits for its acknowledge while the calendar speaks, as the kernel does.
  template <class T>
  void request(std::uint32_t number, const T& payload, int fd = -1) {
    std::vector<std::uint8_t> bytes(sizeof(VhostHeader) + sizeof payload);
    const VhostHeader header{number, 1 | 8, sizeof payload};
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
      *c = cmsghdr{CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
      std::memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    if (::sendmsg(device.fd(), &m, 0) < 0) throw std::runtime_error("sendmsg");
    while (wait_readable({calendar.fd(), device.fd()}, 20, "test") == 0) heard();
    std::uint8_t reply[20];
    device.read(reply, sizeof reply, "test");
  }
  void set_up() {
    struct {
      std::uint32_t count = 1, padding = 0;
      std::uint64_t guest = kRing, bytes = GuestMemory::kBytes, user = kRing, offset = 0;
    } table;
    request(5, table, memory_file.get());
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) throw std::runtime_error("socketpair");
    back = Stream(Fd(ends[0]), 20);
    const Fd theirs(ends[1]);
    request(21, std::uint64_t{0}, theirs.get());
    for (std::uint32_t q = 0; q < 2; ++q) {
      request(8, std::uint64_t{4} << 32 | q);
      const struct {
        std::uint32_t index, flags;
        std::uint64_t descriptors, used, available, log;
      } rings{q, 0, ring(q), ring(q) + 0x2000, ring(q) + 0x1000, 0};
      request(9, rings);
      request(18, std::uint64_t{1} << 32 | q);
    }
    put(ring(1), VringDescriptor{kAnswer + 0x100, 20, kDescriptorWrite, 0});
    offer(1);
  }
  void offer(unsigned q) {
    put(ring(q) + 0x1004 + 2 * (offered[q] % 4), std::uint16_t{0});
    put(ring(q) + 0x1002, ++offered[q]);
  }
  std::uint32_t access(std::uint8_t op, std::uint64_t at, std::uint32_t value = 0) {
    virtio_pcidev_msg m{};
    m.op = op;
    m.size = 4;
    m.addr = at;
    put(kMessage, m);
    put(kMessage + sizeof m, value);
    put(ring(0), VringDescriptor{kMessage, 20, kDescriptorNext, 1});
    put(ring(0) + 16, VringDescriptor{kAnswer, 8, kDescriptorWrite, 0});
    offer(0);
    request(35, std::uint64_t{0});
    return get<std::uint32_t>(kAnswer);
  }
  // --- calendar ---
  std::uint64_t now = 0, free_until = 0;
  bool running = true;
  std::uint64_t say(std::uint32_t op, std::uint64_t time) {
    const um_timetravel_msg m{.op = op, .seq = ++sequence, .time = time};
    calendar.write(&m, sizeof m);
    um_timetravel_msg reply{};
    calendar.read(&reply, sizeof reply, "test");
    return reply.time;
  }
  void heard() {
    um_timetravel_msg m{};
    calendar.read(&m, sizeof m, "test");
    if (m.op == UM_TIMETRAVEL_RUN) now = m.time, running = true;
    if (m.op == UM_TIMETRAVEL_FREE_UNTIL) free_until = m.time;
    const um_timetravel_msg ack{.op = UM_TIMETRAVEL_ACK, .seq = m.seq, .time = 0};
    calendar.write(&ack, sizeof ack);
  }
  unsigned interrupts = 0;
  /// Sleeps until `at` or an interrupt; the interrupt's time is asked for and run at once.
  void sleep_until(std::uint64_t at) {
    say(UM_TIMETRAVEL_REQUEST, at);
    say(UM_TIMETRAVEL_WAIT, 0);
    running = false;
    while (!running) {
      if (wait_readable({calendar.fd(), back.fd()}, 20, "test") == 0) {
        heard();
        continue;
      }
      std::uint8_t call[20];
      back.read(call, sizeof call, "test");
      ++interrupts;
      say(UM_TIMETRAVEL_REQUEST, say(UM_TIMETRAVEL_GET, 0));
      const struct {
        VhostHeader header;
        std::uint32_t low, high;
      } ack{{4, 1 | 4, 8}, 0, 0};
      back.write(&ack, sizeof ack);
      offer(1);
    }
  }
};

struct BridgeBench {
  Context ctx;
  HostMemory memory{{{0, 0x100'0000}}};
  BridgeParams params;
  OneRegister device{"device"};
  Bridge bridge;
  std::string folder;
  std::unique_ptr<Listener> device_listener, calendar_listener;

  explicit BridgeBench(double limit_s = 1)
      : params{limit_s, 20}, bridge("bridge", ctx, sdhci_generic(), kHost, memory, params) {
    bridge.socket.bind(device.socket);
    device.irq.connect(bridge, 0);
    std::string name = "/tmp/emmc-vp-test-XXXXXX";
    folder = ::mkdtemp(name.data());
    device_listener = std::make_unique<Listener>(folder + "/device");
    calendar_listener = std::make_unique<Listener>(folder + "/calendar");
    bridge.listen(*device_listener, *calendar_listener);
  }
  ~BridgeBench() {
    device_listener.reset();
    calendar_listener.reset();
    ::rmdir(folder.c_str());
  }
  /// Runs `life` as the guest, from its connection to its end, and the simulation beside it.
  void run(const std::function<void(FakeGuest&)>& life) {
    std::exception_ptr failed;
    std::thread guest([&] {
      try {
        FakeGuest g(folder + "/device", folder + "/calendar");
        g.set_up();
        g.access(VIRTIO_PCIDEV_OP_CFG_WRITE, PCI_COMMAND, PCI_COMMAND_MEMORY);
        life(g);
      } catch (...) {
        failed = std::current_exception();
      }
    });
    sc_core::sc_start();
    guest.join();
    if (failed) std::rethrow_exception(failed);
  }
};

}  // namespace

TEST_CASE("a register read takes the bus's time while the guest's clock stands still") {
  BridgeBench b;
  std::uint32_t value = 0;
  b.run([&](FakeGuest& g) {
    value = g.access(VIRTIO_PCIDEV_OP_MMIO_READ, 0);
    g.access(VIRTIO_PCIDEV_OP_MMIO_READ, 0);
  });
  CHECK(value == 0x5AFE);
  REQUIRE(b.device.accesses.size() == 2);
  CHECK(b.device.accesses[1] - b.device.accesses[0] == sc_time(40, sc_core::SC_NS));
  CHECK(b.bridge.calendar().guest_now() == 0);
  CHECK(b.bridge.failure().empty());
}

TEST_CASE("a sleeping guest is run at its timer, and hardware has come as far") {
  BridgeBench b;
  std::uint64_t woke = 0;
  b.run([&](FakeGuest& g) {
    g.sleep_until(5'000);
    woke = g.now;
    g.access(VIRTIO_PCIDEV_OP_MMIO_READ, 0);
  });
  CHECK(woke == 5'000);
  REQUIRE(b.device.accesses.size() == 1);
  CHECK(b.device.accesses[0] == sc_time(5'000, sc_core::SC_NS));
}

TEST_CASE("an interrupt wakes the guest at the hardware's time, once, until a write leaves the line high") {
  BridgeBench b;
  std::uint64_t first = 0, second = 0, third = 0;
  unsigned counts[3] = {};
  b.run([&](FakeGuest& g) {
    g.access(VIRTIO_PCIDEV_OP_MMIO_WRITE, 0, 300);  // 40 ns of access, the line rises at 300 ns
    g.sleep_until(10'000);
    first = g.now, counts[0] = g.interrupts;
    g.sleep_until(10'000);  // not acknowledged: the level alone is no second interrupt
    second = g.now, counts[1] = g.interrupts;
    g.access(VIRTIO_PCIDEV_OP_MMIO_WRITE, 0, 7);  // a write that leaves it high
    g.sleep_until(20'000);
    third = g.now, counts[2] = g.interrupts;
    g.access(VIRTIO_PCIDEV_OP_MMIO_WRITE, 0, 0);  // acknowledged
    g.sleep_until(30'000);
  });
  CHECK(first == 300);
  CHECK(counts[0] == 1);
  CHECK(second == 10'000);
  CHECK(counts[1] == 1);
  CHECK(third == 10'040);  // at once, behind the write
  CHECK(counts[2] == 2);
  CHECK(b.bridge.counters().interrupts == 2);
}

// Linux 6.1 reads through one buffer per CPU and delays 1 us for each posted write it finds in the ring before the
// answer: an interrupt handler that reads meanwhile would overwrite the value.
TEST_CASE("an interrupt waits until a read behind posted writes has been taken") {
  BridgeBench b;
  std::uint64_t behind = 0, alone = 0;
  b.run([&](FakeGuest& g) {
    g.access(VIRTIO_PCIDEV_OP_MMIO_WRITE, 0, 300);
    g.access(VIRTIO_PCIDEV_OP_MMIO_READ, 0);  // ends at 80 ns, behind this write and that of the configuration
    g.sleep_until(10'000);
    behind = g.now;
    g.access(VIRTIO_PCIDEV_OP_MMIO_WRITE, 0, 0);
    g.access(VIRTIO_PCIDEV_OP_MMIO_READ, 0);
    g.sleep_until(20'000);  // longer than that read can take
    g.access(VIRTIO_PCIDEV_OP_MMIO_READ, 0);
    g.access(VIRTIO_PCIDEV_OP_MMIO_WRITE, 0, 300);  // at 20'040 ns, nothing is read behind it
    g.sleep_until(30'000);
    alone = g.now;
  });
  CHECK(behind == 2 * 40 + (2 + 1) * 1000);
  CHECK(alone == 20'040 + 300);
}

TEST_CASE("the guest may run freely only until hardware does something") {
  BridgeBench b;
  std::uint64_t free_until = 0;
  b.run([&](FakeGuest& g) {
    g.sleep_until(1'000);  // nothing is pending: it is let run far
    const std::uint64_t far = g.free_until;
    g.access(VIRTIO_PCIDEV_OP_MMIO_WRITE, 0, 500);  // at 1000 ns: something at 1500 ns
    free_until = far > 1'000'000 ? g.free_until : 0;
  });
  CHECK(free_until == 1'500);
}

TEST_CASE("beyond its BAR, and with memory decode off, the function answers all ones") {
  BridgeBench b;
  std::uint32_t beyond = 0, off = 0;
  b.run([&](FakeGuest& g) {
    beyond = g.access(VIRTIO_PCIDEV_OP_MMIO_READ, 0x1000);
    g.access(VIRTIO_PCIDEV_OP_CFG_WRITE, PCI_COMMAND, 0);
    off = g.access(VIRTIO_PCIDEV_OP_MMIO_READ, 0);
  });
  CHECK(beyond == 0xFFFF'FFFF);
  CHECK(off == 0xFFFF'FFFF);
  CHECK(b.device.accesses.empty());
}

TEST_CASE("an access the bus refuses reads all ones and is a finding") {
  BridgeBench b;
  std::uint32_t value = 0;
  b.run([&](FakeGuest& g) { value = g.access(VIRTIO_PCIDEV_OP_MMIO_READ, 0x40); });
  CHECK(value == 0xFFFF'FFFF);
  CHECK(b.ctx.findings.count("guest.bus_error") == 1);
}

TEST_CASE("a guest that sleeps past the limit of simulated time is given up with the reason") {
  BridgeBench b(0.001);
  CHECK_THROWS(b.run([&](FakeGuest& g) {
    for (std::uint64_t at = 100'000;; at += 100'000) g.sleep_until(at);
  }));
  CHECK_THAT(b.bridge.failure(), Catch::Contains("0.001 s of simulated time"));
}
