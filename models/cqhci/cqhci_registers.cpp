// Register behaviour of the CQHCI model: what a bus access does, halt, clear, disable, resets.
#include <fmt/format.h>

#include "models/cqhci/cqhci.hpp"

namespace vp {

using namespace cqhci;
using sc_core::sc_time_stamp;

namespace {

constexpr std::uint32_t kEnable = field_mask(kRegs, "CQCFG", "CQ_EN");
constexpr std::uint32_t kHalt = field_mask(kRegs, "CQCTL", "HALT");
constexpr std::uint32_t kClearAll = field_mask(kRegs, "CQCTL", "CLEAR_ALL_TASKS");
constexpr std::uint16_t kDoorbell = reg_offset(kRegs, "CQTDBR");

}  // namespace

std::uint64_t Cqhci::read_register(std::uint32_t offset, unsigned bytes, sc_time at) {
  access_time_ = at;
  return bank_.read(offset, bytes);
}

void Cqhci::write_register(std::uint32_t offset, unsigned bytes, std::uint64_t value, sc_time at) {
  access_time_ = at;
  bank_.write(offset, bytes, value);
}

bool Cqhci::enabled() const { return bank_.get(reg_offset(kRegs, "CQCFG")) & kEnable; }
bool Cqhci::has_tasks() const { return bank_.get(kDoorbell) != 0; }

void Cqhci::hook_registers() {
  bank_.on_write(reg_offset(kRegs, "CQCFG"),
                 [this](const RegisterBank::WriteEvent& e) { config_written(e); });
  bank_.on_write(reg_offset(kRegs, "CQCTL"),
                 [this](const RegisterBank::WriteEvent& e) { control_written(e); });
  bank_.on_read(reg_offset(kRegs, "CQCTL"),
                [this]() -> std::uint64_t { return (halted_ ? kHalt : 0u) | (clearing_ ? kClearAll : 0u); });
  bank_.on_write(kDoorbell, [this](const RegisterBank::WriteEvent& e) { doorbell_written(e); });
  bank_.on_write(reg_offset(kRegs, "CQTCN"), [this](const RegisterBank::WriteEvent& e) {
    release_waiting(static_cast<std::uint32_t>(e.old_value & ~e.value));
  });
  bank_.on_write(reg_offset(kRegs, "CQTCLR"), [this](const RegisterBank::WriteEvent& e) {
    if (!halted_) {
      bank_.set(reg_offset(kRegs, "CQTCLR"), e.old_value);
      ctx_.log(fmt::format("{}: CQTCLR written while not halted: ignored", name()));
      return;
    }
    clear_tags_ |= static_cast<std::uint32_t>(e.written);
    const sc_time now = sc_time_stamp();
    clear_event_.notify(core_.align(access_time_) + core_.cycles(params_.clear_cycles) - now);
  });
}

void Cqhci::hook_interrupt_registers() {
  const auto update = [this](const RegisterBank::WriteEvent&) { update_interrupt(); };
  bank_.on_write(reg_offset(kRegs, "CQIS"), update);
  bank_.on_write(reg_offset(kRegs, "CQISGE"), update);
  bank_.on_write(reg_offset(kRegs, "CQIC"),
                 [this](const RegisterBank::WriteEvent& e) { coalescing_written(e); });
  bank_.on_read(reg_offset(kRegs, "CQIC"), [this]() -> std::uint64_t {
    return bank_.get(reg_offset(kRegs, "CQIC")) | (coalesce_seen_ ? field_mask(kRegs, "CQIC", "STATUS") : 0);
  });
}

void Cqhci::config_written(const RegisterBank::WriteEvent& e) {
  if (params_.crypto_slots == 0)
    bank_.clear_bits(reg_offset(kRegs, "CQCFG"), field_mask(kRegs, "CQCFG", "CRYPTO_EN"));
  const std::uint32_t shape =
      field_mask(kRegs, "CQCFG", "TASK_DESC_128") | field_mask(kRegs, "CQCFG", "DCMD_EN");
  if ((e.old_value & e.value & kEnable) && ((e.old_value ^ e.value) & shape))
    ctx_.finding("cqe.config_while_enabled", name(), {e.old_value, e.value},
                 "CQCFG.TASK_DESC_128 or DCMD_EN changed while CQ_EN is set; clear CQ_EN first",
                 access_time_);
  if ((e.old_value & kEnable) && !(e.value & kEnable)) drop_everything();
  if (!(e.old_value & kEnable) && (e.value & kEnable)) check_host_status();
  trace_state();
}

/// What an earlier user of the host left behind and the engine's driver will take for its own.
void Cqhci::check_host_status() {
  error_ = false;
  if (host_.command_complete_latched())
    ctx_.finding(
        "cqe.stale_command_complete", name(), {},
        "CQ_EN set while Command Complete of an earlier command is latched; clear NORMAL_INT_STATUS first",
        access_time_);
  if (host_.buffer_read_enabled())
    ctx_.finding("cqe.stale_buffer_data", name(), {},
                 "CQ_EN set while the data port still holds a block (Buffer Read Enable); read it or reset "
                 "the DAT line",
                 access_time_);
}

void Cqhci::control_written(const RegisterBank::WriteEvent& e) {
  bank_.set(reg_offset(kRegs, "CQCTL"), 0);  // what is read is computed
  if (e.lanes & 0xFFFF) act_at(Action::Kind::control, static_cast<std::uint32_t>(e.written));
}

void Cqhci::coalescing_written(const RegisterBank::WriteEvent& e) {
  std::uint32_t keep = 0;
  if (!(e.written & field_mask(kRegs, "CQIC", "TIMEOUT_WE"))) keep |= field_mask(kRegs, "CQIC", "TIMEOUT");
  if (!(e.written & field_mask(kRegs, "CQIC", "COUNTER_WE"))) keep |= field_mask(kRegs, "CQIC", "COUNTER");
  bank_.set(reg_offset(kRegs, "CQIC"), (e.value & ~std::uint64_t{keep}) | (e.old_value & keep));
  if (e.written & field_mask(kRegs, "CQIC", "RESET")) reset_coalescing();
}

void Cqhci::doorbell_written(const RegisterBank::WriteEvent& e) {
  if (!enabled()) {
    bank_.set(kDoorbell, e.old_value);
    if (e.written != 0)
      ctx_.finding(
          "cqe.doorbell_while_off", name(), {e.written},
          fmt::format(
              "doorbell 0x{:08x} rung while CQ_EN is 0 (list base 0x{:x}): ignored; a host reset clears "
              "the engine's registers",
              e.written, list_base()),
          access_time_);
    return;
  }
  if (const std::uint64_t again = e.written & e.old_value)
    ctx_.finding(
        "cqe.doorbell_on_busy_slot", name(), {again},
        fmt::format("doorbell rung again for slots 0x{:08x} whose tasks are not complete: ignored", again),
        access_time_);
  if (const auto fresh = static_cast<std::uint32_t>(e.value & ~e.old_value))
    act_at(Action::Kind::doorbell, fresh);
}

/// Register writes act when the access takes effect, in order.
void Cqhci::act_at(Action::Kind kind, std::uint32_t bits) {
  const sc_time now = sc_time_stamp();
  const sc_time at =
      !actions_.empty() && actions_.back().at > access_time_ ? actions_.back().at : access_time_;
  actions_.push_back({kind, at, bits});
  if (actions_.size() == 1) action_event_.notify(at > now ? at - now : sc_core::SC_ZERO_TIME);
}

void Cqhci::on_action() {
  const sc_time now = sc_time_stamp();
  while (!actions_.empty() && actions_.front().at <= now) {
    const Action a = actions_.front();
    actions_.pop_front();
    if (a.kind == Action::Kind::doorbell) {
      ring(a.bits);
      continue;
    }
    if (a.bits & kClearAll) {
      if (halted_) {
        clearing_ = true;
        clear_tags_ = ~std::uint32_t{0};
        clear_event_.notify(core_.align(now) + core_.cycles(params_.clear_cycles) - now);
      } else {
        ctx_.log(fmt::format("{}: CLEAR_ALL_TASKS written while not halted: ignored", name()));
      }
    }
    if (!(a.bits & kHalt)) {
      halt_wanted_ = halted_ = false;
    } else if (!halted_ && !halt_wanted_) {
      halt_wanted_ = true;
      halt_from_ = now;
      wake_event_.cancel();
    }
  }
  if (!actions_.empty()) action_event_.notify(actions_.front().at - now);
  pump();
}

void Cqhci::ring(std::uint32_t bits) {
  const sc_time now = sc_time_stamp();
  if (list_base() == 0)
    ctx_.finding(
        "cqe.list_base_zero", name(), {bits},
        "doorbell rung while the task descriptor list base is 0: descriptors will be fetched from address 0");
  for (unsigned tag = 0; tag < kSlots; ++tag) {
    if (!(bits >> tag & 1)) continue;
    Task& t = tasks_[tag];
    t.stage = Stage::rung;
    t.order = next_order_++;
    t.table_known = t.ahead_wanted = false;
    t.ahead_bytes = 0;
    t.node = kRootNode;
    waiting_.push_back(static_cast<std::uint8_t>(tag));
    ctx_.spans.hardware_begin(tag, now);
  }
  ctx_.trace.change(t_doorbell_, now, bank_.get(kDoorbell));
}

void Cqhci::check_halt() {
  if (!halt_wanted_ || !quiescent()) return;
  halt_wanted_ = false;
  halted_ = true;
  const sc_time took = sc_time_stamp() - halt_from_;
  if (took > counters_.halt_wait) counters_.halt_wait = took;
  raise(kIsHac);
}

void Cqhci::on_clear() {
  const std::uint32_t tags = clear_tags_;
  clear_tags_ = 0;
  clearing_ = false;
  drop_tasks(tags);
  bank_.set(reg_offset(kRegs, "CQTCLR"), 0);
  raise(kIsTcl);
}

/// Forgets tasks; the device's queue is not touched. An error is over when the tasks that had it are gone.
void Cqhci::drop_tasks(std::uint32_t tags) {
  const sc_time now = sc_time_stamp();
  if (fetch_tag_ >= 0 && (tags >> fetch_tag_ & 1)) {
    data_.drop_fetch();
    fetch_tag_ = -1;
  }
  std::erase_if(waiting_, [tags](std::uint8_t tag) { return tags >> tag & 1; });
  bool failed_left = false;
  for (unsigned tag = 0; tag < kSlots; ++tag) {
    Task& t = tasks_[tag];
    if (!(tags >> tag & 1)) {
      failed_left |= t.stage == Stage::failed;
      continue;
    }
    if (t.stage != Stage::empty && t.stage != Stage::failed)
      end_hardware(tag, graph(tag).add(t.node, Span::queue_wait, now));
    t.stage = Stage::empty;
    t.ahead_wanted = false;
  }
  if (!failed_left) error_ = false;
  in_flight_ &= ~tags;
  queued_ &= ~tags;
  ready_ &= ~tags;
  if (barrier_ >= 0 && (tags >> barrier_ & 1)) barrier_ = -1;
  poll_not_before_ = sc_time();
  bank_.clear_bits(kDoorbell, tags);
  bank_.clear_bits(reg_offset(kRegs, "CQDPT"), tags);
  bank_.clear_bits(reg_offset(kRegs, "CQTDPE"), tags);
  ctx_.trace.change(t_doorbell_, now, bank_.get(kDoorbell));
  ctx_.trace.change(t_pending_, now, bank_.get(reg_offset(kRegs, "CQDPT")));
  trace_state();
}

/// CQ_EN cleared or the host reset: whatever is under way ends without a word.
void Cqhci::drop_everything() {
  if (owns_line()) bus_.abandon_command();
  if (owns_data()) data_.abort();
  sending_ = Sending::nothing;
  line_tag_ = pair_tag_ = data_tag_ = -1;
  completions_.clear();
  complete_event_.cancel();
  wake_event_.cancel();
  cbc_event_.cancel();
  clear_event_.cancel();
  clearing_ = false;
  clear_tags_ = 0;
  cbc_open_ = false;
  dat_busy_until_ = sc_time();
  std::erase_if(actions_, [](const Action& a) { return a.kind == Action::Kind::doorbell; });
  drop_tasks(~std::uint32_t{0});
  reset_coalescing();
  error_ = false;
  check_halt();
}

void Cqhci::reset_line() {
  if (!owns_line()) return;
  bus_.abandon_command();
  const int tag = line_tag_;
  const bool executing = sending_ == Sending::execute;
  sending_ = Sending::nothing;
  line_tag_ = -1;
  if (executing) {
    data_.abort();
    data_tag_ = -1;
  }
  stop_on_error(tag);
  check_halt();
}

/// Choice: what the reset takes away (data, a direct command's busy) does not complete; the driver clears the tasks.
void Cqhci::reset_data() {
  if (owns_data() && sending_ == Sending::execute) {
    bus_.abandon_command();
    sending_ = Sending::nothing;
    line_tag_ = -1;
  }
  const int tag = data_tag_;
  data_tag_ = -1;
  cbc_event_.cancel();
  cbc_open_ = false;
  if (tag >= 0) {
    wait_ends(static_cast<unsigned>(tag), data_.blocked_on(), sc_time_stamp());
    stop_on_error(tag);
  }
  for (const Completion& c : completions_) stop_on_error(static_cast<int>(c.tag));
  completions_.clear();
  complete_event_.cancel();
  dat_busy_until_ = sc_time();
  check_halt();
}

void Cqhci::reset_all() {
  drop_everything();
  actions_.clear();
  action_event_.cancel();
  halt_wanted_ = halted_ = false;
  waiting_interrupt_ = 0;
  bank_.reset();
  irq_level_ = false;
  host_.queue_interrupt(false);
  trace_state();
}

}  // namespace vp
