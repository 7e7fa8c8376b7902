#!/usr/bin/env python3
"""The same fio jobs through Linux's driver and through the bare-metal one, both with software that costs nothing.

What is compared is what the hardware saw: commands, descriptors and interrupts per request, and the time from the
write that starts a request to the end of its last hardware phase. Card set-up is taken out by a run of one request.
Exit status 1: the data path's time differs by more than the limit.
Usage: compare.py EMMC_VP KERNEL_FOLDER [--timing=at|lt] [--job=NAME]
"""
import json
import os
import subprocess
import sys
import tempfile

LIMIT_PERCENT = 2.0
# The software's price list, all zero; the guest's CPU has none to begin with.
FREE_SOFTWARE = [f"cpu.{name}_ns" for name in (
    "mmio_read mmio_write irq_entry irq_exit wfi_wake io_user io_submit page_pin request_prep dma_map descriptor "
    "irq_handler request_complete dma_unmap io_complete verify_byte").split()]
SOFTWARE_SPANS = {"queue_wait", "driver_submit", "mmio", "interrupt_latency", "driver_complete"}

# What the guest's PCI function fixes, as parameters of the bare-metal side: where Linux finds the queue engine and that it is
# told of an eMMC; on DW-MMC the clock, FIFO and mode that dw_mmc-pci knows of.
GL9763E = ["-p", "sdhci.vendor2_pointer=0x200", "-p", "sdhci.emmc_ctrl_reset=1"]
INTEL = ["-p", "sdhci.vendor2_pointer=0x200", "-p", "driver.max_mode=hs200"]  # its short transfer descriptors have no switch in our driver
DW_MMC = ["-p", "dwmmc.ciu_clock_hz=33e6", "-p", "dwmmc.fifo_depth=32", "-p", "driver.max_mode=hs52"]

# name: platform options of both sides, of the guest, of the bare-metal side, the host's counters.
SETUPS = {
    "generic": (["--platform=generic"], [], GL9763E, "sdhci"),
    "th1520": (["--platform=th1520"], [], GL9763E, "sdhci"),
    "intel": (["--platform=generic"], ["-p", "guest.identity=intel"], INTEL, "sdhci"),
    "dw_mmc": (["--platform=e850-96"], [], DW_MMC, "dwmmc"),
}

# set-up, name, queue, fio options. Sizes are small: a guest's request costs about a millisecond of wall clock. Writes fit what the
# device takes without waiting for its array: past that, the time between requests (fio's own, under Linux) decides how
# much of the array's work a request still meets.
JOBS = [
    ("generic", "4 KiB random read, depth 1", "none", ["--rw=randread", "--bs=4k", "--ioengine=psync", "--size=1M"]),
    ("generic", "128 KiB read, depth 1", "none", ["--rw=read", "--bs=128k", "--ioengine=psync", "--size=8M"]),
    ("generic", "128 KiB write, depth 1", "none", ["--rw=write", "--bs=128k", "--ioengine=psync", "--size=1M"]),
    ("generic", "4 KiB random read, depth 1, queue", "cqe", ["--rw=randread", "--bs=4k", "--ioengine=psync", "--size=1M"]),
    ("generic", "128 KiB read, depth 8, queue", "cqe", ["--rw=read", "--bs=128k", "--ioengine=libaio", "--iodepth=8", "--size=8M"]),
    ("generic", "128 KiB write, depth 8, queue", "cqe", ["--rw=write", "--bs=128k", "--ioengine=libaio", "--iodepth=8", "--size=1M"]),
    ("th1520", "128 KiB read, depth 1", "none", ["--rw=read", "--bs=128k", "--ioengine=psync", "--size=8M"]),
    ("th1520", "128 KiB read, depth 8, queue", "cqe", ["--rw=read", "--bs=128k", "--ioengine=libaio", "--iodepth=8", "--size=8M"]),
    ("intel", "128 KiB read, depth 8, queue", "cqe", ["--rw=read", "--bs=128k", "--ioengine=libaio", "--iodepth=8", "--size=8M"]),
    ("dw_mmc", "4 KiB random read, depth 1", "none", ["--rw=randread", "--bs=4k", "--ioengine=psync", "--size=1M"]),
    ("dw_mmc", "128 KiB read, depth 1", "none", ["--rw=read", "--bs=128k", "--ioengine=psync", "--size=8M"]),
    ("dw_mmc", "128 KiB write, depth 1", "none", ["--rw=write", "--bs=128k", "--ioengine=psync", "--size=1M"]),
]
COMMON = ["--filename=/dev/mmcblk0", "--direct=1", "--offset=1G", "--name=compare"]


