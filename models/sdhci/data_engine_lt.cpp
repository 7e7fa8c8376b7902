// The data engine in `lt` style: the same recurrences as in `at` style, computed ahead for up to 64 KiB at a time by
// reservation, with one event per 64 KiB. ADMA2 only; PIO, SDMA and tuning always run by events.
#include <algorithm>
#include <array>

#include "models/sdhci/data_engine.hpp"

namespace vp {

using sc_core::sc_time_stamp;

namespace {
constexpr std::uint32_t kChunkBytes = 64 * 1024;  // one event each
constexpr std::uint32_t kRunBytes = 4096;         // one b_transport each
}  // namespace

/// A contiguous stretch of memory gathered from FIFO blocks, moved by one blocking transport.
struct DataEngine::LtRun {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  std::byte* data = nullptr;
  unsigned count = 0;
  std::array<LtPiece, 16> pieces;
  std::array<std::uint64_t, 16> block{};
  std::array<std::uint64_t, 16> next_descriptor{};

  /// The descriptor after the one whose data hold `at`.
  std::uint64_t next_descriptor_of(std::uint64_t at) const {
    unsigned i = 0;
    for (std::uint64_t end = address + pieces[0].bytes; i + 1 < count && at >= end; end += pieces[i].bytes)
      ++i;
    return next_descriptor[i];
  }

  bool full() const { return count == pieces.size(); }
  void add(std::uint64_t at, std::byte* from, std::uint32_t n, std::uint64_t of_block, sc_time ready) {
    if (count == 0) address = at, data = from, bytes = 0;
    pieces[count] = LtPiece{n, ready, {}, {}};
    block[count++] = of_block;
    bytes += n;
  }
};

void DataEngine::run_lt() {
  if (!active_) return;
  if (lt_error_ == sdhci::kIntAdma) {
    fail_adma(lt_adma_.state, lt_adma_.mismatch, lt_adma_.descriptor);
    return;
  }
  if (lt_error_ != 0) {
    fail(lt_error_);
    return;
  }
  const std::uint64_t chunk = std::max<std::uint64_t>(1, kChunkBytes / job_.block_bytes);
  const std::uint64_t blocks = std::min(chunk, job_.blocks - next_block_);
  if (lt_buffer_.size() < kRunBytes + 4096) lt_buffer_.resize(kRunBytes + 4096);
  if (job_.direction == DataDir::read)
    read_lt(blocks);
  else
    write_lt(blocks);
  if (!active_ || stuck_ || gap_stopped_ || waiting_for_data_ || lt_error_ == sdhci::kIntAdma) return;
  const sc_time now = sc_time_stamp();
  if (lt_error_ != 0 || next_block_ < job_.blocks) {
    wire_event_.notify(frame_end_ > now ? frame_end_ - now : sc_core::SC_ZERO_TIME);
    return;
  }
  // The terminator, if one follows, is fetched when the last data burst has been issued (depth 0) or was ahead.
  if (const Segment* end = walker_.current_lt(lt_last_issue_); end && job_.check_length)
    lt_last_done_ = std::max(lt_last_done_, end->at);
  lt_at_ = job_.direction == DataDir::read ? lt_last_done_ : frame_end_;
  bool waiting = false;
  if (!table_has_ended(waiting)) return;
  if (job_.direction == DataDir::write) {
    complete_at(frame_end_, wire_node_);
    return;
  }
  NodeId last = wire_node_;
  if (segment_wait_until_ > graph().end(last))
    last = graph().add(last, Span::descriptor_fetch, segment_wait_until_);
  complete_at(lt_last_done_, graph().add(last, Span::axi_write, lt_last_done_));
}

bool DataEngine::flush_lt(LtRun& run) {
  if (run.count == 0) return true;
  const bool is_write = job_.direction == DataDir::read;
  const std::span<LtPiece> pieces(run.pieces.data(), run.count);
  std::uint64_t error_address = run.address;
  if (!port_.run_lt(is_write, run.address, run.data, pieces, &error_address)) {
    fail_adma(AdmaState::transfer, false, run.next_descriptor_of(error_address));
    return false;
  }
  const std::uint64_t cap = capacity();
  for (unsigned i = 0; i < run.count; ++i) {
    const LtPiece& p = run.pieces[i];
    if (is_write)
      slot_times_[run.block[i] % cap] = params_.posted_drain ? p.left : p.done;
    else
      lt_have_[run.block[i] % cap] = p.done;
    lt_last_done_ = std::max(lt_last_done_, p.done);
  }
  lt_last_issue_ = run.pieces[run.count - 1].left;
  run.count = 0;
  return true;
}

/// Spreads one block over segments, as pieces of runs. False: the engine has stopped.
bool DataEngine::place_block_lt(LtRun& run, std::uint64_t block, std::byte* data, sc_time ready) {
  for (std::uint32_t offset = 0; offset < job_.block_bytes;) {
    Segment* s = walker_.current_lt(ready);
    lt_at_ = s ? std::max(ready, s->at) : ready;
    if (!s || !check_segment(*s)) return false;
    if (s->at > ready) {
      counters_.descriptor_wait += s->at - ready;
      segment_wait_until_ = s->at;
    }
    const sc_time from = std::max(ready, s->at);
    const std::uint32_t n = piece_limit(*s, job_.block_bytes - offset);
    if (n == 0) return false;
    const bool joins =
        run.count > 0 && s->address == run.address + run.bytes && data + offset == run.data + run.bytes;
    if (run.count > 0 && (!joins || run.full() || run.bytes + n > kRunBytes) && !flush_lt(run)) return false;
    run.next_descriptor[run.count] = s->descriptor + job_.format.bytes;
    run.add(s->address, data + offset, n, block, from);
    offset += n;
    const bool interrupt = s->interrupt;
    if (!use_segment(*s, n)) continue;
    const bool last_byte = block + 1 == job_.blocks && offset == job_.block_bytes;
    if (walker_.depth() == 0 && !flush_lt(run))
      return false;  // the next fetch waits for the last burst's issue
    walker_.advance(walker_.depth() == 0 ? lt_last_issue_ : from);
    if (interrupt && !last_byte) client_.data_interrupt(sdhci::kIntDma);
  }
  return true;
}

void DataEngine::read_lt(std::uint64_t blocks) {
  LtRun run;
  const std::uint64_t cap = capacity();
  const sc_time gap = bus_.clock().cycles(bus_.card().block_gap_clocks(bus_.clock().frequency_hz()));
  const sc_time frame = bus_.frame_time(job_.block_bytes);
  const std::uint32_t per_run = std::max<std::uint32_t>(1, kRunBytes / job_.block_bytes);
  const bool sampling_bad = bad_sampling();
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const std::uint64_t k = next_block_;
    if (stopped_by_gap(k)) break;
    if (!bus_.card().transfer_running()) {
      arm_timeout(wire_base_);
      waiting_for_data_ = true;
      break;
    }
    if (run.count > 0 && (k % per_run == 0 || k >= run.block[0] + cap) && !flush_lt(run)) return;
    room_at_ = k >= cap ? slot_times_[k % cap] : sc_core::SC_ZERO_TIME;
    if (room_at_ > wire_base_) {
      ++counters_.clock_stops;
      counters_.clock_stopped += room_at_ - wire_base_;
    }
    const BlockReady ready = bus_.read_ready(static_cast<std::uint32_t>(k), graph());
    if (ready.at > wire_base_ + timeout_) {
      arm_timeout(wire_base_);
      waiting_for_data_ = true;
      break;
    }
    frame_start_ = bus_.clock().align(std::max({wire_base_, ready.at, room_at_}));
    frame_end_ = frame_start_ + frame;
    wire_node_ = read_cause(wire_base_, ready, frame_end_);
    wire_node_extendable_ = true;
    std::byte* data = lt_buffer_.data() + (k % per_run) * job_.block_bytes;
    const MmcBus::FrameCheck check =
        bus_.receive(static_cast<std::uint32_t>(k), {data, job_.block_bytes}, frame_start_, frame_end_);
    ++counters_.blocks_read;
    ++next_block_;
    count_block(available_at(frame_end_));
    if (check.crc_error || check.end_bit_error || sampling_bad) {
      lt_error_ = (check.crc_error || sampling_bad ? sdhci::kIntDataCrc : 0u) |
                  (check.end_bit_error ? sdhci::kIntDataEndBit : 0u);
      break;
    }
    wire_base_ = frame_end_ + gap;
    if (!place_block_lt(run, k, data, available_at(frame_end_))) return;
  }
  if (active_) flush_lt(run);
}

