#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Does the lab hand back what a command says and does, and does it notice when
# the machine is not well?  Runs on the host; arguments are options for `lab run`.

here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
[ $# -gt 0 ] || [ -x "${BTRFS_POLICY_CACHE:-${HOME:-/root}/.cache/btrfs-policy}/${LAB_KERNEL:-6.12}/build-${LAB_CONFIG:-uml}/linux" ] ||
	skip_all 'no lab kernel; ./quickstart builds it'
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
options=(--mem 256M "$@")

lab() {
	"$here/lab" run "${options[@]}" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
}

out() {
	cat "$tmp/out"
}

### What goes through

lab -- sh -c 'echo to stdout; echo to stderr >&2; exit 7'
is $status 7 "the exit status"
is "$(out)" "to stdout" "stdout"
is "$(cat "$tmp/err")" "to stderr" "stderr"
lab -- sh -c 'kill -TERM $$'
is $status 143 "a signal"
lab -- printf '%s|' "two words" "it's" '$HOME' '' '*'
is "$(out)" "two words|it's|\$HOME||*|" "arguments as they are"
lab -- printf %s $'a\tb\nc\\d'
is "$(out)" $'a\tb\nc\\d' "arguments with tabs, newlines and backslashes"
lab --env GREETING="good day" -- sh -c 'echo "$GREETING"'
is "$(out)" "good day" "an environment variable"
lab -- pwd
is "$(out)" "$PWD" "the current directory"
lab -- seq 1 200000
is "$(cksum <"$tmp/out")" "$(seq 1 200000 | cksum)" "a lot of output, all of it"
lab -- sh -c 'head -c 100000 /dev/urandom | tee /dev/stderr'
is "$(wc -c <"$tmp/out") $(cksum <"$tmp/out")" "100000 $(cksum <"$tmp/err")" \
	"any bytes, on both"
lab -- sh -c 'sleep 100 & echo done'
is "$status $(out)" "0 done" "a process left behind does not hold it up"
lab -- no-such-command
is $status 127 "a command that is not there"

### The machine and the host

lab -- sh -c 'date +%s; sleep 3600; date +%s'
is "$(out | awk 'NR == 2 { print $1 - t } { t = $1 }')" 3600 "an hour passes"
lab --disk hdd:size=1G --disk ssd:size=2G -- sh -c \
	'cat /sys/block/labd?/size /sys/block/labd?/queue/rotational'
is "$(out | tr '\n' ' ')" "2097152 4194304 1 0 " "disks as asked for"
lab --disk hdd:size=1G -- sh -c 'cd /sys/block && grep -lv "^0$" */size'
is "$(out)" "labda/size" "no other disk that holds anything"
for place in /etc /tmp /mnt /var/tmp /run /root /usr; do
	lab -- sh -c "echo x >$place/lab-was-here"
	refuse "what it writes to $place does not reach the host" \
		test -e $place/lab-was-here
done
mkdir "$tmp/shared"
lab --share "$tmp/shared" -- sh -c "echo hello >$tmp/shared/file"
is "$(cat "$tmp/shared/file" 2>/dev/null)" hello "but what it writes to a shared place does"
lab --disk ssd:size=64M --images "$tmp/images" -- sh -c \
	'echo persistent | dd of=/dev/labda conv=fsync 2>/dev/null'
is "$(head -c 10 "$tmp/images/labda.img")" persistent "images stay on the host"
lab --disk ssd:size=64M --images "$tmp/images" -- head -c 10 /dev/labda
is "$(out)" persistent "and come back"
# In a place of its own: others may be running.
mkdir "$tmp/place"
TMPDIR=$tmp/place lab --disk hdd:size=1G -- true
is "$(ls -A "$tmp/place")" "" "nothing stays behind"
TMPDIR=$tmp/place lab --keep -- true
is "$(ls -A "$tmp/place" | grep -c '^lab\.')" 1 "but what is to be kept"
mkdir "$tmp/killed"
TMPDIR=$tmp/killed "$here/lab" run "${options[@]}" -- sh -c 'while :; do :; done' 2>/dev/null &
until [ -s "$(echo "$tmp/killed"/lab.*/console)" ]; do sleep 0.1; done
killed=$(echo "$tmp/killed"/lab.*)
mkdir "$tmp/killed/lab.kept42" && touch "$tmp/killed/lab.kept42/keep"
touch -d '1 hour ago' "$tmp/killed"/lab.*
TMPDIR=$tmp/killed lab -- true
is "$(ls -A "$tmp/killed" | wc -l)" 2 "another lab leaves alone what is in use or kept"
kill -KILL $!
for process in /proc/[0-9]*; do
	[[ $(readlink "$process/cwd") != "$tmp/killed/"* ]] || kill -KILL "${process#/proc/}"
done
wait
# Its last process drops the lock; files that it made until then made the directory new.
flock -w 60 "$killed" true
touch -d '1 hour ago' "$tmp/killed"/lab.*
TMPDIR=$tmp/killed lab -- true
is "$(ls -A "$tmp/killed")" lab.kept42 "but removes what a killed one left behind"

"$here/lab" run "${options[@]}" -- sh -c 'sleep 1; echo one' >"$tmp/one" &
"$here/lab" run "${options[@]}" -- sh -c 'sleep 1; echo two' >"$tmp/two" &
wait
is "$(cat "$tmp/one" "$tmp/two" | tr '\n' ' ')" "one two " "two at the same time"

### A machine that is not well

lab -- sh -c 'echo "<4>WARNING: made up" >/dev/kmsg; echo fine'
is "$status $(out)" "123 fine" "a warning in the kernel's log fails a run that succeeded"
is "$(grep -c 'made up' "$tmp/err")" 1 "and is shown"
lab --allow 'made up' -- sh -c 'echo "<4>WARNING: made up" >/dev/kmsg; exit 3'
is $status 3 "unless it is expected"
lab -- sh -c 'echo before; sleep 1; echo 1 >/proc/sys/vm/panic_on_oom; tail /dev/zero'
is "$status $(out)" "122 before" "a panic is no exit status"
is "$(grep -c '^lab: the machine died' "$tmp/err")" 1 "and that is said"
lab --disk ssd -- sh -c 'mkfs.btrfs -q /dev/labda && mount /dev/labda /mnt &&
	{ [ -e /proc/sys/kernel/hung_task_panic ] || exit 77; } &&
	fsfreeze -f /mnt && touch /mnt/x'
case $status in
77) skip "a machine that hangs: the kernel has no DETECT_HUNG_TASK" ;;
*) is $status 122 "a machine that hangs says so" ;;
esac
lab --timeout 3 -- sh -c 'while :; do :; done'
is $status 124 "a machine that is too slow is killed"
is "$(grep -c 'killed after 3 seconds' "$tmp/err")" 1 "and that is said"
lab --kernel "$tmp/none" -- true
is $status 125 "no kernel"
lab --disk hdd:heads=3 -- true
is $status 125 "no such disk"
is "$(grep -c 'bad word "heads=3"' "$tmp/err")" 1 "and the word at fault is named"
lab --mem 16M -- true
in_range $status 122 125 "too little memory is no success"
lab
is $status 125 "no command"
done_testing
