#include "models/dma/transfer_controller.hpp"

#include <algorithm>

namespace vp {

using sc_core::sc_time_stamp;

namespace {
constexpr std::uint32_t kDataId = 0, kDescriptorId = 1;
}  // namespace

TransferController::TransferController(sc_core::sc_module_name name, Context& ctx, ClockDomain& clock,
                                       const SystemDmaParams& params, Client& client)
    : sc_module(name),
      ctx_(ctx),
      clock_(clock),
      params_(params),
      client_(client),
      port_("axi", ctx, clock, params.axi) {
  if (params_.fifo_bytes < params_.chunk_bytes)
    throw InputError("dma.fifo_bytes must be at least dma.chunk_bytes");
  port_.set_client(*this);
  SC_METHOD(on_end);
  sensitive << end_event_;
  dont_initialize();
  SC_METHOD(on_fetched);
  sensitive << fetch_event_;
  dont_initialize();
  const std::size_t places = params_.fifo_bytes / params_.chunk_bytes;
  for (std::size_t i = 0; i < places; ++i) {
    Chunk& c = chunks_.emplace_back();
    c.data.resize(params_.chunk_bytes);
    c.read.data = c.write.data = c.data.data();
    c.read.user = c.write.user = &c;
    c.read.id = c.write.id = kDataId;
    c.write.is_write = true;
    free_.push_back(&c);
  }
}

void TransferController::start(const DmaTransfer& transfer) {
  transfer_ = transfer;
  busy_ = true;
  error_ = false;
  started_ = read_end_ = sc_time_stamp();
  array_ = offset_ = open_ = 0;
  const bool runs =
      transfer.source.run(transfer.array_bytes) && transfer.destination.run(transfer.array_bytes);
  unit_bytes_ = runs ? transfer.array_bytes * transfer.arrays : transfer.array_bytes;
  unit_count_ = runs ? 1 : transfer.arrays;
  ++counters_.transfers;
  counters_.bytes += std::uint64_t{transfer.array_bytes} * transfer.arrays;
  ctx_.timing == TimingStyle::lt ? run_lt() : pump();
}

void TransferController::next(AxiMasterPort::Transfer& read, AxiMasterPort::Transfer& write) {
  const std::uint32_t n =
      std::min<std::uint32_t>(unit_bytes_ - offset_, static_cast<std::uint32_t>(params_.chunk_bytes));
  const auto place = [&](const DmaTransfer::Side& side, AxiMasterPort::Transfer& t) {
    t.fixed_beat_bytes = side.fifo_beat;
    t.address = side.address;
    if (side.fifo_beat == 0) t.address += static_cast<std::int64_t>(array_) * side.step + offset_;
    t.bytes = n;
  };
  place(transfer_.source, read);
  place(transfer_.destination, write);
  offset_ += n;
  if (offset_ < unit_bytes_) return;
  offset_ = 0;
  ++array_;
}

void TransferController::pump() {
  while (more() && !error_ && !free_.empty()) {
    Chunk& c = *free_.back();
    free_.pop_back();
    next(c.read, c.write);
    ++open_;
    port_.start(c.read);
  }
}

void TransferController::axi_done(AxiMasterPort::Transfer& t) {
  if (&t == &fetch_) return client_.descriptor_here(t.error);
  if (t.error && !error_) {
    error_ = true;
    error_address_ = t.error_address;
  }
  Chunk& c = *static_cast<Chunk*>(t.user);
  if (t.is_write) return chunk_written(c);
  read_end_ = sc_time_stamp();
  if (error_) return chunk_written(c);  // what was not read is not written
  port_.start(c.write);
}

void TransferController::chunk_written(Chunk& c) {
  free_.push_back(&c);
  --open_;
  pump();
  if (open_ == 0) end(sc_time_stamp());
}

void TransferController::run_lt() {
  bool good = true;
  sc_time done = started_;
  for (Chunk& c : chunks_) c.free_from = started_;
  for (std::size_t k = 0; more() && good; ++k) {
    Chunk& c = chunks_[k % chunks_.size()];
    next(c.read, c.write);
    const auto access = [&](AxiMasterPort::Transfer& t, sc_time ready) {
      const sc_time at = t.fixed_beat_bytes
                             ? port_.access_fixed_lt(t.is_write, t.address, t.data, t.bytes,
                                                     t.fixed_beat_bytes, ready, &good)
                             : port_.access_lt(t.is_write, t.address, t.data, t.bytes, ready, &good);
      if (!good && !error_) error_ = true, error_address_ = t.address;
      return at;
    };
    done = read_end_ = access(c.read, c.free_from);
    if (good) done = access(c.write, read_end_);
    c.free_from = done;
  }
  end_event_.notify(done > sc_time_stamp() ? done - sc_time_stamp() : sc_core::SC_ZERO_TIME);
}

void TransferController::on_end() { end(sc_time_stamp()); }

void TransferController::end(sc_time at) {
  counters_.busy += at - started_;
  counters_.read += read_end_ - started_;
  counters_.write += at - read_end_;
  busy_ = false;
  client_.transfer_done(transfer_, error_, error_address_);
}

void TransferController::fetch(std::uint64_t address, std::byte* to, std::uint32_t bytes) {
  if (ctx_.timing == TimingStyle::lt) {
    const sc_time at = port_.access_lt(false, address, to, bytes, sc_time_stamp(), &fetch_ok_);
    fetch_event_.notify(at > sc_time_stamp() ? at - sc_time_stamp() : sc_core::SC_ZERO_TIME);
    return;
  }
  fetch_.address = address;
  fetch_.data = to;
  fetch_.bytes = bytes;
  fetch_.id = kDescriptorId;
  port_.start(fetch_);
}

void TransferController::on_fetched() { client_.descriptor_here(!fetch_ok_); }

}  // namespace vp
