// Data and what they cost. b = 512 bytes at the array's rate, B = blocks the RAM holds.
//   read:  ready(k) = command end + read_access + k b
//   write: block k, token end t(k), is in the array at D(k) = max(D(k-1), t(k)) + b; the next may come (busy ends) at
//          max(t(k), D(k) - (B - 1) b): one place is free then. The command ends (its last block's busy when counted or
//          single, CMD12's otherwise) at D(last) + write_command.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "models/sd_card/sd_card.hpp"

namespace vp {

using namespace sd_status;

namespace {
sc_time us(double v) { return from_ps(static_cast<std::uint64_t>(std::llround(v * 1e6))); }
}  // namespace

bool SdCard::in_range(std::uint32_t lba) {
  if (lba < medium_->blocks()) return true;
  status_ |= kOutOfRange;
  return false;
}

void SdCard::begin_read(Call& c, std::uint32_t blocks) {
  if (!in_range(c.cmd.argument)) return;
  ++counters_.read_commands;
  transfer_ = Transfer{};
  transfer_.running = true;
  transfer_.lba = c.cmd.argument;
  transfer_.blocks = blocks;
  transfer_.base = std::max(c.now, programmed_) + us(params_.read_access_us);
  transfer_.base_node = c.graph.add(c.after, Span::device_firmware, transfer_.base);
  data_done_ = switching_ = false;
  enter(SdState::data, c.now);
  c.effect.data = DataDir::read;
  c.effect.block_bytes = kBlockBytes;
}

/// A register as one block of data.
void SdCard::send_bytes(Call& c, std::span<const std::uint8_t> bytes) {
  std::memcpy(bytes_.data(), bytes.data(), bytes.size());
  transfer_ = Transfer{};
  transfer_.running = true;
  transfer_.source = Source::bytes;
  transfer_.blocks = 1;
  transfer_.base = c.now + us(params_.register_read_us);
  transfer_.base_node = c.graph.add(c.after, Span::device_firmware, transfer_.base);
  data_done_ = switching_ = false;
  enter(SdState::data, c.now);
  c.effect.data = DataDir::read;
  c.effect.block_bytes = static_cast<std::uint32_t>(bytes.size());
}

BlockReady SdCard::read_ready(std::uint32_t k, CauseGraph& graph) {
  const Transfer& t = transfer_;
  if (!t.running) return {sc_core::sc_max_time(), kRootNode};
  if (k == 0) return {t.base, t.base_node};
  const sc_time at = t.base + from_ps(read_block_time_.value() * k);
  return {at, graph.add(t.base_node, Span::nand_channel, at)};
}

void SdCard::read_block(std::uint32_t k, std::span<std::byte> out, sc_time frame_end) {
  Transfer& t = transfer_;
  t.moved = k + 1;
  if (t.source == Source::bytes) {
    std::memcpy(out.data(), bytes_.data(), std::min(out.size(), bytes_.size()));
    if (switching_) new_function_from_ = frame_end;
  } else {
    const std::uint64_t lba = t.lba + k;
    counters_.array_busy += read_block_time_;
    medium_->read_block(lba, out);
    if (!ecc_errors_.empty() && std::binary_search(ecc_errors_.begin(), ecc_errors_.end(), lba)) {
      status_ |= kCardEccFailed;
      out[0] ^= std::byte{0x01};  // what could not be corrected is sent as it is
    }
    if (lba + 1 == medium_->blocks() && (t.blocks == 0 || k + 1 < t.blocks)) {
      // An open-ended read may run ahead to the end; a counted one asked for what is not there (4.3.3).
      if (t.blocks != 0) status_ |= kOutOfRange;
      t.running = false;
      return;
    }
  }
  if (k + 1 != t.blocks) return;
  t.running = false;
  data_done_ = true;
  data_end_ = frame_end;
}

void SdCard::begin_write(Call& c, std::uint32_t blocks, bool single) {
  if (!in_range(c.cmd.argument)) return;
  ++counters_.write_commands;
  transfer_ = Transfer{};
  transfer_.running = transfer_.writing = true;
  transfer_.single = single;
  transfer_.lba = c.cmd.argument;
  transfer_.blocks = blocks;
  well_written_ = 0;
  busy_until_ = sc_time();
  enter(SdState::rcv, c.now);
  c.effect.data = DataDir::write;
  c.effect.block_bytes = kBlockBytes;
}

/// When the array has everything and the command is done with.
BlockReady SdCard::end_of_write(sc_time at, CauseGraph& graph, NodeId after) {
  const sc_time written = std::max(at, programmed_);
  const sc_time done = written + us(params_.write_command_us);
  counters_.firmware_busy += done - written;
  programmed_ = done;
  const NodeId array = written > at ? graph.add(after, Span::nand_array, written) : after;
  return {done, graph.add(array, Span::device_firmware, done)};
}

void SdCard::end_write(sc_time at, sc_time busy_until) {
  transfer_.running = false;
  busy_until_ = busy_until;
  enter(SdState::prg, at);
}

WriteEffect SdCard::write_block(std::uint32_t k, std::span<const std::byte> in, bool crc_good,
                                sc_time token_end, CauseGraph& graph, NodeId after) {
  Transfer& t = transfer_;
  const std::uint64_t lba = t.lba + k;
  if (!t.running || !t.writing || t.rejected) return {CrcStatus::none, token_end, after};
  if (!crc_good) {
    // The block and all that follow are ignored until CMD12; a single block goes straight back.
    if (t.single)
      end_write(token_end, token_end);
    else
      t.rejected = true;
    return {CrcStatus::crc_error, token_end, after};
  }
  medium_->write_block(lba, in);
  well_written_ = t.moved = k + 1;
  const std::uint64_t b = write_block_time_.value();
  const std::uint64_t places = params_.buffer_bytes / kBlockBytes;
  programmed_ = std::max(programmed_, token_end) + write_block_time_;
  counters_.array_busy += write_block_time_;
  if (k + 1 == t.blocks) {
    const BlockReady done = end_of_write(token_end, graph, after);
    end_write(token_end, done.at);
    return {CrcStatus::accepted, done.at, done.why};
  }
  if (lba + 1 == medium_->blocks()) {
    status_ |= kOutOfRange;
    t.running = false;
  }
  const std::uint64_t ahead = (places - 1) * b;
  const sc_time room = programmed_.value() > ahead ? from_ps(programmed_.value() - ahead) : sc_time();
  if (room <= token_end) return {CrcStatus::accepted, token_end, after};
  busy_until_ = room;
  return {CrcStatus::accepted, room, graph.add(after, Span::nand_array, room)};
}

}  // namespace vp
