#!/bin/sh
# init.sh - the guest's first process: devices, kernel modules, the scenarios, and the results to where the host reads.
#
# Results are what is in /out at the end, as a tar archive written over the start of the disk. Whatever happens, the
# guest powers off: the host waits for that. The console only says how far it came, and when.
export PATH=/bin:/sbin:/usr/bin:/usr/sbin
export OUT=/out

say() { echo "guest: [$(cut -d' ' -f1 /proc/uptime)] $*"; }

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs "$OUT"
say "Linux $(uname -r)"
while read -r module; do
    insmod "$module" || say "$module is not loaded"
done </etc/modules-in-order
insmod /efa_stub.ko || say "efa_stub.ko is not loaded"
say "modules are loaded"

sh /scenarios.sh
say "scenarios ended with status $?"
dmesg >"$OUT/dmesg"
tar -C "$OUT" -cf /dev/vda . && sync
say "results are written"
poweroff -f
