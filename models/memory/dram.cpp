#include "models/memory/dram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace vp {
namespace {

std::uint64_t to_ps(double ns) { return static_cast<std::uint64_t>(std::llround(ns * 1000)); }

}  // namespace

void DramParams::declare(ParamRegistry& r, const std::string& at) {
  constexpr std::uint64_t kTera = std::uint64_t{1} << 40;
  r.add(at + ".size", size, "bytes", 1 << 20, std::uint64_t{3} << 30, "memory at 0x40000000");
  r.add(at + ".high_base", high_base, "bytes", 0x1'0000'0000, kTera, "base of the bank above 4 GiB");
  r.add(at + ".high_size", high_size, "bytes", 0, kTera, "size of the bank above 4 GiB; 0: none");
  r.add(at + ".data_rate_mtps", data_rate_mtps, "MT/s", 100, 10000, "transfers per second and pin");
  r.add(at + ".bus_bits", bus_bits, "bits", 8, 128, "DRAM data bus width");
  r.add(at + ".burst_length", burst_length, "transfers", 2, 32, "BL");
  r.add(at + ".banks", banks, "", 1, 64, "banks, a power of two");
  r.add(at + ".row_bytes", row_bytes, "bytes", 512, 65536, "open page over the whole bus, a power of two");
  r.add(at + ".t_rcd_ns", t_rcd_ns, "ns", 0, 1000, "activate to column command");
  r.add(at + ".t_rp_ns", t_rp_ns, "ns", 0, 1000, "precharge to activate");
  r.add(at + ".t_cl_ns", t_cl_ns, "ns", 0, 1000, "read command to data");
  r.add(at + ".t_wl_ns", t_wl_ns, "ns", 0, 1000, "write command to data");
  r.add(at + ".t_wr_ns", t_wr_ns, "ns", 0, 1000, "write data to precharge");
  r.add(at + ".t_wtr_ns", t_wtr_ns, "ns", 0, 1000, "write data to read command");
  r.add(at + ".t_rtw_ns", t_rtw_ns, "ns", 0, 1000, "data bus gap from read to write");
  r.add(at + ".t_rfc_ns", t_rfc_ns, "ns", 0, 10000, "refresh time");
  r.add(at + ".t_refi_ns", t_refi_ns, "ns", 0, 1e6, "refresh interval; 0: no refresh");
  r.add(at + ".controller_ns", controller_ns, "ns", 0, 10000, "controller and PHY, request side");
  r.add(at + ".accept_cycles", accept_cycles, "axi cycles", 0, 1000, "last write beat to B");
  r.add(at + ".write_buffer", write_buffer, "bursts", 1, 1024, "posted write buffer");
  r.add(at + ".bandwidth_limit", bandwidth_limit, "bytes/s", 0, std::uint64_t{1} << 40, "0: none");
}

std::vector<MemoryBank> Dram::default_banks(const DramParams& p) {
  std::vector<MemoryBank> banks{{kDramBase, p.size}};
  if (p.high_size > 0) banks.push_back({p.high_base, p.high_size});
  return banks;
}

Dram::Dram(sc_core::sc_module_name name, ClockDomain& clock, const DramParams& params)
    : Dram(name, clock, params, default_banks(params)) {}

Dram::Dram(sc_core::sc_module_name module_name, ClockDomain& clock, const DramParams& p,
           const std::vector<MemoryBank>& banks)
    : MemoryTarget(module_name, clock, banks),
      params_(p),
      rcd_(to_ps(p.t_rcd_ns)),
      rp_(to_ps(p.t_rp_ns)),
      cl_(to_ps(p.t_cl_ns)),
      wl_(to_ps(p.t_wl_ns)),
      wr_(to_ps(p.t_wr_ns)),
      wtr_(to_ps(p.t_wtr_ns)),
      rtw_(to_ps(p.t_rtw_ns)),
      rfc_(to_ps(p.t_rfc_ns)),
      refi_(to_ps(p.t_refi_ns)),
      controller_(to_ps(p.controller_ns)) {
  const std::string at = name();
  if (!std::has_single_bit(p.row_bytes)) throw InputError(at + ".row_bytes must be a power of two");
  if (!std::has_single_bit(p.banks)) throw InputError(at + ".banks must be a power of two");
  const std::uint64_t burst_bytes = p.burst_length * p.bus_bits / 8;
  if (!std::has_single_bit(burst_bytes))
    throw InputError(at + ": burst_length x bus_bits must be a power of two");
  if (p.data_rate_mtps == 0) throw InputError(at + ".data_rate_mtps must be at least 1");
  burst_shift_ = static_cast<unsigned>(std::countr_zero(burst_bytes));
  if (refi_ != 0 && refi_ <= rfc_) throw InputError(at + ".t_refi_ns must exceed t_rfc_ns");
  if (p.write_buffer == 0) throw InputError(at + ".write_buffer must be at least 1");
  burst_ps_ = p.burst_length * 1'000'000 / p.data_rate_mtps;
  if (p.bandwidth_limit > 0) limit_ps_per_byte_ = 1e12 / static_cast<double>(p.bandwidth_limit);
  row_shift_ = static_cast<unsigned>(std::countr_zero(p.row_bytes));
  bank_shift_ = static_cast<unsigned>(std::countr_zero(p.banks));
  banks_.resize(p.banks);
  written_.assign(p.write_buffer, 0);
}

