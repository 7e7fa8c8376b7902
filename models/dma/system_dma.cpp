#include "models/dma/system_dma.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace vp {

using namespace edma;
using sc_core::sc_time_stamp;

namespace {

constexpr auto kEr = reg_offset(kRegs, "ER"), kEsr = reg_offset(kRegs, "ESR"),
               kCer = reg_offset(kRegs, "CER"), kEer = reg_offset(kRegs, "EER"),
               kSer = reg_offset(kRegs, "SER"), kEmr = reg_offset(kRegs, "EMR"),
               kIpr = reg_offset(kRegs, "IPR"), kIer = reg_offset(kRegs, "IER"),
               kCcerr = reg_offset(kRegs, "CCERR"), kTcError = reg_offset(kRegs, "TC_ERROR"),
               kList0 = reg_offset(kRegs, "LL_CONTROL0"), kNext0 = reg_offset(kRegs, "LL_NEXT0");
constexpr std::uint32_t kListEnable = field_mask(kRegs, "LL_CONTROL0", "ENABLE"),
                        kListBusy = field_mask(kRegs, "LL_CONTROL0", "BUSY");

constexpr std::uint16_t list_control(unsigned channel) {
  return static_cast<std::uint16_t>(kList0 + 16 * channel);
}
constexpr std::uint16_t list_next(unsigned channel) {
  return static_cast<std::uint16_t>(kNext0 + 16 * channel);
}
constexpr std::uint32_t low(std::uint32_t w) { return w & 0xFFFF; }
constexpr std::uint32_t high(std::uint32_t w) { return w >> 16; }
constexpr std::int32_t signed_low(std::uint32_t w) { return static_cast<std::int16_t>(w & 0xFFFF); }
constexpr std::int32_t signed_high(std::uint32_t w) { return static_cast<std::int16_t>(w >> 16); }

}  // namespace

void SystemDmaParams::declare(ParamRegistry& r, const std::string& at) {
  r.add(at + ".param_sets", param_sets, "sets", 32, 512, "parameter RAM, a power of two");
  r.add(at + ".event_cycles", event_cycles, "axi cycles", 1, 1000, "event to first address");
  r.add(at + ".link_cycles", link_cycles, "axi cycles", 0, 1000, "copying a linked set");
  r.add(at + ".chunk_bytes", chunk_bytes, "B", 64, 4096, "read and written as a unit, multiple of 8");
  r.add(at + ".fifo_bytes", fifo_bytes, "B", 64, 65536, "between read and write, whole chunks");
  r.add(at + ".register_cycles", register_cycles, "axi cycles", 0, 1000, "register access");
  axi.declare(r, at + ".axi");
}

SystemDma::SystemDma(sc_core::sc_module_name module, Context& ctx, ClockDomain& axi_clock,
                     const SystemDmaParams& params)
    : sc_module(module),
      socket("socket"),
      ctx_(ctx),
      axi_(axi_clock),
      params_(params),
      bank_(ctx, name(), kRegs, kRegisterBytes),
      controller_("tc", ctx, axi_clock, params_, *this),
      sets_(params.param_sets, ParamSet{}) {
  if (!std::has_single_bit(params_.param_sets) || params_.param_sets < kChannels ||
      params_.chunk_bytes % 8 != 0)
    throw InputError("dma.param_sets must be a power of two from 32 on, dma.chunk_bytes a multiple of 8");
  socket.register_b_transport(this, &SystemDma::b_transport);
  SC_METHOD(on_start);
  sensitive << start_event_;
  dont_initialize();
  hook_registers();
  t_irq_ = ctx_.trace.add_vector("dma.irq", 1);
  t_error_ = ctx_.trace.add_vector("dma.error_irq", 1);
  t_pending_ = ctx_.trace.add_vector("dma.pending", kChannels);
  t_state_ = ctx_.trace.add_state("dma.state", "idle");
}

void SystemDma::update_irq() {
  const bool done = (get(kIpr) & get(kIer)) != 0;
  const bool error = get(kEmr) != 0 || get(kCcerr) != 0 || get(kTcError) != 0;
  const sc_time now = sc_time_stamp();
  if (done && !irq.level()) ++counters_.interrupts;
  if (error && !error_irq.level()) ++counters_.error_interrupts;
  if (done != irq.level()) ctx_.trace.change(t_irq_, now, done);
  if (error != error_irq.level()) ctx_.trace.change(t_error_, now, error);
  irq.set(done);
  error_irq.set(error);
}

// --- events ---

void SystemDma::miss(std::uint32_t lines) {
  bank_.set_bits(kEmr, lines);
  ++counters_.missed;
  update_irq();
}

