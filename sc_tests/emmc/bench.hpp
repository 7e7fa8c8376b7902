// An eMMC device on a bench, without bus lines: commands at the kernel's time, blocks when they are ready.
#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "models/emmc/emmc.hpp"
#include "sc_tests/catch.hpp"

namespace bench {

using namespace vp;

inline sc_time us(double v) { return sc_time::from_value(NandParams::us(v)); }

inline std::string reference_text() {
  std::ifstream in(VP_SOURCE_DIR "/traces/ext_csd/synthetic-32g-emmc51.hex");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The reference EXT_CSD with some bytes changed.
inline std::string ext_csd_with(const std::map<unsigned, unsigned>& bytes) {
  std::string text = reference_text();
  static const char* digits = "0123456789abcdef";
  for (const auto& [index, value] : bytes) {
    text[2 * index] = digits[value >> 4];
    text[2 * index + 1] = digits[value & 15];
  }
  return text;
}

inline EmmcParams params(const std::map<unsigned, unsigned>& bytes = {}) {
  EmmcParams p;
  p.ext_csd_text = ext_csd_with(bytes);
  return p;
}

/// A device of 8 MiB (byte addressing would apply; SEC_COUNT stays below 2 GB), small blocks: collects
/// garbage soon.
inline EmmcParams tiny_params() { return params({{212, 0x00}, {213, 0x40}, {214, 0}, {215, 0}, {226, 1}}); }
inline NandParams tiny_nand() {
  NandParams n;
  n.pages_per_block = 16, n.planes = 1;
  return n;
}

constexpr std::uint32_t kRca = 0x00010000;

struct Bench {
  explicit Bench(const EmmcParams& p = params(), const NandParams& n = NandParams())
      : card("emmc", context, p, n) {
    graph.restart(sc_time());
  }

  void wait(sc_time t) { sc_core::sc_start(t); }
  CommandEffect command(unsigned index, std::uint32_t argument = 0) {
    effect = card.command({static_cast<std::uint8_t>(index), argument}, graph, kRootNode);
    return effect;
  }
  bool answered() const { return effect.response.has_value(); }
  /// The card status of a command that must answer.
  std::uint32_t r1(unsigned index, std::uint32_t argument = 0) {
    command(index, argument);
    REQUIRE(answered());
    return effect.response->content;
  }
  std::uint32_t status() { return r1(13, kRca); }
  /// Sends a command and waits for its busy.
  std::uint32_t done(unsigned index, std::uint32_t argument = 0) {
    const std::uint32_t r = r1(index, argument);
    if (effect.busy_until > sc_core::sc_time_stamp()) wait(effect.busy_until - sc_core::sc_time_stamp());
    return r;
  }
  std::uint32_t write_byte(unsigned index, unsigned value) {
    return done(6, 0x03000000 | index << 16 | value << 8);
  }
  bool switched(unsigned index, unsigned value) {
    write_byte(index, value);
    return (status() & status::kSwitchError) == 0;
  }

  void to_ready() {
    command(0);
    wait(us(20000));
    command(1, 0x40FF8080);
  }
  void to_tran() {
    to_ready();
    command(2);
    command(3, kRca);
    command(7, kRca);
    REQUIRE(card.state() == CardState::tran);
  }

  std::vector<std::byte> read_running(std::uint32_t most) {
    std::vector<std::byte> out;
    for (std::uint32_t k = 0; k < most && card.transfer_running(); ++k) {
      const BlockReady r = card.read_ready(k, graph);
      out.resize(out.size() + effect.block_bytes);
      last = std::max(r.at, sc_core::sc_time_stamp());
      card.read_block(k, std::span(out).last(effect.block_bytes), last);
    }
    catch_up();
    return out;
  }
  std::vector<std::byte> read(std::uint64_t lba, std::uint32_t blocks, std::uint32_t unit = 1) {
    r1(23, blocks);
    r1(18, static_cast<std::uint32_t>(lba * unit));
    return read_running(blocks);
  }
  void write_running(std::span<const std::byte> data) {
    last = std::max(last, sc_core::sc_time_stamp());
    for (std::uint32_t k = 0; k * 512 < data.size(); ++k) {
      const WriteEffect e = card.write_block(k, data.subspan(k * 512, 512), true, last, graph, kRootNode);
      REQUIRE(e.status == CrcStatus::accepted);
      last = std::max(last, e.busy_until);
    }
    catch_up();
  }
  void write(std::uint64_t lba, std::span<const std::byte> data, std::uint32_t unit = 1) {
    r1(23, static_cast<std::uint32_t>(data.size() / 512));
    r1(25, static_cast<std::uint32_t>(lba * unit));
    write_running(data);
  }
  void catch_up() {
    if (last > sc_core::sc_time_stamp()) wait(last - sc_core::sc_time_stamp());
  }

  Context context;
  CauseGraph graph;
  CommandEffect effect;
  sc_time last;
  Emmc card;
};

inline std::vector<std::byte> pattern(std::uint64_t lba, std::size_t blocks) {
  std::vector<std::byte> out(blocks * 512);
  for (std::size_t b = 0; b < blocks; ++b)
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint64_t word = 0x9E3779B97F4A7C15ULL * ((lba + b) * 64 + i + 1);
      for (unsigned byte = 0; byte < 8; ++byte)
        out[b * 512 + i * 8 + byte] = static_cast<std::byte>(word >> (8 * byte));
    }
  return out;
}

inline std::vector<std::byte> filled(std::size_t blocks, unsigned seed) {
  std::vector<std::byte> out(blocks * 512);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<std::byte>((i * 7 + seed * 31 + i / 512) & 0xFF);
  return out;
}

}  // namespace bench