/// Refresh k >= 1 occupies [k t_REFI, k t_REFI + t_RFC) and closes every row.
std::uint64_t Dram::after_refresh(std::uint64_t at) {
  if (refi_ == 0) return at;
  if (at < epoch_from_ || at - epoch_from_ >= refi_) {
    epoch_ = at / refi_;
    epoch_from_ = epoch_ * refi_;
  }
  if (epoch_ == 0 || at - epoch_from_ >= rfc_) return at;
  ++counters_.refresh_waits;
  return epoch_from_ + rfc_;
}

/// When the column command may go: activate and precharge first, as the bank's state asks.
std::uint64_t Dram::column_command(std::uint64_t address, std::uint64_t at, Bank*& bank) {
  const std::uint64_t page = address >> row_shift_;
  bank = &banks_[page & (banks_.size() - 1)];
  const std::uint64_t row = page >> bank_shift_;
  const bool open = bank->row != ~std::uint64_t{0} && bank->epoch == epoch_;
  if (open && bank->row == row) {
    ++counters_.row_hits;
    return at;
  }
  bank->row = row;
  bank->epoch = epoch_;
  if (!open) {
    ++counters_.row_misses;
    return at + rcd_;
  }
  ++counters_.row_conflicts;
  return std::max(at, bank->ready) + rp_ + rcd_;
}

/// The DRAM data bus's slot of one burst whose request reaches the controller at `at`.
Dram::Slot Dram::access(std::uint64_t address, std::uint32_t bytes, std::uint64_t at, bool is_write) {
  const std::uint64_t first = address >> burst_shift_, last = (address + bytes - 1) >> burst_shift_;
  std::uint64_t duration = (last - first + 1) * burst_ps_;
  if (limit_ps_per_byte_ > 0)
    duration = std::max(duration, static_cast<std::uint64_t>(std::llround(limit_ps_per_byte_ * bytes)));
  Bank* bank = nullptr;
  const std::uint64_t command = column_command(address, after_refresh(at + controller_), bank);
  std::uint64_t start = command + (is_write ? wl_ : cl_);
  // In front of what is reserved for later only with room to turn the bus.
  if (!bus_.take_before(start, duration + wtr_ + cl_)) {
    if (is_write != bus_written_ && bus_.until() > 0) {
      // Write to read counts from the last write data to the command, so the read latency comes on top.
      // Nothing else may use the bus while it turns.
      const std::uint64_t turned = bus_.until() + (is_write ? rtw_ : wtr_ + cl_);
      if (start < turned) bus_.extend(turned);
      ++counters_.turnarounds;
    }
    start = bus_.append(start, duration);
    bus_written_ = is_write;
  }
  bank->ready = std::max(bank->ready, start + duration + (is_write ? wr_ : 0));
  counters_.busy_ps += duration;
  (is_write ? counters_.write_bytes : counters_.read_bytes) += bytes;
  return {start, start + duration};
}

/// A stream of bursts is one access: behind its first they are hits (a refresh within it is not seen).
void Dram::time_burst(AxiBurstTiming& burst) {
  counters_.row_hits += burst.bursts - 1;
  if (burst.granted_ps == 0) burst.granted_ps = burst.issued_ps;
  const std::uint64_t data = burst.beats * period();
  if (!burst.is_write) {
    const Slot slot = access(burst.address, burst.bytes, burst.issued_ps, false);
    burst.first_ps = align(std::min(slot.end, slot.start + burst_ps_));
    burst.last_ps = std::max(burst.first_ps + data, align(slot.end) + period());
    burst.done_ps = burst.last_ps;
    return;
  }
  std::uint64_t& oldest = written_[write_slot_];
  if (++write_slot_ == written_.size()) write_slot_ = 0;
  if (oldest > burst.last_ps) burst.last_ps = align(oldest);
  oldest = access(burst.address, burst.bytes, burst.last_ps, true).end;
  burst.done_ps = burst.last_ps + params_.accept_cycles * period();
}

