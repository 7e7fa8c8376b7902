// The command table and its handlers (JESD84-B51 6.10, 6.11).
#include <algorithm>
#include <array>

#include "models/emmc/emmc.hpp"

namespace vp {
namespace {

constexpr std::uint32_t kOcrReady = 1U << 31, kOcrSector = 1U << 30, kOcrVoltages = 0x00FF8080;

template <class... States>
constexpr std::uint16_t in(States... s) {
  return static_cast<std::uint16_t>(((1U << static_cast<unsigned>(s)) | ...));
}

}  // namespace

const Emmc::Spec* Emmc::spec(unsigned index) {
  using enum CardState;
  constexpr std::uint16_t kAny = 0x7FF;
  constexpr std::uint16_t kAddressed = in(stby, tran, data, btst, rcv, prg, dis);
  constexpr std::uint16_t kQueue = in(tran, data, rcv, prg);
  static constexpr Spec kTable[] = {
      {0, "GO_IDLE_STATE", "bc", RespType::none, kAny, false, &Emmc::go_idle},
      {1, "SEND_OP_COND", "bcr", RespType::r3, in(idle), false, &Emmc::send_op_cond},
      {2, "ALL_SEND_CID", "bcr", RespType::r2, in(ready), false, &Emmc::all_send_cid},
      {3, "SET_RELATIVE_ADDR", "ac", RespType::r1, in(ident), false, &Emmc::set_relative_addr},
      {5, "SLEEP_AWAKE", "ac", RespType::r1b, in(stby, slp), true, &Emmc::sleep_awake},
      {6, "SWITCH", "ac", RespType::r1b, in(tran), false, &Emmc::switch_byte},
      {7, "SELECT_CARD", "ac", RespType::r1b, in(stby, tran, data, prg, dis), true, &Emmc::select},
      {8, "SEND_EXT_CSD", "adtc", RespType::r1, in(tran), false, &Emmc::send_ext_csd},
      {9, "SEND_CSD", "ac", RespType::r2, in(stby), true, &Emmc::send_csd},
      {10, "SEND_CID", "ac", RespType::r2, in(stby), true, &Emmc::send_cid},
      {12, "STOP_TRANSMISSION", "ac", RespType::r1b, in(tran, data, rcv), false, &Emmc::stop},
      {13, "SEND_STATUS", "ac", RespType::r1, kAddressed, true, &Emmc::send_status},
      {15, "GO_INACTIVE_STATE", "ac", RespType::none, kAddressed, true, &Emmc::go_inactive},
      {16, "SET_BLOCKLEN", "ac", RespType::r1, in(tran), false, &Emmc::set_blocklen},
      {17, "READ_SINGLE_BLOCK", "adtc", RespType::r1, in(tran), false, &Emmc::read_single},
      {18, "READ_MULTIPLE_BLOCK", "adtc", RespType::r1, in(tran), false, &Emmc::read_multiple},
      {21, "SEND_TUNING_BLOCK", "adtc", RespType::r1, in(tran), false, &Emmc::send_tuning_block},
      {23, "SET_BLOCK_COUNT", "ac", RespType::r1, in(tran), false, &Emmc::set_block_count},
      {24, "WRITE_BLOCK", "adtc", RespType::r1, in(tran), false, &Emmc::write_single},
      {25, "WRITE_MULTIPLE_BLOCK", "adtc", RespType::r1, in(tran), false, &Emmc::write_multiple},
      {35, "ERASE_GROUP_START", "ac", RespType::r1, in(tran), false, &Emmc::erase_group_start},
      {36, "ERASE_GROUP_END", "ac", RespType::r1, in(tran), false, &Emmc::erase_group_end},
      {38, "ERASE", "ac", RespType::r1b, in(tran), false, &Emmc::erase},
      {44, "QUEUED_TASK_PARAMS", "ac", RespType::r1, kQueue, false, &Emmc::queue_parameters},
      {45, "QUEUED_TASK_ADDRESS", "ac", RespType::r1, kQueue, false, &Emmc::queue_address},
      {46, "EXECUTE_READ_TASK", "adtc", RespType::r1, in(tran), false, &Emmc::execute_read},
      {47, "EXECUTE_WRITE_TASK", "adtc", RespType::r1, in(tran), false, &Emmc::execute_write},
      {48, "CMDQ_TASK_MGMT", "ac", RespType::r1b, in(tran), false, &Emmc::manage_tasks},
  };
  static const std::array<const Spec*, 64> kByIndex = [] {
    std::array<const Spec*, 64> a{};
    for (const Spec& s : kTable) a[s.index] = &s;
    return a;
  }();
  return index < kByIndex.size() ? kByIndex[index] : nullptr;
}

bool Emmc::legal_in(unsigned index, CardState s) {
  const Spec* row = spec(index);
  return row && (row->states >> static_cast<unsigned>(s) & 1U) != 0;
}

void Emmc::go_idle(Call& c) {
  // 0xF0F0F0F0 is GO_PRE_IDLE_STATE; pre-idle is left by the next command, so it is not a state of its own
  // here. Any other argument (0xFFFFFFFA, boot initiation, too) resets.
  c.cmd.argument == 0xF0F0F0F0 ? reset(true, params_.power_up_us) : reset(false, params_.reset_us);
  c.silent = true;
}

void Emmc::send_op_cond(Call& c) {
  const std::uint32_t wanted = c.cmd.argument & 0x00FFFF80;
  if (wanted != 0 && (wanted & kOcrVoltages) == 0) {  // no common voltage
    enter(CardState::ina, c.now);
    c.silent = true;
    return;
  }
  const bool ready = c.now >= ready_at_;
  c.effect.response.emplace();
  c.effect.response->content = kOcrVoltages | (sector_addressing_ ? kOcrSector : 0) | (ready ? kOcrReady : 0);
  if (ready && wanted != 0) enter(CardState::ready, c.now);  // argument 0 only asks
}

void Emmc::all_send_cid(Call& c) {
  c.effect.response.emplace().reg = cid_;
  enter(CardState::ident, c.now);
}

void Emmc::set_relative_addr(Call& c) {
  rca_ = static_cast<std::uint16_t>(c.cmd.argument >> 16);
  enter(CardState::stby, c.now);
}

void Emmc::sleep_awake(Call& c) {
  const bool sleep = (c.cmd.argument & 0x8000) != 0;
  if (sleep != (state_ == CardState::stby)) {
    c.illegal = true;
    return;
  }
  const sc_time until = c.now + from_ps(NandParams::us(params_.sleep_us));
  busy(c, sleep ? CardState::slp : CardState::stby, until, c.graph.add(c.after, Span::busy, until));
}

void Emmc::select(Call& c) {
  const bool own = rca_matches(c.cmd.argument) && rca_ != 0;
  if (own) {
    if (state_ != CardState::stby && state_ != CardState::dis) {
      c.illegal = true;
    } else if (state_ == CardState::dis) {
      busy(c, CardState::prg, busy_until_, c.graph.add(c.after, Span::busy, busy_until_));
    } else {
      enter(CardState::tran, c.now);
      if (params_.select_us > 0)
        c.effect.busy_until = busy_until_ = c.now + from_ps(NandParams::us(params_.select_us));
    }
    return;
  }
  c.silent = true;  // deselected: no answer
  if (state_ == CardState::prg) enter(CardState::dis, c.now);
  if (state_ == CardState::data) {
    transfer_.running = false;
    end_task(c.now);
  }
  if (state_ == CardState::tran || state_ == CardState::data) enter(CardState::stby, c.now);
}

void Emmc::send_csd(Call& c) { c.effect.response.emplace().reg = csd_; }
void Emmc::send_cid(Call& c) { c.effect.response.emplace().reg = cid_; }

/// With the queue on and bit 15 of the argument set the response carries the queue status register.
void Emmc::send_status(Call& c) {
  if (!queue_on(c.now) || (c.cmd.argument & 0x8000) == 0) return;
  c.effect.response.emplace();
  c.effect.response->content = queue_.status(c.now);
}

void Emmc::go_inactive(Call& c) {
  enter(CardState::ina, c.now);
  transfer_.running = false;
  c.silent = true;
}

void Emmc::set_blocklen(Call& c) {
  if (line_mode().ddr) {
    c.illegal = true;
    return;
  }
  block_length_ = c.cmd.argument;  // any other length is an error here and once more when a task executes
  if (block_length_ != kBlockBytes) status_ |= status::kBlockLenError;
}

void Emmc::set_block_count(Call& c) {
  block_count_ = c.cmd.argument;
  block_count_set_ = true;
}

void Emmc::send_ext_csd(Call& c) { begin_register_read(c, Source::ext_csd, 512); }

void Emmc::send_tuning_block(Call& c) {
  const LineMode lines = line_mode();
  if ((mode(c.now).timing & 0x0F) != 2 || lines.width == 1)
    c.illegal = true;
  else
    begin_register_read(c, Source::tuning, lines.width == 8 ? 128 : 64);
}

void Emmc::read_single(Call& c) { begin_read(c, 1); }

void Emmc::read_multiple(Call& c) { begin_read(c, block_count_set_ ? block_count_ & 0xFFFF : 0); }

void Emmc::write_single(Call& c) { begin_write(c, 1, false, true); }

void Emmc::write_multiple(Call& c) {
  // CMD23: bit 31 reliable write, bit 24 forced programming, bits 15:0 count (0: open-ended). Tag and context
  // are accepted and have no effect.
  const std::uint32_t count = block_count_set_ ? block_count_ : 0;
  begin_write(c, count & 0xFFFF, (count & (1U << 31 | 1U << 24)) != 0, false);
}

void Emmc::stop(Call& c) {
  transfer_.running = false;
  if (state_ == CardState::tran) {  // queue mode: nothing to stop is no error
    c.illegal = !queue_on(c.now);
    return;
  }
  if (state_ == CardState::data) {
    if (transfer_.source == Source::medium) ftl_->end_read(*transfer_.reading, transfer_.moved);
    enter(CardState::tran, c.now);
    end_task(c.now);
    return;
  }
  const Accepted a = ftl_->finish_write(*transfer_.write_plan, c.now, c.graph, c.after);
  busy(c, CardState::prg, a.at, a.why);
  end_task(a.at);
}

}  // namespace vp
