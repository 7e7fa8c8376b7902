#include "sc_tests/firmware/fake_cqe.hpp"

#include <cstring>
#include <stdexcept>

#include "models/cqhci/cqhci_regs.hpp"
#include "models/sdhci/sdhci_regs.hpp"
#include "sc_tests/firmware/fake_board.hpp"

namespace fake {

namespace {
constexpr std::uint32_t kHac = 1, kTcc = 2, kRed = 4, kTcl = 8;
std::uint32_t offset_of(const char* name) { return vp::find_register(vp::cqhci::kRegs, name)->offset; }
std::uint32_t sdhci(const char* name) { return vp::find_register(vp::sdhci::kRegs, name)->offset; }
}  // namespace

std::uint32_t& Cqe::reg(const char* name) { return regs_[offset_of(name) / 4]; }
std::uint32_t Cqe::at(const char* name) const { return regs_[offset_of(name) / 4]; }
bool Cqe::on() const { return (at("CQCFG") & 1) && !(at("CQCTL") & 1); }

std::uint32_t Cqe::read(std::uint32_t o) const {
  if (!(board_.get(sdhci("CLOCK_CONTROL"), 2) & 1)) return 0;  // area 2 needs the internal clock
  if (o - kCqeOffset == offset_of("CQVER")) return 0x510;
  return regs_[(o - kCqeOffset) / 4];
}

void Cqe::write(std::uint32_t full, std::uint32_t v) {
  const std::uint32_t o = full - kCqeOffset;
  if (wipe && o == offset_of("CQTDBR")) {
    regs_ = {};
    wipe = false;
  }
  std::uint32_t& r = regs_[o / 4];
  if (o == offset_of("CQIS") || o == offset_of("CQTCN")) {
    r &= ~v;
  } else if (o == offset_of("CQCFG")) {
    if ((r & 1) && (v & 1) && r != v) throw std::runtime_error("CQCFG changed while enabled");
    if (!(v & 1)) reg("CQTDBR") = 0;
    r = v;
  } else if (o == offset_of("CQIC")) {
    if (v & 1u << 16) counted_ = 0;
    r = (v & 1u << 31) | ((v & 1u << 15) ? v & 0x1F00 : r & 0x1F00) | ((v & 1u << 7) ? v & 0x7F : r & 0x7F);
  } else if (o == offset_of("CQCTL")) {
    if ((v & 1) && !(r & 1) && halts) {
      r |= 1;
      set_event(kHac);
    }
    if (!(v & 1)) r = 0;
    if (v & 0x100) {
      if (!(r & 1)) return;  // cleared while halted only
      reg("CQTDBR") = 0;
      held_.clear();
      counted_ = 0;
      stopped_ = false;
      reg("CQTCN") |= stale_at_clear;
      set_event(kTcl);
    }
  } else if (o == offset_of("CQTDBR")) {
    if (!(at("CQCFG") & 1)) return;
    for (unsigned tag = 0; tag < 32; ++tag)
      if (v >> tag & 1) start(tag);
  } else {
    r = v;
  }
}

void Cqe::set_event(std::uint32_t events) {
  reg("CQIS") |= events & at("CQISTE");
  if (at("CQIS") & at("CQISGE")) board_.raise(vp::sdhci::kIntCqe);
}

void Cqe::check_legacy(unsigned index) const {
  if (!present) return;
  if (on() && !(tolerate_after_reset && reset_done_))
    throw std::runtime_error("ordinary command while the queue engine runs");
  const bool data = index == 17 || index == 18 || index == 23 || index == 24 || index == 25;
  if (board_.ext_csd[15] && data) throw std::runtime_error("ordinary transfer in queue mode");
  if (index == 6 && queued_) throw std::runtime_error("CMD6 with tasks in the queue");
}

void Cqe::lines_reset() { reset_done_ = true; }

bool Cqe::discard(std::uint32_t arg) {
  if (arg != 1) throw std::runtime_error("CMD48 argument");
  if (refuse_discard) return --refuse_discard, false;
  queued_ = 0;
  task_running = false;
  return true;
}

Cqe::Task Cqe::fetch(unsigned tag) const {
  const bool wide = (board_.get(sdhci("HOST_CONTROL2"), 2) & 0x3000) == 0x3000;
  const unsigned task = at("CQCFG") & 0x100 ? 16 : 8, link = wide ? 16 : 8,
                 stride = !wide     ? 8
                          : trans12 ? 12
                                    : 16;
  const std::uint64_t list = std::uint64_t{at("CQTDLBAU")} << 32 | at("CQTDLBA");
  if (list == 0 || list % 1024) throw std::runtime_error("task list address");
  Task t{tag, {}, {}, {}, board_.now};
  const std::uint64_t slot = list + std::uint64_t{tag} * (task + link);
  std::memcpy(t.words.data(), board_.ram(slot, task), task);
  std::memcpy(t.link.data(), board_.ram(slot + task, link), link);
  if ((t.words[0] & 0x3F) != 0x2F && (t.words[0] & 0x3F) != 0x2B) throw std::runtime_error("task descriptor");
  if (tag == 31 && (at("CQCFG") & 0x1000)) return t;
  if ((t.link[0] & 0x3F) != 0x31) throw std::runtime_error("link descriptor");
  std::uint64_t from = std::uint64_t{wide ? t.link[2] : 0} << 32 | t.link[1];
  for (;; from += stride) {
    std::array<std::uint32_t, 4> d{};
    std::memcpy(d.data(), board_.ram(from, stride), stride);
    if ((d[0] & 0x39) != 0x21) throw std::runtime_error("transfer descriptor");
    t.transfers.push_back(d);
    if (d[0] & 2) return t;
  }
}

void Cqe::start(unsigned tag) {
  if (at("CQTDBR") >> tag & 1) throw std::runtime_error("doorbell of a busy slot");
  reg("CQTDBR") |= 1u << tag;
  if (at_doorbell) at_doorbell(tag);
  if (!on() || stopped_) return;
  const Fate f = fate ? fate(tag) : Fate::now;
  tasks.push_back(fetch(tag));
  if (tag != 31 || !(at("CQCFG") & 0x1000)) queued_ |= 1u << tag;
  switch (f) {
    case Fate::now:
      return complete(tag);
    case Fate::hold:
      held_.push_back(tag);
      if (held_.size() > most_held) most_held = static_cast<unsigned>(held_.size());
      return;
    case Fate::drop:
      return complete(tag, false);
    case Fate::lost_interrupt:
      return complete(tag, true, false);
    default:
      return fail(tag, f);
  }
}

void Cqe::fail(unsigned tag, Fate f) {
  stopped_ = true;  // no more tasks until recovery
  task_running = true;
  reg("CQTERRI") = 0;
  if (f == Fate::data_crc) {
    reg("CQTERRI") = 1u << 31 | tag << 24 | 46u << 16;
    board_.raise(vp::sdhci::kIntDataCrc);
  } else if (f == Fate::adma) {
    board_.raise(vp::sdhci::kIntAdma);
  } else if (f == Fate::silent_error) {
    board_.raise(vp::sdhci::kIntCommandTimeout);
  } else {
    reg("CQTERRI") = 1u << 15 | tag << 8 | 45u;
    set_event(kRed);
  }
}

void Cqe::complete(unsigned tag, bool notify, bool interrupt) {
  const Task* t = nullptr;
  for (const Task& task : tasks)
    if (task.tag == tag) t = &task;
  if (tag == 31 && (at("CQCFG") & 0x1000)) {
    board_.commands.push_back({t->words[0] >> 16 & 63, t->words[1], 0, 0, 0});
    reg("CQCRDCT") = direct_answer;
  } else {
    move(*t);
  }
  queued_ &= ~(1u << tag);
  reg("CQTDBR") &= ~(1u << tag);
  if (!notify) return;
  completed.push_back(tag);
  reg("CQTCN") |= 1u << tag;
  if (!interrupt) return;
  if (t->words[0] & 4) return set_event(kTcc);
  const unsigned threshold = at("CQIC") >> 8 & 31;
  if ((at("CQIC") >> 31) && threshold && ++counted_ >= threshold) set_event(kTcc);
}

void Cqe::move(const Task& t) {
  const bool wide = (board_.get(sdhci("HOST_CONTROL2"), 2) & 0x3000) == 0x3000;
  const std::size_t bytes = std::size_t{t.words[0] >> 16} * 512;
  std::size_t done = 0;
  for (const auto& d : t.transfers) {
    const std::uint32_t n = d[0] >> 16 ? d[0] >> 16 : 65536;
    if (done + n > bytes) throw std::runtime_error("descriptor total exceeds the task");
    void* const memory = board_.ram(std::uint64_t{wide ? d[2] : 0} << 32 | d[1], n);
    void* const medium = board_.medium.data() + std::size_t{t.words[1]} * 512 + done;
    t.words[0] & 1u << 12 ? std::memcpy(memory, medium, n) : std::memcpy(medium, memory, n);
    done += n;
  }
  if (done != bytes) throw std::runtime_error("descriptor total differs from the task");
}

bool Cqe::idle() {
  if (!present) return false;
  if (on() && !stopped_ && !held_.empty()) {
    const unsigned tag = held_.back();
    held_.pop_back();
    complete(tag);
    return true;
  }
  if (on() && counted_ && (at("CQIC") & 0x7F) && (at("CQIC") >> 31)) {  // the coalescing timer
    counted_ = 0;
    set_event(kTcc);
    return true;
  }
  return false;
}

}  // namespace fake
