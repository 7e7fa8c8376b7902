// A register map as constexpr data: written once, read by the model, the firmware, the dump printer, the decoder
// and the automatic reset/access test. No SystemC in here, so that bare-metal code can include it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace vp {

/// How a register bit answers a bus access (SDHCI 4.20 table of register attributes).
enum class Access : std::uint8_t {
  RW,      ///< read back what was written
  RO,      ///< hardware drives it; writes are ignored
  W1C,     ///< writing 1 clears, writing 0 leaves
  W1S,     ///< writing 1 sets, writing 0 leaves; hardware clears
  ROC,     ///< read only, cleared by reset or by the next operation
  RWAC,    ///< read-write, hardware clears it when done
  HWInit,  ///< fixed at reset by the integration
  WO,      ///< write only, reads 0
};

struct FieldDef {
  std::string_view name;
  std::uint8_t lsb;
  std::uint8_t width;  ///< bits
  Access access;
  std::string_view doc;

  constexpr std::uint64_t mask() const {
    return (width >= 64 ? ~std::uint64_t{0} : ((std::uint64_t{1} << width) - 1)) << lsb;
  }
};

struct RegDef {
  std::string_view name;
  std::uint16_t offset;  ///< bytes from the block's base
  std::uint8_t bytes;    ///< 1, 2, 4 or 8
  std::uint64_t reset;
  Access access;                     ///< of every bit when `fields` is empty
  std::span<const FieldDef> fields;  ///< bits outside every field are reserved: read as reset, writes ignored
  std::string_view doc;
};

using RegisterMap = std::span<const RegDef>;

constexpr const RegDef* find_register(RegisterMap map, std::string_view name) {
  for (const RegDef& r : map)
    if (r.name == name) return &r;
  return nullptr;
}

constexpr const FieldDef* find_field(const RegDef& reg, std::string_view name) {
  for (const FieldDef& f : reg.fields)
    if (f.name == name) return &f;
  return nullptr;
}

/// Offset of a register by name; a misspelt name does not compile.
consteval std::uint16_t reg_offset(RegisterMap map, std::string_view name) {
  return find_register(map, name)->offset;
}

/// Mask of a field by register and field name, in place; a misspelt name does not compile.
consteval std::uint32_t field_mask(RegisterMap map, std::string_view reg, std::string_view field) {
  return static_cast<std::uint32_t>(find_field(*find_register(map, reg), field)->mask());
}

/// Position of a field's least significant bit.
consteval unsigned field_lsb(RegisterMap map, std::string_view reg, std::string_view field) {
  return find_field(*find_register(map, reg), field)->lsb;
}

}  // namespace vp
