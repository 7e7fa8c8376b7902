#include "firmware/block/transfer.hpp"

#include "firmware/block/split.hpp"
#include "firmware/mmc/card.hpp"
#include "firmware/mmc/commands.hpp"

namespace fw {

MmcData transfer_data(const Request& r, std::uint32_t max_seg_bytes, std::span<Segment> segments) {
  MmcData data;
  data.segments = segments.first(gather(r.io->buffer, r.buffer_offset, r.bytes, max_seg_bytes, segments));
  data.block_bytes = kSectorBytes;
  data.blocks = r.bytes / kSectorBytes;
  data.read = !r.write;
  return data;
}

MmcCommand transfer_command(const Request& r, const Card& card, MmcData& data) {
  const bool many = data.blocks > 1;
  MmcCommand c;
  c.index = r.write ? (many ? cmd::kWriteMultiple : cmd::kWriteSingle)
                    : (many ? cmd::kReadMultiple : cmd::kReadSingle);
  c.arg = card.address_arg(r.lba);
  c.data = &data;
  c.use_sbc = many;
  c.sbc_arg = data.blocks;
  return c;
}

}  // namespace fw
