#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every command in every form on every tree of tests/data/sysfs: stdout, stderr and
# status are those of tests/cli/golden/grid.  Commands and forms come from the
# program's own listing, so that a new command is missing its page, and a page
# without a command is one too many.  GOLDEN_UPDATE=1 writes them anew.
set -u
. "${top_srcdir:?}/tests/cli/lib.sh"

command -v python3 >/dev/null || skip_all "no python3 to read the listing with"
golden=$top_srcdir/tests/cli/golden/grid
trees=$(cd "$top_srcdir/tests/data/sysfs" && ls -- *.txt | sed 's/\.txt$//')

# What stands for the words that a synopsis demands; one that is new needs a line here.
words_of() {	# TREE SYNOPSIS COMMAND
	local word
	for word in $2; do
		case $word in
		'<setting>') echo read-policy ;;
		'<read-policy>') [ "$1" = experimental-read-policy ] && echo round-robin || echo roundrobin ;;
		'<role>') echo metadata-preferred ;;
		'<device>...') [ "$3" = 'device policy add' ] && echo /dev/fake5 || echo 3 4 ;;
		--*) printf '%s\n' "$word" ;;
		'['* | *']...') ;;
		*) echo "no-word-for-$word" ;;
		esac
	done
}

# COMMAND<tab>SYNOPSIS<tab>FORMS that not every command has
listing() {
	btrfs-policy --dump-commands | python3 -c '
import json, sys
for command in json.load(sys.stdin)["commands"]["commands"]:
    table = any(option["short"] == "T" for option in command["options"])
    print(command["command"], command["synopsis"], "-T" if table else "", sep="\t")'
}

page() {	# COMMAND SYNOPSIS FORMS
	local tree form words
	echo "'btrfs $1' on each tree of tests/data/sysfs; made by tests/cli/grid.sh."
	for tree in $trees; do
		echo
		read -ra words < <(words_of "$tree" "$2" "$1" | xargs)
		for form in "" $3 "--format json" -q --dry-run; do
			transcript "tree:$tree" "btrfs $1 ${words[*]}${words:+ }$form${form:+ }/mnt"
		done
	done
}

cells=0
while IFS=$'\t' read -r command synopsis forms <&3; do
	name=$(tr -s ' -' - <<<"$command")
	page "$command" "$synopsis" "$forms" >"$T/$name.txt"
	cells=$((cells + $(grep -c '^\$ ' "$T/$name.txt")))
	[ -z "${GOLDEN_UPDATE-}" ] || cp "$T/$name.txt" "$golden/$name.txt"
	[ -e "$golden/$name.txt" ] && diff -u "$golden/$name.txt" "$T/$name.txt" >"$T/diff"
	result $? "$command" "$T/diff"
done 3< <(listing)

all_words() { ! grep -h 'no-word-for' "$T"/*.txt; }
understood() { ! grep -h "^2|Try '" "$T"/*.txt; }
no_page_too_many() { (cd "$golden" && ls -- *.txt) | diff - <(cd "$T" && ls -- *.txt); }

check "all words of the synopses are known" all_words
check "no cell is a usage error" understood
check "$cells cells, and no page without a command" no_page_too_many
done_testing
