#include "models/emmc/emmc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace vp {
namespace {

constexpr double kMaxHz52 = 52e6, kMaxHz200 = 200e6;

std::string read_text(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in)
    throw InputError(fmt::format("emmc.ext_csd = {}: cannot be read; name a file of 1024 hex digits", path));
  return text.str();
}

}  // namespace

const char* to_string(CardState s) {
  static constexpr const char* kNames[] = {"idle", "ready", "ident", "stby", "tran", "data",
                                           "rcv",  "prg",   "dis",   "btst", "slp",  "ina"};
  return kNames[static_cast<unsigned>(s)];
}

Emmc::Emmc(sc_core::sc_module_name name, Context& context, const EmmcParams& params, const NandParams& nand)
    : sc_module(name),
      context_(context),
      params_(params),
      ext_csd_(ExtCsd::parse(params.ext_csd_text.empty() ? read_text(params.ext_csd) : params.ext_csd_text,
                             params.ext_csd)),
      cid_(parse_register(params.cid, "emmc.cid")),
      csd_(parse_register(params.csd, "emmc.csd")) {
  const std::uint64_t user = ext_csd_.u32(ext_csd::kSecCount);
  if (user == 0)
    throw InputError(fmt::format(
        "{}: SEC_COUNT is 0; only parts above 2 GB (or with SEC_COUNT set) are modelled", params.ext_csd));
  const std::uint64_t boot = ext_csd_[ext_csd::kBootSizeMult] * 256ULL;  // x 128 KiB
  const std::byte erased = ext_csd_[ext_csd::kErasedMemCont] != 0 ? std::byte{0xFF} : std::byte{0};
  sector_addressing_ = user > 2ULL * 1024 * 1024 * 1024 / kBlockBytes;
  std::uint64_t first = 0;
  for (unsigned p = 0; p < partitions_.size(); ++p) {
    const std::uint64_t blocks = p == 0 ? user : boot;
    partitions_[p] = {std::make_unique<SparseMedium>(blocks, erased), first};
    first += (blocks + kUnitBlocks - 1) / kUnitBlocks * kUnitBlocks;
  }
  const std::uint64_t cache =
      params.cache_bytes != 0 ? params.cache_bytes : ext_csd_.u32(ext_csd::kCacheSize) * 1024ULL / 8;
  ftl_ = std::make_unique<Ftl>(context, nand, first, cache);
  for (const std::uint64_t lba : parse_block_list(params.ecc_errors, "emmc.ecc_errors"))
    ftl_->add_ecc_error(lba);
  state_signal_ = context.trace.add_state("emmc.state", "idle");
  tasks_signal_ = context.trace.add_vector("emmc.tasks", 6);
  qsr_signal_ = context.trace.add_vector("emmc.qsr", 32);
  writes_wait_for_firmware_ = params.queue_write_ready == "firmware";
  reset(true, params_.power_up_us);
}

Emmc::~Emmc() = default;

void Emmc::enter(CardState s, sc_time at) {
  if (s == state_) return;
  state_ = s;
  context_.trace.change_state(state_signal_, at, to_string(s));
}

/// Lets pass what has happened since the last look: the end of a read's last frame, the end of programming, the end
/// of a queued task.
void Emmc::settle(sc_time now) {
  settle_queue(now);
  if (state_ == CardState::data && data_done_ && now >= data_end_) enter(CardState::tran, data_end_);
  if (now < busy_until_) return;
  if (state_ == CardState::prg) enter(CardState::tran, busy_until_);
  if (state_ == CardState::dis) enter(CardState::stby, busy_until_);
}

CardState Emmc::state() {
  settle(sc_core::sc_time_stamp());
  return state_;
}

void Emmc::busy(Call& c, CardState then, sc_time until, NodeId why) {
  enter(then, c.now);
  busy_until_ = until;
  c.effect.busy_until = until;
  c.effect.busy_node = why;
}

void Emmc::reject(const MmcCommand& cmd) {
  status_ |= status::kIllegalCommand;
  if (context_.log_sink)
    context_.log(fmt::format("{} {}: CMD{} (argument 0x{:08x}) is illegal in state {}",
                             sc_core::sc_time_stamp().to_string(), this->name(), unsigned{cmd.index},
                             cmd.argument, to_string(state_)));
}

