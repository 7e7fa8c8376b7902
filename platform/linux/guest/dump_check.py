#!/usr/bin/env python3
"""Compares the register dumps of a kernel's log with the registers the models held, read past the bus.

The report (emmc-vp linux --output-format=json) keeps the registers as they stood when the guest touched them again after
a long rest: the kernel's time-out. Offsets and widths are those of SDHCI 4.20 2.1 and of the CQHCI map.
Exit status 1: a value differs, or the log has no dump. Prints how many values were compared.
Usage: dump_check.py REPORT.json LOG [--queue]
"""
import json
import re
import sys

# label in the dump: (offset, bytes)
SDHCI = {
    "Sys addr": (0x00, 4), "Version": (0xFE, 2), "Blk size": (0x04, 2), "Blk cnt": (0x06, 2), "Argument": (0x08, 4),
    "Trn mode": (0x0C, 2), "Present": (0x24, 4), "Host ctl": (0x28, 1), "Power": (0x29, 1), "Blk gap": (0x2A, 1),
    "Wake-up": (0x2B, 1), "Clock": (0x2C, 2), "Timeout": (0x2E, 1), "Int stat": (0x30, 4), "Int enab": (0x34, 4),
    "Sig enab": (0x38, 4), "ACmd stat": (0x3C, 2), "Slot int": (0xFC, 2), "Caps": (0x40, 4), "Caps_1": (0x44, 4),
    "Cmd": (0x0E, 2), "Max curr": (0x48, 4), "Resp[0]": (0x10, 4), "Resp[1]": (0x14, 4), "Resp[2]": (0x18, 4),
    "Resp[3]": (0x1C, 4), "Host ctl2": (0x3E, 2), "ADMA Err": (0x54, 4), "ADMA Ptr": (0x58, 8),
}
CQHCI = {
    "Caps": (0x04, 4), "Version": (0x00, 4), "Config": (0x08, 4), "Control": (0x0C, 4), "Int stat": (0x10, 4),
    "Int enab": (0x14, 4), "Int sig": (0x18, 4), "Int Coal": (0x1C, 4), "TDL base": (0x20, 4), "TDL up32": (0x24, 4),
    "Doorbell": (0x28, 4), "TCN": (0x2C, 4), "Dev queue": (0x30, 4), "Dev Pend": (0x34, 4), "Task clr": (0x38, 4),
    "SSC1": (0x40, 4), "SSC2": (0x44, 4), "DCMD rsp": (0x48, 4), "RED mask": (0x50, 4), "TERRI": (0x54, 4),
    "Resp idx": (0x58, 4), "Resp arg": (0x5C, 4),
}
QUEUE_BASE = 0x200  # of the functions the guest sees


def image_of(report):
    with open(report, encoding="utf-8") as file:
        kept = json.load(file).get("registers")
    if not kept:
        sys.exit("dump_check: the report holds no registers: the guest never rested")
    words = {int(at, 16): int(value, 16) for at, value in kept["words"].items()}
    return lambda at, size: sum((words.get(b & ~3, 0) >> 8 * (b & 3) & 0xFF) << 8 * i
                                for i, b in enumerate(range(at, at + size)))


def main():
    report, log = sys.argv[1:3]
    image = image_of(report)
    with open(log, encoding="utf-8", errors="replace") as file:
        text = file.read()
    compared, wrong = 0, []
    for block, table, base in (("sdhci", SDHCI, 0), ("cqhci", CQHCI, QUEUE_BASE)):
        if block == "cqhci" and "--queue" not in sys.argv:
            continue
        dumped = dict(re.findall(r"(\w[^:|\n]*?): +0x([0-9a-f]+)", "\n".join(
            line.split(f"{block}: ", 1)[1] for line in text.splitlines() if f"{block}: " in line)))
        for label, (at, size) in table.items():
            if label not in dumped:
                wrong.append(f"{block} {label}: not in the log")
                continue
            compared += 1
            if int(dumped[label], 16) != image(base + at, size):
                wrong.append(f"{block} {label}: the log says 0x{dumped[label]}, the model holds 0x{image(base + at, size):x}")
    print("\n".join(wrong) if wrong else f"{compared} registers of the kernel's dump are the model's")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
