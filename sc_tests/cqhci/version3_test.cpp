// The queue of a host in version 3 mode with 64-bit addresses (HOST_CONTROL1.DMA_SELECT 3), as sdhci-pci sets it up.
#include "sc_tests/catch.hpp"
#include "sc_tests/cqhci/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

/// As QueueBench::start, but in version 3: no bit of HOST_CONTROL2 widens the addresses, DMA_SELECT does.
void start_version3(QueueBench& b, Shape shape, std::uint32_t dma_select) {
  b.start_card();
  b.write(0x28, 1, 0x20 | dma_select << 3);
  for (const unsigned at : {0x34u, 0x38u}) b.write(at, 4, 0x02FF4000);
  b.shape = shape;
  for (const char* name : {"CQISTE", "CQISGE"}) b.set_cq(name, 0x3F);
  b.set_cq("CQTDLBA", QueueBench::kList);
  b.set_cq("CQSSC2", 1);
  b.set_cq("CQCFG", 0x1001 | (shape.task == 16 ? 0x100 : 0));
}

void move_two_tasks(QueueBench& b) {
  b.task(0, true, 1000, 8, kInt, 1024);  // four transfer descriptors: their stride shows
  b.task(1, true, 5000, 4, kInt, 512);
  b.ring(3);
  b.run_until_complete(3);
  b.check_data(0, 1000, 8);
  b.check_data(1, 5000, 4);
  CHECK(b.ctx.findings.empty());
}

}  // namespace

TEST_CASE(
    "in version 3, ADMA2 with 64-bit addresses makes slots of 32 bytes and transfer descriptors 12 bytes "
    "apart") {
  CqhciParams q = queue_params();
  q.short_transfer_descriptors = true;
  QueueBench b(q);
  start_version3(b, k16_12, 3);
  move_two_tasks(b);
}

TEST_CASE("in version 3, ADMA2 with 32-bit addresses keeps slots of 16 bytes") {
  QueueBench b;
  start_version3(b, k8_8, 2);
  move_two_tasks(b);
}
