// Register behaviour of the DW-MMC model: what a bus access does.
#include <fmt/format.h>

#include "models/core/register_access.hpp"
#include "models/dwmmc/dwmmc.hpp"

namespace vp {

using namespace dwmmc;
using sc_core::sc_time_stamp;

namespace {

constexpr std::uint32_t kResetController = mask("CTRL", "CONTROLLER_RESET");
constexpr std::uint32_t kResetFifo = mask("CTRL", "FIFO_RESET");
constexpr std::uint32_t kResetDma = mask("CTRL", "DMA_RESET");

/// Registers that may not be written while CMD.START stands.
bool locked_by_start(const RegDef& r) {
  for (const char* n : {"CMD", "CMDARG", "BLKSIZ", "BYTCNT", "TMOUT", "CTYPE", "CLKDIV", "CLKSRC", "CLKENA"})
    if (r.name == n) return true;
  return false;
}

}  // namespace

void Dwmmc::b_transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
  data_.settle();
  delay += axi_.cycles(params_.register_cycles);
  access_time_ = sc_time_stamp() + delay;
  const auto offset = static_cast<std::uint32_t>(payload.get_address());
  const unsigned bytes = payload.get_data_length();
  serve_register_access(
      payload, [&] { return read(offset, bytes); },
      [&](std::uint64_t value) { write(offset, bytes, value); });
}

/// Reads registers without time and without effect: a data port reads 0. Writes are refused.
unsigned Dwmmc::transport_dbg(tlm::tlm_generic_payload& payload) {
  if (!payload.is_read()) return 0;
  data_.settle();
  const sc_time kept = access_time_;
  access_time_ = sc_time_stamp();
  const auto offset = static_cast<std::uint32_t>(payload.get_address());
  const unsigned bytes = payload.get_data_length();
  const bool port = offset >= data_offset(static_cast<std::uint32_t>(params_.verid));
  serve_register_access(
      payload, [&] { return port ? 0 : read(offset, bytes); }, [](std::uint64_t) {});
  access_time_ = kept;
  return payload.is_response_ok() ? bytes : 0;
}

std::uint64_t Dwmmc::read(std::uint32_t offset, unsigned bytes) {
  if (offset < data_offset(static_cast<std::uint32_t>(params_.verid))) return bank_.read(offset, bytes);
  return fifo_read(offset, bytes);
}

void Dwmmc::write(std::uint32_t offset, unsigned bytes, std::uint64_t value) {
  if (offset < data_offset(static_cast<std::uint32_t>(params_.verid)))
    return bank_.write(offset, bytes, value);
  fifo_write(offset, bytes, value);
}

// --- the FIFO window: any address in it is the FIFO, one access one word of HCON's width ---

bool Dwmmc::fifo_access_fits(unsigned bytes, bool is_write) {
  const unsigned word = data_.word_bytes();
  if (bytes == word || (word == 8 && bytes == 4 && params_.fifo64_32)) return true;
  ctx_.finding("dwmmc.fifo_access_width", name(), {},
               fmt::format("a {}-bit {} of the FIFO of {} bits moves one word: {}", 8 * bytes,
                           is_write ? "write" : "read", 8 * word,
                           bytes > word ? "the upper part is not data" : "the upper part is lost"),
               access_time_);
  return false;
}

std::uint64_t Dwmmc::fifo_read(std::uint32_t offset, unsigned bytes) {
  fifo_access_fits(bytes, false);
  const bool halves = data_.word_bytes() == 8 && bytes == 4 && params_.fifo64_32;
  if (halves && (offset & 4)) return fifo_high_;
  std::uint64_t word = 0;
  if (!data_.pio_read(word)) raise(kIntFifoRun);  // underrun
  fifo_high_ = static_cast<std::uint32_t>(word >> 32);
  return halves ? word & 0xFFFFFFFF : word;
}

void Dwmmc::fifo_write(std::uint32_t offset, unsigned bytes, std::uint64_t value) {
  fifo_access_fits(bytes, true);
  if (data_.word_bytes() == 8 && bytes == 4 && params_.fifo64_32) {
    if (!(offset & 4)) {
      fifo_low_ = static_cast<std::uint32_t>(value);
      return;
    }
    value = value << 32 | fifo_low_;
  }
  if (!data_.pio_write(value)) raise(kIntFifoRun);  // overrun
}

