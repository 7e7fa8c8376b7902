#include "firmware/drivers/hsmmc_dma.hpp"

#include <cstring>

#include "firmware/drivers/hsmmc_hw.hpp"
#include "firmware/hal/hal.hpp"

namespace fw {

using namespace dma_hw;

namespace {
constexpr unsigned kDummySet = 63, kFirstLink = 64;
constexpr std::uint32_t kWordBytes = 4;  // the width of DATA
constexpr std::uint32_t link_to(unsigned set) { return kParamBase + set * kSetBytes; }
}  // namespace

std::uint32_t HsmmcDma::read(std::uint32_t offset) const { return hal::read32(config_.base + offset); }
void HsmmcDma::write(std::uint32_t offset, std::uint32_t value) const {
  hal::write32(config_.base + offset, value);
}

void HsmmcDma::init(const HsmmcDmaConfig& config) {
  *this = HsmmcDma{};
  config_ = config;
  if (config_.max_linked > kMaxLinked) config_.max_linked = kMaxLinked;
  // A dummy set swallows what may come after the last block: ACNT is not 0, the counts are.
  write_set(kDummySet, ParamSet{0, 0, kWordBytes, 0, 0, kNoLink, 0, 0});
  for (const unsigned c : {config_.rx_channel, config_.tx_channel}) {
    write(kMap0 + 4 * c, c << kMapLsb);
    write(kEecr, 1u << c);
    write(kIesr, 1u << c);
  }
}

bool HsmmcDma::expressible(const MmcData& data) const {
  for (const Segment& s : data.segments)
    if (s.bytes % data.block_bytes || s.bytes / data.block_bytes > 0xFFFF || (s.address + s.bytes - 1) >> 32)
      return false;
  return !config_.linked_list || data.segments.size() <= config_.list_entries;
}

bool HsmmcDma::start(const MmcData& data) {
  if (!expressible(data)) return false;
  data_ = &data;
  channel_ = data.read ? config_.rx_channel : config_.tx_channel;
  next_ = 0;
  done_ = failed_ = lost_event_ = false;
  write(kEcr, bit());
  if (config_.linked_list) {
    write_list();
  } else {
    write_batch();
  }
  hal::barrier();
  write(kEesr, bit());
  return true;
}

ParamSet HsmmcDma::make_set(const Segment& s, std::uint32_t opt, std::uint32_t link) const {
  const std::uint32_t block = data_->block_bytes;
  const auto memory = static_cast<std::uint32_t>(s.address), port = static_cast<std::uint32_t>(config_.port);
  ParamSet set{};
  set[kOpt] = opt | kOptAbSync | channel_ << kOptTccLsb;
  set[kSrc] = data_->read ? port : memory;
  set[kDst] = data_->read ? memory : port;
  set[kABCnt] = block / kWordBytes << 16 | kWordBytes;
  set[kBIdx] = data_->read ? kWordBytes << 16 : kWordBytes;
  set[kCIdx] = data_->read ? block << 16 : block;
  set[kLink] = link;
  set[kCCnt] = s.bytes / block;
  return set;
}

void HsmmcDma::write_set(unsigned index, const ParamSet& set) const {
  for (unsigned w = 0; w < kWords; ++w) write(link_to(index) + 4 * w, set[w]);
}

/// The next sets, the channel's own last: it is what an event would start.
void HsmmcDma::write_batch() {
  const std::size_t left = data_->segments.size() - next_;
  const std::size_t n = left < config_.max_linked ? left : config_.max_linked;
  const bool final = n == left;
  ParamSet first{};
  for (std::size_t i = 0; i < n; ++i) {
    const bool last = i + 1 == n;
    const std::uint32_t opt = !last ? 0 : final ? std::uint32_t{kOptTcInt} : kOptTcInt | kOptEarly;
    const std::uint32_t link = !last   ? link_to(kFirstLink + static_cast<unsigned>(i))
                               : final ? link_to(kDummySet)
                                       : kNoLink;
    const ParamSet set = make_set(data_->segments[next_ + i], opt, link);
    if (i == 0)
      first = set;
    else
      write_set(kFirstLink + static_cast<unsigned>(i) - 1, set);
  }
  write_set(channel_, first);
  hal::cost(hal::Cost::descriptor, n);
  next_ += n;
}

bool HsmmcDma::write_list() {
  const std::size_t n = data_->segments.size();
  auto* at =
      static_cast<unsigned char*>(hal::ram(config_.list_address, list_bytes(static_cast<std::uint32_t>(n))));
  for (std::size_t i = 0; i < n; ++i) {
    const bool last = i + 1 == n;
    const ParamSet set = make_set(data_->segments[i], last ? std::uint32_t{kOptTcInt} : 0, kNoLink);
    const std::uint64_t next = last ? 0 : config_.list_address + (i + 1) * kDescriptorBytes;
    std::memcpy(at + i * kDescriptorBytes, set.data(), kSetBytes);
    std::memcpy(at + i * kDescriptorBytes + kSetBytes, &next, sizeof next);
  }
  hal::cost(hal::Cost::descriptor, n);
  next_ = n;
  hal::barrier();
  hal::write64(config_.base + kNext0 + kListStride * channel_, config_.list_address);
  write(kList0 + kListStride * channel_, kListEnable);
  return true;
}

void HsmmcDma::stop() {
  if (!data_) return;
  write(kEecr, bit());
  if (config_.linked_list) write(kList0 + kListStride * channel_, 0);
  write(kEcr, bit());
  write(kEmcr, bit());
  write(kSecr, bit());
  write(kIcr, bit());
  write(kTcError, bit());
  data_ = nullptr;
}

void HsmmcDma::irq() {
  const std::uint32_t ended = read(kIpr);
  write(kIcr, ended);
  if (!data_ || !(ended & bit())) return;
  hal::cost(hal::Cost::irq_handler);
  if (next_ == data_->segments.size()) {
    done_ = true;
    write(kEecr, bit());
    if (config_.linked_list) write(kList0 + kListStride * channel_, 0);
    data_ = nullptr;
    return;
  }
  ++reloads_;
  write(kEecr, bit());  // a request that comes now waits
  const bool missed = lost_event_ || (read(kEmr) & bit());
  write_batch();
  if (missed) {
    if (!lost_event_) ++missed_events_;
    lost_event_ = false;
    write(kEmcr, bit());
    write(kSecr, bit());
  }
  hal::barrier();
  write(kEesr, bit());
  if (missed) write(kEsr, bit());
}

void HsmmcDma::error_irq() {
  const std::uint32_t bus = read(kTcError), missed = read(kEmr);
  write(kTcError, bus);
  write(kEmcr, missed);
  if (!data_) return;
  if (bus & bit()) failed_ = true;
  if (!(missed & bit())) return;
  ++missed_events_;
  // Between two batches the reload makes up for it; anywhere else a block is lost.
  if (next_ < data_->segments.size() && !config_.linked_list)
    lost_event_ = true;
  else
    failed_ = true;
}

}  // namespace fw
