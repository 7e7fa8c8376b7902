// What a command queue engine needs of the SDHCI registers: it borrows the transfer engine, so block size,
// transfer mode and DMA select stand still while it runs. Order and values as Linux has them for a DWC MSHC.
#include "firmware/drivers/sdhci.hpp"
#include "firmware/drivers/sdhci_hw.hpp"
#include "firmware/hal/hal.hpp"

namespace fw {

namespace {
constexpr std::uint32_t kBlockBytes = 512;
constexpr std::uint32_t kBoundary512K = 7;
constexpr std::uint32_t kMaxTimeout = 14;  // 15 is reserved
constexpr std::uint32_t kAdma2Only = 2;    // ADMA3 stays off, although the engine could be thought to need it
constexpr unsigned kDrainWords = 2048 / 4;  // the longest block
constexpr std::uint32_t kCqeMode = hw::kModeMulti | hw::kModeCount | hw::kModeDma;
}  // namespace

std::uint64_t Sdhci::cqe_base() const {
  const std::uint16_t pointer = read16(hw::kVendor2Pointer);
  return pointer ? config_.base + pointer : 0;
}

std::uint8_t Sdhci::adma_error() const { return hal::read8(at(hw::kAdmaError)); }

void Sdhci::acknowledge_all() {
  if (const std::uint32_t left = read32(hw::kIntStatus)) write32(hw::kIntStatus, left);
}

// An engine that finds Buffer Read Enable set, as tuning can leave it, gets stuck.
void Sdhci::drain_buffer() {
  for (unsigned i = 0; read32(hw::kPresentState) & hw::kStateReadReady; ++i) {
    if (i == kDrainWords) {
      reset(hw::kResetDat);
      return;
    }
    read32(hw::kBufferPort);
  }
}

void Sdhci::cqe_enter(CqeHandler& handler) {
  drain_buffer();
  acknowledge_all();  // a Command Complete left over would be taken for the engine's
  write16(hw::kBlockSize, kBoundary512K << hw::kBoundaryLsb | kBlockBytes);
  write16(hw::kTransferMode, mode_ = kCqeMode);
  legacy_dma_ = hc1_ & hw::kHc1DmaMask;
  write_hc1((hc1_ & ~hw::kHc1DmaMask) | kAdma2Only << hw::kHc1DmaLsb);
  if (timeout_ != kMaxTimeout) write8(hw::kTimeoutControl, timeout_ = kMaxTimeout);
  cqe_ = &handler;
  write_interrupts(hw::kIntForCqe);
}

void Sdhci::cqe_leave() {
  if (!cqe_) return;
  write_interrupts(hw::kIntForDma);
  cqe_ = nullptr;
  write_hc1((hc1_ & ~hw::kHc1DmaMask) | legacy_dma_);
  acknowledge_all();  // a Transfer Complete left over would end the next command early
}

}  // namespace fw
