#include "models/sd_card/sd_card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/emmc/emmc_params.hpp"
#include "models/mmc_bus/crc.hpp"

namespace vp {

using namespace sd_status;
using sc_core::sc_time_stamp;

namespace {

constexpr std::uint64_t kCapacityUnit = 512 * 1024;  // C_SIZE counts these (5.3.3)

sc_time us(double v) { return from_ps(static_cast<std::uint64_t>(std::llround(v * 1e6))); }
sc_time block_time(double mb_per_s) {
  return from_ps(static_cast<std::uint64_t>(std::llround(kBlockBytes / mb_per_s * 1e6)));
}

struct AccessMode {
  const char* name;
  double max_hz;
};
/// CMD6 group 1 (4.3.10): default or SDR12, High Speed or SDR25, SDR50, SDR104, DDR50.
constexpr AccessMode kModes[] = {
    {"SD default", 25e6}, {"SD high speed", 50e6}, {"SDR50", 100e6}, {"SDR104", 208e6}, {"DDR50", 50e6}};
constexpr unsigned kDdr50 = 4;

}  // namespace

void SdCardParams::declare(ParamRegistry& r, const std::string& at) {
  const std::string p = at + ".";
  r.add(p + "capacity_bytes", capacity_bytes, "B", kCapacityUnit, std::uint64_t{2} << 40,
        "user area, multiple of 512 KiB");
  r.add(p + "cid", cid, {}, "CID, 32 hex digits; the CRC byte is computed");
  r.add(p + "cmd23", cmd23, "SCR: the card knows CMD23");
  r.add(p + "high_speed", high_speed, "CMD6 offers High Speed");
  r.add(p + "uhs", uhs, "offers SDR50, SDR104 and DDR50 after the voltage switch");
  r.add(p + "speed_class", speed_class, "", 0, 10, "speed class in the SD Status: 0, 2, 4, 6, 10");
  r.add(p + "allocation_unit_bytes", allocation_unit_bytes, "B", 16384, 64 << 20,
        "allocation unit, 16 KiB << n");
  r.add(p + "power_up_us", power_up_us, "us", 0, 1e6, "ACMD41 busy after power-on");
  r.add(p + "register_read_us", register_read_us, "us", 0, 1e5, "command end to data of a register");
  r.add(p + "read_access_us", read_access_us, "us", 0, 1e5, "command end to first block of a read");
  r.add(p + "read_mb_per_s", read_mb_per_s, "MB/s", 0.1, 1000, "array rate of reads");
  r.add(p + "write_command_us", write_command_us, "us", 0, 1e6, "cost of each write command");
  r.add(p + "write_mb_per_s", write_mb_per_s, "MB/s", 0.1, 1000, "array rate of writes");
  r.add(p + "buffer_bytes", buffer_bytes, "B", 512, 64 << 20, "written data held in RAM");
  r.add(p + "erase_us_per_unit", erase_us_per_unit, "us", 0, 1e6, "erase, per allocation unit");
  r.add(p + "select_us", select_us, "us", 0, 1e6, "CMD7 busy");
  r.add(p + "gap_clocks", gap_clocks, "clocks", 2, 100000, "gap between blocks of a read");
  r.add(p + "n_cr", n_cr, "clocks", 2, 64, "N_CR");
  r.add(p + "ecc_errors", ecc_errors, {}, "unreadable blocks, as in 100,2048-2055");
}

const char* to_string(SdState s) {
  static constexpr const char* kNames[] = {"idle", "ready", "ident", "stby", "tran",
                                           "data", "rcv",   "prg",   "dis",  "ina"};
  return kNames[static_cast<unsigned>(s)];
}

SdCard::SdCard(sc_core::sc_module_name module, Context& context, const SdCardParams& params)
    : sc_module(module), context_(context), params_(params), cid_(parse_register(params.cid, "sd_card.cid")) {
  if (params_.capacity_bytes % kCapacityUnit != 0)
    throw InputError(fmt::format("sd_card.capacity_bytes = {}: must be a multiple of {}",
                                 params_.capacity_bytes, kCapacityUnit));
  const std::uint64_t units = params_.allocation_unit_bytes / 16384;
  if (params_.allocation_unit_bytes % 16384 != 0 || (units & (units - 1)) != 0)
    throw InputError("sd_card.allocation_unit_bytes must be 16 KiB times a power of two");
  medium_ = std::make_unique<SparseMedium>(params_.capacity_bytes / kBlockBytes, std::byte{0});
  ecc_errors_ = parse_block_list(params_.ecc_errors, "sd_card.ecc_errors");
  read_block_time_ = block_time(params_.read_mb_per_s);
  write_block_time_ = block_time(params_.write_mb_per_s);
  state_signal_ = context_.trace.add_state("sd_card.state", "idle");
  make_registers();
  ready_at_ = us(params_.power_up_us);
}

SdCard::~SdCard() = default;

/// CSD version 2 (5.3.3) and SCR (5.6).
void SdCard::make_registers() {
  const std::uint64_t size = params_.capacity_bytes / kCapacityUnit - 1;
  csd_ = {0x40,
          0x0E,
          0x00,
          0x32,
          0x5B,
          0x59,
          0x00,
          static_cast<std::uint8_t>(size >> 16 & 0x3F),
          static_cast<std::uint8_t>(size >> 8),
          static_cast<std::uint8_t>(size),
          0x7F,
          0x80,
          0x0A,
          0x40,
          0x40,
          0};
  csd_[15] = static_cast<std::uint8_t>(crc7(std::span(csd_).first<15>()) << 1 | 1);
  // SD_SPEC 2 with SD_SPEC3: 3.0x; 1 and 4 bit bus; SDHC security; CMD_SUPPORT.
  scr_ = {0x02, 0x35, 0x80, static_cast<std::uint8_t>(params_.cmd23 ? 0x02 : 0x00), 0, 0, 0, 0};
}

void SdCard::enter(SdState s, sc_time at) {
  if (s == state_) return;
  state_ = s;
  context_.trace.change_state(state_signal_, at, to_string(s));
}

/// Lets pass what has happened since the last look.
void SdCard::settle(sc_time now) {
  if (state_ == SdState::data && data_done_ && now >= data_end_) enter(SdState::tran, data_end_);
  if (now < busy_until_) return;
  if (state_ == SdState::prg) enter(SdState::tran, busy_until_);
  if (state_ == SdState::dis) enter(SdState::stby, busy_until_);
}

SdState SdCard::state() {
  settle(sc_time_stamp());
  return state_;
}

void SdCard::busy(Call& c, SdState then, sc_time until, NodeId why) {
  enter(then, c.now);
  busy_until_ = until;
  c.effect.busy_until = until;
  c.effect.busy_node = why;
}

void SdCard::corrupted_command() {
  status_ |= kComCrcError;
  app_ = false;
}

void SdCard::reject(const MmcCommand& cmd, bool app) {
  status_ |= kIllegalCommand;
  if (context_.log_sink)
    context_.log(fmt::format("{} {}: {}CMD{} (argument 0x{:08x}) is illegal in state {}",
                             sc_time_stamp().to_string(), name(), app ? "A" : "", unsigned{cmd.index},
                             cmd.argument, to_string(state_)));
}

CommandEffect SdCard::command(const MmcCommand& cmd, CauseGraph& graph, NodeId after) {
  const sc_time now = sc_time_stamp();
  settle(now);
  if (state_ == SdState::ina) return {};
  // An application command that does not exist is the standard one of that number (4.3.9).
  const bool app = std::exchange(app_, false) && spec(cmd.index, true) != nullptr;
  const Spec* s = spec(cmd.index, app);
  const SdState at_reception = state_;
  const bool addressed = s && s->rca && cmd.index != 7 && !(cmd.index == 55 && state_ == SdState::idle);
  if (addressed && !rca_matches(cmd.argument)) return {};
  if (!s || !legal_in(cmd.index, app, state_)) {
    reject(cmd, app);
    return {};
  }
  Call call{cmd, graph, after, now, {}, false, false};
  const std::uint32_t before = status_;
  const bool count_was_set = block_count_set_;
  // CMD32, CMD33, CMD38 follow each other; only CMD13 may come between (4.3.5).
  const bool erasing = cmd.index == 13 || (!app && (cmd.index == 32 || cmd.index == 33 || cmd.index == 38));
  if ((erase_.start_set || erase_.end_set) && !erasing) {
    erase_ = {};
    status_ |= kEraseReset;
  }
  (this->*s->run)(call);
  if (call.illegal) {
    reject(cmd, app);
    return {};
  }
  if (count_was_set && !(cmd.index == 23 && !app)) block_count_set_ = false;  // CMD23 holds for one command
  if (!call.silent) respond(call, *s, at_reception, app);
  status_ &= ~(before & kTypeB);
  return call.effect;
}

void SdCard::respond(Call& c, const Spec& s, SdState at_reception, bool app) {
  if (s.response == RespType::none) return;
  const std::uint32_t not_ready =
      at_reception != SdState::data && c.now < busy_until_ && c.effect.busy_until <= c.now;
  MmcResponse r;
  r.type = s.response;
  r.index = c.cmd.index;
  const std::uint32_t status = status_ | static_cast<std::uint32_t>(at_reception) << kStateShift |
                               (not_ready ? 0 : kReadyForData) | (app || c.cmd.index == 55 ? kAppCmd : 0);
  const bool own = c.effect.response.has_value();  // R2, R3, R6, R7: the handler's content
  if (own) {
    r.content = c.effect.response->content;
    r.reg = c.effect.response->reg;
  } else {
    r.content = status;
    status_ &= ~kTypeC;
  }
  if (c.cmd.index == 3 && !app)  // R6: RCA and status bits 23, 22, 19, 12:0 (4.9.5)
    r.content = static_cast<std::uint32_t>(rca_) << 16 | (status >> 8 & 0xC000) | (status >> 6 & 0x2000) |
                (status & 0x1FFF);
  if (r.type == RespType::r2 || r.type == RespType::r3) r.index = 0x3F;
  if (r.type == RespType::r1b && c.effect.busy_until <= c.now) r.type = RespType::r1;
  c.effect.response = r;
}

/// CMD0: back to identification at the voltage the lines have.
void SdCard::reset() {
  enter(SdState::idle, sc_time_stamp());
  busy_until_ = data_end_ = sc_time();
  data_done_ = app_ = if_cond_ = low_voltage_ = switching_ = false;
  status_ = 0;
  rca_ = 0;
  block_count_set_ = false;
  width_ = 1;
  old_function_ = new_function_ = 0;
  new_function_from_ = sc_time();
  transfer_.running = false;
  erase_ = {};
}

unsigned SdCard::function() const {
  return sc_time_stamp() >= new_function_from_ ? new_function_ : old_function_;
}

LineMode SdCard::line_mode() const { return {width_, function() == kDdr50}; }

double SdCard::max_clock_hz() const { return state_ <= SdState::ident ? 400e3 : kModes[function()].max_hz; }

const char* SdCard::mode_name() const {
  return state_ <= SdState::ident ? "identification" : kModes[function()].name;
}

}  // namespace vp
