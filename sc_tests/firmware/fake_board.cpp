#include "sc_tests/firmware/fake_board.hpp"

#include <cstring>
#include <fstream>
#include <stdexcept>

#include "models/sdhci/sdhci_regs.hpp"

namespace fake {

namespace {
Board* active_board = nullptr;
using namespace vp::sdhci;
constexpr auto off(const char* name) { return find_register(kRegs, name)->offset; }
constexpr std::uint8_t kCsd[16] = {0xd0, 0x27, 0x01, 0x32, 0x0f, 0x59, 0x03, 0xff,
                                   0xff, 0xff, 0xff, 0xef, 0x8a, 0x40, 0x00, 0x1b};
constexpr std::uint8_t kCid[16] = {0xc5, 0x01, 0x00, 0x56, 0x50, 0x45, 0x33, 0x32,
                                   0x47, 0x10, 0x12, 0x34, 0x56, 0x78, 0x69, 0xa9};
}  // namespace

Board::Board(std::uint32_t caps1, std::size_t ram_bytes) : ram_(ram_bytes) {
  active_board = this;
  for (const auto& r : kRegs) put(r.offset, r.bytes, r.reset);
  put(off("CAPABILITIES1"), 4, caps1);
  ext_csd = load_ext_csd("synthetic-32g-emmc51");
}
Board::~Board() { active_board = nullptr; }
Board& Board::active() {
  if (!active_board) throw std::logic_error("no board");
  return *active_board;
}

void* Board::ram(std::uint64_t address, std::size_t bytes) {
  if (address < kRamBase || address + bytes > kRamBase + ram_.size()) throw std::out_of_range("RAM address");
  return ram_.data() + (address - kRamBase);
}

std::uint32_t Board::get(std::uint32_t o, unsigned bytes) const {
  std::uint32_t v = 0;
  std::memcpy(&v, regs_.data() + o, bytes < 4 ? bytes : 4);
  return v;
}
void Board::put(std::uint32_t o, unsigned bytes, std::uint64_t v) {
  std::memcpy(regs_.data() + o, &v, bytes < 8 ? bytes : 8);
}

unsigned Board::count_commands(unsigned index) const {
  unsigned n = 0;
  for (const Sent& s : commands) n += s.index == index;
  return n;
}

void Board::leave_stale(unsigned words) {
  left_over = words;
  put(off("PRESENT_STATE"), 4, get(off("PRESENT_STATE"), 4) | 0x800);
  put(off("NORMAL_INT_STATUS"), 4, get(off("NORMAL_INT_STATUS"), 4) | kIntCommandComplete);
}

bool Board::line() const {
  const bool host = device
                        ? device->line()
                        : (get(off("NORMAL_INT_STATUS"), 4) & get(off("NORMAL_INT_SIGNAL_ENABLE"), 4)) != 0;
  return host && !claimed_ && (intc_enable_ >> kHostLine & 1);
}

void Board::tick(std::uint64_t ns) {
  now += ns;
  if (device) device->advance(now);
  if (!enabled || in_handler || !handler || !line()) return;
  in_handler = true;
  handler(handler_context);
  in_handler = false;
}

void Board::raise(std::uint32_t bits) {
  bits &= get(off("NORMAL_INT_STATUS_ENABLE"), 4);
  std::uint32_t s = get(off("NORMAL_INT_STATUS"), 4) | bits;
  if (s >> 16) s |= kIntError;
  put(off("NORMAL_INT_STATUS"), 4, s);
}

std::uint64_t Board::read(std::uint64_t address, unsigned bytes) {
  if (address >= kIntcBase && address < kIntcBase + 0x10) {
    if (address - kIntcBase != 8) return 0;
    const bool up = line();
    claimed_ |= up;
    return up ? kHostLine + 1 : 0;
  }
  const auto o = static_cast<std::uint32_t>(address - kHostBase);
  if (device) return device->read(o, bytes);
  if (o == off("BUFFER_DATA_PORT") && pio_at_ >= pio_.size()) {  // a word left over by tuning
    put(off("PRESENT_STATE"), 4, get(off("PRESENT_STATE"), 4) & ~(left_over && --left_over ? 0u : 0x800u));
    log.push_back({false, o, 0});
    return 0;
  }
  if (o == off("BUFFER_DATA_PORT")) {
    std::uint32_t w = 0;
    std::memcpy(&w, pio_.data() + pio_at_, 4);
    pio_at_ += 4;
    if (pio_at_ == pio_limit_) next_pio_block();
    return w;
  }
  const std::uint64_t v = cqe.owns(o) ? cqe.read(o) : get(o, bytes);
  log.push_back({false, o, v});
  return v;
}

void Board::write(std::uint64_t address, unsigned bytes, std::uint64_t value) {
  if (address >= kIntcBase && address < kIntcBase + 0x10) {
    if (address - kIntcBase == 4) intc_enable_ = static_cast<std::uint32_t>(value);
    if (address - kIntcBase == 12) claimed_ = false;
    return;
  }
  const auto o = static_cast<std::uint32_t>(address - kHostBase);
  if (device) return device->write(o, bytes, value);
  if (o != off("BUFFER_DATA_PORT")) log.push_back({true, o, value});
  cqe.owns(o) ? cqe.write(o, static_cast<std::uint32_t>(value)) : host_write(o, bytes, value);
}

bool Board::idle() { return cqe.idle() || swq.idle(); }

void Board::host_write(std::uint32_t o, unsigned bytes, std::uint64_t value) {
  if (o == off("BUFFER_DATA_PORT")) {
    std::memcpy(pio_.data() + pio_at_, &value, 4);
    pio_at_ += 4;
    if (pio_at_ == pio_limit_) next_pio_block();
  } else if (o == off("NORMAL_INT_STATUS")) {
    std::uint32_t s = get(o, 4) & ~static_cast<std::uint32_t>(value) & ~kIntError;
    put(o, 4, s >> 16 ? s | kIntError : s);
  } else if (o == off("SOFTWARE_RESET")) {
    if (value & 4) put(off("PRESENT_STATE"), 4, get(off("PRESENT_STATE"), 4) & ~0xC00u);
    if (value & 4) cqe.lines_reset(), swq.lines_reset();
  } else if (o == off("CLOCK_CONTROL")) {
    put(o, 2, value & 1 ? value | 2 : value);
  } else if (o == off("HOST_CONTROL2")) {
    if ((value & 0x40) && !(get(o, 2) & 0x40)) tuning_left_ = tuning_blocks;
    put(o, 2, value);
  } else {
    put(o, bytes, value);
    if (o == off("COMMAND")) command(static_cast<std::uint32_t>(value));
  }
}

void Board::command(std::uint32_t value) {
  const unsigned index = value >> 8 & 63;
  const std::uint32_t arg = get(off("ARGUMENT"), 4), mode = get(off("TRANSFER_MODE"), 2);
  const bool data = value & 0x20;
  const unsigned automatic = mode >> 2 & 3;
  const auto log_command = [&](unsigned i, std::uint32_t a) {
    commands.push_back({i, a, get(off("CLOCK_CONTROL"), 2), get(off("HOST_CONTROL1"), 1),
                        get(off("HOST_CONTROL2"), 2), in_handler});
  };
  if (data && (automatic == 2 || automatic == 3)) log_command(23, get(off("SDMA_ADDRESS"), 4));
  log_command(index, arg);
  cqe.check_legacy(index);
  swq.check(index, arg);
  if (lost && lost(index)) return;
  std::uint32_t r = 0;
  const bool tune = index == 21 && (get(off("HOST_CONTROL2"), 2) & 0x40);
  if (tune) {
    if (--tuning_left_ == 0)
      put(off("HOST_CONTROL2"), 2, (get(off("HOST_CONTROL2"), 2) & ~0x40u) | (tuning_works ? 0x80 : 0));
    return raise(kIntBufferReadReady);
  }
  if ((no_answer && no_answer(index, arg)) || !answer(index, arg, r)) return raise(kIntCommandTimeout);
  if (index != 2 && index != 9) put(off("RESPONSE0"), 4, r);
  raise(kIntCommandComplete);
  if (data && swq.takes_data(index)) return swq.start(index, arg);
  if (data && data_crc_fault && data_crc_fault(index, arg)) return raise(kIntDataCrc);
  if (data) return move(index, arg);
  if ((value & 3) == 3) raise(kIntTransferComplete);
}

void Board::respond_136(const std::uint8_t (&reg)[16]) {
  for (unsigned i = 0; i < 4; ++i) {  // bits 127:8 in RESP 119:0
    std::uint32_t w = 0;
    for (unsigned b = 0; b < 4; ++b) {
      const int byte = 14 - static_cast<int>(4 * i + b);
      if (byte >= 0) w |= static_cast<std::uint32_t>(reg[byte]) << (8 * b);
    }
    put(off("RESPONSE0") + 4 * i, 4, w);
  }
}

bool Board::answer(unsigned index, std::uint32_t arg, std::uint32_t& r) {
  r = state_ << 9 | 0x100 | (switch_error_ ? 0x80u : 0u);
  if (swq.answers(index)) return swq.answer(index, arg, r);
  if (swq.wants_status(index, arg)) return r = swq.status(), true;
  switch (index) {
    case 0:
      state_ = 0;
      switch_error_ = false;
      ext_csd[183] = ext_csd[185] = 0;
      return true;
    case 1:
      r = 0xC0FF'8080;
      state_ = 1;
      return true;
    case 2:
      respond_136(kCid);
      state_ = 2;
      return true;
    case 3:
      state_ = 3;
      return true;
    case 9:
      respond_136(kCsd);
      return true;
    case 7:
      state_ = 4;
      return true;
    case 6:
      do_switch(arg);
      return true;
    case 13:
      if (polls_left_) --polls_left_, r = 7u << 9;
      switch_error_ = false;
      return true;
    case 12:
      return swq.present ? swq.stop() : cqe.stop();  // illegal in tran
    case 48:
      return cqe.discard(arg);
    default:
      return true;
  }
}

void Board::do_switch(std::uint32_t arg) {
  const unsigned index = arg >> 16 & 255, value = arg >> 8 & 255;
  if (refuse_switch && refuse_switch(index, value)) {
    switch_error_ = true;
    return;
  }
  if (index != 32) ext_csd[index] = static_cast<std::uint8_t>(value);
}

template <class F>
void Board::for_descriptors(F f) {
  const bool v4 = get(off("HOST_CONTROL2"), 2) & 0x1000, wide = get(off("HOST_CONTROL2"), 2) & 0x2000;
  const unsigned select = get(off("HOST_CONTROL1"), 1) >> 3 & 3;
  const unsigned size = v4 ? (wide ? 16 : 8) : select == 3 ? 12 : 8;
  std::uint64_t at = get(off("ADMA_ADDRESS_LOW"), 4);
  if (size > 8) at |= static_cast<std::uint64_t>(get(off("ADMA_ADDRESS_HIGH"), 4)) << 32;
  for (unsigned n = 1;; ++n, at += size) {
    std::uint32_t w[4] = {};
    std::memcpy(w, ram(at, size), size);
    if (!(w[0] & 1)) throw std::runtime_error("invalid descriptor");
    const std::uint32_t length = w[0] >> 16 ? w[0] >> 16 : 65536;
    if ((w[0] & 0x38) == 0x20) f((size > 8 ? static_cast<std::uint64_t>(w[2]) << 32 : 0) | w[1], length);
    if (w[0] & 2) {
      descriptor_counts.push_back(n);
      return;
    }
  }
}

std::vector<std::uint8_t> Board::payload(unsigned index, std::uint32_t arg, std::size_t bytes) {
  if (index == 8) {
    std::vector<std::uint8_t> v(ext_csd.begin(), ext_csd.end());
    const unsigned hc1 = get(off("HOST_CONTROL1"), 1);
    const unsigned width = hc1 & 0x20 ? 8 : hc1 & 2 ? 4 : 1;
    if (width == broken_width) v[196] ^= 0xFF;
    return v;
  }
  const auto* from = medium.data() + std::size_t{arg} * 512;
  return {from, from + bytes};
}

void Board::move(unsigned index, std::uint32_t arg) {
  const std::uint32_t mode = get(off("TRANSFER_MODE"), 2);
  const std::size_t bytes = std::size_t{get(off("BLOCK_SIZE"), 2) & 0xFFF} * get(off("BLOCK_COUNT"), 2);
  const bool read = mode & 0x10;
  if (!read) polls_left_ = busy_polls;
  if (read)
    pio_ = payload(index, arg, bytes);
  else
    pio_.assign(bytes, 0);
  if (!(mode & 1)) {
    pio_at_ = pio_limit_ = 0;
    pio_read_ = read;
    pio_address_ = arg;
    return next_pio_block();
  }
  std::size_t done = 0;
  const auto copy = [&](std::uint64_t address, std::uint32_t length) {
    if (done + length > bytes) throw std::runtime_error("descriptor total exceeds the transfer");
    if (read)
      std::memcpy(ram(address, length), pio_.data() + done, length);
    else
      std::memcpy(pio_.data() + done, ram(address, length), length);
    done += length;
  };
  const bool v4 = get(off("HOST_CONTROL2"), 2) & 0x1000;
  if ((get(off("HOST_CONTROL1"), 1) >> 3 & 3) == 0)
    copy(get(v4 ? off("ADMA_ADDRESS_LOW") : off("SDMA_ADDRESS"), 4), static_cast<std::uint32_t>(bytes));
  else
    for_descriptors(copy);
  if (done != bytes) throw std::runtime_error("descriptor total differs from the transfer");
  if (!read) std::memcpy(medium.data() + std::size_t{arg} * 512, pio_.data(), bytes);
  raise(kIntTransferComplete);
}

void Board::next_pio_block() {
  const std::uint32_t ps = get(off("PRESENT_STATE"), 4) & ~0xC00u;
  if (pio_at_ == pio_.size()) {
    put(off("PRESENT_STATE"), 4, ps);
    if (!pio_read_) std::memcpy(medium.data() + pio_address_ * 512, pio_.data(), pio_.size());
    return raise(kIntTransferComplete);
  }
  pio_limit_ = pio_at_ + 512;
  put(off("PRESENT_STATE"), 4, ps | (pio_read_ ? 0x800 : 0x400));
  raise(pio_read_ ? kIntBufferReadReady : kIntBufferWriteReady);
}

fw::JobTable& table(Board& board) {
  auto& t = *new (board.ram(fw::kJobTableAddress, sizeof(fw::JobTable))) fw::JobTable{};
  t.magic = fw::kJobTableMagic;
  t.host_base = kHostBase;
  t.intc_base = kIntcBase;
  t.host_irq = kHostLine;
  t.max_mode = static_cast<std::uint32_t>(fw::CardMode::hs400es);
  t.max_clock_hz = 200'000'000;
  t.max_segs = 128;
  t.max_seg_bytes = 65536;
  t.max_req_bytes = 512 * 1024;
  t.max_blk_count = 65535;
  t.split_128m = 1;
  t.use_dma = 2;
  t.auto_cmd23 = 1;
  t.v4_mode = 1;
  t.request_timeout_ms = 1000;
  t.enable_cache = 1;
  t.pool_base = kRamBase + 0x10'0000;
  t.pool_bytes = 0x10'0000;
  t.buffer_base = kRamBase + 0x100'0000;
  t.buffer_bytes = 0x200'0000;
  t.page_bytes = 4096;
  return t;
}

std::array<std::uint8_t, 512> load_ext_csd(const std::string& name) {
  std::ifstream in(std::string(VP_SOURCE_DIR) + "/traces/ext_csd/" + name + ".hex");
  std::string hex;
  if (!(in >> hex) || hex.size() != 1024) throw std::runtime_error("EXT_CSD dump " + name);
  std::array<std::uint8_t, 512> bytes{};
  for (std::size_t i = 0; i < 512; ++i)
    bytes[i] = static_cast<std::uint8_t>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
  return bytes;
}

}  // namespace fake

