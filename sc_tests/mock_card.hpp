// A device with no time of its own: answers at once, data always ready. What the lines and the host do shows undiluted.
#pragma once

#include <cstring>
#include <vector>

#include "models/mmc_bus/card.hpp"

namespace vp::test {

class MockCard : public MmcCard {
 public:
  double max_hz = 200e6;
  LineMode mode;
  unsigned n_cr = 8;
  unsigned gap = 8;
  sc_time data_delay, write_busy,
      r1b_busy;  ///< after command end, token end, response end (as N_CR + 48 clocks after)
  std::uint32_t status = 0x900;
  bool silent = false;
  std::uint64_t blocks_left = 0;
  std::uint32_t blocks_counted = 0;  ///< CMD23
  std::vector<MmcCommand> seen;
  std::vector<std::byte> written;
  sc_time last_command_end;

  /// Content of block k of a read from `argument`: each byte = low byte of (lba * 7 + index).
  static std::byte content(std::uint64_t lba, std::size_t i) { return static_cast<std::byte>(lba * 7 + i); }

  CommandEffect command(const MmcCommand& c, CauseGraph&, NodeId) override {
    seen.push_back(c);
    last_command_end = sc_core::sc_time_stamp();
    CommandEffect e;
    if (silent) return e;
    MmcResponse r{RespType::r1, c.index, status, {}};
    if (c.index == 0) return e;
    if (c.index == 1) r = {RespType::r3, 0x3F, 0xC0FF8080, {}};
    if (c.index == 2 || c.index == 9 || c.index == 10) {
      r = {RespType::r2, 0x3F, 0, {}};
      for (std::uint8_t i = 0; i < 16; ++i) r.reg[i] = static_cast<std::uint8_t>(0x10 + i);
    }
    if (c.index == 23) blocks_counted = c.argument & 0xFFFF;
    if (c.index == 17 || c.index == 18 || c.index == 8 || c.index == 21) e.data = DataDir::read;
    if (c.index == 24 || c.index == 25) e.data = DataDir::write;
    if (e.data != DataDir::none) {
      const bool multi = c.index == 18 || c.index == 25;
      blocks_left = !multi ? 1 : blocks_counted ? blocks_counted : ~0ULL;
      blocks_counted = 0;
      lba_ = c.argument;
      e.block_bytes = 512;
    }
    if (c.index == 12) blocks_left = 0;
    if (c.index == 6 || c.index == 12 || c.index == 38) {
      r.type = RespType::r1b;
      if (r1b_busy != sc_core::SC_ZERO_TIME) e.busy_until = sc_core::sc_time_stamp() + r1b_busy;
    }
    e.response = r;
    return e;
  }
  void corrupted_command() override { ++corrupted; }
  BlockReady read_ready(std::uint32_t, CauseGraph&) override {
    return {last_command_end + data_delay, kRootNode};
  }
  void read_block(std::uint32_t k, std::span<std::byte> out, sc_time) override {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = content(lba_ + k, i);
    if (blocks_left != ~0ULL) --blocks_left;
  }
  WriteEffect write_block(std::uint32_t, std::span<const std::byte> in, bool good, sc_time token, CauseGraph&,
                          NodeId) override {
    if (!good) return {CrcStatus::crc_error, sc_core::SC_ZERO_TIME, kRootNode};
    written.insert(written.end(), in.begin(), in.end());
    if (blocks_left != ~0ULL) --blocks_left;
    return {CrcStatus::accepted,
            write_busy == sc_core::SC_ZERO_TIME ? sc_core::SC_ZERO_TIME : token + write_busy, kRootNode};
  }
  bool transfer_running() const override { return blocks_left > 0; }
  unsigned block_gap_clocks(double) const override { return gap; }
  LineMode line_mode() const override { return mode; }
  double max_clock_hz() const override { return max_hz; }
  const char* mode_name() const override { return "mock"; }
  unsigned response_delay_clocks(double) const override { return n_cr; }
  void hardware_reset() override { ++resets; }

  unsigned corrupted = 0, resets = 0;

 private:
  std::uint64_t lba_ = 0;
};

}  // namespace vp::test
