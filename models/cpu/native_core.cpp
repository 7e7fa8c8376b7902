#include "models/cpu/native_core.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace vp {
namespace {

constexpr std::size_t kStackBytes =
    1u << 20;  ///< firmware stack; sanitizer builds need several times a plain one's
constexpr double kPsPerNs = 1000;
constexpr const char* kStateNames[] = {"run", "irq", "wfi"};

NativeCore* active_core = nullptr;  // SystemC is cooperative: one firmware thread runs at a time

std::uint64_t to_ps(double ns) { return static_cast<std::uint64_t>(std::llround(ns * kPsPerNs)); }
sc_time from_ns(double ns) { return from_ps(to_ps(ns)); }

}  // namespace

NativeCore::NativeCore(sc_core::sc_module_name module, Context& ctx, const CpuParams& params, Entry entry)
    : Cpu(module),
      ctx_(ctx),
      entry_(std::move(entry)),
      mmio_read_(from_ns(params.mmio_read_ns)),
      mmio_write_(from_ns(params.mmio_write_ns)),
      irq_entry_(from_ns(params.irq_entry_ns)),
      irq_exit_(from_ns(params.irq_exit_ns)),
      wfi_wake_(from_ns(params.wfi_wake_ns)),
      relax_(from_ns(params.relax_ns)),
      state_signal_(ctx.trace.add_state(std::string(name()) + ".state", kStateNames[0])),
      irq_signal_(ctx.trace.add_vector(std::string(name()) + ".irq", 1)) {
  for (std::size_t i = 0; i < cost_ps_.size(); ++i) cost_ps_[i] = to_ps(params.cost_ns[i]);
  SC_THREAD(thread);
  set_stack_size(kStackBytes);
}

NativeCore::~NativeCore() {
  if (active_core == this) active_core = nullptr;
}

NativeCore& NativeCore::active() {
  if (!active_core) throw std::logic_error("hal:: called outside a native core's firmware thread");
  return *active_core;
}

void NativeCore::thread() {
  active_core = this;
  local_ = sc_core::sc_time_stamp();
  halt(entry_());
}

void NativeCore::suspend(sc_time d) {
  active_core = nullptr;
  sc_core::wait(d);
  active_core = this;
}

void NativeCore::suspend_for_irq(sc_time d) {
  active_core = nullptr;
  sleeping_ = true;
  if (d == sc_core::sc_max_time())
    sc_core::wait(irq_event_);
  else
    sc_core::wait(d, irq_event_);
  sleeping_ = false;
  active_core = this;
}

/// Sleeps until the line rises, `deadline`, or an earlier alarm that is still set: the caller looks again. Deadlines are
/// seconds ahead and nearly always unused; the kernel keeps an unused timed wait until its time comes, so each sleep
/// leaving one behind would fill its queue. One alarm serves them all.
void NativeCore::sleep_until(sc_time deadline, sc_time now) {
  if (deadline == sc_core::sc_max_time()) return suspend_for_irq(deadline);
  if (alarm_at_ <= now || alarm_at_ > deadline) {
    alarm_.cancel();
    alarm_.notify(deadline - now);
    alarm_at_ = deadline;
  }
  active_core = nullptr;
  sleeping_ = true;
  sc_core::wait(alarm_ | irq_event_);
  sleeping_ = false;
  active_core = this;
}

void NativeCore::enter(State state, sc_time at) {
  ctx_.trace.change_state(state_signal_, at, kStateNames[static_cast<std::size_t>(state)]);
}

// --- time and interrupts ---

void NativeCore::set_irq(unsigned line, bool level) {
  if (line != 0) throw std::logic_error(fmt::format("{}: interrupt line {} does not exist", name(), line));
  if (level == line_) return;
  line_ = level;
  ctx_.trace.change(irq_signal_, sc_core::sc_time_stamp(), level);
  if (level && sleeping_) irq_event_.notify();
}

