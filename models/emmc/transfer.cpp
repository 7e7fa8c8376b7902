// Data: reads, writes, erase.
#include <algorithm>
#include <cstring>

#include "models/emmc/emmc.hpp"
#include "models/emmc/tuning_block.hpp"

namespace vp {

/// The first block a command names, or nothing (and the error bit) when it does not exist.
std::optional<std::uint64_t> Emmc::block_address(std::uint32_t argument) {
  const Partition& p = partitions_[ext_csd_[ext_csd::kPartitionConfig] & 7];
  if (!sector_addressing_ && argument % kBlockBytes != 0) {
    status_ |= status::kAddressMisalign;
    return std::nullopt;
  }
  const std::uint64_t lba = sector_addressing_ ? argument : argument / kBlockBytes;
  if (lba >= p.medium->blocks()) {
    status_ |= status::kAddressOutOfRange;
    return std::nullopt;
  }
  return lba;
}

void Emmc::begin_read(Call& c, std::uint32_t blocks) {
  const auto lba = block_address(c.cmd.argument);
  if (!lba) return;
  Transfer& t = transfer_;
  t.running = true, t.writing = false, t.source = Source::medium, t.rejected = false;
  t.partition = &partitions_[ext_csd_[ext_csd::kPartitionConfig] & 7];
  t.lba = *lba, t.blocks = blocks, t.moved = 0;
  const std::uint64_t first = t.partition->first_lba;
  t.reading = &t.read;
  ftl_->start_read(t.read, first + *lba, blocks, first + t.partition->medium->blocks(), c.now, c.graph,
                   c.after);
  data_done_ = false;
  enter(CardState::data, c.now);
  c.effect.data = DataDir::read;
  c.effect.block_bytes = kBlockBytes;
}

void Emmc::begin_register_read(Call& c, Source source, std::uint32_t bytes) {
  Transfer& t = transfer_;
  t.running = true, t.writing = false, t.source = source, t.rejected = false;
  t.blocks = 1, t.moved = 0;
  t.register_ready.at = c.now + from_ps(NandParams::us(params_.register_read_us));
  t.register_ready.why = c.graph.add(c.after, Span::device_firmware, t.register_ready.at);
  data_done_ = false;
  enter(CardState::data, c.now);
  c.effect.data = DataDir::read;
  c.effect.block_bytes = bytes;
}

BlockReady Emmc::read_ready(std::uint32_t k, CauseGraph& graph) {
  if (!transfer_.running) return {sc_core::sc_max_time(), kRootNode};
  return transfer_.source == Source::medium ? transfer_.reading->ready(k, graph) : transfer_.register_ready;
}

std::uint32_t Emmc::ready_with(std::uint32_t k) const {
  const Transfer& t = transfer_;
  if (!t.running || t.source != Source::medium) return 1;
  const std::uint64_t left = std::min<std::uint64_t>(t.partition->medium->blocks() - (t.lba + k),
                                                     t.blocks == 0 ? ~std::uint64_t{0} : t.blocks - k);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(left, t.reading->ready_with(k)));
}

void Emmc::read_block(std::uint32_t k, std::span<std::byte> out, sc_time frame_end) {
  Transfer& t = transfer_;
  t.moved = k + 1;
  if (t.source == Source::ext_csd) {
    const ExtCsd::Bytes bytes = ext_csd_.readable(params_.bus_width_readback);
    std::memcpy(out.data(), bytes.data(), std::min(out.size(), bytes.size()));
  } else if (t.source == Source::tuning) {
    std::memcpy(out.data(), out.size() == 64 ? kTuningBlock4.data() : kTuningBlock8.data(), out.size());
  } else {
    const std::uint64_t lba = t.lba + k;
    t.partition->medium->read_block(lba, out);
    t.reading->delivered(frame_end);
    if (ftl_->has_ecc_errors() && ftl_->ecc_error(t.partition->first_lba + lba)) {
      status_ |= status::kDeviceEccFailed;
      out[0] ^= std::byte{0x01};  // what could not be corrected is sent as it is
    }
    // Past the end the device stops and waits for CMD12.
    if (lba + 1 == t.partition->medium->blocks() && (t.blocks == 0 || k + 1 < t.blocks)) {
      status_ |= status::kAddressOutOfRange;
      t.running = false;
      return;
    }
  }
  if (k + 1 != t.blocks) return;
  t.running = false;
  data_done_ = true;
  data_end_ = frame_end;
  end_task(frame_end);
}

