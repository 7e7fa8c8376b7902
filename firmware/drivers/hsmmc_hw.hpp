// Register constants of the HSMMC host and of the system DMA, all out of the models' register tables.
#pragma once

#include "models/dma/edma_regs.hpp"
#include "models/hsmmc/hsmmc_regs.hpp"

namespace fw::hs {

consteval std::uint16_t reg(std::string_view name) { return vp::reg_offset(vp::hsmmc::kRegs, name); }
consteval std::uint32_t mask(std::string_view r, std::string_view f) {
  return vp::field_mask(vp::hsmmc::kRegs, r, f);
}
consteval unsigned lsb(std::string_view r, std::string_view f) {
  return vp::field_lsb(vp::hsmmc::kRegs, r, f);
}

inline constexpr auto kSysConfig = reg("SYSCONFIG"), kSysStatus = reg("SYSSTATUS"), kCon = reg("CON"),
                      kSdmasa = reg("SDMASA"), kBlk = reg("BLK"), kArg = reg("ARG"), kCmd = reg("CMD"),
                      kRsp10 = reg("RSP10"), kPstate = reg("PSTATE"), kHctl = reg("HCTL"),
                      kSysCtl = reg("SYSCTL"), kStat = reg("STAT"), kIe = reg("IE"), kIse = reg("ISE"),
                      kAc12 = reg("AC12"), kCapa = reg("CAPA");
inline constexpr std::uint32_t kDataPort = vp::hsmmc::kData;

inline constexpr auto kSoftReset = mask("SYSCONFIG", "SOFTRESET"),
                      kResetDone = mask("SYSSTATUS", "RESETDONE");
inline constexpr auto kConInit = mask("CON", "INIT"), kConDw8 = mask("CON", "DW8");
inline constexpr auto kBlkCountLsb = lsb("BLK", "NBLK");
inline constexpr auto kCmdDe = mask("CMD", "DE"), kCmdBce = mask("CMD", "BCE"),
                      kCmdDdir = mask("CMD", "DDIR"), kCmdMsbs = mask("CMD", "MSBS"),
                      kCmdCcce = mask("CMD", "CCCE"), kCmdCice = mask("CMD", "CICE"),
                      kCmdDp = mask("CMD", "DP"), kCmdAbort = mask("CMD", "CMD_TYPE");
inline constexpr auto kCmdAcenLsb = lsb("CMD", "ACEN"), kCmdRspLsb = lsb("CMD", "RSP_TYPE"),
                      kCmdIndexLsb = lsb("CMD", "INDX");
inline constexpr auto kCmdi = mask("PSTATE", "CMDI"), kDati = mask("PSTATE", "DATI"),
                      kBwe = mask("PSTATE", "BWE"), kBre = mask("PSTATE", "BRE");
inline constexpr auto kDtw = mask("HCTL", "DTW"), kHspe = mask("HCTL", "HSPE"), kSdbp = mask("HCTL", "SDBP");
inline constexpr auto kSdvsLsb = lsb("HCTL", "SDVS");
inline constexpr auto kIce = mask("SYSCTL", "ICE"), kIcs = mask("SYSCTL", "ICS"),
                      kCen = mask("SYSCTL", "CEN"), kDtoMask = mask("SYSCTL", "DTO"),
                      kSra = mask("SYSCTL", "SRA"), kSrc = mask("SYSCTL", "SRC"),
                      kSrd = mask("SYSCTL", "SRD");
inline constexpr auto kClkdLsb = lsb("SYSCTL", "CLKD"), kDtoLsb = lsb("SYSCTL", "DTO");
inline constexpr auto kCapaHss = mask("CAPA", "HSS"), kCapaVs33 = mask("CAPA", "VS33"),
                      kCapaVs30 = mask("CAPA", "VS30"), kCapaVs18 = mask("CAPA", "VS18");

using namespace vp::hsmmc;  // NOLINT: Int bits
inline constexpr std::uint32_t kErrors = kIntCommandErrors | kIntDataErrors | kIntAce | kIntCerr | kIntBada;
inline constexpr std::uint32_t kIntForDma = kIntCc | kIntTc | kErrors;
inline constexpr std::uint32_t kIntForPio = kIntForDma | kIntBrr | kIntBwr;

}  // namespace fw::hs

namespace fw::dma_hw {

consteval std::uint16_t reg(std::string_view name) { return vp::reg_offset(vp::edma::kRegs, name); }

inline constexpr auto kMap0 = reg("DCHMAP0"), kEmr = reg("EMR"), kEmcr = reg("EMCR"), kEcr = reg("ECR"),
                      kEsr = reg("ESR"), kEecr = reg("EECR"), kEesr = reg("EESR"), kSecr = reg("SECR"),
                      kIesr = reg("IESR"), kIpr = reg("IPR"), kIcr = reg("ICR"), kTcError = reg("TC_ERROR"),
                      kList0 = reg("LL_CONTROL0"), kNext0 = reg("LL_NEXT0");
inline constexpr unsigned kListStride = 16;  ///< between two channels' registers
inline constexpr std::uint32_t kListEnable = vp::field_mask(vp::edma::kRegs, "LL_CONTROL0", "ENABLE");
inline constexpr unsigned kMapLsb = vp::field_lsb(vp::edma::kRegs, "DCHMAP0", "PAENTRY");

using namespace vp::edma;  // NOLINT: parameter sets, OPT bits

}  // namespace fw::dma_hw
