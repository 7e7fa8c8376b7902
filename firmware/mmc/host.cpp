#include "firmware/mmc/host.hpp"

#include "firmware/drivers/wait.hpp"

namespace fw {

MmcError MmcHost::send(MmcCommand& c) {
  start(c);
  while (!c.done) {
    wait_until([&] { return c.done || hal::now_ns() >= deadline_ns(); }, deadline_ns());
    if (!c.done && hal::now_ns() >= deadline_ns()) on_deadline();
  }
  if (c.error != MmcError::none) reset_lines();
  return c.error;
}

}  // namespace fw
