// A request as a data command: what the back ends that start commands themselves have in common.
#pragma once

#include <span>

#include "firmware/block/request.hpp"
#include "firmware/mmc/host.hpp"

namespace fw {

class Card;

/// The data of `r`: blocks of 512 bytes in the request's own segments, kept in `segments`. No segments when they do not
/// fit there.
MmcData transfer_data(const Request& r, std::uint32_t max_seg_bytes, std::span<Segment> segments);

/// CMD17, 18, 24 or 25 for `r` and `data`, which the command points to; several blocks are announced by CMD23.
MmcCommand transfer_command(const Request& r, const Card& card, MmcData& data);

}  // namespace fw
