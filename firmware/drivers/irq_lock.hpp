// Interrupts off for the length of a scope: what thread and interrupt handler share changes in here.
#pragma once

#include "firmware/hal/hal.hpp"

namespace fw {

class IrqLock {
 public:
  IrqLock() : was_on_(hal::irq_enabled()) {
    if (was_on_) hal::irq_enable(false);
  }
  ~IrqLock() {
    if (was_on_) hal::irq_enable(true);
  }
  IrqLock(const IrqLock&) = delete;
  IrqLock& operator=(const IrqLock&) = delete;

 private:
  bool was_on_;
};

}  // namespace fw
