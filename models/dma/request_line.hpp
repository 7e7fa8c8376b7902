// Hardware requests between a peripheral and the system DMA: a line is a direct call, as interrupts are.
#pragma once

namespace vp {

/// The DMA's side: one event per call.
class DmaRequestSink {
 public:
  virtual ~DmaRequestSink() = default;
  /// A rising edge on request line `line`, at kernel time.
  virtual void dma_request(unsigned line) = 0;
};

/// The peripheral's side: told when what one request asked for has been moved (its last B or R beat).
class DmaPeripheral {
 public:
  virtual ~DmaPeripheral() = default;
  /// At kernel time.
  virtual void dma_acknowledged() = 0;
};

/// One line; what a peripheral holds. Unconnected lines are allowed and silent.
class DmaRequestLine {
 public:
  void connect(DmaRequestSink& sink, unsigned line) {
    sink_ = &sink;
    line_ = line;
  }
  bool connected() const { return sink_ != nullptr; }
  void request() {
    if (sink_) sink_->dma_request(line_);
  }

 private:
  DmaRequestSink* sink_ = nullptr;
  unsigned line_ = 0;
};

}  // namespace vp
