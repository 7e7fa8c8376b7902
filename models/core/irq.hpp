// Interrupt lines are direct calls: an acknowledged line is low before the next instruction.
#pragma once

namespace vp {

/// Receives the level of numbered interrupt lines. Calls are idempotent.
class IrqSink {
 public:
  virtual ~IrqSink() = default;
  virtual void set_irq(unsigned line, bool level) = 0;
};

/// One line of a sink; what a peripheral holds. Unconnected lines are allowed and silent.
class IrqLine {
 public:
  void connect(IrqSink& sink, unsigned line) {
    sink_ = &sink;
    line_ = line;
  }
  void set(bool level) {
    if (level == level_) return;
    level_ = level;
    if (sink_) sink_->set_irq(line_, level);
  }
  bool level() const { return level_; }

 private:
  IrqSink* sink_ = nullptr;
  unsigned line_ = 0;
  bool level_ = false;
};

}  // namespace vp
