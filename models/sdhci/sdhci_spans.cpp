// Whose request the host's own commands serve, for the books of time (models/core/spans). Tasks that software queues name
// themselves on the line (JESD84-B51 6.6.39): CMD44, CMD46 and CMD47 carry the task id, CMD45 belongs to the CMD44 before
// it, CMD13 with bit 15 shows which are ready. Everything else is the one request without a tag. No effect on the run.
#include "models/sdhci/sdhci.hpp"

namespace vp {

namespace {
constexpr unsigned kParams = 44, kAddress = 45, kExecuteRead = 46, kExecuteWrite = 47, kStatus = 13;
constexpr std::uint32_t kQueueStatus = 1u << 15;
}  // namespace

CauseGraph& Sdhci::graph(unsigned tag) {
  CauseGraph* g = ctx_.spans.graph(tag);
  return g ? *g : no_graph_;
}

unsigned Sdhci::tag_of(unsigned index, std::uint32_t argument) const {
  if (index == kAddress) return pair_tag_;
  const bool named = index == kParams || index == kExecuteRead || index == kExecuteWrite;
  return named ? argument >> 16 & 0x1F : SpanRecorder::kLegacyTag;
}

/// The command written goes to the line at `now`. A task's execution continues the graph its CMD45 began.
void Sdhci::begin_spans(sc_time now) {
  const unsigned index = command_ >> 8 & 0x3F;
  command_tag_ = tag_of(index, static_cast<std::uint32_t>(bank_.get(reg_offset(sdhci::kRegs, "ARGUMENT"))));
  first_node_ = kRootNode;
  if (index == kParams) pair_tag_ = command_tag_;
  const bool executes = index == kExecuteRead || index == kExecuteWrite;
  if (CauseGraph* g = executes ? ctx_.spans.graph(command_tag_) : nullptr)
    first_node_ = g->add(queued_node_[command_tag_], Span::queue_wait, now);
  else
    ctx_.spans.hardware_begin(command_tag_, now);
  if ((command_ & 3) != 3 && !(command_ & 0x20)) return;
  dat_tag_ = command_tag_;
  dat_index_ = static_cast<std::uint8_t>(index);
}

/// A command without data has ended. After CMD45 the device owns the request.
void Sdhci::end_command_spans(NodeId node, bool good) {
  const unsigned index = command_ >> 8 & 0x3F;
  if (index == kAddress && good && command_tag_ < queued_node_.size()) {
    queued_node_[command_tag_] = node;
    queued_unseen_ |= 1u << command_tag_;
    return;
  }
  if (index == kStatus && good && (bank_.get(reg_offset(sdhci::kRegs, "ARGUMENT")) & kQueueStatus))
    tasks_seen_ready(outcome_.response.content, sc_core::sc_time_stamp());
  end_hardware(command_tag_, node, index == kParams);
}

void Sdhci::tasks_seen_ready(std::uint32_t status, sc_time now) {
  for (unsigned tag = 0; tag < queued_node_.size(); ++tag) {
    if (!(status & queued_unseen_ & (1u << tag))) continue;
    queued_unseen_ &= ~(1u << tag);
    CauseGraph* g = ctx_.spans.graph(tag);
    if (!g) continue;
    const BlockReady ready = bus_.card().queue_ready(tag, *g, queued_node_[tag]);
    queued_node_[tag] = g->add(ready.why, Span::queue_poll_wait, now);
  }
}

void Sdhci::end_hardware(unsigned tag, NodeId node, bool more) {
  if (tag == dat_tag_ && data_.active()) return;  // a command beside a running transfer
  ctx_.spans.hardware_end(tag, node, more);
}

}  // namespace vp