/// access() for the writes of a train, short for what most of them are: hits in an open row, whole DRAM bursts, between
/// refreshes, the bus free. Those are booked together when another kind follows, or at the end.
class Dram::TrainWriter {
 public:
  TrainWriter(Dram& dram, const AxiTrain& train)
      : dram_(dram),
        page_(train.address >> dram.row_shift_),
        bank_(dram.banks_[page_ & (dram.banks_.size() - 1)]),
        bytes_(train.bytes),
        duration_((bytes_ >> dram.burst_shift_) * dram.burst_ps_),
        address_(train.address) {
    const std::uint64_t unit = (std::uint64_t{1} << dram.burst_shift_) - 1;
    const std::uint64_t end = train.address + std::uint64_t{train.bursts()} * bytes_ - 1;
    spaced_ = train.step_ps > duration_;
    alike_ = end >> dram.row_shift_ == page_ && ((train.address | bytes_) & unit) == 0 &&
             dram.limit_ps_per_byte_ == 0;
    look();
  }
  ~TrainWriter() { book(); }
  TrainWriter(const TrainWriter&) = delete;
  TrainWriter& operator=(const TrainWriter&) = delete;

  /// Is each write over when its place in the posted write buffer is needed again, W bursts of `step_ps` later? With
  /// nothing in the way at `arrival` a write takes at most a refresh, a conflict and a turn of the bus.
  bool leaves_room(std::uint64_t arrival, std::uint64_t step_ps) const {
    const Dram& d = dram_;
    const std::uint64_t longest =
        d.controller_ + d.rfc_ + d.rp_ + d.rcd_ + d.wl_ + d.wtr_ + d.cl_ + d.rtw_ + duration_;
    return alike_ && d.bus_.until() <= arrival && bank_.ready <= arrival && spaced_ &&
           d.written_.size() * step_ps >= longest;
  }

  /// The next `n` bursts if all are hits, the first at `arrival`, the last two at `before` and `last`.
  bool write_hits(std::uint64_t n, std::uint64_t arrival, std::uint64_t before, std::uint64_t last) {
    const std::uint64_t to_start = dram_.controller_ + dram_.wl_;
    if ((n > 1 && !spaced_) || arrival + dram_.controller_ < hits_from_ ||
        last + dram_.controller_ >= hits_until_ || arrival + to_start <= bus_until_)
      return false;
    before_ = n > 1 ? before + to_start : last_;
    last_ = last + to_start;
    bus_until_ = last_ + duration_;
    hits_ += n;
    address_ += n * bytes_;
    return true;
  }
  /// From the last beat at the controller to the end of the write in the array, of hits.
  std::uint64_t hit_ps() const { return dram_.controller_ + dram_.wl_ + duration_; }

  /// The next burst, its last beat at the controller at `arrival`; returns when the array has it.
  std::uint64_t write(std::uint64_t arrival) {
    if (write_hits(1, arrival, arrival, arrival)) return bus_until_;
    book();
    const std::uint64_t written = dram_.access(address_, bytes_, arrival, true).end;
    address_ += bytes_;
    look();
    return written;
  }

 private:
  /// Whether and when writes are hits from here on.
  void look() {
    const bool open = bank_.row == page_ >> dram_.bank_shift_ && bank_.epoch == dram_.epoch_;
    hits_from_ = dram_.refi_ == 0 || dram_.epoch_ == 0 ? dram_.epoch_from_ : dram_.epoch_from_ + dram_.rfc_;
    hits_until_ = !alike_ || !open || !dram_.bus_written_ ? 0
                  : dram_.refi_ == 0                      ? ~std::uint64_t{0}
                                                          : dram_.epoch_from_ + dram_.refi_;
    bus_until_ = dram_.bus_.until();
  }
  void book() {
    if (hits_ == 0) return;
    if (hits_ == 1)
      dram_.bus_.append(last_, duration_);
    else
      dram_.bus_.append_apart(before_, last_, duration_);
    bank_.ready = std::max(bank_.ready, last_ + duration_ + dram_.wr_);
    dram_.counters_.row_hits += hits_;
    dram_.counters_.busy_ps += hits_ * duration_;
    dram_.counters_.write_bytes += hits_ * bytes_;
    hits_ = 0;
  }

