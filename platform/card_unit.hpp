// The device of a platform behind one interface: what the builder wires, the payload check compares with, and the
// reports count. `platform.card` chooses it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "firmware/app/job_table.hpp"
#include "models/core/context.hpp"
#include "models/emmc/sparse_medium.hpp"
#include "models/mmc_bus/card.hpp"
#include "platform/session.hpp"

namespace vp {

struct PlatformConfig;

class CardUnit {
 public:
  CardUnit() = default;
  CardUnit(const CardUnit&) = delete;
  CardUnit& operator=(const CardUnit&) = delete;
  virtual ~CardUnit() = default;

  virtual MmcCard& card() = 0;
  virtual SparseMedium& medium() = 0;
  const SparseMedium& medium() const { return const_cast<CardUnit*>(this)->medium(); }
  virtual fw::CardKind kind() const = 0;
  /// A resource of the device and how long it has been busy so far, ps; always the same names in the same order.
  struct Busy {
    std::string name;
    std::uint64_t ps = 0;
  };
  virtual std::vector<Busy> busy() const = 0;
  virtual void counters(std::vector<CounterRow>& rows) const = 0;
};

/// The device the configuration names. Throws InputError when its parameters do not make one.
std::unique_ptr<CardUnit> make_card(Context& ctx, const PlatformConfig& config);

}  // namespace vp