void SystemDma::dma_request(unsigned line) {
  const std::uint32_t bit = 1u << line;
  ++counters_.requests;
  if (get(kEr) & bit) return miss(bit);
  bank_.set_bits(kEr, bit);
  channels_[line].waiting_since = sc_time_stamp();
  schedule(sc_time_stamp());
}

/// Channels with an event that may be taken now.
std::uint32_t SystemDma::pending() const {
  return ((get(kEr) & get(kEer)) | get(kEsr) | get(kCer)) & ~get(kSer) & ~fetching_;
}

void SystemDma::schedule(sc_time from) {
  const std::uint32_t waiting = pending();
  ctx_.trace.change(t_pending_, sc_time_stamp(), waiting);
  if (controller_.busy() || waiting == 0) return;
  const unsigned channel = static_cast<unsigned>(std::countr_zero(waiting));
  const sc_time at =
      axi_.align(std::max(from, channels_[channel].ready_from)) + axi_.cycles(params_.event_cycles);
  if (start_scheduled_ && start_at_ <= at) return;
  start_event_.cancel();
  start_scheduled_ = true;
  start_at_ = at;
  start_event_.notify(at > sc_time_stamp() ? at - sc_time_stamp() : sc_core::SC_ZERO_TIME);
}

void SystemDma::on_start() {
  start_scheduled_ = false;
  // An event that meets an empty set ends at once: the next channel has its turn.
  for (std::uint32_t waiting = pending(); waiting != 0 && !controller_.busy(); waiting = pending())
    take_event(static_cast<unsigned>(std::countr_zero(waiting)));
}

/// Takes the channel's event; false when nothing is moved for it.
bool SystemDma::take_event(unsigned channel) {
  const std::uint32_t bit = 1u << channel;
  const bool by_line = get(kEr) & get(kEer) & bit;
  if (by_line)
    bank_.clear_bits(kEr, bit);
  else
    bank_.clear_bits(get(kEsr) & bit ? kEsr : kCer, bit);
  ParamSet& set = set_of(channel);
  const std::uint32_t a = low(set[kABCnt]), b = high(set[kABCnt]), c = low(set[kCCnt]);
  if (a == 0 && b == 0 && c == 0) {  // a null set: an error (TRM 11.3.3.3)
    bank_.set_bits(kSer, bit);
    miss(bit);
    return false;
  }
  DmaTransfer t = describe(channel, set);
  if (a == 0 || b == 0 || c == 0) {  // a dummy set: the event is absorbed, its completion code is given
    complete(t);
    return false;
  }
  const std::uint32_t opt = set[kOpt];
  const bool last = !(opt & kOptStatic) && advance(set);
  t.interrupt = opt & (last ? kOptTcInt : kOptIntermediateInt);
  t.chain = opt & (last ? kOptTcChain : kOptIntermediateChain);
  if (last) exhausted(channel);
  if (opt & kOptEarly) {
    complete(t);
    t.interrupt = t.chain = false;
  }
  if (by_line && last_busy_from_ > channels_[channel].waiting_since)
    counters_.wait_controller += last_busy_from_ - channels_[channel].waiting_since;
  ctx_.trace.change_state(t_state_, sc_time_stamp(), "transfer");
  controller_.start(t);
  return true;
}

DmaTransfer SystemDma::describe(unsigned channel, const ParamSet& set) const {
  const std::uint32_t opt = set[kOpt];
  DmaTransfer t;
  t.channel = channel;
  t.array_bytes = low(set[kABCnt]);
  t.arrays = opt & kOptAbSync ? high(set[kABCnt]) : 1;
  t.source = {set[kSrc], signed_low(set[kBIdx]), 0};
  t.destination = {set[kDst], signed_high(set[kBIdx]), 0};
  const std::uint32_t width = static_cast<std::uint32_t>(params_.axi.data_width_bits / 8);
  const auto fifo = [&](DmaTransfer::Side& side, bool constant) {
    if (constant)
      side.fifo_beat = std::min(1u << ((opt & kOptFwidMask) >> kOptFwidLsb), width);
    else if (side.step == 0 && t.arrays > 1 && std::has_single_bit(t.array_bytes) && t.array_bytes <= width)
      side.fifo_beat = t.array_bytes;
  };
  fifo(t.source, opt & kOptSam);
  fifo(t.destination, opt & kOptDam);
  t.code = (opt & kOptTccMask) >> kOptTccLsb;
  t.interrupt = opt & kOptTcInt;
  t.chain = opt & kOptTcChain;
  return t;
}