  Dram& dram_;
  std::uint64_t page_;
  Bank& bank_;
  std::uint64_t bytes_, duration_, address_;
  bool alike_ = false;   // one row, whole DRAM bursts
  bool spaced_ = false;  // the bus rests between them
  std::uint64_t hits_from_ = 0, hits_until_ = 0, bus_until_ = 0;
  std::uint64_t hits_ = 0, before_ = 0, last_ = 0;
};

/// Posted writes end when they are in the buffer, whatever the array does: every burst is the first one, shifted.
bool Dram::time_write_train(AxiTrain& train) {
  const std::uint64_t data = train.beats * train.period_ps, arrival = train.at_ps + data;
  const std::size_t room = written_.size(), n = train.bursts();
  for (std::size_t i = 0, slot = write_slot_; i < std::min(n, room); ++i) {
    if (written_[slot] > arrival) return false;
    if (++slot == room) slot = 0;
  }
  train.end_ps = data + params_.accept_cycles * train.period_ps;
  train.step_ps = 2 * train.path_ps + train.end_ps;
  if (!train.apart()) return false;
  TrainWriter writer(*this, train);
  if (n > room && !writer.leaves_room(arrival, train.step_ps)) return false;
  const AxiTrain round = train.of_one_round();
  const std::uint64_t last = round.last(), before = round.last_but_one(), hit = writer.hit_ps();
  std::uint64_t* const written = written_.data();
  std::size_t slot = write_slot_;
  for (unsigned r = 0; r < train.rhythm.rounds; ++r) {
    const std::uint64_t from = arrival + r * train.rhythm.round_ps;
    const bool hits = writer.write_hits(round.bursts(), from, from + before, from + last);
    round.rhythm.each([&, count = round.count, step = round.step_ps](std::uint64_t offset) {
      std::uint64_t at = from + offset;
      for (unsigned i = 0; i < count; ++i, at += step) {
        written[slot] = hits ? at + hit : writer.write(at);
        if (++slot == room) slot = 0;
      }
    });
  }
  write_slot_ = slot;
  return true;
}

/// Reads: row hits between two refreshes on a bus that nobody has reserved behind them.
bool Dram::time_train(AxiTrain& train) {
  const std::uint64_t a = period(), at = train.at_ps, n = train.count;
  if (a != train.period_ps) return false;
  if (train.is_write) return time_write_train(train);
  if (train.rhythm.pieces() > 1) return false;
  const std::uint64_t page = train.address >> row_shift_, end = train.address + n * train.bytes - 1;
  const std::uint64_t unit = (std::uint64_t{1} << burst_shift_) - 1;
  Bank& bank = banks_[page & (banks_.size() - 1)];
  if (limit_ps_per_byte_ > 0 || bus_written_ || end >> row_shift_ != page ||
      ((train.address | train.bytes) & unit) != 0 || bank.row != page >> bank_shift_ || bank.epoch != epoch_)
    return false;
  const std::uint64_t command = at + controller_, start = command + cl_;
  const std::uint64_t duration = (train.bytes >> burst_shift_) * burst_ps_, data = train.beats * a;
  const std::uint64_t first = align(start + std::min(duration, burst_ps_));
  train.first_ps = first - at;
  train.end_ps = std::max(first + data, align(start + duration) + a) - at;
  const std::uint64_t step = train.step_ps = 2 * train.path_ps + train.end_ps;
  const std::uint64_t last_command = command + (n - 1) * step;
  if (bus_.until() >= start || duration >= step) return false;
  if (refi_ != 0 && (command < epoch_from_ || last_command - epoch_from_ >= refi_ ||
                     (epoch_ != 0 && command - epoch_from_ < rfc_)))
    return false;
  if (n == 1)
    bus_.append(start, duration);
  else
    bus_.append_apart(start + (n - 2) * step, start + (n - 1) * step, duration);
  bank.ready = std::max(bank.ready, start + (n - 1) * step + duration);
  counters_.row_hits += n;
  counters_.busy_ps += n * duration;
  counters_.read_bytes += n * train.bytes;
  return true;
}

}  // namespace vp
