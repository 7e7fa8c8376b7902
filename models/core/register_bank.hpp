// Register bank: storage, byte lanes and access kinds of one register map; behaviour hangs on hooks.
// Accesses of 1, 2, 4 or 8 bytes may cover several registers; they are served in rising offset order, so a 32-bit
// write over Transfer Mode and Command stores the first before the second starts (SDHCI 4.20 2.2.6).
// An access to an undefined offset reads 0, writes nothing and is logged once per offset.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "models/core/context.hpp"
#include "models/core/register_map.hpp"

namespace vp {

class RegisterBank {
 public:
  /// old value, new value after the access kinds were applied, mask of the bits that were written (byte lanes)
  struct WriteEvent {
    std::uint64_t old_value, value, lanes;
    std::uint64_t written;  ///< the raw data on the written lanes, before access kinds
  };
  using WriteHook = std::function<void(const WriteEvent&)>;
  using ReadHook = std::function<std::uint64_t()>;        ///< returns the value to answer
  using WriteGuard = std::function<bool(const RegDef&)>;  ///< false: the write is ignored

  /// `map` must outlive the bank; `size` is the decoded window in bytes.
  RegisterBank(Context& ctx, std::string path, RegisterMap map, std::uint32_t size);

  std::uint64_t read(std::uint32_t offset, unsigned bytes);
  void write(std::uint32_t offset, unsigned bytes, std::uint64_t value);

  /// Hardware side, by register offset: no access kinds, no hooks.
  std::uint64_t get(std::uint16_t reg) const { return values_[index(reg)]; }
  void set(std::uint16_t reg, std::uint64_t value) { values_[index(reg)] = value; }
  void set_bits(std::uint16_t reg, std::uint64_t mask) { values_[index(reg)] |= mask; }
  void clear_bits(std::uint16_t reg, std::uint64_t mask) { values_[index(reg)] &= ~mask; }

  void on_write(std::uint16_t reg, WriteHook hook) { entries_[index(reg)].write_hook = std::move(hook); }
  void on_read(std::uint16_t reg, ReadHook hook) { entries_[index(reg)].read_hook = std::move(hook); }
  void guard_writes(WriteGuard guard) { guard_ = std::move(guard); }

  /// Reset value of one register as this instance has it (HWInit parameters change it). Takes effect at once.
  void set_reset(std::uint16_t reg, std::uint64_t value);
  std::uint64_t reset_value(std::uint16_t reg) const { return entries_[index(reg)].reset; }
  void reset();
  void reset(std::uint16_t reg) { values_[index(reg)] = entries_[index(reg)].reset; }
  /// Moves a register to another offset (areas found by pointer). Used before simulation only.
  RegisterMap map() const { return map_; }

 private:
  struct Entry {
    const RegDef* def;
    std::uint64_t reset, rw, w1c, w1s, wo;  // masks by access kind
    WriteHook write_hook;
    ReadHook read_hook;
  };

  std::size_t index(std::uint16_t reg) const;
  std::uint64_t load(Entry& e, std::size_t i);
  void store(Entry& e, std::size_t i, std::uint64_t value, std::uint64_t lanes);
  void log_undefined(std::uint32_t offset, bool is_write);

  Context& ctx_;
  std::string path_;
  RegisterMap map_;
  std::vector<Entry> entries_;
  std::vector<std::uint64_t> values_;
  std::vector<std::int16_t> by_byte_;  // byte offset -> entry, -1 where undefined
  std::set<std::uint32_t> logged_;
  WriteGuard guard_;
};

}  // namespace vp
