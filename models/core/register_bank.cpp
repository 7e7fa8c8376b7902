#include "models/core/register_bank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace vp {
namespace {

std::uint64_t width_mask(unsigned bytes) { return bytes >= 8 ? ~0ULL : (1ULL << (8 * bytes)) - 1; }

}  // namespace

RegisterBank::RegisterBank(Context& ctx, std::string path, RegisterMap map, std::uint32_t size)
    : ctx_(ctx), path_(std::move(path)), map_(map), by_byte_(size, -1) {
  for (const RegDef& def : map) {
    Entry e{&def, def.reset, 0, 0, 0, 0, nullptr, nullptr};
    auto add = [&e](Access a, std::uint64_t mask) {
      if (a == Access::RW || a == Access::RWAC) e.rw |= mask;
      if (a == Access::W1C) e.w1c |= mask;
      if (a == Access::W1S) e.w1s |= mask;
      if (a == Access::WO) e.wo |= mask;
    };
    if (def.fields.empty()) add(def.access, width_mask(def.bytes));
    for (const FieldDef& f : def.fields) add(f.access, f.mask());
    const auto slot = static_cast<std::int16_t>(entries_.size());
    for (unsigned b = 0; b < def.bytes; ++b) {
      std::int16_t& owner = by_byte_.at(def.offset + b);
      if (owner != -1)
        throw std::logic_error(fmt::format("{}: {} overlaps another register", path_, def.name));
      owner = slot;
    }
    entries_.push_back(std::move(e));
    values_.push_back(def.reset);
  }
}

std::size_t RegisterBank::index(std::uint16_t reg) const {
  const std::int16_t i = by_byte_.at(reg);
  if (i < 0) throw std::logic_error(fmt::format("{}: no register at 0x{:x}", path_, reg));
  return static_cast<std::size_t>(i);
}

void RegisterBank::set_reset(std::uint16_t reg, std::uint64_t value) {
  entries_[index(reg)].reset = value;
  values_[index(reg)] = value;
}

void RegisterBank::reset() {
  for (std::size_t i = 0; i < entries_.size(); ++i) values_[i] = entries_[i].reset;
}

std::uint64_t RegisterBank::load(Entry& e, std::size_t i) {
  return (e.read_hook ? e.read_hook() : values_[i]) & ~e.wo & width_mask(e.def->bytes);
}

std::uint64_t RegisterBank::read(std::uint32_t offset, unsigned bytes) {
  std::uint64_t result = 0;
  for (unsigned b = 0; b < bytes;) {
    const std::uint32_t at = offset + b;
    const std::int16_t i = at < by_byte_.size() ? by_byte_[at] : std::int16_t{-1};
    if (i < 0) {
      log_undefined(at, false);
      ++b;
      continue;
    }
    Entry& e = entries_[static_cast<std::size_t>(i)];
    const unsigned first = at - e.def->offset;
    const unsigned n = std::min<unsigned>(e.def->bytes - first, bytes - b);
    const std::uint64_t value = load(e, static_cast<std::size_t>(i)) >> (8 * first);
    result |= (value & width_mask(n)) << (8 * b);
    b += n;
  }
  return result;
}

void RegisterBank::store(Entry& e, std::size_t i, std::uint64_t value, std::uint64_t lanes) {
  if (guard_ && !guard_(*e.def)) return;
  const std::uint64_t old_value = values_[i];
  std::uint64_t next = old_value;
  const std::uint64_t rw = e.rw & lanes;
  next = (next & ~rw) | (value & rw);
  next &= ~(value & e.w1c & lanes);
  next |= value & e.w1s & lanes;
  values_[i] = next;
  if (e.write_hook) e.write_hook({old_value, next, lanes, value & lanes});
}

void RegisterBank::write(std::uint32_t offset, unsigned bytes, std::uint64_t value) {
  for (unsigned b = 0; b < bytes;) {
    const std::uint32_t at = offset + b;
    const std::int16_t i = at < by_byte_.size() ? by_byte_[at] : std::int16_t{-1};
    if (i < 0) {
      log_undefined(at, true);
      ++b;
      continue;
    }
    Entry& e = entries_[static_cast<std::size_t>(i)];
    const unsigned first = at - e.def->offset;
    const unsigned n = std::min<unsigned>(e.def->bytes - first, bytes - b);
    const std::uint64_t lanes = width_mask(n) << (8 * first);
    store(e, static_cast<std::size_t>(i), ((value >> (8 * b)) & width_mask(n)) << (8 * first), lanes);
    b += n;
  }
}

void RegisterBank::log_undefined(std::uint32_t offset, bool is_write) {
  if (!logged_.insert(offset).second) return;
  ctx_.log(fmt::format("{}: {} of undefined offset 0x{:03x}", path_, is_write ? "write" : "read", offset));
}

}  // namespace vp
