#include "models/sdhci/descriptor_walker.hpp"

#include <cstring>

namespace vp {

using namespace sdhci;

AdmaDescriptor decode_adma(const std::byte* bytes, AdmaFormat format) {
  std::uint32_t word[4] = {};
  std::memcpy(word, bytes, format.bytes);
  AdmaDescriptor d;
  d.attr = word[0] & (kAdmaValid | kAdmaEnd | kAdmaInt | kAdmaActMask);
  d.length = word[0] >> 16;
  if (format.length26) {
    d.length |= ((word[0] >> 6) & 0x3FF) << 16;  // bits 15:6 are length bits 25:16
    if (d.length == 0) d.length = 1u << 26;
  } else if (d.length == 0) {
    d.length = 1u << 16;
  }
  d.address = word[1];
  if (format.bytes != kAdma32Bytes) d.address |= std::uint64_t{word[2]} << 32;
  return d;
}

DescriptorWalker::DescriptorWalker(Context& ctx, AxiMasterPort& port, const std::string& path)
    : ctx_(ctx), port_(port) {
  transfer_.id = kTransferId;
  transfer_.data = raw_.data();
  t_address_ = ctx_.trace.add_vector(path + ".descriptor_address", 64);
}

void DescriptorWalker::start(std::uint64_t table, AdmaFormat format, unsigned depth,
                             std::function<void()> arrived, const BufferedDescriptors& buffered,
                             bool keep_copies) {
  stop();
  buffered_ = buffered;
  keep_copies_ = keep_copies;
  runs_.clear();
  copies_.clear();
  format_ = format;
  depth_ = depth;
  arrived_ = std::move(arrived);
  next_ = current_address_ = table;
  running_ = true;
  ended_ = in_use_ = false;
  index_ = 0;
  last_fetch_ = sc_core::sc_time_stamp();
  if (style_ == TimingStyle::at) {
    pump();
    return;
  }
  while (!ended_ && ready_.size() < depth_ + 1) fetch_lt(last_fetch_);
}

void DescriptorWalker::stop() {
  running_ = false;
  fetching_ = false;
  ready_.clear();
}

bool DescriptorWalker::may_fetch() const {
  if (!running_ || fetching_ || ended_) return false;
  if (ready_.empty()) return true;    // nothing to use
  return ready_.size() - 1 < depth_;  // the front is in use or about to be
}

/// The next descriptor from the bytes that were here before the walk began. False: it is not among them.
bool DescriptorWalker::take_buffered(sc_time at) {
  if (next_ < buffered_.address || next_ + format_.bytes > buffered_.address + buffered_.bytes) return false;
  std::memcpy(raw_.data(), buffered_.data + (next_ - buffered_.address), format_.bytes);
  take(at, true);
  return true;
}

void DescriptorWalker::keep_copy() {
  if (runs_.empty() || runs_.back().address + runs_.back().bytes != next_)
    runs_.push_back({next_, 0, static_cast<std::uint32_t>(copies_.size())});
  runs_.back().bytes += format_.bytes;
  copies_.insert(copies_.end(), raw_.begin(), raw_.begin() + format_.bytes);
}

void DescriptorWalker::pump() {
  while (may_fetch() && take_buffered(sc_core::sc_time_stamp())) {
  }
  if (!may_fetch()) return;
  fetching_ = true;
  transfer_.is_write = false;
  transfer_.address = next_;
  transfer_.bytes = format_.bytes;
  transfer_.error = false;
  port_.start(transfer_);
}

void DescriptorWalker::fetched(AxiMasterPort::Transfer& transfer) {
  if (!running_ || !fetching_) return;
  fetching_ = false;
  take(sc_core::sc_time_stamp(), !transfer.error);
  pump();
  arrived_();
}

void DescriptorWalker::take(sc_time at, bool bus_ok) {
  ++fetched_total_;
  if (keep_copies_ && bus_ok) keep_copy();
  Segment s;
  s.descriptor = next_;
  s.index = index_++;
  s.at = at;
  const AdmaDescriptor d = decode_adma(raw_.data(), format_);
  next_ += format_.bytes;
  if (!bus_ok || !d.valid()) {
    s.kind = bus_ok ? Segment::Kind::invalid : Segment::Kind::bus_error;
    ended_ = true;
    ready_.push_back(s);
    return;
  }
  if (d.act() == kAdmaActTran) {
    s.address = d.address;
    s.bytes = d.length;
    s.interrupt = d.interrupt();
    s.last = d.end();
    ready_.push_back(s);
    if (ready_.size() > max_ahead_ + 1) max_ahead_ = ready_.size() - 1;
  } else if (d.act() == kAdmaActLink) {
    next_ = d.address;
  }
  if (d.end()) {
    ended_ = true;
    if (d.act() != kAdmaActTran) {
      s.kind = Segment::Kind::end;
      ready_.push_back(s);
    }
  }
}

DescriptorWalker::Segment* DescriptorWalker::current() {
  if (!running_ || ready_.empty()) return nullptr;
  if (!in_use_) {
    in_use_ = true;
    current_address_ = ready_.front().descriptor;
    ctx_.trace.change(t_address_, sc_core::sc_time_stamp(), current_address_);
    if (style_ == TimingStyle::at) pump();
  }
  return &ready_.front();
}

void DescriptorWalker::advance(sc_time now) {
  if (ready_.empty()) return;
  const bool was_last = ready_.front().last;
  ready_.pop_front();
  in_use_ = false;
  if (was_last) {
    Segment s;
    s.kind = Segment::Kind::end;
    s.at = now;
    s.descriptor = next_;
    ready_.push_back(s);
  }
  if (style_ == TimingStyle::at) {
    pump();
    return;
  }
  while (depth_ > 0 && !ended_ && running_ && ready_.size() < depth_) fetch_lt(now);
}

void DescriptorWalker::fetch_lt(sc_time at) {
  bool ok = true;
  const sc_time ready = at > last_fetch_ ? at : last_fetch_;
  if (take_buffered(ready)) return;
  last_fetch_ = port_.access_lt(false, next_, raw_.data(), format_.bytes, ready, &ok);
  take(last_fetch_, ok);
}

DescriptorWalker::Segment* DescriptorWalker::current_lt(sc_time now) {
  if (!running_) return nullptr;
  while (ready_.empty() && !ended_) fetch_lt(now);
  if (ready_.empty()) return nullptr;
  const bool first_look = !in_use_;
  Segment* s = current();
  if (first_look) {
    const sc_time from = s->at > now ? s->at : now;
    while (depth_ > 0 && !ended_ && ready_.size() - 1 < depth_) fetch_lt(from);
    s = &ready_.front();
  }
  return s;
}

}  // namespace vp
