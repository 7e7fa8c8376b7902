#include "firmware/mmc/host.hpp"

#include "firmware/drivers/wait.hpp"

namespace fw {

MmcError MmcHost::send(MmcCommand& c) {
  start(c);
  if (!wait_until([&] { return c.done; }, deadline_ns())) abort_active();
  if (c.error != MmcError::none) reset_lines();
  return c.error;
}

}  // namespace fw
