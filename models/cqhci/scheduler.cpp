// CQHCI: what goes on the CMD line next. In this order: the second half of a CMD44/45 pair; CMD46/47 when DAT is free and
// a task is known to be ready; a due status query; the next task or direct command in doorbell order (choices where
// JESD84-B51 annex B is silent: a transfer that can start is never kept waiting by one that cannot).
#include <fmt/format.h>

#include <algorithm>

#include "models/cqhci/cqhci.hpp"

namespace vp {

using namespace cqhci;
using sc_core::sc_time_stamp;

namespace {

constexpr std::uint32_t kDoorbellOrder = field_mask(dwcmshc::kRegs, "EMMC_CTRL", "CQE_ALGO_SEL");
constexpr std::uint32_t kPrefetchOff = field_mask(dwcmshc::kRegs, "EMMC_CTRL", "CQE_PREFETCH_DISABLE");
constexpr std::uint32_t kQsrBit = 1u << 15;  // CMD13: send the queue status (JESD84-B51 6.6.39)

}  // namespace

bool Cqhci::prefetch_off() const { return host_.emmc_control() & kPrefetchOff; }

void Cqhci::pump() {
  if (enabled() && !halted_) {
    if (!error_ && !halt_wanted_) pump_fetches();
    if (sending_ == Sending::nothing && host_.command_line_free()) send_next();
  }
  check_halt();
  trace_state();
}

bool Cqhci::send_next() {
  if (!bus_.clock_running()) return false;
  if (pair_tag_ >= 0) {
    send_address(static_cast<unsigned>(pair_tag_));
    return true;
  }
  if (error_ || halt_wanted_) return false;
  if (dat_free()) {
    if (const int tag = best_ready(); tag >= 0) {
      send_execute(static_cast<unsigned>(tag));
      return true;
    }
  }
  if (poll_due(sc_time_stamp())) {
    send_status();
    return true;
  }
  if (waiting_.empty()) return false;
  const unsigned head = waiting_.front();
  if (tasks_[head].stage == Stage::bad) {
    descriptor_error(head);
    return false;
  }
  if (!may_leave(head)) return false;
  is_direct(head) ? send_direct(head) : send_params(head);
  return true;
}

bool Cqhci::dat_free() const {
  return data_tag_ < 0 && sc_time_stamp() >= dat_busy_until_ && host_.data_line_free();
}

/// Since when the data lines are free of earlier tasks; the end of time while one has them.
sc_time Cqhci::dat_free_from() const {
  return data_tag_ >= 0 ? sc_core::sc_max_time() : std::max(data_end_, dat_busy_until_);
}

/// The task to execute among those known to be ready, or -1 (EMMC_CTRL.CQE_ALGO_SEL).
int Cqhci::best_ready() const {
  const bool doorbell_order = host_.emmc_control() & kDoorbellOrder;
  const auto before = [doorbell_order](const Task& a, const Task& b) {
    if (!doorbell_order) {
      const bool pa = a.descriptor.high_priority(), pb = b.descriptor.high_priority();
      if (pa != pb) return pa;
      if (a.ready_order != b.ready_order) return a.ready_order < b.ready_order;
    }
    return a.order < b.order;
  };
  int best = -1;
  for (unsigned tag = 0; tag < kSlots; ++tag)
    if ((ready_ >> tag & 1) && (best < 0 || before(tasks_[tag], tasks_[static_cast<unsigned>(best)])))
      best = static_cast<int>(tag);
  return best;
}

/// May the first task in doorbell order leave for the device? Queue barriers; direct commands that need DAT.
bool Cqhci::may_leave(unsigned tag) const {
  const Task& t = tasks_[tag];
  if (t.stage != Stage::ready || barrier_ >= 0) return false;
  if (t.descriptor.qbr() && in_flight_ != 0) return false;
  return !is_direct(tag) || t.descriptor.dcmd_beside_data() || dat_free();
}

/// Queries are for tasks whose readiness is not known. DAT idle: at once, or CIT after an answer without ready tasks; data
/// on the lines: once per transfer, in the CBC-th last block (JESD84-B51 B.3.19).
bool Cqhci::poll_due(sc_time now) {
  if ((queued_ & ~ready_) == 0) return false;
  if (data_tag_ >= 0) return cbc_open_ && !cbc_polled_;
  if (!dat_free()) return false;
  if (now < poll_not_before_) {
    wake_event_.notify(poll_not_before_ - now);
    return false;
  }
  return true;
}

void Cqhci::issue(Sending what, int tag, std::uint8_t index, std::uint32_t argument, RespType expected,
                  NodeId after) {
  const sc_time decided = core_.align(sc_time_stamp()) + core_.cycles(params_.issue_cycles);
  sending_ = what;
  line_tag_ = tag;
  CauseGraph& g = tag >= 0 ? graph(static_cast<unsigned>(tag)) : no_graph_;
  const bool data = what == Sending::execute;
  host_.show_queue_command(index, data, data ? blocks_left_ : 0);
  bus_.issue({index, argument}, expected, std::max(decided, not_before_), g, after);
}

/// What the task has waited for until now goes to `what`.
void Cqhci::wait_ends(unsigned tag, Span what, sc_time at) {
  CauseGraph& g = graph(tag);
  if (at > g.end(tasks_[tag].node)) tasks_[tag].node = g.add(tasks_[tag].node, what, at);
}

/// Leaves the doorbell queue for the device.
void Cqhci::leave_queue(unsigned tag) {
  waiting_.erase(waiting_.begin());
  in_flight_ |= 1u << tag;
  if (tasks_[tag].descriptor.qbr()) barrier_ = static_cast<int>(tag);
  wait_ends(tag, Span::queue_wait, sc_time_stamp());
}

void Cqhci::send_params(unsigned tag) {
  leave_queue(tag);
  Task& t = tasks_[tag];
  t.stage = Stage::queueing;
  pair_tag_ = static_cast<int>(tag);
  issue(Sending::params, pair_tag_, 44, t.descriptor.params_argument(tag), RespType::r1, t.node);
}

void Cqhci::send_address(unsigned tag) {
  issue(Sending::address, static_cast<int>(tag), 45, tasks_[tag].descriptor.block_address(), RespType::r1,
        params_node_);
}

void Cqhci::send_direct(unsigned tag) {
  leave_queue(tag);
  Task& t = tasks_[tag];
  t.stage = Stage::direct;
  const unsigned r = t.descriptor.dcmd_response();
  const RespType expected = r == 3 ? RespType::r1b : r == 0 ? RespType::none : RespType::r1;
  issue(Sending::direct, static_cast<int>(tag), t.descriptor.dcmd_index(), t.descriptor.dcmd_argument(),
        expected, t.node);
}

void Cqhci::send_execute(unsigned tag) {
  Task& t = tasks_[tag];
  const std::uint32_t bit = 1u << tag;
  wait_ends(tag, Span::queue_wait, sc_time_stamp());
  check_host_settings(tag);
  if (fetch_tag_ == static_cast<int>(tag)) {  // transfer descriptors that would come too late
    data_.drop_fetch();
    fetch_tag_ = -1;
  }
  t.ahead_wanted = false;
  t.stage = Stage::executing;
  queued_ &= ~bit;
  ready_ &= ~bit;
  data_tag_ = static_cast<int>(tag);
  blocks_left_ = t.descriptor.blocks();
  const std::uint32_t cbc = reg(reg_offset(kRegs, "CQSSC1")) >> field_lsb(kRegs, "CQSSC1", "CBC") & 0xF;
  cbc_open_ = cbc != 0 && blocks_left_ <= cbc;
  cbc_polled_ = false;
  ctx_.trace.change(t_tag_, sc_time_stamp(), tag);
  data_.set_data_timeout(host_.data_timeout());
  data_.prepare(job(tag));
  if (data_tag_ != static_cast<int>(tag)) return;  // a descriptor that was already here is wrong
  issue(Sending::execute, data_tag_, t.descriptor.read() ? 46 : 47, tag << 16, RespType::r1, t.node);
}

void Cqhci::send_status() {
  ++counters_.status_queries;
  asked_ = queued_;
  cbc_polled_ = true;
  const std::uint32_t rca = reg(reg_offset(kRegs, "CQSSC2")) & 0xFFFF;
  issue(Sending::status, -1, 13, rca << 16 | kQsrBit, RespType::r1, kRootNode);
}

void Cqhci::block_counted(sc_time at) {
  if (blocks_left_ != 0) --blocks_left_;
  const std::uint32_t cbc = reg(reg_offset(kRegs, "CQSSC1")) >> field_lsb(kRegs, "CQSSC1", "CBC") & 0xF;
  if (cbc == 0 || blocks_left_ != cbc) return;
  const sc_time now = sc_time_stamp();
  if (at > now)
    cbc_event_.notify(at - now);
  else
    on_cbc();
}

void Cqhci::on_cbc() {
  if (data_tag_ < 0) return;
  cbc_open_ = true;
  pump();
}

// --- responses ---

void Cqhci::command_sent(const CommandOutcome& outcome) {
  if (sending_ == Sending::execute) data_.command_sent(outcome);
}

void Cqhci::response_received(const CommandOutcome& outcome) {
  const sc_time now = sc_time_stamp();
  not_before_ = core_.align(now) + core_.cycles(host_.params().resp_latch + params_.issue_cycles);
  if (!outcome.timeout && outcome.response.type != RespType::none) {
    bank_.set(reg_offset(kRegs, "CQCRI"), outcome.response.index & 0x3F);
    bank_.set(reg_offset(kRegs, "CQCRA"), outcome.response.content);
  }
  if (params_.latch_sdhci_status) host_.raise(sdhci::kIntCommandComplete);
  const bool good = response_good(outcome);
  const Sending what = sending_;
  const int tag = line_tag_;
  sending_ = Sending::nothing;
  line_tag_ = -1;
  if (good) {
    switch (what) {
      case Sending::params:
        params_node_ = outcome.response_node;
        break;
      case Sending::address:
        pair_tag_ = -1;
        line_tag_ = tag;
        task_queued(outcome);
        line_tag_ = -1;
        break;
      case Sending::status:
        queue_status(outcome);
        break;
      case Sending::execute:
        data_.response_ended(outcome);
        break;
      case Sending::direct:
        direct_answered(outcome);
        break;
      case Sending::nothing:
        break;
    }
  }
  pump();
}

void Cqhci::task_queued(const CommandOutcome& outcome) {
  const auto tag = static_cast<unsigned>(line_tag_);
  Task& t = tasks_[tag];
  t.stage = Stage::queued;
  t.node = outcome.response_node;
  t.queued_at = sc_time_stamp();
  queued_ |= 1u << tag;
  bank_.set_bits(reg_offset(kRegs, "CQDPT"), 1u << tag);
  ctx_.trace.change(t_pending_, t.queued_at, bank_.get(reg_offset(kRegs, "CQDPT")));
}

void Cqhci::queue_status(const CommandOutcome& outcome) {
  const sc_time now = sc_time_stamp();
  const std::uint32_t qsr = outcome.response.content;
  bank_.set(reg_offset(kRegs, "CQDQS"), qsr);
  ctx_.trace.change(t_qsr_, now, qsr);
  const std::uint32_t fresh = qsr & asked_ & queued_ & ~ready_;
  for (unsigned tag = 0; tag < kSlots; ++tag) {
    if (!(fresh >> tag & 1)) continue;
    Task& t = tasks_[tag];
    CauseGraph& g = graph(tag);
    const BlockReady ready = bus_.card().queue_ready(tag, g, t.node);
    // Ready while another task has the data lines: until they are free it is that task it waits for.
    const sc_time from = std::max({ready.at, t.queued_at, std::min(now, dat_free_from())});
    counters_.poll_wait += now - from;
    t.node = ready.why;
    if (from > g.end(t.node)) t.node = g.add(t.node, Span::queue_wait, from);
    t.node = g.add(t.node, Span::queue_poll_wait, now);
    t.ready_order = next_ready_order_;
    if (params_.transfer_prefetch == "ready") t.ahead_wanted = true;
  }
  ready_ |= fresh;
  ++next_ready_order_;
  poll_not_before_ = sc_time();
  if ((qsr & (queued_ | ready_)) != 0) return;
  const std::uint32_t cit = reg(reg_offset(kRegs, "CQSSC1")) & field_mask(kRegs, "CQSSC1", "CIT");
  const sc_time seen = core_.align(now) + core_.cycles(host_.params().resp_latch);
  poll_not_before_ = timer_.align(seen) + timer_.cycles(cit);
}

void Cqhci::trace_state() {
  if (!ctx_.trace.on()) return;
  const char* s = !enabled()                     ? "off"
                  : halted_                      ? "halted"
                  : error_                       ? "error"
                  : data_tag_ >= 0               ? "transfer"
                  : sending_ == Sending::status  ? "status_query"
                  : sending_ != Sending::nothing ? "command"
                  : (queued_ & ~ready_) != 0     ? "wait_cit"
                  : fetch_tag_ >= 0              ? "fetch"
                                                 : "idle";
  ctx_.trace.change_state(t_state_, sc_time_stamp(), s);
}

}  // namespace vp
