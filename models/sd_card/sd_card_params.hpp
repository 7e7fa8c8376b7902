// Parameters of the SD memory card: identity, and the few numbers its speed hangs on.
#pragma once

#include <cstdint>
#include <string>

#include "models/core/params.hpp"

namespace vp {

struct SdCardParams {
  std::uint64_t capacity_bytes = 7948206080;  ///< user area, a multiple of 512 KiB (choice: an "8 GB" card)
  std::string cid = "c5564d564d53443847101234567800c1";  ///< CID; the CRC byte is computed
  bool cmd23 = false;                             ///< SCR CMD_SUPPORT: SET_BLOCK_COUNT (optional below UHS-I)
  bool high_speed = true;                         ///< CMD6 offers High Speed
  bool uhs = false;                               ///< offers SDR50, SDR104, DDR50 after CMD11
  std::uint64_t speed_class = 4;                  ///< 0, 2, 4, 6, 10 (SD Status)
  std::uint64_t allocation_unit_bytes = 4 << 20;  ///< AU, 16 KiB << n

  // Times, counted from the command's end bit.
  double power_up_us = 100000;     ///< ACMD41 busy after power-on (at most 1 s)
  double register_read_us = 100;   ///< data of ACMD13, ACMD22, ACMD51, CMD6, CMD19
  double read_access_us = 500;     ///< first block of a read
  double read_mb_per_s = 20;       ///< 10^6 bytes per second, from the array
  double write_command_us = 2000;  ///< a write command's end: tables and what the card does once per command
  double write_mb_per_s = 10;      ///< 10^6 bytes per second, into the array
  std::uint64_t buffer_bytes = 65536;  ///< written data held in the card's RAM
  double erase_us_per_unit = 20000;    ///< CMD38, per allocation unit touched
  double select_us = 0;                ///< CMD7

  // Wire.
  std::uint64_t gap_clocks = 8;  ///< between blocks of a read
  std::uint64_t n_cr = 8;        ///< command end to response

  std::string ecc_errors;  ///< blocks that cannot be read: "100,2048-2055"

  void declare(ParamRegistry& r, const std::string& at);
};

}  // namespace vp