/// The core works for `d`. Interrupts that can be taken are taken at their time.
void NativeCore::spend(sc_time d) {
  local_ += d;
  counters_.busy += d;
  if (can_take()) sync();
}

/// Brings the kernel to local_; handlers that run on the way move local_ by what they take.
void NativeCore::sync() {
  for (;;) {
    const sc_time now = sc_core::sc_time_stamp();
    if (can_take() && line_) {
      if (now < hold_) {
        suspend(hold_ - now);
        continue;
      }
      const sc_time rest = local_ - now;
      local_ = now;
      const bool was_mmio = work_is_mmio_;
      run_handler();
      local_ += rest;
      work_is_mmio_ = was_mmio;
      continue;
    }
    if (now >= local_) return;
    if (can_take())
      suspend_for_irq(local_ - now);
    else
      suspend(local_ - now);
  }
}

/// Charges what was done up to local_ to the requests the core works for.
void NativeCore::charge_work() {
  if (work_is_mmio_)
    ctx_.spans.cpu_mmio(local_);
  else
    ctx_.spans.cpu_work(local_);
}

/// One interrupt, from the last instruction before it to the first after. The kernel is at local_.
void NativeCore::run_handler() {
  charge_work();
  work_is_mmio_ = false;
  in_handler_ = true;
  ++counters_.interrupts;
  enter(State::irq, local_);
  spend(irq_entry_);
  sync();  // the spans' cursor must not pass what hardware ends during the entry
  ctx_.spans.irq_taken(local_);
  ctx_.spans.cpu_work(local_);
  handler_(handler_context_);
  spend(irq_exit_);
  ctx_.spans.cpu_work(local_);
  enter(State::run, local_);
  in_handler_ = false;
  hold_ = local_;
}

void NativeCore::set_irq_handler(hal::IrqHandler handler, void* context) {
  handler_ = handler;
  handler_context_ = context;
  if (can_take()) sync();
}

void NativeCore::irq_enable(bool on) {
  if (on == irq_enabled_) return;
  irq_enabled_ = on;
  if (!can_take()) return;
  hold_ = local_;  // what was done with interrupts off is over before one is taken
  sync();
}

bool NativeCore::wait_for_interrupt(sc_time deadline) {
  const std::uint64_t taken = counters_.interrupts;
  sync();
  // An interrupt taken on the way in is the one waited for: the firmware checked its condition before the
  // call.
  if (counters_.interrupts != taken || line_) return true;
  if (local_ >= deadline) return false;
  enter(State::wfi, local_);
  ctx_.spans.cpu_work(local_);
  while (!line_) {
    const sc_time now = sc_core::sc_time_stamp();
    if (now >= deadline) break;
    sleep_until(deadline, now);
  }
  local_ = sc_core::sc_time_stamp();
  ctx_.spans.cpu_slept(local_);
  enter(State::run, local_);
  if (!line_) return false;
  ++counters_.wakes;
  local_ += wfi_wake_;
  counters_.busy += wfi_wake_;
  hold_ = local_;
  ctx_.spans.cpu_work(local_);
  if (can_take()) sync();
  return true;
}

/// Time goes by until `deadline`; handlers run meanwhile and may end after it.
void NativeCore::pass_until(sc_time deadline) {
  while (local_ < deadline) {
    if (can_take())
      suspend_for_irq(deadline - local_);
    else
      suspend(deadline - local_);
    local_ = sc_core::sc_time_stamp();
    if (can_take() && line_) sync();
  }
}

void NativeCore::delay(sc_time d) {
  sync();
  pass_until(local_ + d);
  ctx_.spans.cpu_work(local_);
}

void NativeCore::relax() {
  spend(relax_);
  sync();
  ctx_.spans.cpu_work(local_);
}

void NativeCore::cost(hal::Cost what, std::uint64_t times) {
  const auto i = static_cast<std::size_t>(what);
  const sc_time d = from_ps(cost_ps_.at(i) * times);
  counters_.cost_time[i] += d;
  spend(d);
  ctx_.spans.cpu_work(local_);
}

// --- bus ---

