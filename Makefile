# SPDX-License-Identifier: GPL-2.0
#
# oxe: the everyday commands. Kbuild holds the module's own build rules, which
# the kernel's build system reads instead of this file.

KDIR ?= /lib/modules/$(shell uname -r)/build

# W=1 and CLIPPY=1 go to the kernel's build system; those given on the command
# line reach sub-makes by themselves, the lab's build is told.
build-args := $(foreach v,W CLIPPY V,$(if $($(v)),$(v)=$($(v))))

.PHONY: modules install module demo check check-full check-traffic fuzz soak bench shell fmt clean distclean help

modules:	## build oxe.ko for KDIR (default: the running kernel)
	@scripts/check-kdir $(KDIR)
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

install: modules	## install the module for that kernel (as root)
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules_install
	depmod $$(sed -n 's/.*UTS_RELEASE "\(.*\)".*/\1/p' \
		$(KDIR)/include/generated/utsrelease.h)

module:		## build in the lab, for its kernel: build/<KERNEL>/oxe.ko
	scripts/build $(build-args)

demo: module	## two guests with oxe, stock RDMA programs between them, a table
	qemu/demo

check:		## all checks but the long ones
	scripts/check

check-full:	## all checks
	scripts/check --full

soak:		## the simulator, seed after seed, until stopped or one fails
	scripts/cargo run --quiet --release -p oxe_sim -- soak

fuzz:		## fuzz the protocol, FUZZ_SECONDS (60) for each target
	scripts/fuzz

bench:		## what the protocol's hot paths cost on this host, in time and instructions
	scripts/cargo bench --profile kernel -p oxe_bench --benches
	scripts/instructions

check-traffic:	## stock programs that move data, losses, teardown under traffic
	scripts/check lab module $$(scripts/check --list | awk '/^traffic-/ { print $$1 }')

shell:		## a shell in a guest with the module
	qemu/run --shell

fmt:		## format the Rust sources
	scripts/fmt

clean:		## remove the build products, keep the lab
	scripts/clean

distclean:	## remove the lab's cache too
	scripts/clean --cache

help:		## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## */  make \1\t/p' Makefile | expand -t 20
	@echo "Variables: KDIR=<kernel build directory> W=1 CLIPPY=1 V=1 FUZZ_SECONDS=60"
	@echo "Kernel of the lab: see scripts/kernel.lock; its cache: ~/.cache/oxe"
