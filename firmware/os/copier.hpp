// A copying program, as dd: reads records of ibs bytes from a file, a device node or /dev/zero and writes records of obs
// bytes to a file, a device node or /dev/null, one call after the other, then syncs when asked to and closes. With equal
// sizes each record is written as it was read (a short one too); with unequal ones records are put together in a buffer
// of obs bytes. The last record of a direct file that is no multiple of 512 bytes goes through the cache, as dd does it.
// Closing a device node writes back what is dirty; closing a file leaves it to the system.
#pragma once

#include "firmware/os/os_layer.hpp"

namespace fw {

class Copier {
 public:
  /// Checks the copy and cuts its buffers. Sets the operating system's layer up.
  Status init(JobTable& table, RequestQueue& queue, OsLayer& os, Pool& pool, bool cache_on);
  /// Copies to the end. Failed I/Os are counted in the table; the first one ends the copy.
  Status run();

 private:
  struct End {
    const FileDef* def = nullptr;
    OsFile file;
    std::uint64_t at = 0;  ///< next byte
    bool device() const { return def->kind != FileDef::none; }
  };
  Status open(End& end, const FileDef& def, std::uint64_t record, Buffer& buffer);
  bool copy_record();
  std::uint64_t read(std::uint64_t bytes);
  void gather(std::uint64_t bytes);
  bool write(const Buffer& from, std::uint64_t bytes);
  void finish();
  bool call(End& end, OsCallKind kind, const Buffer& user, std::uint64_t bytes);

  JobTable* table_ = nullptr;
  CopyDef* copy_ = nullptr;
  OsLayer* os_ = nullptr;
  PageAllocator pages_;
  End in_, out_;
  Buffer in_buffer_, out_buffer_;
  OsCall call_;
  std::uint64_t left_ = 0, held_ = 0;  ///< bytes still to read; bytes in out_buffer_
  Status status_ = Status::ok;
  bool failed_ = false;
};

}  // namespace fw
