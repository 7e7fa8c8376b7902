#include "models/emmc/emmc_params.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/mmc_bus/crc.hpp"

namespace vp {

void EmmcParams::declare(ParamRegistry& r, const std::string& at) {
  const std::string p = at + ".";
  r.add(p + "ext_csd", ext_csd, {}, "EXT_CSD dump: 1024 hex digits");
  r.add(p + "cid", cid, {}, "CID, 32 hex digits; the CRC byte is computed");
  r.add(p + "csd", csd, {}, "CSD, 32 hex digits; the CRC byte is computed");
  r.add(p + "bus_width_readback", bus_width_readback, "CMD8 shows BUS_WIDTH as written instead of 0");
  r.add(p + "queue_read_pages", queue_read_pages, "pages", 1, 4096,
        "pages of a queued read in the device's buffer before it is executed");
  r.add(p + "queue_parallel", queue_parallel, "tasks", 1, 32, "queued tasks the device works on at once");
  r.add(p + "queue_write_ready", queue_write_ready, {"at_once", "firmware"},
        "a queued write is ready when its data have room, or when its firmware work is done too");
  r.add(p + "cache_bytes", cache_bytes, "bytes", 0, 1ULL << 32, "write cache; 0: EXT_CSD CACHE_SIZE");
  r.add(p + "power_up_us", power_up_us, "us", 0, 1e6,
        "CMD1 busy after power-on or RST_n (JESD84-B51: at most 1 s)");
  r.add(p + "reset_us", reset_us, "us", 0, 1e6, "CMD1 busy after CMD0");
  r.add(p + "switch_mode_us", switch_mode_us, "us", 0, 1e6, "CMD6 busy: HS_TIMING, BUS_WIDTH, POWER_CLASS");
  r.add(p + "switch_partition_us", switch_partition_us, "us", 0, 1e6, "CMD6 busy: PARTITION_CONFIG");
  r.add(p + "switch_cache_us", switch_cache_us, "us", 0, 1e6, "CMD6 busy: CACHE_CTRL");
  r.add(p + "switch_power_us", switch_power_us, "us", 0, 1e7, "CMD6 busy: POWER_OFF_NOTIFICATION");
  r.add(p + "switch_other_us", switch_other_us, "us", 0, 1e6, "CMD6 busy: every other byte");
  r.add(p + "discard_us", discard_us, "us", 0, 1e6, "CMD48 busy");
  r.add(p + "bkops_us", bkops_us, "us", 0, 1e9, "CMD6 busy: BKOPS_START");
  r.add(p + "sanitize_us", sanitize_us, "us", 0, 1e9, "CMD6 busy: SANITIZE_START");
  r.add(p + "sleep_us", sleep_us, "us", 0, 1e6, "CMD5 busy");
  r.add(p + "select_us", select_us, "us", 0, 1e6, "CMD7 busy");
  r.add(p + "register_read_us", register_read_us, "us", 0, 1e5, "command end to data of CMD8 and CMD21");
  r.add(p + "gap_clocks_52", gap_clocks_52, "clocks", 2, 100000, "gap between blocks of a read up to 52 MHz");
  r.add(p + "gap_clocks_200", gap_clocks_200, "clocks", 2, 100000,
        "gap between blocks of a read above 52 MHz");
  r.add(p + "n_cr_52", n_cr_52, "clocks", 2, 64, "N_CR up to 52 MHz");
  r.add(p + "n_cr_200", n_cr_200, "clocks", 2, 64, "N_CR above 52 MHz");
  r.add(p + "ecc_errors", ecc_errors, {}, "uncorrectable blocks, as in 100,2048-2055");
}

std::array<std::uint8_t, 16> parse_register(const std::string& text, const std::string& key) {
  std::array<std::uint8_t, 16> bytes{};
  const bool hex = text.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
  if (text.size() != 32 || !hex) throw InputError(fmt::format("{} = {}: must be 32 hex digits", key, text));
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  bytes[15] = static_cast<std::uint8_t>(crc7(std::span(bytes).first<15>()) << 1 | 1);
  return bytes;
}

std::vector<std::uint64_t> parse_block_list(const std::string& text, const std::string& key) {
  constexpr std::uint64_t kMost = 1000000;
  std::vector<std::uint64_t> blocks;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, comma - at);
    const std::size_t dash = item.find('-');
    const std::string where = key + ": ";
    const std::uint64_t first = parse_size(item.substr(0, dash), where);
    const std::uint64_t last = dash == std::string::npos ? first : parse_size(item.substr(dash + 1), where);
    if (last < first || last - first >= kMost)
      throw InputError(
          fmt::format("{} = {}: range {} is empty or longer than {} blocks", key, text, item, kMost));
    for (std::uint64_t b = first; b <= last; ++b) blocks.push_back(b);
    at = comma + 1;
  }
  std::sort(blocks.begin(), blocks.end());
  return blocks;
}

}  // namespace vp