// --- hooks ---

void Dwmmc::hook_identity() {
  const auto hcon = static_cast<std::uint32_t>(params_.hcon);
  bank_.set_reset(reg("HCON"), hcon);
  bank_.set_reset(reg("VERID"), params_.verid);
  bank_.set_reset(reg("USRID"), params_.usrid);
  bank_.set_reset(reg("CMD"), params_.cmd_reset & ~std::uint64_t{mask("CMD", "START")});
  bank_.set_reset(reg("FIFOTH"), ((params_.fifo_depth - 1) & 0xFFF) << lsb("FIFOTH", "RX_WMARK"));
}

void Dwmmc::hook_registers() {
  bank_.guard_writes([this](const RegDef& r) {
    if (!start_ || !locked_by_start(r)) return true;
    ++counters_.locked_writes;
    ctx_.log(fmt::format("{}: {} written while CMD.START is set: dropped (HLE)", name(), r.name));
    raise(kIntHardwareLocked);
    return false;
  });
  bank_.on_write(reg("CTRL"), [this](const RegisterBank::WriteEvent& e) {
    control_written(static_cast<std::uint32_t>(e.written));
  });
  bank_.on_read(reg("CTRL"), [this]() -> std::uint64_t {
    return bank_.get(reg("CTRL")) | (access_time_ >= reset_done_at_ ? 0u : reset_pending_);
  });
  bank_.on_write(reg("CMD"), [this](const RegisterBank::WriteEvent& e) {
    if (e.written & mask("CMD", "START")) start_written();
  });
  const auto update = [this](const RegisterBank::WriteEvent&) { update_irq(); };
  bank_.on_write(reg("INTMASK"), update);
  bank_.on_write(reg("RINTSTS"), [this](const RegisterBank::WriteEvent&) {
    bank_.set_bits(reg("RINTSTS"), data_.requests());  // a watermark that still holds comes back
    update_irq();
  });
  bank_.on_read(reg("MINTSTS"), [this] { return bank_.get(reg("RINTSTS")) & bank_.get(reg("INTMASK")); });
  bank_.on_read(reg("STATUS"), [this] { return status(); });
  bank_.on_read(reg("TCBCNT"), [this] { return data_.card_bytes() & 0xFFFFFFFF; });
  bank_.on_read(reg("TBBCNT"), [this] { return data_.host_bytes() & 0xFFFFFFFF; });
  bank_.on_write(reg("RST_N"), [this](const RegisterBank::WriteEvent& e) {
    if ((e.old_value & 1) && !(e.value & 1)) bus_.card().hardware_reset();
  });
}

void Dwmmc::hook_idmac() {
  bank_.on_write(reg("BMOD"), [this](const RegisterBank::WriteEvent& e) { bus_mode_written(e.value); });
  bank_.on_read(reg("BMOD"), [this]() -> std::uint64_t {
    const std::uint64_t msize = bank_.get(reg("FIFOTH")) >> lsb("FIFOTH", "MSIZE") & 7;
    const std::uint64_t swr = access_time_ >= bmod_reset_done_at_ ? 0 : mask("BMOD", "SWR");
    return bank_.get(reg("BMOD")) | msize << lsb("BMOD", "PBL") | swr;
  });
  bank_.on_write(reg("PLDMND"), [this](const RegisterBank::WriteEvent&) {
    if (bank_.get(reg("BMOD")) & mask("BMOD", "DE")) data_.poll_demand();
  });
  const auto update = [this](const RegisterBank::WriteEvent&) {
    update_summary();
    update_irq();
  };
  bank_.on_write(idmac_.enable, update);
  bank_.on_write(idmac_.status, [this](const RegisterBank::WriteEvent&) { update_irq(); });
  bank_.on_read(idmac_.status, [this] { return std::uint64_t{idsts()}; });
  bank_.on_read(idmac_.descriptor_low, [this] { return data_.descriptor_address() & 0xFFFFFFFF; });
  bank_.on_read(idmac_.buffer_low, [this] { return data_.buffer_address() & 0xFFFFFFFF; });
  if (!idmac_.wide) return;
  bank_.on_read(idmac_.descriptor_high, [this] { return data_.descriptor_address() >> 32; });
  bank_.on_read(idmac_.buffer_high, [this] { return data_.buffer_address() >> 32; });
}

