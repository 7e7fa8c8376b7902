// Host CPU cost of one four-phase TLM-2.0 AT transaction with payload event queues on both sides: the unit in which
// scripts/bench.sh states the cost of a simulated request. Prints nanoseconds per transaction.
#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdio>
#include <ctime>
#include <systemc>
#include <tlm>

namespace {

constexpr unsigned kTransactions = 1'000'000;
const sc_core::sc_time kStep(5, sc_core::SC_NS);

struct Target : sc_core::sc_module {
  tlm_utils::simple_target_socket<Target> socket;
  tlm_utils::peq_with_cb_and_phase<Target> queue{this, &Target::due};

  explicit Target(sc_core::sc_module_name n) : sc_module(n), socket("socket") {
    socket.register_nb_transport_fw(this, &Target::nb_fw);
  }
  tlm::tlm_sync_enum nb_fw(tlm::tlm_generic_payload& t, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    queue.notify(t, phase, delay);
    return tlm::TLM_ACCEPTED;
  }
  void due(tlm::tlm_generic_payload& t, const tlm::tlm_phase& phase) {
    if (phase != tlm::BEGIN_REQ) return;
    sc_core::sc_time delay = kStep;
    tlm::tlm_phase next = tlm::END_REQ;
    socket->nb_transport_bw(t, next, delay);
    next = tlm::BEGIN_RESP;
    delay = kStep + kStep;
    socket->nb_transport_bw(t, next, delay);
  }
};

struct Initiator : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Initiator> socket;
  tlm_utils::peq_with_cb_and_phase<Initiator> queue{this, &Initiator::due};
  tlm::tlm_generic_payload payload;
  unsigned left = kTransactions;

  explicit Initiator(sc_core::sc_module_name n) : sc_module(n), socket("socket") {
    socket.register_nb_transport_bw(this, &Initiator::nb_bw);
  }
  void start_of_simulation() override { begin(); }
  void begin() {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = kStep;
    socket->nb_transport_fw(payload, phase, delay);
  }
  tlm::tlm_sync_enum nb_bw(tlm::tlm_generic_payload& t, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    queue.notify(t, phase, delay);
    return tlm::TLM_ACCEPTED;
  }
  void due(tlm::tlm_generic_payload& t, const tlm::tlm_phase& phase) {
    if (phase != tlm::BEGIN_RESP) return;
    tlm::tlm_phase next = tlm::END_RESP;
    sc_core::sc_time delay = kStep;
    socket->nb_transport_fw(t, next, delay);
    if (--left > 0) begin();
  }
};

}  // namespace

int sc_main(int, char*[]) {
  Initiator initiator("initiator");
  Target target("target");
  initiator.socket.bind(target.socket);
  const std::clock_t from = std::clock();
  sc_core::sc_start();
  const double seconds = static_cast<double>(std::clock() - from) / CLOCKS_PER_SEC;
  std::printf("%.1f\n", seconds * 1e9 / kTransactions);
  return initiator.left == 0 ? 0 : 1;
}