void Emmc::begin_write(Call& c, std::uint32_t blocks, bool through, bool single) {
  const auto lba = block_address(c.cmd.argument);
  if (!lba) return;
  Transfer& t = transfer_;
  t.running = true, t.writing = true, t.source = Source::medium, t.rejected = false;
  const unsigned access = ext_csd_[ext_csd::kPartitionConfig] & 7;
  t.partition = &partitions_[access];
  t.lba = *lba, t.blocks = blocks, t.moved = 0, t.single = single;
  through = through || access != 0;  // boot partitions are not cached
  t.write_plan = &t.write;
  ftl_->start_write(t.write, t.partition->first_lba + *lba, through, c.now);
  busy_until_ = sc_time();
  enter(CardState::rcv, c.now);
  c.effect.data = DataDir::write;
  c.effect.block_bytes = kBlockBytes;
}

void Emmc::end_write(sc_time at, const Accepted& accepted) {
  transfer_.running = false;
  busy_until_ = accepted.at;
  enter(CardState::prg, at);
  end_task(accepted.at);
}

WriteEffect Emmc::write_block(std::uint32_t k, std::span<const std::byte> in, bool crc_good,
                              sc_time token_end, CauseGraph& graph, NodeId after) {
  Transfer& t = transfer_;
  const std::uint64_t lba = t.lba + k;
  if (!t.running || !t.writing || t.rejected) return {CrcStatus::none, token_end, after};
  if (!crc_good) {
    // The block and all that follow are ignored until CMD12; a single block goes straight back.
    if (t.single)
      end_write(token_end, ftl_->finish_write(*t.write_plan, token_end, graph, after));
    else
      t.rejected = true;
    return {CrcStatus::crc_error, token_end, after};
  }
  t.partition->medium->write_block(lba, in);
  t.moved = k + 1;
  const bool at_end = lba + 1 == t.partition->medium->blocks();
  const bool last = k + 1 == t.blocks;
  const Accepted a = ftl_->write_block(*t.write_plan, k, last || at_end, token_end, graph, after);
  if (last) {
    end_write(token_end, a);
  } else {
    busy_until_ = a.at;
    if (at_end) {
      status_ |= status::kAddressOutOfRange;
      t.running = false;
    }
  }
  return {CrcStatus::accepted, a.at, a.why};
}

std::uint64_t Emmc::erase_group_blocks() const {
  if ((ext_csd_[ext_csd::kEraseGroupDef] & 1) != 0)
    return std::max(1U, unsigned{ext_csd_[ext_csd::kHcEraseGrpSize]}) * 1024ULL;
  const auto bits = [&](unsigned high, unsigned low) {  // CSD slice
    unsigned v = 0;
    for (unsigned b = high + 1; b-- > low;) v = v << 1 | (csd_[15 - b / 8] >> (b % 8) & 1U);
    return v;
  };
  return (bits(46, 42) + 1ULL) * (bits(41, 37) + 1ULL);
}

void Emmc::erase_group_start(Call& c) {
  erase_ = {};
  if (const auto lba = block_address(c.cmd.argument)) erase_.start_set = true, erase_.start = *lba;
}

void Emmc::erase_group_end(Call& c) {
  if (!erase_.start_set) {
    erase_ = {};
    status_ |= status::kEraseSeqError;
    return;
  }
  const auto lba = block_address(c.cmd.argument);
  if (!lba) {
    erase_ = {};
    return;
  }
  if (*lba < erase_.start) {  // ERASE_PARAM is an execution error: seen from the next response on
    erase_ = {};
    deferred_status_ |= status::kEraseParam;
    return;
  }
  erase_.end_set = true, erase_.end = *lba;
}

void Emmc::erase(Call& c) {
  const auto range = erase_;
  erase_ = {};
  if (!range.start_set || !range.end_set) {
    status_ |= status::kEraseSeqError;
    return;
  }
  const std::uint32_t kind = c.cmd.argument;
  const bool groups = kind == 0 || kind == 0x80000000;               // erase, secure erase
  const bool blocks = kind == 1 || kind == 3 || kind == 0x80000001;  // trim, discard, secure trim step 1
  const bool nothing = kind == 0x80008000;                           // secure trim step 2: already purged
  if (!(groups || blocks || nothing)) {
    deferred_status_ |= status::kEraseParam;
    return;
  }
  Partition& p = partitions_[ext_csd_[ext_csd::kPartitionConfig] & 7];
  std::uint64_t first = range.start, end = range.end + 1;
  const std::uint64_t group = erase_group_blocks();
  if (groups) first -= first % group, end = std::min((end + group - 1) / group * group, p.medium->blocks());
  if (nothing) end = first;
  p.medium->erase(first, end - first);
  const std::uint64_t lba = p.first_lba + first;
  const Accepted a =
      groups ? ftl_->erase(lba, end - first, (end - first + group - 1) / group, c.now, c.graph, c.after)
             : ftl_->trim(lba, end - first, c.now, c.graph, c.after);
  busy(c, CardState::prg, a.at, a.why);
}

}  // namespace vp