// --- the HAL ---
namespace hal {
using fake::Board;
namespace {
constexpr std::uint64_t kAccessNs = 100;
std::uint64_t rd(std::uint64_t a, unsigned n) {
  Board& b = Board::active();
  const std::uint64_t v = b.read(a, n);
  b.tick(kAccessNs);
  return v;
}
void wr(std::uint64_t a, unsigned n, std::uint64_t v) {
  Board& b = Board::active();
  b.write(a, n, v);
  b.tick(kAccessNs);
}
}  // namespace
std::uint8_t read8(std::uint64_t a) { return static_cast<std::uint8_t>(rd(a, 1)); }
std::uint16_t read16(std::uint64_t a) { return static_cast<std::uint16_t>(rd(a, 2)); }
std::uint32_t read32(std::uint64_t a) { return static_cast<std::uint32_t>(rd(a, 4)); }
std::uint64_t read64(std::uint64_t a) { return rd(a, 8); }
void write8(std::uint64_t a, std::uint8_t v) { wr(a, 1, v); }
void write16(std::uint64_t a, std::uint16_t v) { wr(a, 2, v); }
void write32(std::uint64_t a, std::uint32_t v) { wr(a, 4, v); }
void write64(std::uint64_t a, std::uint64_t v) { wr(a, 8, v); }
void* ram(std::uint64_t a, std::size_t n) { return Board::active().ram(a, n); }
void barrier() {}
void set_irq_handler(IrqHandler h, void* c) {
  Board::active().handler = h;
  Board::active().handler_context = c;
}
void irq_enable(bool on) {
  Board::active().enabled = on;
  Board::active().tick(0);
}
bool irq_enabled() { return Board::active().enabled; }
void wait_for_interrupt() {
  if (!Board::active().line()) throw std::runtime_error("WFI for ever");
  Board::active().tick(0);
}
bool wait_for_interrupt_until(std::uint64_t deadline) {
  Board& b = Board::active();
  const bool up = b.line();
  if (!up && b.device && b.device->next() < deadline) return b.tick(b.device->next() - b.now), true;
  if (!up && b.idle()) return b.tick(1000), true;
  if (!up && b.now < deadline) b.now = deadline;
  b.tick(0);
  return up;
}
std::uint64_t now_ns() { return Board::active().now; }
void delay_ns(std::uint64_t ns) { Board::active().tick(ns); }
void relax() { Board::active().tick(50); }
void cost(Cost what, std::uint64_t times) {
  Board::active().costs[static_cast<std::size_t>(what)] += times;
  Board::active().tick(times * 10);
}
void event(Event what, std::uint32_t id, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  Board::active().marks.push_back({what, id, a, b, c, Board::active().now});
}
void halt(int) { throw std::runtime_error("halt"); }
}  // namespace hal