std::uint64_t NativeCore::transport(tlm::tlm_command command, std::uint64_t address, unsigned bytes,
                                    std::uint64_t value) {
  const bool is_read = command == tlm::TLM_READ_COMMAND;
  const sc_time core_side = is_read ? mmio_read_ : mmio_write_;
  work_is_mmio_ = true;
  spend(core_side);
  sync();  // a handler may run here and use the payload for accesses of its own
  tlm::tlm_generic_payload& payload = payload_.prepare(command, address, bytes, value);

  const sc_time access = sc_core::sc_time_stamp();
  sc_time path;
  active_core = nullptr;
  socket->b_transport(payload, path);
  active_core = this;
  local_ = sc_core::sc_time_stamp() + path;
  hold_ = local_;
  counters_.busy += local_ - access;
  counters_.mmio_time += core_side + (local_ - access);
  ++(is_read ? counters_.mmio_reads : counters_.mmio_writes);
  ctx_.spans.cpu_mmio(local_);
  work_is_mmio_ = false;
  if (payload.is_response_error())
    ctx_.finding("cpu.bus_error", name(), {address},
                 fmt::format("{} of {} bytes at 0x{:x} was answered with {}", is_read ? "read" : "write",
                             bytes, address, payload.get_response_string()),
                 local_);
  return payload_.value();
}

std::uint64_t NativeCore::read(std::uint64_t address, unsigned bytes) {
  return transport(tlm::TLM_READ_COMMAND, address, bytes, 0);
}

void NativeCore::write(std::uint64_t address, unsigned bytes, std::uint64_t value) {
  transport(tlm::TLM_WRITE_COMMAND, address, bytes, value);
}

void* NativeCore::ram(std::uint64_t address, std::size_t bytes) {
  const std::uint64_t last = bytes == 0 ? address : address + (bytes - 1);
  const auto covers = [&](const Region& r) {
    return r.first <= address && address <= last && last <= r.last;
  };
  for (const Region& r : regions_)
    if (covers(r)) return r.data + (address - r.first);

  tlm::tlm_dmi dmi;
  tlm::tlm_generic_payload& ask = payload_.prepare(tlm::TLM_WRITE_COMMAND, address, 1, 0);
  if (socket->get_direct_mem_ptr(ask, dmi) && dmi.is_read_write_allowed()) {
    const Region r{dmi.get_start_address(), dmi.get_end_address(), dmi.get_dmi_ptr()};
    regions_.push_back(r);
    if (covers(r)) return r.data + (address - r.first);
  }
  ctx_.finding(
      "cpu.bad_ram", name(), {address, last},
      fmt::format("the firmware uses 0x{:x} to 0x{:x} as memory, but not all of it is RAM", address, last),
      local_);
  halt(kStatusBadRam);
}

void NativeCore::invalidate_dmi(sc_dt::uint64 first, sc_dt::uint64 last) {
  std::erase_if(regions_, [&](const Region& r) { return r.first <= last && first <= r.last; });
}

// --- instruments and the end ---

void NativeCore::event(hal::Event what, std::uint32_t id, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  switch (what) {
    case hal::Event::request_begin:
      ctx_.spans.request_begin(id, local_, (a & 1) != 0, b, static_cast<std::uint32_t>(c));
      break;
    case hal::Event::request_issue:
      ctx_.spans.request_issue(id, static_cast<unsigned>(a), local_);
      break;
    case hal::Event::request_end:
      ctx_.spans.request_end(id, local_);
      break;
    default:
      break;
  }
  if (observer_) observer_->cpu_event(what, id, a, b, c, local_);
}

void NativeCore::halt(int status) {
  irq_enabled_ = false;
  sync();
  halted_ = true;
  exit_status_ = status;
  halted_event_.notify(sc_core::SC_ZERO_TIME);
  // The firmware's stack is not unwound: it is built without exceptions. The thread just never runs again.
  for (;;) {
    active_core = nullptr;
    sc_core::wait(never_);
  }
}

}  // namespace vp
