// CQHCI: a task from its slot in memory to its completion or error.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "models/cqhci/cqhci.hpp"

namespace vp {

using namespace cqhci;
using sc_core::sc_time_stamp;

namespace {

constexpr std::uint16_t kErrorInfo = reg_offset(kRegs, "CQTERRI");

}  // namespace

CauseGraph& Cqhci::graph(unsigned tag) {
  CauseGraph* g = ctx_.spans.graph(tag);
  return g ? *g : no_graph_;
}

void Cqhci::end_hardware(unsigned tag, NodeId node) { ctx_.spans.hardware_end(tag, node); }

// --- shapes ---

bool Cqhci::is_direct(unsigned tag) const {
  return tag == kDcmdSlot && (bank_.get(reg_offset(kRegs, "CQCFG")) & field_mask(kRegs, "CQCFG", "DCMD_EN"));
}

std::uint32_t Cqhci::task_bytes() const {
  const bool wide = bank_.get(reg_offset(kRegs, "CQCFG")) & field_mask(kRegs, "CQCFG", "TASK_DESC_128");
  return wide ? kTask128Bytes : kTask64Bytes;
}

std::uint32_t Cqhci::link_bytes() const {
  return host_.queue_format().bytes == sdhci::kAdma128Bytes ? kLink64Bytes : kLink32Bytes;
}

std::uint32_t Cqhci::transfer_bytes() const {
  if (link_bytes() == kLink32Bytes) return kTransfer32Bytes;
  return params_.short_transfer_descriptors ? kTransfer64ShortBytes : kTransfer64Bytes;
}

std::uint64_t Cqhci::list_base() const {
  return (bank_.get(reg_offset(kRegs, "CQTDLBA")) | bank_.get(reg_offset(kRegs, "CQTDLBAU")) << 32) &
         ~(kListAlign - 1);
}

// --- descriptor fetch ---

/// The next slot in doorbell order that is not here, as far ahead as allowed; -1: none.
int Cqhci::next_slot_to_fetch() const {
  const bool off = prefetch_off();
  if (off && (sending_ != Sending::nothing || pair_tag_ >= 0)) return -1;
  const std::size_t reach = off ? 1 : 1 + params_.task_fetch_ahead;
  for (std::size_t i = 0; i < std::min(reach, waiting_.size()); ++i)
    if (tasks_[waiting_[i]].stage == Stage::rung) return waiting_[i];
  return -1;
}

void Cqhci::pump_fetches() {
  if (fetch_tag_ >= 0) return;
  fetch_tag_ = next_slot_to_fetch();
  fetch_is_slot_ = fetch_tag_ >= 0;
  if (fetch_is_slot_) {
    Task& t = tasks_[static_cast<unsigned>(fetch_tag_)];
    t.stage = Stage::fetching;
    t.task_bytes = task_bytes();
    t.slot_bytes = t.task_bytes + link_bytes();
    t.slot_address = list_base() + std::uint64_t{t.slot_bytes} * static_cast<unsigned>(fetch_tag_);
    ++counters_.descriptor_fetches;
    data_.fetch(t.slot_address, t.raw.data(), t.slot_bytes);
    return;
  }
  if (prefetch_off()) return;
  for (unsigned tag = 0; tag < kSlots; ++tag) {
    Task& t = tasks_[tag];
    if (!t.ahead_wanted) continue;
    t.ahead_wanted = false;
    fetch_tag_ = static_cast<int>(tag);
    fetch_bytes_ = static_cast<std::uint32_t>(params_.transfer_prefetch_depth) * transfer_bytes();
    ++counters_.descriptor_fetches;
    data_.fetch(t.table, t.ahead.data(), fetch_bytes_);
    return;
  }
}

void Cqhci::fetched(bool ok) {
  const auto tag = static_cast<unsigned>(fetch_tag_);
  fetch_tag_ = -1;
  if (fetch_is_slot_)
    slot_fetched(tag, ok);
  else if (ok)
    tasks_[tag].ahead_bytes = fetch_bytes_;
  pump();
}

void Cqhci::slot_fetched(unsigned tag, bool ok) {
  Task& t = tasks_[tag];
  wait_ends(tag, Span::descriptor_fetch, sc_time_stamp());
  if (!ok) return bad_slot(tag, t.slot_address);
  if (!decode_slot(tag)) return;
  t.stage = Stage::ready;
  if (!is_direct(tag) && !t.direct_transfer && params_.transfer_prefetch == "doorbell" && !prefetch_off())
    t.ahead_wanted = true;
}

/// False: the slot is bad, which counts when its turn comes.
bool Cqhci::decode_slot(unsigned tag) {
  Task& t = tasks_[tag];
  t.descriptor = decode_task(t.raw.data(), t.task_bytes);
  const TaskDescriptor& d = t.descriptor;
  const bool crypto =
      (bank_.get(reg_offset(kRegs, "CQCFG")) & field_mask(kRegs, "CQCFG", "CRYPTO_EN")) && d.crypto();
  if (const std::uint64_t stray = d.stray_bits(crypto))
    ctx_.finding(
        "cqe.reserved_bits", name(), {t.slot_address + 8},
        fmt::format(
            "tag {}: reserved bits 0x{:x} of the upper half of the 128-bit task descriptor at 0x{:x} are "
            "not 0; clear it",
            tag, stray, t.slot_address));
  if (!d.valid() || !d.act_is_task()) return bad_slot(tag, t.slot_address), false;
  if (is_direct(tag)) return true;
  if (d.blocks() == 0) return bad_slot(tag, t.slot_address), false;
  if (crypto)
    return bad_slot(tag, t.slot_address, d.crypto_slot() >= params_.crypto_slots ? kIsGce : kIsIcce), false;
  const std::uint64_t link_address = t.slot_address + t.task_bytes;
  const LinkDescriptor link = decode_link(t.raw.data() + t.task_bytes, t.slot_bytes - t.task_bytes);
  t.direct_transfer = link.act == kTransferActTran;
  if (!link.valid || (link.act != kTransferActLink && !t.direct_transfer))
    return bad_slot(tag, link_address), false;
  t.table = t.direct_transfer ? link_address : link.address;
  t.table_known = !t.direct_transfer;
  // Descriptors start on 4 bytes, 16-byte ones on 8 (SDHCI 4.20 1.13.3).
  if (t.table % (transfer_bytes() == kTransfer64Bytes ? 8 : 4) != 0)
    return bad_slot(tag, link_address), false;
  return true;
}

void Cqhci::bad_slot(unsigned tag, std::uint64_t address, std::uint32_t crypto) {
  Task& t = tasks_[tag];
  t.stage = Stage::bad;
  t.bad_address = address;
  t.bad_crypto = crypto;
}

/// Choice: as an ADMA error in state ST_FDS, with the task named in CQTERRI's data part and CQTDPE.
void Cqhci::descriptor_error(unsigned tag) {
  Task& t = tasks_[tag];
  waiting_.erase(waiting_.begin());
  bank_.set_bits(reg_offset(kRegs, "CQTDPE"), 1u << tag);
  if (t.bad_crypto != 0) {
    fail_data(tag);
    raise(t.bad_crypto);
    return;
  }
  fail_data(tag);
  host_.queue_descriptor_error(t.bad_address);
}

// --- execution ---

void Cqhci::check_host_settings(unsigned tag) {
  if (!host_.adma2_selected())
    ctx_.finding(
        "cqe.not_adma2", name(), {},
        fmt::format("tag {} executed while HOST_CONTROL1.DMA_SELECT is not ADMA2; the engine needs it", tag));
  if (host_.block_bytes() != 512)
    ctx_.finding("cqe.block_size", name(), {host_.block_bytes()},
                 fmt::format("tag {} executed while BLOCK_SIZE is {}; queued tasks move 512-byte blocks", tag,
                             host_.block_bytes()));
}

DataEngine::Job Cqhci::job(unsigned tag) {
  Task& t = tasks_[tag];
  DataEngine::Job job;
  job.direction = t.descriptor.read() ? DataDir::read : DataDir::write;
  job.mover = DataEngine::Mover::adma;
  job.block_bytes = 512;
  job.blocks = t.descriptor.blocks();
  job.address = t.table;
  job.format = host_.queue_format();
  job.format.bytes = t.direct_transfer ? link_bytes() : transfer_bytes();
  job.graph = &graph(tag);
  job.tag = static_cast<int>(tag);
  job.alignment = 4;
  job.keep_copies = params_.check_descriptors;
  if (t.direct_transfer)
    job.buffered = {t.raw.data() + t.task_bytes, t.slot_bytes - t.task_bytes, t.table};
  else if (t.ahead_bytes != 0)
    job.buffered = {t.ahead.data(), t.ahead_bytes, t.table};
  return job;
}

void Cqhci::data_complete(NodeId last) {
  const auto tag = static_cast<unsigned>(data_tag_);
  data_tag_ = -1;
  data_end_ = sc_time_stamp();
  cbc_open_ = false;
  Task& t = tasks_[tag];
  t.stage = Stage::done;
  ctx_.trace.change(t_tag_, sc_time_stamp(), kSlots);
  const sc_time at = core_.align(sc_time_stamp()) + core_.cycles(host_.params().tc_latch);
  complete_at({at, tag, last, t.descriptor.read() ? Span::axi_write : Span::busy, false});
  if (params_.check_descriptors) check_tables(tag);
  pump();
}

void Cqhci::direct_answered(const CommandOutcome& o) {
  const unsigned tag = kDcmdSlot;
  const sc_time now = sc_time_stamp();
  tasks_[tag].stage = Stage::done;
  if (o.response.type != RespType::none) bank_.set(reg_offset(kRegs, "CQCRDCT"), o.response.content);
  sc_time end = now;
  NodeId node = o.response_node;
  bool timed_out = false;
  if (o.expected == RespType::r1b && o.effect.busy_until > now) {
    const sc_time limit = now + host_.data_timeout();
    timed_out = o.effect.busy_until > limit;
    end = timed_out ? limit : o.effect.busy_until;
    CauseGraph& g = graph(tag);
    const NodeId why = o.effect.busy_node;
    node = why != kRootNode && g.end(why) == end ? why : g.add(node, Span::busy, end);
    dat_busy_until_ = end;
  }
  const std::uint64_t latch = end > now ? host_.params().tc_latch : host_.params().resp_latch;
  complete_at(
      {core_.align(end) + core_.cycles(latch), tag, node, end > now ? Span::busy : Span::command, timed_out});
}

void Cqhci::complete_at(const Completion& c) {
  const auto place = std::find_if(completions_.begin(), completions_.end(),
                                  [&c](const Completion& o) { return o.at > c.at; });
  completions_.insert(place, c);
  const sc_time now = sc_time_stamp(), first = completions_.front().at;
  complete_event_.cancel();
  complete_event_.notify(first > now ? first - now : sc_core::SC_ZERO_TIME);
}

void Cqhci::on_complete() {
  const sc_time now = sc_time_stamp();
  while (!completions_.empty() && completions_.front().at <= now) {
    const Completion c = completions_.front();
    completions_.erase(completions_.begin());
    if (!c.timed_out) {
      complete(c);
      continue;
    }
    fail_data(c.tag);
    host_.raise(sdhci::kIntDataTimeout);
  }
  if (!completions_.empty()) complete_event_.notify(completions_.front().at - now);
  pump();
}

void Cqhci::complete(const Completion& c) {
  const std::uint32_t bit = 1u << c.tag;
  const sc_time now = sc_time_stamp();
  Task& t = tasks_[c.tag];
  if (params_.check_descriptors) check_descriptors(c.tag);
  if (params_.latch_sdhci_status && !is_direct(c.tag)) host_.raise(sdhci::kIntTransferComplete);
  if (bank_.get(reg_offset(kRegs, "CQTCN")) & bit)
    ctx_.finding(
        "cqe.completion_overwritten", name(), {c.tag},
        fmt::format("tag {} completes while CQTCN still notifies its last completion; clear CQTCN before the "
                    "doorbell",
                    c.tag));
  bank_.clear_bits(reg_offset(kRegs, "CQTDBR"), bit);
  bank_.clear_bits(reg_offset(kRegs, "CQDPT"), bit);
  const unsigned index = is_direct(c.tag) ? t.descriptor.dcmd_index() : t.descriptor.read() ? 46 : 47;
  const bool lost = bus_.loses_completion(index);
  if (!lost) bank_.set_bits(reg_offset(kRegs, "CQTCN"), bit);
  ctx_.trace.change(t_doorbell_, now, bank_.get(reg_offset(kRegs, "CQTDBR")));
  ctx_.trace.change(t_pending_, now, bank_.get(reg_offset(kRegs, "CQDPT")));
  in_flight_ &= ~bit;
  if (barrier_ == static_cast<int>(c.tag)) barrier_ = -1;
  t.stage = Stage::empty;
  ++counters_.tasks;
  const NodeId node = graph(c.tag).add(c.node, c.latch, now);
  if (lost) return end_hardware(c.tag, node);
  if (!t.descriptor.interrupt()) return count_completion(c.tag, node);
  end_hardware(c.tag, node);
  task_interrupt();
}

// --- errors ---

/// Looks at the response under way; an error stops the engine. R1 bits count as CQRMEM says, except in a queue status.
bool Cqhci::response_good(const CommandOutcome& o) {
  if (o.expected == RespType::none) return true;
  std::uint32_t bits = 0;
  if (o.timeout) bits = sdhci::kIntCommandTimeout;
  if (o.crc_error) bits |= sdhci::kIntCommandCrc;
  if (o.end_bit_error) bits |= sdhci::kIntCommandEndBit;
  if (o.index_error) bits |= sdhci::kIntCommandIndex;
  const bool r1 = o.response.type == RespType::r1 || o.response.type == RespType::r1b;
  const bool red = bits == 0 && r1 && sending_ != Sending::status &&
                   (o.response.content & reg(reg_offset(kRegs, "CQRMEM"))) != 0;
  if (bits == 0 && !red) return true;
  const int tag = line_tag_;
  if (sending_ == Sending::execute) {
    data_.abort();
    data_tag_ = -1;
    cbc_event_.cancel();
  }
  ++counters_.errors;
  bank_.set(kErrorInfo, field_mask(kRegs, "CQTERRI", "RESPONSE_VALID") | o.command.index |
                            static_cast<unsigned>(std::max(tag, 0))
                                << field_lsb(kRegs, "CQTERRI", "RESPONSE_TASK"));
  if (tag >= 0) tasks_[static_cast<unsigned>(tag)].node = o.response_node;
  stop_on_error(tag);
  if (bits != 0) host_.raise(bits);
  if (red) raise(kIsRed);
  return false;
}

void Cqhci::data_failed() {
  const auto tag = static_cast<unsigned>(data_tag_);
  if (sending_ == Sending::execute) {  // a descriptor was wrong before CMD46/47 had its response
    bus_.abandon_command();
    sending_ = Sending::nothing;
    line_tag_ = -1;
  }
  data_tag_ = -1;
  cbc_event_.cancel();
  cbc_open_ = false;
  ctx_.trace.change(t_tag_, sc_time_stamp(), kSlots);
  wait_ends(tag, data_.blocked_on(), sc_time_stamp());
  fail_data(tag);
  if (params_.check_descriptors) check_tables(tag);
  pump();
}

void Cqhci::fail_data(unsigned tag) {
  ++counters_.errors;
  const TaskDescriptor& d = tasks_[tag].descriptor;
  const std::uint32_t index = is_direct(tag) ? d.dcmd_index() : d.read() ? 46 : 47;
  bank_.set(kErrorInfo, field_mask(kRegs, "CQTERRI", "DATA_VALID") |
                            index << field_lsb(kRegs, "CQTERRI", "DATA_INDEX") |
                            tag << field_lsb(kRegs, "CQTERRI", "DATA_TASK"));
  stop_on_error(static_cast<int>(tag));
}

/// Nothing more is issued until the tasks in error are cleared or the engine is disabled; data of another task that are
/// on the lines come to their end.
void Cqhci::stop_on_error(int tag) {
  error_ = true;
  pair_tag_ = -1;
  if (tag < 0) return;
  Task& t = tasks_[static_cast<unsigned>(tag)];
  const std::uint32_t bit = 1u << static_cast<unsigned>(tag);
  t.stage = Stage::failed;
  queued_ &= ~bit;
  ready_ &= ~bit;
  end_hardware(static_cast<unsigned>(tag), t.node);
}

// --- checks of memory against what was fetched ---

bool Cqhci::same_in_memory(std::uint64_t address, const std::byte* copy, std::uint32_t bytes) {
  for (std::uint32_t done = 0; done < bytes;) {
    const auto n = std::min<std::uint32_t>(bytes - done, static_cast<std::uint32_t>(compare_.size()));
    tlm::tlm_generic_payload p;
    p.set_command(tlm::TLM_READ_COMMAND);
    p.set_address(address + done);
    p.set_data_ptr(reinterpret_cast<unsigned char*>(compare_.data()));
    p.set_data_length(n);
    p.set_streaming_width(n);
    if (data_.port().socket->transport_dbg(p) != n) return true;  // nothing to compare with
    if (std::memcmp(compare_.data(), copy + done, n) != 0) return false;
    done += n;
  }
  return true;
}

void Cqhci::check_descriptors(unsigned tag) {
  const Task& t = tasks_[tag];
  if (!same_in_memory(t.slot_address, t.raw.data(), t.slot_bytes))
    ctx_.finding("cqe.descriptor_changed", name(), {t.slot_address},
                 fmt::format("tag {}: the task descriptor at 0x{:x} changed while the task was in use", tag,
                             t.slot_address));
}

/// Transfer descriptors: unchanged, and in no other task's table or the task list.
void Cqhci::check_tables(unsigned tag) {
  const std::uint64_t list = list_base(),
                      list_end = list + std::uint64_t{kSlots} * (task_bytes() + link_bytes());
  for (const DescriptorWalker::Run& run : data_.walker().runs()) {
    const std::uint64_t end = run.address + run.bytes;
    if (!same_in_memory(run.address, data_.walker().copies() + run.offset, run.bytes))
      ctx_.finding(
          "cqe.descriptor_changed", name(), {run.address},
          fmt::format("tag {}: a transfer descriptor from 0x{:x} on changed while the task was in use", tag,
                      run.address));
    if (!tasks_[tag].direct_transfer && run.address < list_end && end > list)
      ctx_.finding(
          "cqe.table_in_task_list", name(), {run.address, list},
          fmt::format(
              "tag {}: its transfer descriptors 0x{:x} to 0x{:x} lie in the task descriptor list at 0x{:x}",
              tag, run.address, end - 1, list));
    for (unsigned other = 0; other < kSlots; ++other) {
      const Task& o = tasks_[other];
      if (other == tag || o.stage == Stage::empty || !o.table_known) continue;
      if (o.table >= run.address && o.table < end)
        ctx_.finding(
            "cqe.table_overrun", name(), {run.address, o.table},
            fmt::format(
                "tag {}: its transfer descriptors 0x{:x} to 0x{:x} run into the table of tag {} at 0x{:x}",
                tag, run.address, end - 1, other, o.table));
    }
  }
}

}  // namespace vp
