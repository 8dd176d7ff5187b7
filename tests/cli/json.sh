#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every JSON output on every made-up machine is what its schema says, and the
# checker notices what is not.
set -u
. "${top_srcdir:?}/tests/cli/lib.sh"

schemas=$top_srcdir/Documentation/schema
command -v python3 >/dev/null || skip_all "no python3 to check JSON with"

machines="stock stock-tagged ours tagged preferred foreign upstream missing full blocked draining
	saved in-force damaged stock-saved unprivileged read-only ugly busy canceled no-space
	$(cd "$top_srcdir/tests/data/sysfs" && printf 'tree:%s ' *.txt | sed 's/\.txt//g')"

# valid COMMAND...: where it prints anything, that is a document, checked later.
valid() {
	local status
	for FAKE in $machines; do
		export FAKE
		count=$((count + 1))
		btrfs --format json "$@" >"$T/$what.$count.$FAKE" 2>"$T/err" </dev/null
		status=$?
		[ $status -lt 126 ] || { echo "$FAKE: status $status: $*"; return 1; }
		[ -s "$T/$what.$count.$FAKE" ] || rm "$T/$what.$count.$FAKE"
	done
}
count=0

documents() {
	"$what" && ls "$T/$what".* >/dev/null &&
	python3 "$top_srcdir/tests/cli/check-schema" "$schemas" "$T/$what".*
}

list() { valid device policy list /mnt; }
show() { valid device policy show && valid device policy show -T -k /mnt /mnt /nowhere; }
get() {
	valid device policy get read-policy && valid device policy get role &&
	valid device policy get rot-penalty && valid device policy get penalty-mixed-only &&
	valid device policy get role rotational /mnt && valid device policy get readahead
}
set_() { valid device policy set pid && valid --dry-run device policy set roundrobin --readahead 1M; }
tag() {
	valid device policy tag metadata-only 1 2 && valid --dry-run device policy tag data-only 3 &&
	valid device policy tag metadata-only 1 2 data-only 3 4
}
add() { valid device policy add metadata-only /dev/fake5 /mnt && valid --dry-run device policy add data-preferred /dev/fake5 /mnt; }
drain() {
	valid device policy drain 4 && valid --dry-run device policy drain 3 4 &&
	valid device policy drain --resume --remove && valid device policy drain --undo
}
suggest() { valid device policy suggest && valid --dry-run device policy suggest -k /mnt; }
usage() {
	valid device policy usage -c && valid device policy usage -T &&
	valid device policy usage --assume lose=3,add=1T,data=single && valid device policy usage --all -c
}
save() { valid device policy save && valid --dry-run device policy save --all; }
restore() { valid device policy restore && valid --dry-run device policy restore --all; }
plan() { valid --dry-run balance --preferred-metadata && valid --dry-run balance --p --limit 1; }
run() { valid balance --preferred-metadata && valid balance --preferred-metadata --limit 1; }

background() {
	FAKE=tagged btrfs --format json balance --preferred-metadata --background \
		>"$T/background.1" && grep -q background-process "$T/background.1"
}

# Progress goes to stderr, a line now and then, and nothing else does.
progress() {
	for FAKE in tagged preferred full canceled no-space; do
		export FAKE
		btrfs -q balance --preferred-metadata --progress json >"$T/out" 2>"$T/err"
		grep '^{' "$T/err" >>"$T/progress"
		! grep -v '^{' "$T/err" | grep -v '^\(ERROR\|WARNING\): ' || return 1
	done
	[ "$(wc -l <"$T/progress")" -gt 10 ] &&
	python3 "$top_srcdir/tests/cli/check-schema" "$schemas" "balance-progress=$T/progress" &&
	sed 's/"eta-seconds":[^}]*/"eta-seconds":"soon"/' "$T/progress" >"$T/wrong-progress" &&
	! python3 "$top_srcdir/tests/cli/check-schema" "$schemas" "balance-progress=$T/wrong-progress"
}

commands() { btrfs-policy --dump-commands >"$T/commands.1"; }

# A schema that no output has been held against is not one.
every_schema() {
	local name
	for name in "$schemas"/*.json; do
		name=${name##*/} name=${name%.json}
		[ "$name" = balance-progress ] || grep -qsF "\"$name\": " "$T"/*.[0-9]* ||
			{ echo "nothing was checked against $name"; return 1; }
	done
}

# Documents made wrong by a sed script each; all have to be refused.
checker() {
	local script wrong=0
	FAKE=tagged btrfs --format json device policy usage >"$T/right"
	for script in '/"fsid"/d' 's/"fsid": "/&x/' 's/"devid": 1,/"devid": 0,/' \
		      's/"enforced": true/"enforced": "yes"/' 's/"Metadata"/"metadata"/' \
		      's/"enforced"/"extra": 1, &/' 's/"version": "1"/"version": 1/'; do
		wrong=$((wrong + 1))
		sed "$script" "$T/right" >"$T/wrong.$wrong"
	done
	python3 "$top_srcdir/tests/cli/check-schema" "$schemas" "$T"/wrong.* "$T/right" >"$T/errors"
	[ $? = 1 ] && grep -qx "$wrong of $((wrong + 1)) files are wrong" "$T/errors"
}

keys_are_kebab() {
	! cat "$T"/show.* "$T"/usage.* "$T"/plan.* "$T"/run.* | grep -oE '"[^"]*": ' |
		grep -v '^"__header"' | grep '[A-Z_]'
}

for what in list show get set_ tag suggest add drain usage save restore plan run background commands; do
	check "JSON of ${what%_} is what its schema says" documents
done
check "lines of --progress json are what their schema says" progress
check "every schema was needed" every_schema
check "the checker refuses what is wrong" checker
check "keys are in kebab-case" keys_are_kebab
done_testing
