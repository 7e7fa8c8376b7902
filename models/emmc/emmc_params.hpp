// Parameters of the eMMC device: its registers and its own delays. The NAND behind it has its own
// (nand_params.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/core/params.hpp"

namespace vp {

struct EmmcParams {
  // Registers. The default part is synthetic: no vendor uses manufacturer id 0xC5 (see README "Device
  // parts").
  std::string ext_csd = "synthetic-32g-emmc51.hex";  ///< file name of the dump
  std::string
      ext_csd_text;  ///< its text when the platform has it (not a parameter); empty: `ext_csd` is opened
  std::string cid = "c50100565045333247101234567869a9";
  std::string csd = "d02701320f5903ffffffffef8a40001b";
  bool bus_width_readback = false;            ///< some parts show BUS_WIDTH in CMD8
  std::uint64_t queue_parallel = 32;          ///< tasks the device prepares at once; 1: one internal queue
  std::uint64_t queue_read_pages = 2;         ///< pages of a queued read fetched before its execution
  std::string queue_write_ready = "at_once";  ///< or "firmware": see declare()
  std::uint64_t cache_bytes = 0;              ///< write cache; 0: as EXT_CSD CACHE_SIZE says

  // Busy and answer times, counted from the command's end bit.
  double power_up_us = 20000;  ///< CMD1 busy after power-on and RST_n
  double reset_us = 1000;      ///< CMD1 busy after CMD0
  double switch_mode_us = 50;  ///< CMD6 HS_TIMING, BUS_WIDTH, POWER_CLASS
  double switch_partition_us = 200;
  double switch_cache_us = 500;
  double switch_power_us = 1000;  ///< POWER_OFF_NOTIFICATION
  double switch_other_us = 20;
  double discard_us = 20;  ///< CMD48
  double bkops_us = 10000;
  double sanitize_us = 1000000;
  double sleep_us = 1000;        ///< CMD5, either way
  double select_us = 0;          ///< CMD7 from dis is busy until programming ends, otherwise this long
  double register_read_us = 10;  ///< data of CMD8 and CMD21

  // Wire.
  std::uint64_t gap_clocks_52 = 8;    ///< G up to 52 MHz
  std::uint64_t gap_clocks_200 = 45;  ///< G above
  std::uint64_t n_cr_52 = 8, n_cr_200 = 12;

  std::string ecc_errors;  ///< blocks that cannot be corrected: "100,2048-2055"

  void declare(ParamRegistry& r, const std::string& at);
};

/// CID or CSD from 32 hex digits, byte 0 = bits 127:120. The last byte (CRC7 and end bit) is computed.
/// InputError.
std::array<std::uint8_t, 16> parse_register(const std::string& text, const std::string& key);
/// "100,2048-2055" as ascending block numbers. InputError.
std::vector<std::uint64_t> parse_block_list(const std::string& text, const std::string& key);

}  // namespace vp
