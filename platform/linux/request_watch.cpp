#include "platform/linux/request_watch.hpp"

#include <cstring>
#include <utility>

#include "models/cqhci/cqhci_regs.hpp"
#include "models/dwmmc/dwmmc_regs.hpp"
#include "models/sdhci/sdhci_regs.hpp"

namespace vp::guest {
namespace {

constexpr std::uint32_t kCommand = reg_offset(sdhci::kRegs, "COMMAND");
constexpr std::uint32_t kNormalStatus = reg_offset(sdhci::kRegs, "NORMAL_INT_STATUS");
constexpr std::uint32_t kTransferComplete = 1U << 1, kErrors = 0xFFFF'0000;
constexpr std::uint32_t kDoorbell = reg_offset(cqhci::kRegs, "CQTDBR");
constexpr std::uint32_t kNotification = reg_offset(cqhci::kRegs, "CQTCN");
constexpr std::uint32_t kConfiguration = reg_offset(cqhci::kRegs, "CQCFG");
constexpr std::uint32_t kQueueEnable = 1, kTask128 = 1U << 8;

constexpr unsigned kSetBlockCount = 23, kStop = 12, kFirstWrite = 24, kReadMultiple = 18, kWriteMultiple = 25;
constexpr std::uint32_t kDataOver = 1, kIdmac = 2,
                        kStopDone = 4;  // acknowledges that a DW-MMC request waits for

/// CMD17, 18, 24, 25: what moves user data without a queue.
bool moves_data(unsigned index) { return index == 17 || index == 18 || index == 24 || index == 25; }

/// Whether a write of `bytes` at `offset` covers the byte at `at`.
bool covers(std::uint64_t offset, std::uint32_t bytes, std::uint64_t at) {
  return at >= offset && at < offset + bytes;
}

/// The 32 bits at `at` of a write; bytes that were not written are 0.
std::uint32_t part(std::uint64_t offset, std::uint32_t bytes, std::uint64_t value, std::uint64_t at) {
  std::uint32_t v = 0;
  for (unsigned i = 0; i < 4; ++i)
    if (covers(offset, bytes, at + i))
      v |= static_cast<std::uint32_t>(value >> (8 * (at + i - offset)) & 0xFF) << (8 * i);
  return v;
}

}  // namespace

std::uint64_t RequestWatch::shadow(std::uint32_t offset, unsigned bytes) const {
  std::uint64_t v = 0;
  for (unsigned i = 0; i < bytes; ++i) v |= std::uint64_t{written_[offset + i]} << (8 * i);
  return v;
}

void RequestWatch::write(std::uint64_t offset, std::uint32_t bytes, std::uint64_t value, sc_time now) {
  for (std::uint32_t i = 0; i < bytes && offset + i < written_.size(); ++i)
    written_[offset + i] = static_cast<std::uint8_t>(value >> (8 * i));
  idmac_status_ != 0 ? write_dwmmc(offset, bytes, value, now) : write_sdhci(offset, bytes, value, now);
}

void RequestWatch::write_dwmmc(std::uint64_t offset, std::uint32_t bytes, std::uint64_t value, sc_time now) {
  if (covers(offset, bytes, dwmmc::reg("CMD") + 3))
    dwmmc_command(static_cast<std::uint32_t>(shadow(dwmmc::reg("CMD"), 4)), now);
  if (dwmmc_waits_ == 0) return;
  const std::uint32_t told = part(offset, bytes, value, dwmmc::reg("RINTSTS"));
  const std::uint32_t moved = part(offset, bytes, value, idmac_status_);
  if (told & dwmmc::kIntDataOver) dwmmc_waits_ &= ~kDataOver;
  if (moved & (dwmmc::kIdTransmit | dwmmc::kIdReceive)) dwmmc_waits_ &= ~kIdmac;
  if (dwmmc_last_ == kStop && (told & dwmmc::kIntCommandDone)) dwmmc_waits_ &= ~kStopDone;
  if (told & (dwmmc::kIntCommandErrors | dwmmc::kIntDataErrors)) dwmmc_waits_ = 0;
  if (dwmmc_waits_ == 0) end(SpanRecorder::kLegacyTag, now);
}

void RequestWatch::dwmmc_command(std::uint32_t command, sc_time now) {
  if (!(command & dwmmc::mask("CMD", "START")) || (command & dwmmc::mask("CMD", "UPDATE_CLOCK"))) return;
  const unsigned index = command & dwmmc::mask("CMD", "INDEX"), before = std::exchange(dwmmc_last_, index);
  if (!moves_data(index) || !(command & dwmmc::mask("CMD", "DATA"))) return;
  const bool multiple = index == kReadMultiple || index == kWriteMultiple;
  const bool idmac = shadow(dwmmc::reg("CTRL"), 4) & dwmmc::mask("CTRL", "USE_IDMAC");
  dwmmc_waits_ = kDataOver | (idmac ? kIdmac : 0) | (multiple && before != kSetBlockCount ? kStopDone : 0);
  begin(SpanRecorder::kLegacyTag, index >= kFirstWrite, shadow(dwmmc::reg("CMDARG"), 4),
        static_cast<std::uint32_t>(shadow(dwmmc::reg("BYTCNT"), 4)), now);
}

void RequestWatch::write_sdhci(std::uint64_t offset, std::uint32_t bytes, std::uint64_t value, sc_time now) {
  if (covers(offset, bytes, kCommand + 1)) command(static_cast<std::uint16_t>(shadow(kCommand, 2)), now);
  if (part(offset, bytes, value, kNormalStatus) & (kTransferComplete | kErrors))
    end(SpanRecorder::kLegacyTag, now);
  if (queue_at_ == 0) return;
  if (const std::uint32_t tags = part(offset, bytes, value, queue_at_ + kDoorbell)) doorbell(tags, now);
  const std::uint32_t done = part(offset, bytes, value, queue_at_ + kNotification);
  const bool off = covers(offset, bytes, queue_at_ + kConfiguration) &&
                   !(shadow(queue_at_ + kConfiguration, 4) & kQueueEnable);
  for (unsigned tag = 0; tag < SpanRecorder::kLegacyTag; ++tag)
    if (off || (done >> tag & 1)) end(tag, now);
}

void RequestWatch::command(std::uint16_t command, sc_time now) {
  const unsigned index = command >> 8 & 0x3F;
  if (!moves_data(index)) return;
  const auto block = static_cast<std::uint32_t>(shadow(reg_offset(sdhci::kRegs, "BLOCK_SIZE"), 2) & 0xFFF);
  const auto count = static_cast<std::uint32_t>(shadow(reg_offset(sdhci::kRegs, "BLOCK_COUNT"), 2));
  begin(SpanRecorder::kLegacyTag, index >= kFirstWrite, shadow(reg_offset(sdhci::kRegs, "ARGUMENT"), 4),
        block * (index == 17 || index == 24 ? 1 : count), now);
}

/// The first half of a task descriptor (JESD84-B51 annex B): flags, block count, block address.
std::uint64_t RequestWatch::task_word(unsigned tag) const {
  const bool wide =
      shadow(queue_at_ + kConfiguration, 4) & kTask128;  // the guest then makes links of 128 bits too
  const std::uint64_t list = shadow(queue_at_ + reg_offset(cqhci::kRegs, "CQTDLBA"), 8);
  const std::byte* const at = memory_(list + std::uint64_t{tag} * (wide ? 32 : 16), 8);
  std::uint64_t word = 0;
  if (at) std::memcpy(&word, at, sizeof word);
  return word;
}

void RequestWatch::doorbell(std::uint32_t tags, sc_time now) {
  for (unsigned tag = 0; tag < SpanRecorder::kLegacyTag; ++tag) {
    if (!(tags >> tag & 1)) continue;
    const std::uint64_t word = task_word(tag);
    if (tag == cqhci::kDcmdSlot) continue;  // a direct command moves no data
    const auto blocks = static_cast<std::uint32_t>(word >> cqhci::kTaskBlocksLsb & 0xFFFF);
    begin(tag, !(word & cqhci::kTaskRead), word >> cqhci::kTaskAddressLsb, blocks * 512, now);
  }
}

void RequestWatch::begin(unsigned tag, bool is_write, std::uint64_t lba, std::uint32_t bytes, sc_time now) {
  end(tag, now);  // one that was given up without an acknowledge
  open_ |= std::uint64_t{1} << tag;
  spans_.request_begin(tag, now, is_write, lba, bytes);
  spans_.request_issue(tag, tag, now);
}

void RequestWatch::end(unsigned tag, sc_time now) {
  const std::uint64_t bit = std::uint64_t{1} << tag;
  if (!(open_ & bit)) return;
  open_ &= ~bit;
  spans_.request_end(tag, now);
}

}  // namespace vp::guest
