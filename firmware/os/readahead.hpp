// On-demand read-ahead of one open file: when a reader meets a page that is not cached, or one that carries the mark,
// how many pages to read from where, and which of them carries the next mark. The rules and names are those of Linux's
// ondemand_readahead(): a first window of two or four times the request (of the largest window for large requests), then
// windows that grow four- and twofold up to the largest one, each started when the reader reaches the mark of the one
// before. All positions are page numbers within the file. Not modelled: large folios, congestion, several readers of one
// open file.
#pragma once

#include <cstdint>

namespace fw {

/// What read-ahead may ask of the page cache.
class CachedPages {
 public:
  virtual bool cached(std::uint64_t index) const = 0;

 protected:
  ~CachedPages() = default;
};

struct RaWindow {
  static constexpr std::uint64_t kNoMark = ~std::uint64_t{0};
  std::uint64_t start = 0;
  std::uint64_t pages = 0;  ///< 0: nothing to read
  std::uint64_t mark = kNoMark;
};

class ReadAhead {
 public:
  enum class Hint : std::uint8_t { none, sequential, random };  ///< posix_fadvise(2)

  /// `largest`: pages of the largest window (0: none, one page at a time); `io_pages`: pages of the largest request,
  /// which a large call may use instead. The hint sequential doubles the window, random reads what is asked for.
  void init(std::uint64_t largest, std::uint64_t io_pages, Hint hint);

  /// The reader wants `want` pages from `index` on, and page `index` is not cached.
  RaWindow miss(std::uint64_t index, std::uint64_t want, const CachedPages& cache);
  /// The reader met the mark at `index`, with `want` pages of its call left.
  RaWindow marked(std::uint64_t index, std::uint64_t want, const CachedPages& cache);
  /// The reader has copied up to page `index`.
  void read_to(std::uint64_t index) { previous_ = index; }

 private:
  RaWindow on_demand(std::uint64_t index, std::uint64_t want, bool mark, const CachedPages& cache);
  RaWindow initial(std::uint64_t index, std::uint64_t want, std::uint64_t most);
  RaWindow window(std::uint64_t index, std::uint64_t most);
  bool context(std::uint64_t index, std::uint64_t want, std::uint64_t most, const CachedPages& cache);
  std::uint64_t next_size(std::uint64_t most) const;

  std::uint64_t largest_ = 0, io_pages_ = 0;
  bool random_ = false;
  std::uint64_t start_ = 0, size_ = 0, async_ = 0;    ///< the window; async_: pages from its mark to its end
  std::uint64_t previous_ = ~std::uint64_t{0} >> 12;  ///< nowhere near any page
};

}  // namespace fw
