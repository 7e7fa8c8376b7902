// The command queue's own commands (JESD84-B51 6.6.39), sent while the host's engine is halted or off.
#include "firmware/mmc/card.hpp"
#include "firmware/mmc/commands.hpp"

namespace fw {

namespace {
constexpr std::uint64_t kBusyLimitNs = 1'000'000'000;  // Linux: recovery timeout of 1 s
constexpr std::uint32_t kBusyLimitMs = 1000;
constexpr unsigned kDiscardTries = 4;  // Linux: once and three retries
}  // namespace

bool Card::set_queue_mode(bool on) { return switch_byte(ext_csd::kCmdqModeEn, on ? 1 : 0); }

bool Card::discard_queue() {
  for (unsigned i = 0; i < kDiscardTries; ++i) {
    MmcCommand c;
    c.timeout_ms = kBusyLimitMs;
    if (command(cmd::kTaskManagement, cmd::kDiscardQueue, Response::r1b_unchecked, c)) return true;
  }
  return false;
}

bool Card::abort_queue() {
  MmcCommand c;
  c.timeout_ms = kBusyLimitMs;
  command(cmd::kStop, 0, Response::r1b_unchecked, c);  // no answer when nothing was running: no error
  // CMD12 does not wait for the end of a write's busy, and CMD48 fails in it.
  return wait_tran(kBusyLimitNs) && discard_queue();
}

}  // namespace fw
