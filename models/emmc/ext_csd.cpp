#include "models/emmc/ext_csd.hpp"

#include <fmt/format.h>

#include "models/core/params.hpp"

namespace vp {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr std::array<const ExtCsdField*, 512> make_index() {
  std::array<const ExtCsdField*, 512> index{};
  for (unsigned i = 0; i < index.size(); ++i) index[i] = ext_csd_field(i);
  return index;
}
const std::array<const ExtCsdField*, 512> kFieldOf = make_index();

}  // namespace

ExtCsd ExtCsd::parse(std::string_view text, const std::string& where) {
  Bytes bytes{};
  std::size_t digits = 0, line = 1, column = 0;
  for (const char c : text) {
    if (c == '\n') {
      ++line, column = 0;
      continue;
    }
    ++column;
    if (c == ' ' || c == '\t' || c == '\r') continue;
    const int v = hex_digit(c);
    if (v < 0)
      throw InputError(
          fmt::format("{}:{}:{}: '{}' is not a hex digit; an EXT_CSD dump is 1024 hex digits, byte 0 first",
                      where, line, column, c));
    if (digits < 1024) bytes[digits / 2] = static_cast<std::uint8_t>(bytes[digits / 2] << 4 | v);
    ++digits;
  }
  if (digits != 1024)
    throw InputError(fmt::format("{}:{}:{}: {} hex digits, must be 1024 (512 bytes); dump the whole register",
                                 where, line, column, digits));
  return ExtCsd(bytes);
}

std::uint32_t ExtCsd::u32(unsigned i) const {
  return value_[i] | static_cast<std::uint32_t>(value_[i + 1]) << 8 |
         static_cast<std::uint32_t>(value_[i + 2]) << 16 | static_cast<std::uint32_t>(value_[i + 3]) << 24;
}

ExtCsd::Bytes ExtCsd::readable(bool bus_width_readback) const {
  Bytes out = value_;
  for (const ExtCsdField& f : kExtCsdFields)
    if (f.write_only && !(bus_width_readback && f.index == ext_csd::kBusWidth)) out[f.index] = 0;
  return out;
}

ExtCsd::Change ExtCsd::change(SwitchAccess access, unsigned index, std::uint8_t operand) const {
  if (index >= ext_csd::kModesEnd) return {};
  const ExtCsdField* f = kFieldOf[index];
  if (!f || f->writable() == 0) return {};
  const std::uint8_t old = value_[index];
  std::uint8_t value = operand;
  if (access == SwitchAccess::set_bits) value = old | operand;
  if (access == SwitchAccess::clear_bits) value = static_cast<std::uint8_t>(old & ~operand);
  const unsigned changed = old ^ value;
  if ((changed & ~static_cast<unsigned>(f->writable())) != 0) return {};
  if ((changed & f->once) != 0 && programmed_[index]) return {};
  if ((changed & old & f->set_until_power) != 0) return {};
  return {true, value};
}

void ExtCsd::store(unsigned index, std::uint8_t value) {
  const ExtCsdField* f = kFieldOf[index];
  if (f && ((value_[index] ^ value) & f->once) != 0) programmed_.set(index);
  value_[index] = value;
}

void ExtCsd::reset(bool with_set_only) {
  // A dump is taken from a running system: volatile bits start from 0, not from what the dump shows.
  for (const ExtCsdField& f : kExtCsdFields) {
    const unsigned cleared = f.until_reset | (with_set_only ? f.set_until_power : 0U);
    for (unsigned i = f.index; i < f.index + f.size; ++i)
      value_[i] = static_cast<std::uint8_t>(value_[i] & ~cleared);
  }
}

void ExtCsd::power_cycle() { reset(true); }
void ExtCsd::soft_reset() { reset(false); }

}  // namespace vp
