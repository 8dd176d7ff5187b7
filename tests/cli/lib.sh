# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Common to the tests of the commands: a temporary place and the program on
# made-up machines.

export LC_ALL=C.UTF-8
unset COLUMNS NO_COLOR
. "$top_srcdir/tests/tap.sh"
temporary_folder cli

# The program as the front would start it.  FAKE names the machine.
btrfs() {
	(exec -a btrfs "$top_builddir/tests/cli/fake-btrfs-policy" "$@")
}

btrfs-policy() {
	(exec -a btrfs-policy "$top_builddir/tests/cli/fake-btrfs-policy" "$@")
}

# The program on a terminal, both of its outputs in one; where the cursor goes and colours are spelled out.
on_terminal() {
	script -qec "$(printf '%q ' "$top_builddir/tests/cli/fake-btrfs-policy" "$@")" /dev/null |
		sed 's/\r$//; s/\r/<start>/g; s/\x1b\[K/<clear>/g; s/\x1b\[?7l/<cut>/g; s/\x1b\[?7h/<wrap>/g; s/\x1b\[\([0-9]*\)m/<\1>/g'
}

# One command of a transcript: itself, stdout ("1|"), stderr ("2|") and status ("?").
transcript() {	# MACHINE COMMAND
	local status
	printf '$ %s: %s\n' "$1" "$2"
	FAKE=$1
	export FAKE
	eval "$2" >"$T/stdout" 2>"$T/stderr" </dev/null
	status=$?
	sed 's/^/1|/' "$T/stdout"
	sed 's/^/2|/' "$T/stderr"
	echo "? $status"
}

# Leaves $progs, a folder with btrfs and mkfs.btrfs of a later release; 77 if they cannot be had, the reason in $T/progs.
newer_progs() {
	progs=$("$top_srcdir/tests/fuzz/newer-progs" 2>"$T/progs")
}
