#include "sc_tests/firmware/dwmmc_fake.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "models/emmc/tuning_block.hpp"
#include "models/sdhci/sdhci_regs.hpp"

namespace fake {

namespace {
using namespace vp::dwmmc;
namespace dw = fw::dw;
constexpr std::uint64_t kTakeNs = 120;  // START to taken
constexpr std::uint64_t kDrainNs = 400;
constexpr auto sdhci(const char* name) { return vp::find_register(vp::sdhci::kRegs, name)->offset; }
std::uint32_t hcon_of(const DwShape& s) {
  const std::uint32_t width = s.width == 2 ? 0 : s.width == 4 ? 1 : 2;
  return 1 | width << 7 | 12u << 10 | s.dma_interface << 16 | 1u << 22 | (s.wide ? 1u << 27 : 0);
}
std::uint32_t error_bits(DwFault f) {
  switch (f) {
    case DwFault::data_crc:
      return kIntDataCrc;
    case DwFault::data_timeout:
      return kIntDataReadTimeout;
    case DwFault::end_bit:
      return kIntEndBit;
    case DwFault::start_bit:
      return kIntStartBit;
    case DwFault::fifo_run:
      return kIntFifoRun;
    case DwFault::host_timeout:
      return kIntHostTimeout;
    default:
      return 0;
  }
}
}  // namespace

DwMmc::DwMmc(Board& board, DwShape shape)
    : board_(board),
      shape_(shape),
      idmac_(idmac_offsets(hcon_of(shape))),
      fifo_offset_(data_offset(shape.version)) {
  reset_registers();
  board.device = this;
}

void DwMmc::reset_registers() {
  std::fill(regs_.begin(), regs_.end(), 0);
  for (const auto& r : kCommonRegs) put(r.offset, static_cast<std::uint32_t>(r.reset));
  put(dw::kVerid, 0x5342'0000 | shape_.version);
  put(dw::kHcon, hcon_of(shape_));
  put(dw::kFifoth, (shape_.depth - 1) << 16);
}

std::uint32_t DwMmc::reg(std::uint32_t o) const { return regs_.at(o / 4); }
void DwMmc::put(std::uint32_t o, std::uint32_t v) { regs_.at(o / 4) = v; }
void DwMmc::at(std::uint64_t delay, std::function<void()> what) {
  events_.emplace(board_.now + delay, std::move(what));
}

void DwMmc::advance(std::uint64_t now) {
  while (!events_.empty() && events_.begin()->first <= now) {
    now_ = events_.begin()->first;
    const auto what = std::move(events_.begin()->second);
    events_.erase(events_.begin());
    what();
  }
  now_ = now;
}
std::uint64_t DwMmc::next() const { return events_.empty() ? ~std::uint64_t{0} : events_.begin()->first; }

void DwMmc::raise(std::uint32_t bits) { put(dw::kRintsts, reg(dw::kRintsts) | bits); }

void DwMmc::idmac_raise(std::uint32_t bits) {
  const std::uint32_t on = bits & reg(idmac_.enable);
  if (on & (kIdTransmit | kIdReceive)) bits |= kIdNormal;
  if (on & (kIdFatalBusError | kIdUnavailable | kIdCardError)) bits |= kIdAbnormal;
  put(idmac_.status, reg(idmac_.status) | bits);
}

bool DwMmc::line() const {
  if (!(reg(dw::kCtrl) & dw::kCtrlIntEnable)) return false;
  if (reg(dw::kRintsts) & reg(dw::kIntmask)) return true;
  return (reg(idmac_.status) & reg(idmac_.enable) & (kIdNormal | kIdAbnormal)) != 0;
}

bool DwMmc::busy() const { return board_.now >= busy_from_ && board_.now < busy_until_; }

unsigned DwMmc::count(unsigned index) const {
  return static_cast<unsigned>(
      std::count_if(commands.begin(), commands.end(), [&](const Sent& s) { return s.index == index; }));
}

std::uint32_t DwMmc::status() const {
  const std::size_t bytes = writing_ ? fifo_at_ - moved_ : moved_ - fifo_at_;
  const auto words = static_cast<std::uint32_t>((bytes + shape_.width - 1) / shape_.width);
  return (busy() ? dw::kStatusBusy : 0) | words << dw::kStatusCountLsb |
         (stuck_dma_request ? dw::kStatusDmaReq : 0);
}

void DwMmc::check_fifo_access(std::uint32_t o, unsigned bytes) const {
  const unsigned want = shape_.width == 8 && shape_.bus32 ? 4 : shape_.width;
  if (bytes != want) throw std::runtime_error("FIFO access of the wrong width");
  if (o != fifo_offset_ && !(shape_.bus32 && o == fifo_offset_ + 4)) throw std::runtime_error("FIFO address");
}

std::uint64_t DwMmc::read(std::uint32_t o, unsigned bytes) {
  if (o >= fifo_offset_) {
    check_fifo_access(o, bytes);
    if (writing_ || fifo_at_ >= moved_) throw std::runtime_error("FIFO read while empty");
    std::uint64_t word = 0;
    std::memcpy(&word, bytes_.data() + fifo_at_,
                std::min<std::size_t>(shape_.width, bytes_.size() - fifo_at_));
    if (shape_.width == 8 && shape_.bus32 && o == fifo_offset_)
      return word & 0xFFFF'FFFF;  // the high half pops
    fifo_at_ = std::min(fifo_at_ + shape_.width, bytes_.size());
    fill();
    return shape_.width == 8 && shape_.bus32 ? word >> 32 : word;
  }
  if (bytes != 4) throw std::runtime_error("register access of the wrong width");
  std::uint32_t v = reg(o);
  if (o == dw::kMintsts) v = reg(dw::kRintsts) & reg(dw::kIntmask);
  if (o == dw::kStatus) v = status();
  log.push_back({false, o, v});
  return v;
}

void DwMmc::write(std::uint32_t o, unsigned bytes, std::uint64_t value) {
  const auto v = static_cast<std::uint32_t>(value);
  if (o >= fifo_offset_) {
    check_fifo_access(o, bytes);
    if (!writing_) throw std::runtime_error("FIFO written without a write");
    if (shape_.width == 8 && shape_.bus32 && o == fifo_offset_) {
      half_ = v;
      return;
    }
    const std::uint64_t word = shape_.width == 8 && shape_.bus32 ? value << 32 | half_ : value;
    const std::size_t n = std::min<std::size_t>(shape_.width, bytes_.size() - fifo_at_);
    if (fifo_at_ + n - moved_ > std::size_t{shape_.depth} * shape_.width)
      throw std::runtime_error("FIFO overrun");
    std::memcpy(bytes_.data() + fifo_at_, &word, n);
    fifo_at_ += n;
    return;
  }
  if (bytes != 4) throw std::runtime_error("register access of the wrong width");
  log.push_back({true, o, v});
  const bool locked = o == dw::kCmd || o == dw::kCmdarg || o == dw::kBlksiz || o == dw::kBytcnt ||
                      o == dw::kTmout || o == dw::kCtype;
  if (locked && start_) return raise(kIntHardwareLocked);
  if (o == dw::kRintsts) return put(o, reg(o) & ~v);
  if (o == idmac_.status) return put(o, reg(o) & ~v);
  if (o == dw::kCtrl) return control(v);
  if (o == dw::kCmd) return command_write(v);
  if (o == dw::kBmod && (v & dw::kBmodReset)) {
    pointer_ = reg(idmac_.base_low) | (idmac_.wide ? std::uint64_t{reg(idmac_.base_high)} << 32 : 0);
    return put(o, v & ~dw::kBmodReset & ~dw::kBmodEnable);
  }
  put(o, v);
  // A FIFO at or below its watermark asks for data as soon as a write is prepared, before any command.
  if (o == dw::kIntmask && (v & kIntTxdr)) {
    writing_ = true;
    pio_started_ = false;
    moved_ = fifo_at_ = 0;
    bytes_.assign(reg(dw::kBytcnt), 0);
    raise(kIntTxdr);
  }
}

void DwMmc::control(std::uint32_t v) {
  const std::uint32_t resets = dw::kCtrlReset | dw::kCtrlFifoReset | dw::kCtrlDmaReset;
  if (v & dw::kCtrlReset) {
    events_.clear();
    data_active_ = start_ = false;
    put(dw::kCmd, reg(dw::kCmd) & ~dw::kCmdStart);
    clock_enable = 0;  // the clock setting must be loaded anew
  }
  if (v & dw::kCtrlFifoReset) moved_ = fifo_at_ = 0, bytes_.clear(), writing_ = false;
  put(dw::kCtrl, stuck_reset ? v : v & ~resets);
}

void DwMmc::command_write(std::uint32_t v) {
  put(dw::kCmd, v);
  if (!(v & dw::kCmdStart)) return;
  start_ = true;
  if (v & dw::kCmdUpdateClock) {
    ++updates;
    if (stuck_start) return;
    return at(kTakeNs, [this] {
      start_ = false;
      put(dw::kCmd, reg(dw::kCmd) & ~dw::kCmdStart);
      divider = reg(dw::kClkdiv) & 0xFF;
      clock_enable = reg(dw::kClkena);
    });
  }
  if (v & dw::kCmdStopAbort)
    data_until_ = 0;
  else if (board_.now < data_until_)
    ++early_commands;
  arg_ = reg(dw::kCmdarg);
  bytcnt_ = reg(dw::kBytcnt);
  blksiz_ = reg(dw::kBlksiz);
  at(kTakeNs, [this, v] { begin(v); });
}

void DwMmc::begin(std::uint32_t v) {
  start_ = false;
  put(dw::kCmd, reg(dw::kCmd) & ~dw::kCmdStart);
  if (!clock_enable) return;  // no clock: the command goes nowhere
  last_index_ = index_;
  index_ = v & 63;
  commands.push_back({index_, arg_, divider, reg(dw::kCtype), reg(dw::kUhsReg)});
  command_words.push_back(v);
  const DwFault f = fault ? fault(index_, seen_[index_]++) : DwFault::none;
  if (f == DwFault::lose_all) return;
  if (f == DwFault::locked) return raise(kIntHardwareLocked);
  at(response_ns, [this, v, f] { respond(v, f); });
  const bool moves = (v & dw::kCmdData) && f != DwFault::no_response;
  if (moves) data(v, f);
}

void DwMmc::long_response() {
  std::uint32_t raw[4];
  for (unsigned i = 0; i < 4; ++i) raw[i] = board_.get(sdhci("RESPONSE0") + 4 * i, 4);
  for (unsigned i = 0; i < 4; ++i) put(dw::kResp0 + 4 * i, raw[i] << 8 | (i ? raw[i - 1] >> 24 : 0));
}

void DwMmc::respond(std::uint32_t v, DwFault f) {
  std::uint32_t r = 0;
  const unsigned index = v & 63;
  const bool silent = f == DwFault::no_response || (board_.no_answer && board_.no_answer(index, arg_)) ||
                      (!board_.answer(index, arg_, r) && !(index == 12 && open_ended_));
  if (index == 2 || index == 9)
    long_response();
  else
    put(dw::kResp0, r);
  std::uint32_t bits = f == DwFault::lose_done ? 0 : std::uint32_t{kIntCommandDone};
  if (silent && (v & dw::kCmdResponse)) bits |= kIntResponseTimeout;
  if (f == DwFault::response_crc) bits |= kIntResponseCrc;
  raise(bits);
  if (index == 6) begin_busy(switch_busy_ns, true);
  if (index == 12) begin_busy(write_busy_ns, true);
  if (!silent && index == 12) open_ended_ = false;
}

void DwMmc::begin_busy(std::uint64_t ns, bool clear_interrupt) {
  busy_from_ = board_.now + busy_start_ns;
  busy_until_ = busy_from_ + ns;
  if (ns == 0) busy_until_ = 0;
  if (!clear_interrupt || ns == 0 || lose_busy_clear || shape_.version < kVersion240) return;
  if (!(reg(dw::kCardthrctl) & dw::kThrBusyClear)) return;
  at(busy_start_ns + ns, [this] { raise(kIntBusyClear); });
}

std::vector<std::uint8_t> DwMmc::source(unsigned index, std::uint32_t arg, std::size_t bytes) {
  if (index != 21) return board_.payload(index, arg, bytes);
  std::vector<std::uint8_t> v(bytes);
  if (bytes == 128) std::copy(vp::kTuningBlock8.begin(), vp::kTuningBlock8.end(), v.begin());
  if (bytes == 64) std::copy(vp::kTuningBlock4.begin(), vp::kTuningBlock4.end(), v.begin());
  const unsigned phase = shape_.version < kVersion240 ? 0 : reg(0x108) >> 16 & 0x7F;
  if (!board_.tuning_works || (phase_reads && !phase_reads(phase))) v[5] ^= 0x10;
  return v;
}

void DwMmc::data(std::uint32_t v, DwFault f) {
  const bool in = !(v & dw::kCmdWrite);
  const std::uint32_t both = dw::kCtrlUseIdmac | dw::kCtrlDmaEnable;
  const bool dma = (reg(dw::kCtrl) & both) == both;
  if (!(v & dw::kCmdWaitData))
    throw std::runtime_error("data command that does not wait for the data before");
  open_ended_ = (index_ == 18 || index_ == 25) && !(v & dw::kCmdAutoStop) && last_index_ != 23;
  const std::uint32_t threshold = shape_.version >= kVersion240 ? reg(dw::kCardthrctl) : 0;
  transfers.push_back({bytcnt_, reg(dw::kFifoth), threshold, reg(dw::kTmout), dma, 0});
  data_active_ = true;
  data_until_ = board_.now + over_ns * std::max<std::uint64_t>(1, bytcnt_ / 4096);
  data_arg_ = arg_;
  fault_ = f;
  if (in) {
    board_.put(sdhci("HOST_CONTROL1"), 1,
               reg(dw::kCtype) & dw::kCtypeWidth8   ? 0x20
               : reg(dw::kCtype) & dw::kCtypeWidth4 ? 2
                                                    : 0);
    bytes_ = source(index_, arg_, bytcnt_);
    moved_ = fifo_at_ = 0;
  }
  writing_ = !in;
  if (f == DwFault::host_reset)
    return at(over_ns / 2, [this] {
      reset_registers();
      events_.clear();
      data_active_ = false;
      clock_enable = 0;
    });
  const std::uint64_t scale = std::max<std::uint64_t>(1, bytcnt_ / 4096);
  const std::uint32_t bad = error_bits(f);
  if (bad)
    return at(over_ns, [this, bad] {
      data_active_ = false;
      raise(bad | kIntDataOver);
    });
  if (dma) {
    if (!(reg(dw::kBmod) & dw::kBmodEnable)) throw std::runtime_error("IDMAC selected but not enabled");
    if (((reg(dw::kFifoth) & dw::kFifothRxMask) == 0)) return;  // no request is ever made
    if (!in) bytes_.assign(bytcnt_, 0);
    at(move_ns * scale, [this, in, f] { dma_run(in, f); });
    at(over_ns * scale, [this, in, f] { over(in, f); });
  } else if (in) {
    at(response_ns, [this] { fill(); });
  } else {
    pio_started_ = true;
    at(response_ns, [this] { drain(); });
  }
}

void DwMmc::over(bool in, DwFault f) {
  data_active_ = false;
  data_until_ = board_.now;
  if (!in) {
    if (bytes_.size() == bytcnt_)
      std::memcpy(board_.medium.data() + std::size_t{data_arg_} * 512, bytes_.data(), bytcnt_);
    board_.polls_left_ = board_.busy_polls;
    if (write_busy_ns) begin_busy(write_busy_ns, false);
  }
  if (f != DwFault::lose_over) raise(kIntDataOver);
  if (reg(dw::kCmd) & dw::kCmdAutoStop)
    at(response_ns, [this] {
      commands.push_back({12, 0, divider, reg(dw::kCtype), reg(dw::kUhsReg)});
      raise(kIntAutoCommandDone);
    });
}

void DwMmc::dma_run(bool in, DwFault f) {
  if (f == DwFault::bus_error) return idmac_raise(kIdFatalBusError);
  const DesLayout& layout = shape_.wide ? kDes64 : kDes32;
  std::size_t done = 0;
  for (unsigned n = 1;; ++n) {
    auto* d = static_cast<unsigned char*>(board_.ram(pointer_, layout.words * 4));
    const auto word = [&](unsigned i) {
      std::uint32_t w = 0;
      std::memcpy(&w, d + 4 * i, 4);
      return w;
    };
    const auto address = [&](unsigned i) {
      return word(i) | (shape_.wide ? std::uint64_t{word(i + 1)} << 32 : std::uint64_t{0});
    };
    const std::uint32_t des0 = word(0), size = word(layout.sizes);
    if (!(des0 & kDesOwn)) return idmac_raise(kIdUnavailable);
    if ((n == 1) != ((des0 & kDesFirst) != 0))
      throw std::runtime_error("FD not on the first descriptor alone");
    if (size == 0 || size > 4096 || (address(layout.buffer1) & 3))
      throw std::runtime_error("descriptor size or address");
    if (done + size > bytcnt_) throw std::runtime_error("descriptors longer than BYTCNT");
    void* memory = board_.ram(address(layout.buffer1), size);
    in ? std::memcpy(memory, bytes_.data() + done, size) : std::memcpy(bytes_.data() + done, memory, size);
    done += size;
    if (!keep_own) {
      const std::uint32_t closed = des0 & ~kDesOwn;
      std::memcpy(d, &closed, 4);
    }
    const bool last = des0 & kDesLast;
    if (!last && !(des0 & kDesChained)) throw std::runtime_error("neither CH nor LD");
    if (!(des0 & kDesNoInterrupt) && f != DwFault::lose_move) idmac_raise(in ? kIdReceive : kIdTransmit);
    pointer_ = address(layout.buffer2);
    if (last) {
      transfers.back().descriptors = n;
      break;
    }
  }
  if (done != bytcnt_) throw std::runtime_error("descriptors shorter than BYTCNT");
}

// The card fills the FIFO as far as there is room; the last byte in it is the end of the transfer.
void DwMmc::fill() {
  if (!data_active_ || writing_) return;
  const std::size_t room = std::size_t{shape_.depth} * shape_.width;
  moved_ = std::min(bytes_.size(), fifo_at_ / shape_.width * shape_.width + room);
  if ((status() & dw::kStatusCountMask) >> dw::kStatusCountLsb > (reg(dw::kFifoth) & dw::kFifothRxMask) >> 16)
    raise(kIntRxdr);
  if (moved_ == bytes_.size()) over(true, fault_);
}

void DwMmc::drain() {
  if (!data_active_ || !writing_ || !pio_started_) return;
  moved_ = fifo_at_;
  if (moved_ == bytes_.size()) return over(false, fault_);
  raise(kIntTxdr);
  at(kDrainNs, [this] { drain(); });
}

}  // namespace fake
