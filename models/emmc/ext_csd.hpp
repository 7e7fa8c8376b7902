// The EXT_CSD register: 512 bytes, loaded from a hex dump, changed by CMD6 within the rules of its table.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>

#include "models/emmc/ext_csd_table.hpp"

namespace vp {

/// CMD6 argument bits 25:24.
enum class SwitchAccess : std::uint8_t { command_set, set_bits, clear_bits, write_byte };

class ExtCsd {
 public:
  using Bytes = std::array<std::uint8_t, 512>;

  ExtCsd() = default;
  explicit ExtCsd(const Bytes& bytes) : value_(bytes) { power_cycle(); }
  /// From 1024 hex digits, byte 0 first; blanks between them are allowed. `where` names the source in errors.
  /// Throws InputError on a wrong digit or a wrong length, with the position.
  static ExtCsd parse(std::string_view text, const std::string& where);

  std::uint8_t operator[](unsigned index) const { return value_[index]; }
  const Bytes& bytes() const { return value_; }
  /// What CMD8 sends: write-only bytes as 0 (BUS_WIDTH as written when `bus_width_readback`).
  Bytes readable(bool bus_width_readback) const;
  std::uint32_t u32(unsigned index) const;

  /// The byte a CMD6 would leave, or nothing when the table forbids it: properties segment, reserved or
  /// read-only byte, a bit that cannot be changed (any more), a set-only bit cleared.
  struct Change {
    bool allowed = false;
    std::uint8_t value = 0;
  };
  Change change(SwitchAccess access, unsigned index, std::uint8_t operand) const;
  /// Stores a change that was allowed.
  void store(unsigned index, std::uint8_t value);
  /// Changes a byte from inside the device.
  void set(unsigned index, std::uint8_t value) { value_[index] = value; }

  /// Power cycle or RST_n: _E_P and _C_P bits to their defaults.
  void power_cycle();
  /// CMD0: _E_P bits only.
  void soft_reset();

 private:
  void reset(bool with_set_only);
  Bytes value_{};
  std::bitset<512> programmed_;  // write-once bytes that have been written
};

}  // namespace vp
