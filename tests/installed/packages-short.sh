#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The packages in short: lintian, then installed in a Debian of their own, where DKMS builds the module
# for Debian's kernel, and purged without a trace. packages.sh is the long form, main-job.sh boots it.
set -u
. "$(dirname "$0")/lib.sh"
. "$here/life.sh"

# Headers that stay those of the kernel over its updates.
recommends_headers() {
	suite_apt apt-get -s -o APT::Install-Recommends=true install "$build"/deb/btrfs-policy-dkms_*.deb |
		tee /dev/stderr | grep -E '^Inst linux-headers-(6\.12-)?amd64 \(6\.12'
}

begin packages lintian
try 'the metapackage of headers for 6.12 is recommended' recommends_headers
try 'lintian finds nothing' lint
copy_debs
inventory > "$work/before"
try 'apt install ./*.deb' install_debs new || done_testing
try 'DKMS built the module for the kernel' module_is "$version"
try 'it offers roles and roundrobin' module_offers btrfs device_role read_policy_roundrobin
try 'the initramfs has it' initramfs_has updates/dkms
try 'DKMS has no other module' only_version "$version"
try 'the scheduler is the stock one' module_is '' "$kernel" mq-deadline
try 'btrfs is the front' btrfs_is front
for script in commands library dkms; do
	try "debian/tests/$script" own_test "$script"
done
try 'purge' apt_in "$root" purge btrfs-policy btrfs-policy-dkms libbtrfs-policy0
try 'nothing is left, nothing of the system is changed' same_as_before
try 'the stock module is back' module_is ''
echo "# seconds in all: $SECONDS"
done_testing