/// Fetches the next `count` blocks of a write into the FIFO positions that are free by then.
bool DataEngine::fetch_blocks_lt(std::uint64_t count) {
  LtRun run;
  const std::uint64_t cap = capacity();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t k = lt_fetched_++;
    const sc_time free = slot_times_[k % cap];
    if (!place_block_lt(run, k, lt_buffer_.data() + (k % cap) * job_.block_bytes, free)) return false;
  }
  return flush_lt(run);
}

void DataEngine::write_lt(std::uint64_t blocks) {
  const std::uint64_t cap = capacity();
  lt_have_.resize(cap);
  if (lt_buffer_.size() < cap * job_.block_bytes) lt_buffer_.resize(cap * job_.block_bytes);
  const sc_time frame = bus_.frame_time(job_.block_bytes);
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const std::uint64_t k = next_block_;
    if (stopped_by_gap(k)) return;
    if (k == lt_fetched_) {
      if (!fetch_blocks_lt(std::min(cap, job_.blocks - lt_fetched_))) return;
    }
    const sc_time have = lt_have_[k % cap];
    frame_start_ = bus_.clock().align(std::max(wire_base_, have));
    const sc_time end = frame_start_ + frame;
    const sc_time token = bus_.token_end(end);
    wire_node_ = write_cause(wire_base_, have, token);
    const WriteEffect effect = bus_.send(static_cast<std::uint32_t>(k),
                                         {lt_buffer_.data() + (k % cap) * job_.block_bytes, job_.block_bytes},
                                         frame_start_, end, graph(), wire_node_);
    slot_times_[k % cap] = token;
    ++counters_.blocks_written;
    ++next_block_;
    count_block(token);
    frame_end_ = std::max(token, effect.busy_until);
    if (effect.status == CrcStatus::crc_error) {
      lt_error_ = sdhci::kIntDataCrc;
      return;
    }
    if (effect.status == CrcStatus::none || effect.busy_until > token + timeout_) {
      arm_timeout(token);
      waiting_for_data_ = true;
      return;
    }
    if (frame_end_ > token)
      wire_node_ = effect.why == kRootNode ? graph().add(wire_node_, Span::busy, frame_end_) : effect.why;
    wire_base_ = frame_end_ + bus_.clock().cycles(bus_.params().n_wr);
  }
}

}  // namespace vp