// --- resets ---

/// Resets take effect at once and read as set for their time. Register contents and interrupt status stay (choice).
void Dwmmc::control_written(std::uint32_t bits) {
  const std::uint32_t resets = bits & (kResetController | kResetFifo | kResetDma);
  if (resets & kResetController) {
    if (stage_ != Stage::idle) bus_.abandon_command();
    stage_ = Stage::idle;
    start_ = auto_stop_due_ = false;
    waits_ = 0;
    start_event_.cancel();
    response_event_.cancel();
    busy_event_.cancel();
    bank_.clear_bits(reg("CMD"), mask("CMD", "START"));
    data_.reset_wire();
  }
  if (resets & kResetDma) data_.reset_dma();
  if (resets & kResetFifo) data_.reset_fifo();
  if (resets != 0) begin_reset(resets);
  if ((bits & mask("CTRL", "ABORT_READ_DATA")) && data_.reading()) data_.reset_wire();
  constexpr std::uint32_t self_clearing = mask("CTRL", "SEND_IRQ_RESPONSE") |
                                          mask("CTRL", "ABORT_READ_DATA") | mask("CTRL", "SEND_CCSD") |
                                          mask("CTRL", "SEND_AUTO_STOP_CCSD");
  bank_.clear_bits(reg("CTRL"), self_clearing | resets);
  update_irq();
}

void Dwmmc::begin_reset(std::uint32_t bits) {
  reset_pending_ = bits;
  reset_done_at_ = core_.align(access_time_) + core_.cycles(params_.reset_cycles);
}

void Dwmmc::bus_mode_written(std::uint64_t value) {
  if (value & mask("BMOD", "SWR")) {  // the fetch pointer is DBADDR again; registers stay
    data_.reset_dma();
    eb_ = 0;
    bank_.clear_bits(reg("BMOD"), mask("BMOD", "SWR"));
    bmod_reset_done_at_ = core_.align(access_time_) + core_.cycles(params_.reset_cycles);
  }
  update_bursts();
}

void Dwmmc::update_bursts() {
  const bool fixed = bank_.get(reg("BMOD")) & mask("BMOD", "FB");
  data_.port().set_allowed_bursts({!fixed, fixed, fixed, fixed});
}

std::uint64_t Dwmmc::status() {
  const std::uint32_t words = data_.fifo_words();
  const std::uint32_t fifoth = get(reg("FIFOTH"));
  const std::uint32_t rx = (fifoth & mask("FIFOTH", "RX_WMARK")) >> lsb("FIFOTH", "RX_WMARK");
  std::uint32_t s = mask("STATUS", "DATA_3");
  if (words > rx) s |= mask("STATUS", "RX_WATERMARK");
  if (words <= (fifoth & mask("FIFOTH", "TX_WMARK"))) s |= mask("STATUS", "TX_WATERMARK");
  if (words == 0) s |= mask("STATUS", "FIFO_EMPTY");
  if (words >= params_.fifo_depth) s |= mask("STATUS", "FIFO_FULL");
  const bool sending = stage_ != Stage::idle && bus_.command_line_busy();
  if (sending) s |= 4u << lsb("STATUS", "COMMAND_FSM");
  if (bus_.busy(access_time_)) s |= mask("STATUS", "DATA_BUSY");
  if (data_.wire_active()) s |= mask("STATUS", "MC_BUSY");
  s |= std::uint32_t{outcome_.response.index & 0x3Fu} << lsb("STATUS", "RESPONSE_INDEX");
  s |= words << lsb("STATUS", "FIFO_COUNT") & mask("STATUS", "FIFO_COUNT");
  if (data_.dma_request()) s |= mask("STATUS", "DMA_REQ");
  return s;
}

}  // namespace vp
