# SPDX-License-Identifier: GPL-2.0
"""The guest runner behind qemu/run."""
