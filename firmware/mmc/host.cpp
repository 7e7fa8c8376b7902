#include "firmware/mmc/host.hpp"

#include "firmware/drivers/wait.hpp"

namespace fw {

MmcError MmcHost::send(MmcCommand& c) {
  start(c);
  if (!wait_until([&] { return c.done; }, deadline_ns())) abort_active();
  if (c.error != MmcError::none) reset_lines();
  return c.error;
}

void MmcHost::start_beside(MmcCommand& c) {
  c.error = MmcError::line_busy;
  c.done = true;
  if (c.listener) c.listener->command_ended(c);
}

}  // namespace fw
