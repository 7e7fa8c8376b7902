// Why the workload program ended: its return value.
#pragma once

namespace fw {

enum class Status : int {
  ok = 0,
  bad_magic = 10,
  bad_job = 11,       ///< a job's numbers contradict themselves or the card's size
  too_many_ios = 12,  ///< sum of iodepth above kMaxIos
  bad_limits = 13,    ///< max_segs, max_seg_bytes, max_req_bytes, max_blk_count
  bad_memory = 14,    ///< page size, buffer offset
  pool_too_small = 15,
  buffers_too_small = 16,
  host_failed = 20,  ///< the host does not come out of reset, or cannot reach its descriptor table
  no_clock = 21,
  no_card = 22,
  identify_failed = 23,
  ext_csd_failed = 24,
  mode_failed = 25,    ///< not even legacy speed works
  option_failed = 26,  ///< power class or cache switch refused
  no_cqe_host = 27,    ///< use_cqe: no CQHCI behind vendor area 2, or no ADMA2
  no_cqe_card = 28,    ///< use_cqe: EXT_CSD says no queue, or one of at most two tasks
  cqe_failed = 29,     ///< use_cqe: CMDQ_MODE_EN refused, or the engine does not start
  no_queue_host =
      31,           ///< soft_queue: the host's driver cannot send commands beside data, or from its interrupt
  swq_failed = 32,  ///< soft_queue: CMDQ_MODE_EN refused
  stuck = 30,       ///< jobs wait and nothing runs: a fault of this program
};

}  // namespace fw
