// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * ARCH=um gives the INTx line of a PCI-over-virtio function a Linux interrupt number above its own range, one that
 * has no irq_chip, so request_irq() fails with -ENOSYS. Before the function's driver is loaded, give each such number
 * the kernel's own no-op chip. Nothing else of the kernel is touched.
 */
#include <linux/irq.h>
#include <linux/module.h>
#include <linux/pci.h>

static int base = 64; /* UM_LAST_SIGNAL_IRQ */
module_param(base, int, 0444);
MODULE_PARM_DESC(base, "interrupt number of the first PCI function");

static int __init umintx_init(void)
{
	struct pci_dev *function = NULL;
	int number = base;

	for_each_pci_dev(function) {
		irq_set_chip_and_handler(number, &dummy_irq_chip, handle_simple_irq);
		pci_info(function, "INTx is interrupt %d\n", number);
		number++;
	}
	return 0;
}
module_init(umintx_init);

MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("INTx for PCI over virtio in User-mode Linux");
