// A queue of fixed size for what waits or has ended: no heap, first in first out.
#pragma once

#include <array>

namespace fw {

/// Holds up to `N` values. The caller keeps count: pushing onto a full ring is an error of its own.
template <class T, unsigned N>
struct Ring {
  std::array<T, N> items{};
  unsigned head = 0, count = 0;

  void push(T value) { items[(head + count++) % N] = value; }
  const T& front() const { return items[head]; }
  /// The oldest; `T{}` (a null pointer) when there is none.
  T pop() {
    if (count == 0) return T{};
    const T value = items[head];
    head = (head + 1) % N;
    --count;
    return value;
  }
};

}  // namespace fw