def run(command, output):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=900)
    if done.returncode != 0:
        sys.exit(f"compare: {' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    with open(output, encoding="utf-8") as file:
        return json.load(file)


def hardware_us(spans):
    """Summed hardware time of all requests, in us."""
    return sum(row["total_ps"] for row in spans["rows"] if row["span"] not in SOFTWARE_SPANS) / 1e6


class Books:
    """Counters and hardware time of one run, as sums."""

    def __init__(self, report):
        self.counters = report["counters"]
        self.requests = report["spans"]["requests"]
        self.us = hardware_us(report["spans"])

    def minus(self, other):
        self.counters = {k: v - other.counters.get(k, 0) for k, v in self.counters.items()}
        self.requests -= other.requests
        self.us -= other.us
        return self

    def per_request(self, *names):
        return sum(self.counters.get(n, 0) for n in names) / max(self.requests, 1)


def main():
    program, kernel = sys.argv[1:3]
    timing = [a for a in sys.argv[3:] if a.startswith("--timing=")]
    only = [a.split("=", 1)[1] for a in sys.argv[3:] if a.startswith("--job=")]
    folder = tempfile.mkdtemp(prefix="emmc-vp-compare-")
    output = os.path.join(folder, "report.json")

    def linux(setup, queue, words):
        both, guest_only, _, _ = SETUPS[setup]
        return Books(run([program, "linux", f"--kernel={kernel}", f"--queue={queue}", "--quiet", *both, *guest_only, *timing,
                          "--output-format=json", f"--output={output}", "--", *words], output))

    def bare(setup, queue, options):
        both, _, bare_only, _ = SETUPS[setup]
        flags = [w for name in FREE_SOFTWARE for w in ("-p", f"{name}=0")] + bare_only
        return Books(run([program, "fio", f"--cqe={'on' if queue == 'cqe' else 'off'}", "--quiet", *both, *timing, *flags,
                          "--output-format=json", f"--output={output}", "--", *COMMON, *options], output)["emmc-vp"])

    failed = False
    print(f"{'job':<42} {'driver':<11} {'requests':>8} {'commands':>9} {'CMD13':>7} {'descr.':>7} {'irqs':>6} {'us/request':>11}")
    for setup, job, queue, options in JOBS:
        name, host = f"{setup}: {job}", SETUPS[setup][3]
        if only and not any(o in name for o in only):
            continue
        # Set-up, and one request, are what a job of a single request does, on either side.
        size = next(o for o in options if o.startswith("--bs=")).replace("--bs", "--size")
        single = [o for o in options if not o.startswith("--size")] + [size]
        guest = linux(setup, queue, ["fio", *COMMON, *options]).minus(linux(setup, queue, ["fio", *COMMON, *single]))
        own = bare(setup, queue, options).minus(bare(setup, queue, single))
        for label, books in (("Linux", guest), ("bare metal", own)):
            print(f"{name if label == 'Linux' else '':<42} {label:<11} {books.requests:>8}"
                  f" {books.per_request('mmc_bus.commands'):>9.3f} {books.per_request('mmc_bus.cmd13'):>7.3f}"
                  f" {books.per_request(f'{host}.descriptors_fetched'):>7.2f} {books.per_request(f'{host}.interrupts'):>6.3f}"
                  f" {books.us / max(books.requests, 1):>11.3f}", flush=True)
        difference = 100 * (guest.us / guest.requests / (own.us / own.requests) - 1)
        failed |= abs(difference) > LIMIT_PERCENT
        print(f"{'':<42} data path time differs by {difference:+.2f} %{'' if abs(difference) <= LIMIT_PERCENT else ': TOO MUCH'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
