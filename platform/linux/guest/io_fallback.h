/*
 * Force-included into the guest kernel's build (KCFLAGS=-include). ARCH=um routes readl() and writel() through
 * the regions of its emulated buses and has nothing below them for ordinary memory; drivers/mmc/host/dw_mmc.c uses
 * them on its descriptors in RAM. The kernel's own INDIRECT_IOMEM_FALLBACK hooks are answered with plain accesses.
 */
#ifndef EMMC_VP_IO_FALLBACK_H
#define EMMC_VP_IO_FALLBACK_H
#define CONFIG_INDIRECT_IOMEM_FALLBACK 1
#ifndef __ASSEMBLY__
#define real_ioremap(offset, size) ((void __iomem *)0)
#define real_iounmap(addr) do { (void)(addr); } while (0)
#define real_raw_readb(a) (*(const volatile unsigned char *)(a))
#define real_raw_readw(a) (*(const volatile unsigned short *)(a))
#define real_raw_readl(a) (*(const volatile unsigned int *)(a))
#define real_raw_readq(a) (*(const volatile unsigned long long *)(a))
#define real_raw_writeb(v, a) (*(volatile unsigned char *)(a) = (v))
#define real_raw_writew(v, a) (*(volatile unsigned short *)(a) = (v))
#define real_raw_writel(v, a) (*(volatile unsigned int *)(a) = (v))
#define real_raw_writeq(v, a) (*(volatile unsigned long long *)(a) = (v))
#define real_memset_io(a, v, n) __builtin_memset((void *)(a), (v), (n))
#define real_memcpy_fromio(d, s, n) __builtin_memcpy((d), (const void *)(s), (n))
#define real_memcpy_toio(d, s, n) __builtin_memcpy((void *)(d), (s), (n))
#endif
#endif