CommandEffect Emmc::command(const MmcCommand& cmd, CauseGraph& graph, NodeId after) {
  const sc_time now = sc_core::sc_time_stamp();
  settle(now);
  if (state_ == CardState::ina) return {};
  const Spec* s = spec(cmd.index);
  const CardState at_reception = state_;
  // CMD7 with another RCA deselects; every other addressed command is then for somebody else.
  if (s && s->rca && cmd.index != 7 && !rca_matches(cmd.argument)) return {};
  if (!s || !legal_in(cmd.index, state_) || !queue_allows(cmd.index, now)) {
    reject(cmd);
    return {};
  }
  Call call{cmd, graph, after, now, {}, false, false};
  const std::uint32_t before = status_;
  const bool count_was_set = block_count_set_;
  // CMD35, CMD36, CMD38 must follow each other; only CMD13 may come between (JESD84-B51 6.6.9).
  if ((erase_.start_set || erase_.end_set) && cmd.index != 13 && cmd.index != 35 && cmd.index != 36 &&
      cmd.index != 38) {
    erase_ = {};
    status_ |= status::kEraseReset;
  }
  (this->*s->run)(call);
  if (call.illegal) {
    reject(cmd);
    return {};
  }
  if (count_was_set && cmd.index != 23) block_count_set_ = false;  // CMD23 holds for one command
  if (!call.silent) respond(call, *s, at_reception);
  status_ &= ~(before & status::kTypeB);
  status_ |= deferred_status_;
  deferred_status_ = 0;
  return call.effect;
}

void Emmc::respond(Call& c, const Spec& s, CardState at_reception) {
  if (s.response == RespType::none) return;
  MmcResponse r;
  r.type = s.response;
  r.index = c.cmd.index;
  if (r.type == RespType::r1 || r.type == RespType::r1b) {
    const bool not_ready =
        at_reception != CardState::data && c.now < busy_until_ && c.effect.busy_until <= c.now;
    const bool is_queue_status = c.effect.response.has_value();
    if (is_queue_status) {
      r.content = c.effect.response->content;
    } else {
      r.content = status_ | static_cast<std::uint32_t>(at_reception) << status::kStateShift |
                  (not_ready ? 0 : status::kReadyForData);
      status_ &= ~status::kTypeC;
    }
    if (c.effect.busy_until <= c.now) r.type = RespType::r1;
  } else {
    r.index = 0x3F;
    r.content = c.effect.response ? c.effect.response->content : 0;
    if (c.effect.response) r.reg = c.effect.response->reg;
  }
  c.effect.response = r;
}

/// `power`: power-on, RST_n or CMD0 0xF0F0F0F0 as far as registers are concerned.
void Emmc::reset(bool power, double busy_us) {
  const sc_time now = sc_core::sc_time_stamp();
  power ? ext_csd_.power_cycle() : ext_csd_.soft_reset();
  enter(CardState::idle, now);
  ready_at_ = std::max(ready_at_, now + from_ps(NandParams::us(busy_us)));
  busy_until_ = data_end_ = sc_time();
  data_done_ = false;
  status_ = 0;
  rca_ = 1;
  block_count_set_ = false;
  old_mode_ = new_mode_ = {};
  new_mode_from_ = sc_time();
  transfer_.running = false;
  drop_tasks(~0U, now);
  queue_.parameters.reset();
  queue_from_ = sc_time();
  show_queue(now);
  block_length_ = kBlockBytes;
  erase_ = {};
  ftl_->set_cache(false);
}

void Emmc::hardware_reset() {
  if ((ext_csd_[ext_csd::kRstNFunction] & 3) == 1) reset(true, params_.power_up_us);
}

Emmc::Mode Emmc::mode(sc_time now) const { return now >= new_mode_from_ ? new_mode_ : old_mode_; }

LineMode Emmc::line_mode() const {
  const std::uint8_t width = mode(sc_core::sc_time_stamp()).width & 0x0F;
  static constexpr unsigned kWidths[] = {1, 4, 8, 0, 0, 4, 8};
  return {width < 7 ? kWidths[width] : 1, width >= 5};
}

double Emmc::max_clock_hz() const {
  static constexpr double kMax[] = {26e6, kMaxHz52, kMaxHz200, kMaxHz200};
  if (state_ <= CardState::ident) return 400e3;
  return kMax[mode(sc_core::sc_time_stamp()).timing & 3];
}

const char* Emmc::mode_name() const {
  if (state_ <= CardState::ident) return "identification";
  const Mode m = mode(sc_core::sc_time_stamp());
  const bool ddr = (m.width & 0x0F) >= 5;
  switch (m.timing & 0x0F) {
    case 0:
      return "legacy";
    case 1:
      return ddr ? "DDR52" : "HS52";
    case 2:
      return "HS200";
    default:
      return (m.width & 0x80) != 0 ? "HS400ES" : "HS400";
  }
}

unsigned Emmc::block_gap_clocks(double hz) const {
  return static_cast<unsigned>(hz <= kMaxHz52 * 1.001 ? params_.gap_clocks_52 : params_.gap_clocks_200);
}

unsigned Emmc::response_delay_clocks(double hz) const {
  return static_cast<unsigned>(hz <= kMaxHz52 * 1.001 ? params_.n_cr_52 : params_.n_cr_200);
}

}  // namespace vp
