// The two command tables and their handlers (SD Physical Layer 4.7.4, 4.8).
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "models/emmc/tuning_block.hpp"
#include "models/sd_card/sd_card.hpp"

namespace vp {

using namespace sd_status;

namespace {

constexpr std::uint32_t kOcrReady = 1U << 31, kOcrHighCapacity = 1U << 30, kOcrLowVoltage = 1U << 24,
                        kOcrVoltages = 0x00FF8000;

template <class... States>
constexpr std::uint16_t in(States... s) {
  return static_cast<std::uint16_t>(((1U << static_cast<unsigned>(s)) | ...));
}

sc_time us(double v) { return from_ps(static_cast<std::uint64_t>(std::llround(v * 1e6))); }

}  // namespace

const SdCard::Spec* SdCard::spec(unsigned index, bool app) {
  using enum SdState;
  constexpr std::uint16_t kAny = 0x1FF;
  constexpr std::uint16_t kAddressed = in(stby, tran, data, rcv, prg, dis);
  static constexpr Spec kStandard[] = {
      {0, "GO_IDLE_STATE", RespType::none, kAny, false, &SdCard::go_idle},
      {2, "ALL_SEND_CID", RespType::r2, in(ready), false, &SdCard::all_send_cid},
      {3, "SEND_RELATIVE_ADDR", RespType::r1, in(ident, stby), false, &SdCard::send_relative_addr},
      {6, "SWITCH_FUNC", RespType::r1, in(tran), false, &SdCard::switch_function},
      {7, "SELECT_CARD", RespType::r1b, in(stby, tran, data, prg, dis), true, &SdCard::select},
      {8, "SEND_IF_COND", RespType::r1, in(idle), false, &SdCard::send_if_cond},
      {9, "SEND_CSD", RespType::r2, in(stby), true, &SdCard::send_csd},
      {10, "SEND_CID", RespType::r2, in(stby), true, &SdCard::send_cid},
      {11, "VOLTAGE_SWITCH", RespType::r1, in(ready), false, &SdCard::voltage_switch},
      {12, "STOP_TRANSMISSION", RespType::r1b, in(data, rcv), false, &SdCard::stop},
      {13, "SEND_STATUS", RespType::r1, kAddressed, true, &SdCard::send_status},
      {15, "GO_INACTIVE_STATE", RespType::none, kAddressed, true, &SdCard::go_inactive},
      {16, "SET_BLOCKLEN", RespType::r1, in(tran), false, &SdCard::set_blocklen},
      {17, "READ_SINGLE_BLOCK", RespType::r1, in(tran), false, &SdCard::read_single},
      {18, "READ_MULTIPLE_BLOCK", RespType::r1, in(tran), false, &SdCard::read_multiple},
      {19, "SEND_TUNING_BLOCK", RespType::r1, in(tran), false, &SdCard::tuning_block},
      {23, "SET_BLOCK_COUNT", RespType::r1, in(tran), false, &SdCard::set_block_count},
      {24, "WRITE_BLOCK", RespType::r1, in(tran), false, &SdCard::write_single},
      {25, "WRITE_MULTIPLE_BLOCK", RespType::r1, in(tran), false, &SdCard::write_multiple},
      {32, "ERASE_WR_BLK_START", RespType::r1, in(tran), false, &SdCard::erase_start},
      {33, "ERASE_WR_BLK_END", RespType::r1, in(tran), false, &SdCard::erase_end},
      {38, "ERASE", RespType::r1b, in(tran), false, &SdCard::erase},
      {55, "APP_CMD", RespType::r1, in(idle, stby, tran, data, rcv, prg, dis), true, &SdCard::app_cmd},
  };
  static constexpr Spec kApplication[] = {
      {6, "SET_BUS_WIDTH", RespType::r1, in(tran), false, &SdCard::set_bus_width},
      {13, "SD_STATUS", RespType::r1, in(tran), false, &SdCard::sd_status_register},
      {22, "SEND_NUM_WR_BLOCKS", RespType::r1, in(tran), false, &SdCard::send_num_wr_blocks},
      {23, "SET_WR_BLK_ERASE_COUNT", RespType::r1, in(tran), false, &SdCard::set_wr_blk_erase_count},
      {41, "SD_SEND_OP_COND", RespType::r3, in(idle), false, &SdCard::op_cond},
      {42, "SET_CLR_CARD_DETECT", RespType::r1, in(tran), false, &SdCard::set_clr_card_detect},
      {51, "SEND_SCR", RespType::r1, in(tran), false, &SdCard::send_scr},
  };
  using Index = std::array<const Spec*, 64>;
  constexpr auto index_rows = [](std::span<const Spec> rows) {
    Index a{};
    for (const Spec& s : rows) a[s.index] = &s;
    return a;
  };
  static const Index kByIndex = index_rows(kStandard), kByAppIndex = index_rows(kApplication);
  return index < 64 ? (app ? kByAppIndex : kByIndex)[index] : nullptr;
}

bool SdCard::legal_in(unsigned index, bool app, SdState s) {
  const Spec* row = spec(index, app);
  return row && (row->states >> static_cast<unsigned>(s) & 1U) != 0;
}

// --- identification ---

void SdCard::go_idle(Call& c) {
  reset();
  c.silent = true;
}

/// R7 echoes voltage and check pattern; an unsupported voltage has no answer (4.3.13).
void SdCard::send_if_cond(Call& c) {
  if ((c.cmd.argument >> 8 & 0xF) != 1) {
    c.silent = true;
    return;
  }
  if_cond_ = true;
  c.effect.response.emplace().content = c.cmd.argument & 0xFFF;
}

void SdCard::app_cmd(Call&) { app_ = true; }

/// ACMD41 (4.2.3). A host that does not ask for high capacity, or did not send CMD8, waits for ever.
void SdCard::op_cond(Call& c) {
  const std::uint32_t window = c.cmd.argument & 0x00FFFF80;
  auto& r = c.effect.response.emplace();
  r.content = kOcrVoltages;
  if (window == 0) return;  // only asked
  if ((window & kOcrVoltages) == 0) {
    enter(SdState::ina, c.now);
    c.effect.response.reset();
    c.silent = true;
    return;
  }
  if (c.now < ready_at_ || !if_cond_ || !(c.cmd.argument & kOcrHighCapacity)) return;
  const bool offers = params_.uhs && !switched_voltage_ && (c.cmd.argument & kOcrLowVoltage);
  low_voltage_ = offers || switched_voltage_;
  r.content |= kOcrReady | kOcrHighCapacity | (offers ? kOcrLowVoltage : 0);
  enter(SdState::ready, c.now);
}

void SdCard::voltage_switch(Call& c) {
  if (!low_voltage_ || switched_voltage_)
    c.illegal = true;
  else
    switched_voltage_ = true;
}

void SdCard::all_send_cid(Call& c) {
  c.effect.response.emplace().reg = cid_;
  enter(SdState::ident, c.now);
}

/// The card publishes a new address each time.
void SdCard::send_relative_addr(Call& c) {
  rca_ = next_rca_++;
  enter(SdState::stby, c.now);
}

// --- data transfer mode ---

void SdCard::select(Call& c) {
  if (rca_matches(c.cmd.argument)) {
    if (state_ != SdState::stby && state_ != SdState::dis) {
      c.illegal = true;
    } else if (state_ == SdState::dis) {
      busy(c, SdState::prg, busy_until_, c.graph.add(c.after, Span::busy, busy_until_));
    } else {
      enter(SdState::tran, c.now);
      if (params_.select_us > 0) c.effect.busy_until = busy_until_ = c.now + us(params_.select_us);
    }
    return;
  }
  c.silent = true;  // deselected: no answer
  transfer_.running = false;
  if (state_ == SdState::prg) enter(SdState::dis, c.now);
  if (state_ == SdState::tran || state_ == SdState::data) enter(SdState::stby, c.now);
}

void SdCard::send_csd(Call& c) { c.effect.response.emplace().reg = csd_; }
void SdCard::send_cid(Call& c) { c.effect.response.emplace().reg = cid_; }

void SdCard::go_inactive(Call& c) {
  enter(SdState::ina, c.now);
  transfer_.running = false;
  c.silent = true;
}

/// A high capacity card's blocks have 512 bytes whatever is set here (4.3.2).
void SdCard::set_blocklen(Call& c) {
  if (c.cmd.argument > kBlockBytes) status_ |= kBlockLenError;
}

void SdCard::set_block_count(Call& c) {
  if (!params_.cmd23) {
    c.illegal = true;
    return;
  }
  block_count_ = c.cmd.argument;
  block_count_set_ = true;
}

void SdCard::set_bus_width(Call& c) {
  if ((c.cmd.argument & 3) == 0 || (c.cmd.argument & 3) == 2)
    width_ = (c.cmd.argument & 3) == 2 ? 4 : 1;
  else
    status_ |= kOutOfRange;
}

/// CMD6 (4.3.10): 64 bytes of switch status; in switch mode the function counts from their end on.
void SdCard::switch_function(Call& c) {
  unsigned supported = 1;
  if (params_.high_speed) supported |= 1U << 1;
  if (params_.uhs && switched_voltage_) supported |= 1U << 2 | 1U << 3 | 1U << 4;
  const unsigned current = function();
  const unsigned wanted = (c.cmd.argument & 0xF) == 0xF ? current : c.cmd.argument & 0xF;
  bool possible = supported >> wanted & 1U;
  std::array<std::uint8_t, 64> status{};
  for (unsigned group = 2; group <= 6; ++group) {  // only function 0 there
    const unsigned f = c.cmd.argument >> (4 * (group - 1)) & 0xF;
    status[12 - 2 * (group - 1) + 1] = 1;
    const bool good = f == 0 || f == 0xF;
    possible = possible && good;
    status[17 - (group + 1) / 2] |= static_cast<std::uint8_t>((good ? 0 : 0xF) << (group % 2 == 0 ? 4 : 0));
  }
  status[1] = possible ? 100 : 0;  // mA; 0 says that the switch cannot be done
  status[13] = static_cast<std::uint8_t>(supported);
  status[16] = static_cast<std::uint8_t>((status[16] & 0xF0) | (supported >> wanted & 1U ? wanted : 0xF));
  switching_ = possible && (c.cmd.argument & 0x80000000) != 0;
  if (switching_) {
    old_function_ = current;
    new_function_ = wanted;
    new_function_from_ = sc_core::sc_max_time();
  }
  const bool then = switching_;
  send_bytes(c, status);
  switching_ = then;
}

/// SD Status (4.10.2).
void SdCard::sd_status_register(Call& c) {
  std::array<std::uint8_t, 64> s{};
  s[0] = static_cast<std::uint8_t>(width_ == 4 ? 0x80 : 0);
  const auto log2_au = static_cast<unsigned>(std::bit_width(params_.allocation_unit_bytes / 16384));
  s[8] = static_cast<std::uint8_t>(params_.speed_class == 10 ? 4 : params_.speed_class / 2);
  s[10] = static_cast<std::uint8_t>(log2_au << 4);
  s[12] = 1;  // ERASE_SIZE: one unit ...
  s[13] = static_cast<std::uint8_t>(std::min(63.0, std::ceil(params_.erase_us_per_unit / 1e6)) *
                                    4);  // ... per second
  send_bytes(c, s);
}

void SdCard::send_num_wr_blocks(Call& c) {
  std::array<std::uint8_t, 4> n{};
  for (unsigned i = 0; i < 4; ++i) n[i] = static_cast<std::uint8_t>(well_written_ >> (24 - 8 * i));
  send_bytes(c, n);
}

void SdCard::send_scr(Call& c) { send_bytes(c, scr_); }

void SdCard::tuning_block(Call& c) {
  if (function() < 2 || width_ != 4)
    c.illegal = true;
  else
    send_bytes(c, kTuningBlock4);
}

void SdCard::read_single(Call& c) { begin_read(c, 1); }
void SdCard::read_multiple(Call& c) { begin_read(c, block_count_set_ ? block_count_ : 0); }
void SdCard::write_single(Call& c) { begin_write(c, 1, true); }
void SdCard::write_multiple(Call& c) { begin_write(c, block_count_set_ ? block_count_ : 0, false); }

void SdCard::stop(Call& c) {
  transfer_.running = false;
  if (state_ == SdState::data) {
    enter(SdState::tran, c.now);
    return;
  }
  const BlockReady done = end_of_write(c.now, c.graph, c.after);
  busy(c, SdState::prg, done.at, done.why);
}

void SdCard::erase_start(Call& c) {
  erase_ = {};
  if (in_range(c.cmd.argument)) erase_.start_set = true, erase_.start = c.cmd.argument;
}

void SdCard::erase_end(Call& c) {
  if (!erase_.start_set) {
    erase_ = {};
    status_ |= kEraseSeqError;
  } else if (!in_range(c.cmd.argument) || c.cmd.argument < erase_.start) {
    if (c.cmd.argument < erase_.start) status_ |= kEraseParam;
    erase_ = {};
  } else {
    erase_.end_set = true;
    erase_.end = c.cmd.argument;
  }
}

void SdCard::erase(Call& c) {
  const auto range = erase_;
  erase_ = {};
  if (!range.start_set || !range.end_set) {
    status_ |= kEraseSeqError;
    return;
  }
  medium_->erase(range.start, std::uint64_t{range.end} - range.start + 1);
  const std::uint64_t unit = params_.allocation_unit_bytes / kBlockBytes;
  const std::uint64_t units = range.end / unit - range.start / unit + 1;
  const sc_time until =
      std::max(c.now, programmed_) + us(params_.erase_us_per_unit * static_cast<double>(units));
  programmed_ = until;
  busy(c, SdState::prg, until, c.graph.add(c.after, Span::nand_array, until));
}

}  // namespace vp