/// EDMA3 parameter update (TRM 11.3.3.6).
bool SystemDma::advance(ParamSet& set) {
  const auto move = [&](unsigned word, std::int32_t by) { set[word] += static_cast<std::uint32_t>(by); };
  const bool frame = set[kOpt] & kOptAbSync;
  if (!frame && high(set[kABCnt]) > 1) {
    set[kABCnt] -= 1u << 16;
    move(kSrc, signed_low(set[kBIdx]));
    move(kDst, signed_high(set[kBIdx]));
    return false;
  }
  if (low(set[kCCnt]) == 1) return true;
  set[kCCnt] -= 1;
  if (!frame) set[kABCnt] = low(set[kABCnt]) | (set[kLink] & 0xFFFF'0000);  // BCNTRLD
  move(kSrc, signed_low(set[kCIdx]));
  move(kDst, signed_high(set[kCIdx]));
  return false;
}

/// The next set: from memory, by link, or a null set.
void SystemDma::exhausted(unsigned channel) {
  ParamSet& set = set_of(channel);
  const bool list = bank_.get(list_control(channel)) & kListEnable;
  const std::uint32_t link = low(set[kLink]);
  set = ParamSet{};
  set[kLink] = kNoLink;
  if (list) {
    if (bank_.get(list_next(channel)) == 0) return;
    fetching_ |= 1u << channel;
    fetch_next();
  } else if (link != kNoLink) {
    // LINK counts bytes from the parameter RAM's own base in the window (TRM 11.3.3.4).
    const std::uint32_t index = (link - kParamBase) / kSetBytes;
    if (link < kParamBase || index >= sets_.size()) {
      ctx_.finding("dma.bad_link", name(), {link},
                   fmt::format("channel {} links to 0x{:04x}, where no set is", channel, link));
      return;
    }
    set = sets_[index];
    channels_[channel].ready_from = sc_time_stamp() + axi_.cycles(params_.link_cycles);
    ++counters_.links;
  }
}

unsigned SystemDma::set_index(unsigned channel) const {
  const std::uint64_t map = bank_.get(static_cast<std::uint16_t>(reg_offset(kRegs, "DCHMAP0") + 4 * channel));
  return static_cast<unsigned>(map >> field_lsb(kRegs, "DCHMAP0", "PAENTRY") & (sets_.size() - 1));
}

// --- ends ---

void SystemDma::complete(const DmaTransfer& t) {
  if (t.code >= kChannels) return;  // codes 32 to 63 belong to the half this part does not have
  const std::uint32_t bit = 1u << t.code;
  if (t.interrupt) bank_.set_bits(kIpr, bit);
  if (t.chain) {
    if (get(kCer) & bit) return miss(bit);
    bank_.set_bits(kCer, bit);
    channels_[t.code].waiting_since = sc_time_stamp();
  }
  update_irq();
}

void SystemDma::transfer_done(const DmaTransfer& t, bool error, std::uint64_t error_address) {
  last_busy_from_ = sc_time_stamp();
  ctx_.trace.change_state(t_state_, sc_time_stamp(), "idle");
  if (error) {
    bank_.set_bits(kTcError, 1u << t.channel);
    bank_.set(reg_offset(kRegs, "TC_ERROR_ADDRESS"), error_address);
    update_irq();
  } else {
    complete(t);
    if (peripherals_[t.channel]) peripherals_[t.channel]->dma_acknowledged();
  }
  schedule(sc_time_stamp());
}

// --- linked lists ---

void SystemDma::fetch_next() {
  if (fetching_ == 0 || fetch_channel_ != kChannels) return;
  fetch_channel_ = static_cast<unsigned>(std::countr_zero(fetching_));
  bank_.set_bits(list_control(fetch_channel_), kListBusy);
  controller_.fetch(bank_.get(list_next(fetch_channel_)), descriptor_.data(), kDescriptorBytes);
}

void SystemDma::descriptor_here(bool error) {
  const unsigned channel = fetch_channel_;
  const std::uint32_t bit = 1u << channel;
  fetch_channel_ = kChannels;
  bank_.clear_bits(list_control(channel), kListBusy);
  if (fetching_ & bit) {  // else switched off meanwhile
    fetching_ &= ~bit;
    if (error) {
      bank_.set_bits(kTcError, bit);
      bank_.set(reg_offset(kRegs, "TC_ERROR_ADDRESS"), bank_.get(list_next(channel)));
      bank_.set(list_next(channel), 0);
    } else {
      ++counters_.descriptors_fetched;
      std::uint64_t next = 0;
      std::memcpy(set_of(channel).data(), descriptor_.data(), kSetBytes);
      std::memcpy(&next, descriptor_.data() + kSetBytes, sizeof next);
      bank_.set(list_next(channel), next);
      const bool waits = ((get(kEr) & get(kEer)) | get(kEsr) | get(kCer)) & bit;
      if (waits && sc_time_stamp() > channels_[channel].waiting_since)
        counters_.wait_descriptor += sc_time_stamp() - channels_[channel].waiting_since;
    }
    update_irq();
  }
  fetch_next();
  schedule(sc_time_stamp());
}

}  // namespace vp
