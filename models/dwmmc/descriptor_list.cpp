#include "models/dwmmc/descriptor_list.hpp"

#include <algorithm>
#include <cstring>

namespace vp {

using namespace dwmmc;
using sc_core::sc_time_stamp;

IdmacDescriptor decode_idmac(const std::byte* bytes, bool wide) {
  std::uint32_t word[8] = {};
  std::memcpy(word, bytes, wide ? kDes64Bytes : kDes32Bytes);
  const DesLayout& layout = wide ? kDes64 : kDes32;
  IdmacDescriptor d;
  d.des0 = word[0];
  d.size1 = word[layout.sizes] & kDesSizeMask;
  d.size2 = word[layout.sizes] >> kDesSize2Shift & kDesSizeMask;
  d.buffer1 = word[layout.buffer1];
  d.buffer2 = word[layout.buffer2];
  if (wide) {
    d.buffer1 |= std::uint64_t{word[layout.buffer1 + 1]} << 32;
    d.buffer2 |= std::uint64_t{word[layout.buffer2 + 1]} << 32;
  }
  return d;
}

bool DescriptorList::Entry::used_up() {
  if (bytes > 0) return false;
  if (!second && !d.chained() && d.size2 > 0) {
    second = true;
    checked = false;
    data = d.buffer2;
    bytes = d.size2;
    return false;
  }
  return true;
}

DescriptorList::DescriptorList(Context& ctx, AxiMasterPort& port, const std::string& path)
    : ctx_(ctx), port_(port) {
  transfer_.id = kTransferId;
  transfer_.data = raw_.data();
  end_.kind = Entry::Kind::end;
  t_address_ = ctx_.trace.add_vector(path + ".descriptor_address", 64);
}

void DescriptorList::start(const Setup& setup, std::function<void()> arrived) {
  stop();
  setup_ = setup;
  arrived_ = std::move(arrived);
  next_ = current_address_ = setup.base;
  running_ = true;
  ended_ = in_use_ = false;
  index_ = 0;
  last_fetch_ = sc_time_stamp();
  if (setup_.style == TimingStyle::at)
    pump();
  else
    while (!ended_ && ready_.size() < setup_.depth + 1) fetch_lt(last_fetch_);
}

void DescriptorList::stop() {
  running_ = fetching_ = false;
  ready_.clear();
}

bool DescriptorList::may_fetch() const {
  if (!running_ || fetching_ || ended_) return false;
  return ready_.empty() || ready_.size() - 1 < setup_.depth;  // the front is in use or about to be
}

void DescriptorList::pump() {
  if (!may_fetch()) return;
  fetching_ = true;
  transfer_.is_write = false;
  transfer_.address = next_;
  transfer_.bytes = descriptor_bytes();
  port_.start(transfer_);
}

void DescriptorList::fetched(AxiMasterPort::Transfer& transfer) {
  if (!running_ || !fetching_) return;
  fetching_ = false;
  take(sc_time_stamp(), !transfer.error);
  pump();
  arrived_();
}

std::uint64_t DescriptorList::next_of(const Entry& e) const {
  if (e.d.chained()) return e.d.buffer2 & ~std::uint64_t{3};
  if (e.d.end_of_ring()) return setup_.base;
  return e.address + descriptor_bytes() * (1 + std::uint64_t{setup_.skip});
}

void DescriptorList::take(sc_time at, bool bus_ok) {
  ++fetched_total_;
  Entry e;
  e.address = next_;
  e.index = index_++;
  e.at = at;
  if (bus_ok) e.d = decode_idmac(raw_.data(), setup_.wide);
  if (!bus_ok || !e.d.own()) {
    e.kind = bus_ok ? Entry::Kind::unavailable : Entry::Kind::bus_error;
    ended_ = true;
    ready_.push_back(e);
    return;
  }
  e.data = e.d.buffer1;
  e.bytes = e.d.size1;
  next_ = next_of(e);
  ended_ = e.d.last();
  ready_.push_back(e);
  max_ahead_ = std::max<std::uint64_t>(max_ahead_, ready_.size() - 1);
}

DescriptorList::Entry* DescriptorList::current() {
  if (!running_) return nullptr;
  if (ready_.empty()) return ended_ ? &end_ : nullptr;
  if (!in_use_) {
    in_use_ = true;
    current_address_ = ready_.front().address;
    ctx_.trace.change(t_address_, sc_time_stamp(), current_address_);
    if (setup_.style == TimingStyle::at) pump();
  }
  return &ready_.front();
}

void DescriptorList::pop(sc_time now) {
  if (ready_.empty()) return;
  ready_.pop_front();
  in_use_ = false;
  end_.at = now;
  if (setup_.style == TimingStyle::at)
    pump();
  else
    while (running_ && !ended_ && ready_.size() < std::max(1u, setup_.depth)) fetch_lt(now);
}

void DescriptorList::resume(sc_time now) {
  if (!running_ || ready_.empty() || ready_.front().kind != Entry::Kind::unavailable) return;
  next_ = ready_.front().address;
  --index_;
  ready_.clear();
  ended_ = in_use_ = false;
  if (setup_.style == TimingStyle::at)
    pump();
  else
    fetch_lt(now);
}

void DescriptorList::fetch_lt(sc_time at) {
  bool ok = true;
  last_fetch_ =
      port_.access_lt(false, next_, raw_.data(), descriptor_bytes(), std::max(at, last_fetch_), &ok);
  take(last_fetch_, ok);
}

DescriptorList::Entry* DescriptorList::current_lt(sc_time now) {
  if (!running_) return nullptr;
  while (ready_.empty() && !ended_) fetch_lt(now);
  const bool first_look = !in_use_ && !ready_.empty();
  Entry* e = current();
  if (!first_look) return e;
  const sc_time from = std::max(e->at, now);
  while (setup_.depth > 0 && !ended_ && ready_.size() - 1 < setup_.depth) fetch_lt(from);
  return &ready_.front();
}

}  // namespace vp
