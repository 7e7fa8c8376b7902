#include "platform/linux/bridge.hpp"

#include <fmt/format.h>

namespace vp::guest {
namespace {

using sc_core::sc_time_stamp;

constexpr std::uint64_t kPsPerNs = 1000;
constexpr std::size_t kStackBytes = 1U << 20;
/// Posted writes of queue 0 that the guest may keep allocated before it is told to free them; its ring has 256 entries.
constexpr std::uint32_t kMostUncalled = 64;
/// Simulated time a read of the guest's takes it per posted write that is still in the ring: it delays 1 us between two
/// looks at the ring (arch/um/drivers/virt-pci.c of Linux 6.1), and a look more.
constexpr std::uint64_t kReapNs = 1000;

std::uint64_t now_ns() { return sc_time_stamp().value() / kPsPerNs; }

}  // namespace

void BridgeParams::declare(ParamRegistry& r, const std::string& at) {
  r.add(at + ".simulated_limit_s", simulated_limit_s, "s", 0.001, 1e6,
        "simulated time after which a run is given up");
  r.add(at + ".silence_limit_s", silence_limit_s, "s", 1, 86400,
        "wall clock a guest may compute without a word");
  r.add(at + ".register_rest_s", register_rest_s, "s", 0, 1e6,
        "rest after which the registers are kept for the report when they are touched again");
}

Bridge::Bridge(sc_core::sc_module_name module, Context& ctx, const PciIdentity& identity,
               std::uint64_t host_base, HostMemory& memory, const BridgeParams& params)
    : sc_module(module),
      socket("socket"),
      ctx_(ctx),
      identity_(identity),
      host_base_(host_base),
      memory_(memory),
      params_(params),
      config_(identity),
      device_([this](std::uint64_t at, std::uint64_t bytes) { return memory_.ptr(at, bytes); },
              [this](std::vector<SharedRegion>& regions) {
                for (SharedRegion& r : regions)
                  memory_.back_with({r.guest_address, r.bytes}, r.fd.get(), r.file_offset);
              }),
      watch_(ctx.spans, identity.queue_at, device_.memory(), identity.idmac_status),
      state_signal_(ctx.trace.add_state(std::string(name()) + ".state", "run")),
      irq_signal_(ctx.trace.add_vector(std::string(name()) + ".irq", 1)) {
  device_.set_limit(static_cast<unsigned>(params_.silence_limit_s));
  SC_THREAD(thread);
  set_stack_size(kStackBytes);
}

void Bridge::listen(const Listener& device, const Listener& calendar) {
  device_listener_ = &device;
  calendar_listener_ = &calendar;
}

void Bridge::thread() {
  try {
    for (;;) calendar_.waiting() ? guest_waits() : guest_computes();
  } catch (const Disconnected&) {  // the guest went down
  } catch (const std::exception& e) {
    failure_ = e.what();
  }
  device_stream_ = {};  // a guest that still lives sees it and goes down
  calendar_stream_ = {};
  sc_core::sc_stop();
}

/// The guest's CPU runs: serve what it asks until it waits. Simulated time passes only inside its register accesses and
/// where it moves its own clock.
void Bridge::guest_computes() {
  const auto limit = static_cast<unsigned>(params_.silence_limit_s);
  const bool device = device_stream_.connected(), calendar = calendar_stream_.connected();
  const std::size_t source =
      wait_readable({calendar_stream_.fd(), device_stream_.fd(), calendar ? -1 : calendar_listener_->fd(),
                     device ? -1 : device_listener_->fd()},
                    limit, "emmc-vp waits for the guest's CPU, which computes without a word");
  switch (source) {
    case 0:
      return calendar_message();
    case 2:
      calendar_stream_ = Stream(calendar_listener_->accept(), limit);
      return;
    case 3:
      device_stream_ = Stream(device_listener_->accept(), limit);
      return;
    default:
      break;
  }
  const VhostUser::Result asked = device_.receive(device_stream_);
  if (asked.kicked) {
    ++counters_.kicks;
    if (*asked.kicked == kCommandQueue) serve_accesses();
    shorten_free_run();
  }
  if (asked.reply) device_.reply(device_stream_, *asked.reply);
}

/// The guest waits for its timer or an interrupt: hardware runs.
void Bridge::guest_waits() {
  ctx_.trace.change_state(state_signal_, sc_time_stamp(), "wait");
  for (;;) {
    check_limit();
    if (interrupt_due() && !reading() && deliver_interrupt()) continue;
    if (device_.queue(kCommandQueue).uncalled() > kMostUncalled) {
      call(kCommandQueue);
      continue;
    }
    std::uint64_t at = calendar_.requested();
    if (at <= now_ns()) break;
    if (interrupt_due() && reading()) at = std::min(at, reading_until_ns_);
    if (at == Calendar::kNever) {
      if (!sc_core::sc_pending_activity())
        throw Silence("the guest waits for an interrupt, and the hardware has nothing left to do: " +
                      where());
      sc_core::wait(line_event_);
    } else {
      sc_core::wait(from_ps(at * kPsPerNs - sc_time_stamp().value()), line_event_);
    }
  }
  let_run();
  ctx_.trace.change_state(state_signal_, sc_time_stamp(), "run");
}

// --- register accesses ---

void Bridge::serve_accesses() {
  Virtqueue& queue = device_.queue(kCommandQueue);
  while (const auto chain = queue.pop(device_.memory())) {
    PciAccess access = decode_access(*chain);
    perform(access);
    queue.push(*chain, answer_access(*chain, access));
    if (access.is_write) continue;
    if (const std::uint32_t posted = queue.uncalled() - 1; posted != 0)
      reading_until_ns_ = std::max(now_ns(), calendar_.guest_now()) + (posted + 1) * kReapNs;
    queue.called();  // a reader frees what is used before it
  }
}

void Bridge::perform(PciAccess& access) {
  const bool configuration = access.space == PciAccess::Space::configuration;
  // A function that does not claim the address leaves all ones on the bus.
  if (!configuration && (access.bar != identity_.bar || !config_.memory_enabled() ||
                         access.address + access.data.size() > identity_.bar_bytes))
    return;
  if (!configuration) touch_registers();
  for (const PciAccess::Piece& piece : access.pieces()) {
    const std::uint64_t at = access.address + piece.at;
    if (configuration) {
      ++(access.is_write ? counters_.config_writes : counters_.config_reads);
      if (access.is_write)
        config_.write(at, piece.bytes, access.value(piece));
      else
        access.set_value(piece, config_.read(at, piece.bytes));
      continue;
    }
    ++(access.is_write ? counters_.mmio_writes : counters_.mmio_reads);
    if (!access.is_write) {
      access.set_value(piece, transport(tlm::TLM_READ_COMMAND, host_base_ + at, piece.bytes, 0));
      continue;
    }
    watch_.write(at, piece.bytes, access.value(piece), sc_time_stamp());
    transport(tlm::TLM_WRITE_COMMAND, host_base_ + at, piece.bytes, access.value(piece));
    due_ = due_ || level_;
  }
}

/// Before an access: keeps what stands in the registers when the guest has left them alone for long.
void Bridge::touch_registers() {
  const sc_time now = sc_time_stamp(), rest = now - last_touch_;
  last_touch_ = now;
  if (rest < sc_time(params_.register_rest_s, sc_core::SC_SEC)) return;
  registers_ = {now, rest, {}};
  for (std::uint32_t at = 0; at < identity_.bar_bytes; at += 4) {
    tlm::tlm_generic_payload& p = payload_.prepare(tlm::TLM_READ_COMMAND, host_base_ + at, 4, 0);
    const bool known = socket->transport_dbg(p) == 4;
    registers_.words.push_back(known ? static_cast<std::uint32_t>(payload_.value()) : 0);
  }
}

std::uint64_t Bridge::transport(tlm::tlm_command command, std::uint64_t address, std::uint32_t bytes,
                                std::uint64_t value) {
  tlm::tlm_generic_payload& payload = payload_.prepare(command, address, bytes, value);
  const sc_time start = sc_time_stamp();
  sc_time path;
  socket->b_transport(payload, path);
  if (path != sc_core::SC_ZERO_TIME) sc_core::wait(path);
  counters_.mmio_time += sc_time_stamp() - start;
  ctx_.spans.cpu_mmio(sc_time_stamp());
  if (payload.is_response_error())
    ctx_.finding("guest.bus_error", name(), {address},
                 fmt::format("the guest's access of {} bytes at 0x{:x} was answered with {}", bytes, address,
                             payload.get_response_string()));
  return payload_.value();
}

// --- interrupts ---

void Bridge::set_irq(unsigned, bool level) {
  if (level == level_) return;
  level_ = level;
  due_ = level;
  ctx_.trace.change(irq_signal_, sc_time_stamp(), level);
  if (level) line_event_.notify();
}

bool Bridge::reading() const { return std::max(now_ns(), calendar_.guest_now()) < reading_until_ns_; }

/// False: the guest has no buffer for the message yet.
bool Bridge::deliver_interrupt() {
  Virtqueue& queue = device_.queue(kInterruptQueue);
  const auto chain = queue.pop(device_.memory());
  if (!chain) return false;
  queue.push(*chain, encode_interrupt(*chain));
  due_ = false;
  ++counters_.interrupts;
  ctx_.spans.irq_taken(sc_time_stamp());
  call(kInterruptQueue);
  return true;
}

/// While the guest takes the notification it asks the calendar for the time.
void Bridge::call(unsigned queue) {
  if (!device_.queue(queue).wants_call()) return device_.queue(queue).called();
  device_.call(queue);
  while (wait_readable({calendar_stream_.fd(), device_.back_channel().fd()},
                       static_cast<unsigned>(params_.silence_limit_s),
                       "emmc-vp waits for the guest to take an interrupt") == 0)
    calendar_message();
  device_.take_acknowledge();
}

// --- calendar ---

void Bridge::calendar_message() {
  um_timetravel_msg message{};
  calendar_stream_.read(&message, sizeof message, "the guest does not finish a time travel message");
  const um_timetravel_msg ack = calendar_.handle(message, now_ns, [this](std::uint64_t ns) { advance(ns); });
  calendar_stream_.write(&ack, sizeof ack);
}

void Bridge::send(const um_timetravel_msg& message) {
  calendar_stream_.write(&message, sizeof message);
  for (;;) {
    um_timetravel_msg reply{};
    calendar_stream_.read(&reply, sizeof reply, "emmc-vp waits for the guest to acknowledge its clock");
    if (Calendar::acknowledges(reply, message)) return;
    const um_timetravel_msg ack = calendar_.handle(reply, now_ns, [this](std::uint64_t ns) { advance(ns); });
    calendar_stream_.write(&ack, sizeof ack);
  }
}

void Bridge::let_run() {
  const std::uint64_t next = next_event_ns();
  if (next > calendar_.requested()) send(calendar_.grant_free_run(next));
  send(calendar_.run());
}

/// After register accesses hardware may have something to do, or to say, earlier than the guest was told.
void Bridge::shorten_free_run() {
  if (!calendar_stream_.connected() || calendar_.waiting()) return;
  if (const std::uint64_t next = next_event_ns(); next < calendar_.free_until())
    send(calendar_.grant_free_run(next));
}

void Bridge::advance(std::uint64_t ns) {
  const std::uint64_t to = ns * kPsPerNs, now = sc_time_stamp().value();
  if (to > now) sc_core::wait(from_ps(to - now));
}

/// First instant at which hardware does something, or has something to say; without any, as far as the limit of the run.
std::uint64_t Bridge::next_event_ns() const {
  if (interrupt_due()) return std::max(calendar_.guest_now(), reading_until_ns_);
  const auto limit = static_cast<std::uint64_t>(params_.simulated_limit_s * 1e9);
  if (!sc_core::sc_pending_activity()) return limit;
  const std::uint64_t next = (sc_time_stamp() + sc_core::sc_time_to_pending_activity()).value() / kPsPerNs;
  return std::min(limit, next);
}

void Bridge::check_limit() const {
  if (static_cast<double>(now_ns()) > params_.simulated_limit_s * 1e9)
    throw Silence(fmt::format("the guest has not ended within {} s of simulated time: {}",
                              params_.simulated_limit_s, where()));
}

std::string Bridge::where() const {
  const std::uint64_t at = calendar_.requested();
  return fmt::format(
      "its clock is at {} ns, the hardware's at {} ns; it waits for {}; the interrupt line is {}; {}",
      calendar_.guest_now(), now_ns(),
      at == Calendar::kNever ? "an interrupt only" : fmt::format("an interrupt or its timer at {} ns", at),
      level_ ? "high" : "low",
      sc_core::sc_pending_activity() ? "hardware has events pending" : "hardware has nothing to do");
}

}  // namespace vp::guest
