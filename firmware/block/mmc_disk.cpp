#include "firmware/block/mmc_disk.hpp"

#include "firmware/block/transfer.hpp"
#include "firmware/hal/hal.hpp"
#include "firmware/mmc/commands.hpp"

namespace fw {

namespace {
constexpr std::uint64_t kFirstBackoffNs = 32'000, kLastBackoffNs = 32'768'000;
constexpr std::uint64_t kPollLimitNs = 10'000'000'000;
constexpr std::uint32_t kMaxAttempts = 2;
constexpr std::uint32_t kReliableWrite = 1u << 31;  // CMD23 argument (JESD84-B51 6.6.10)
constexpr std::uint64_t kNever = ~std::uint64_t{0};
}  // namespace

void MmcDisk::init(MmcHost& host, Card& card, const MmcDiskConfig& config) {
  host_ = &host;
  card_ = &card;
  config_ = config;
  state_ = State::idle;
  request_ = finished_ = nullptr;
  recoveries_ = 0;
}

// Linux's condition: CMD23, and the card has reliable writes (EXT_CSD WR_REL_PARAM bit 2, or REL_WR_SEC_C).
bool MmcDisk::can_fua() const {
  const auto& raw = card_->info().raw;
  constexpr unsigned kWrRelParam = 166, kRelWrSecC = 222, kEnhanced = 4;
  return config_.use_cmd23 && ((raw[kWrRelParam] & kEnhanced) || raw[kRelWrSecC]);
}

void MmcDisk::issue(Request& r) {
  request_ = &r;
  r.attempts = 0;
  r.flush ? start_flush() : start_transfer();
}

void MmcDisk::start_transfer() {
  const Request& r = *request_;
  data_ = transfer_data(r, config_.max_seg_bytes, segments_);
  command_ = transfer_command(r, *card_, data_);
  const bool many = command_.use_sbc;
  command_.use_sbc = many && config_.use_cmd23;
  command_.sbc_arg = data_.blocks | (r.fua && many ? kReliableWrite : 0);
  command_.stop = many && !config_.use_cmd23;
  state_ = State::transfer;
  ++request_->attempts;
  host_->start(command_);
}

void MmcDisk::start_flush() {
  command_ = MmcCommand{};
  command_.index = cmd::kSwitch;
  command_.arg = Card::switch_arg(ext_csd::kFlushCache, 1);
  command_.response = Response::r1b;
  command_.timeout_ms = config_.flush_timeout_ms;
  state_ = State::transfer;
  ++request_->attempts;
  host_->start(command_);
}

void MmcDisk::start_status() {
  command_ = MmcCommand{};
  command_.index = cmd::kSendStatus;
  command_.arg = card_->rca_arg();
  state_ = State::status;
  host_->start(command_);
}

bool MmcDisk::pending() const {
  if (finished_) return true;
  switch (state_) {
    case State::idle:
      return false;
    case State::backoff:
      return hal::now_ns() >= poll_ns_;
    default:
      return command_.done || hal::now_ns() >= host_->deadline_ns();
  }
}

std::uint64_t MmcDisk::deadline_ns() const {
  if (state_ == State::idle) return kNever;
  return state_ == State::backoff ? poll_ns_ : host_->deadline_ns();
}

void MmcDisk::service() {
  if (state_ == State::backoff) {
    if (hal::now_ns() >= poll_ns_) start_status();
  } else if (state_ != State::idle && !command_.done && hal::now_ns() >= host_->deadline_ns()) {
    host_->on_deadline();
  }
  // A step may end at once (a command that could not be started); two turns take each request to its next
  // wait.
  while ((state_ == State::transfer || state_ == State::status) && command_.done)
    state_ == State::transfer ? transfer_ended() : status_ended();
}

void MmcDisk::transfer_ended() {
  if (command_.error != MmcError::none) return fail(command_.error);
  if (command_.resp[0] & r1::kDataErrors) return fail(MmcError::card_status);
  if (!request_->write && !request_->flush) return finish(MmcError::none);
  poll_step_ns_ = kFirstBackoffNs;
  poll_end_ns_ = hal::now_ns() + kPollLimitNs;
  start_status();
}

void MmcDisk::status_ended() {
  if (command_.error != MmcError::none) return fail(command_.error);
  const std::uint32_t status = command_.resp[0];
  const std::uint32_t errors = r1::kDataErrors | (request_->flush ? r1::kSwitchError : 0);
  if (status & errors) return fail(MmcError::card_status);
  if (r1::ready_for_data(status)) return finish(MmcError::none);
  const std::uint64_t now = hal::now_ns();
  if (now >= poll_end_ns_) return fail(MmcError::not_ready);
  state_ = State::backoff;
  poll_ns_ = now + poll_step_ns_;
  if (poll_step_ns_ < kLastBackoffNs) poll_step_ns_ *= 2;
}

void MmcDisk::fail(MmcError error) {
  ++recoveries_;
  const bool moving = state_ == State::transfer && !request_->flush;
  hal::event(hal::Event::driver_error, request_->slot, static_cast<std::uint64_t>(error), recoveries_);
  if (error == MmcError::bad_request) return finish(error);  // nothing was sent
  const bool usable = card_->recover(moving, request_->write);
  if (!usable || request_->attempts >= kMaxAttempts) return finish(error);
  request_->flush ? start_flush() : start_transfer();
}

void MmcDisk::finish(MmcError error) {
  request_->error = error;
  finished_ = request_;
  request_ = nullptr;
  state_ = State::idle;
}

Request* MmcDisk::take_finished() {
  Request* r = finished_;
  finished_ = nullptr;
  return r;
}

}  // namespace fw
