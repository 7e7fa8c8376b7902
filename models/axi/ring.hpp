// A queue in a circular buffer: grows while it warms up, allocates nothing afterwards.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace vp {

template <typename T>
class Ring {
 public:
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  T& front() { return slots_[head_]; }
  const T& front() const { return slots_[head_]; }
  void push(T value) {
    if (count_ == slots_.size()) grow();
    slots_[(head_ + count_++) & (slots_.size() - 1)] = std::move(value);
  }
  T pop() {
    T value = std::move(slots_[head_]);
    head_ = (head_ + 1) & (slots_.size() - 1);
    --count_;
    return value;
  }
  T& operator[](std::size_t i) { return slots_[(head_ + i) & (slots_.size() - 1)]; }
  const T& back() const { return slots_[(head_ + count_ - 1) & (slots_.size() - 1)]; }
  void pop_back() { --count_; }
  void clear() { head_ = count_ = 0; }

 private:
  void grow() {
    std::vector<T> bigger(slots_.empty() ? 8 : slots_.size() * 2);
    for (std::size_t i = 0; i < count_; ++i) bigger[i] = std::move(slots_[(head_ + i) & (slots_.size() - 1)]);
    slots_ = std::move(bigger);
    head_ = 0;
  }
  std::vector<T> slots_;
  std::size_t head_ = 0, count_ = 0;
};

}  // namespace vp
