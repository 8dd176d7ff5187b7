#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the library shows: header, version script, shared object and documentation name the same
# functions, nothing else is exported, and C and C++ programs can use the header.
set -uo pipefail

lib=$top_srcdir/libbtrfs-policy
object=$top_builddir/libbtrfs-policy/.libs/libbtrfs-policy.so.0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/tap.sh"

same() {
	diff "$dir/$1" "$dir/$2" > "$dir/why"
	result $? "$3" "$dir/why"
}

cat "$lib"/include/btrfs-policy*.h > "$dir/header.h"
# Declarations begin in the first column or after a type on the line before; comments do not.
sed -e 's@/\*.*\*/@@' -e '/\/\*/,/\*\//d' "$dir/header.h" |
	grep -oE '\bbtrfs_policy_[a-z_]+\(' | tr -d '(' | sort -u > "$dir/declared"
grep -oE '^\sbtrfs_policy_[a-z_]+;' "$lib/libbtrfs-policy.sym" | tr -d '\t;' | sort > "$dir/listed"
grep -oE '^ \* btrfs_policy_[a-z_]+\(\) - ' "$dir/header.h" |
	sed 's/^ \* \(.*\)() - /\1/' | sort > "$dir/documented"

same declared listed 'every function of the header is in the version script and no other'
same declared documented 'every function of the header is documented'

sort -c "$dir/listed" 2> "$dir/why" && ! uniq -d "$dir/listed" | grep . > "$dir/why"
result $? 'the version script has no symbol twice' "$dir/why"

grep -oE '^(struct|enum) btrfs_policy_[a-z_]+ \{' "$dir/header.h" |
	sed 's/ {$//' | sort > "$dir/types"
grep -oE '^ \* (struct|enum) btrfs_policy_[a-z_]+ - ' "$dir/header.h" |
	sed 's/^ \* \(.*\) - $/\1/' | sort > "$dir/types-documented"
same types types-documented 'every structure and enumeration is documented'

if [ -e "$object" ] && command -v nm > /dev/null; then
	nm -D --defined-only "$object" | awk '$2 != "A" { print $3 }' |
		sed 's/@.*//' | sort > "$dir/exported"
	same listed exported 'the shared object exports just these'
else
	ok 'exports # SKIP no shared object or no nm'
fi

use='int main(void) { return !btrfs_policy_version(); }'
for language in c c++; do
	compiler=${CC:-cc}
	[ "$language" = c ] || compiler=${CXX:-c++}
	if ! command -v "${compiler%% *}" > /dev/null; then
		ok "$language # SKIP no ${compiler%% *}"
		continue
	fi
	printf '#include <btrfs-policy.h>\n%s\n' "$use" |
		$compiler -x "$language" -Wall -Wextra -Werror -I"$lib/include" -fsyntax-only - 2> "$dir/why"
	result $? "a program in $language compiles" "$dir/why"
done

done_testing
