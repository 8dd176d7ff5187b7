#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Completion: the words the program offers, and what bash and zsh make of them,
# each through its real completion system.
set -u
. "${top_srcdir:?}/tests/cli/lib.sh"

export FAKE=ours
mkdir "$T/bin" "$T/zsh"
cat >"$T/bin/btrfs-policy" <<END
#!/bin/bash
exec -a btrfs-policy "$top_builddir/tests/cli/fake-btrfs-policy" "\$@"
END
chmod +x "$T/bin/btrfs-policy"
sed "s|@bindir@|$T/bin|" "$top_srcdir/share/completion/btrfs-policy.bash.in" >"$T/script.bash"
sed "s|@bindir@|$T/bin|" "$top_srcdir/share/completion/_btrfs-policy.zsh.in" >"$T/zsh/_btrfs-policy"

offered() {	# WANTED WORD...: names of the candidates, blanks between them
	local want=$1 got
	shift
	got=$(btrfs-policy --complete -- "$@" | cut -f1 | xargs)
	[ "$got" = "$want" ] || { echo "$*: $got"; return 1; }
}

words() {
	offered 'data-preferred metadata-preferred data-only metadata-only' btrfs d p tag '' &&
	offered 'pid roundrobin' btrfs device policy set '' &&
	offered 'pid roundrobin' btrfs -q --format json device policy set --rot-penalty 1 '' &&
	offered 'yes no' btrfs device policy set --penalty-mixed-only '' &&
	offered '' btrfs device policy set --rot-penalty '' &&
	offered '/mnt :directories' btrfs device policy show '' &&
	offered '/mnt :directories' btrfs device policy show /mnt '' &&
	FAKE=hostile-mount offered ':directories' btrfs device policy show '' &&
	offered 'text json' btrfs --format '' &&
	offered 'read-policy rot-penalty nonrot-penalty penalty-mixed-only readahead lagging-superblocks role' \
		btrfs device policy get '' &&
	offered 'policy' btrfs device '' && offered '' btrfs filesystem '' && offered '' btrfs
}

devices() {
	local all='rotational nonrotational /dev/fake1 /dev/fake2 /dev/fake3 /dev/fake4 :files'
	offered "$all /mnt :directories" btrfs device policy get role '' &&
	offered "$all" btrfs device policy tag data-only '' &&
	offered "$all data-preferred metadata-preferred data-only metadata-only /mnt :directories" \
		btrfs device policy tag data-only 1 '' &&
	offered ':files' btrfs device policy add data-only '' &&
	offered ':files /mnt :directories' btrfs device policy add data-only /dev/x '' &&
	FAKE=unprivileged btrfs-policy --complete -- btrfs device policy tag data-only '' |
		grep -q '^rotational'
}

# 0: only ours fits there; 1: btrfs has words of its own.
whose() {
	btrfs-policy --complete -- btrfs device policy '' >/dev/null &&
	btrfs-policy --complete -- btrfs balance --preferred-metadata - >/dev/null &&
	btrfs-policy --complete -- btrfs balance start --preferred-metadata - >/dev/null &&
	btrfs-policy --complete -- btrfs-policy '' >/dev/null &&
	! btrfs-policy --complete -- btrfs '' >/dev/null &&
	! btrfs-policy --complete -- btrfs device '' >/dev/null &&
	! btrfs-policy --complete -- btrfs balance start '' >/dev/null &&
	! btrfs-policy --complete -- btrfs scrub '' >/dev/null
}

in_bash() {	# WORD...: what completing the last one gives
	bash --norc --noprofile -c '
		. /usr/share/bash-completion/bash_completion && . "$1" && shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
		_btrfs_policy "$1" "${@: -1}" "${@: -2:1}"
		printf "%s\n" "${COMPREPLY[@]}"' bash "$T/script.bash" "$@" | sort | xargs
}

bash_is() {	# WANTED WORD...
	local want=$1 got
	shift
	got=$(in_bash "$@")
	[ "$got" = "$want" ] || { echo "$*: '$got'"; return 1; }
}

bash_ours() {
	bash_is 'save set show suggest' btrfs device policy s && bash_is 'usage' /usr/sbin/btrfs d p u &&
	bash_is 'save set show suggest' btrfs-policy s && bash_is '/mnt' btrfs device policy list /mn &&
	bash_is '--readahead --rot-penalty' btrfs device policy set pid --r
}

# The distribution's words are all there, and ours beside them.
bash_theirs() {
	local word
	bash_is 'policy' btrfs device po && bash_is 'scrub' btrfs scr &&
	bash_is '--preferred-metadata' btrfs balance --p || return 1
	for word in add delete policy scan usage; do
		in_bash btrfs device '' | grep -qw "$word" || { echo "$word"; return 1; }
	done
}

# Types a line and a tab into a real zsh; prints the line as completed.
in_zsh() {
	timeout 120 zsh -f -c '
		zmodload zsh/zpty
		zpty z "TERM=dumb zsh -f -i"
		zpty -w z "PS1=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D"
		zpty -w z "unsetopt prompt_cr prompt_sp; stty -echo; bindkey \"^X\" accept-line"
		zpty -w z "show() { BUFFER=\"print -r -- \\\"<\$BUFFER>\\\"\"; zle accept-line }"
		zpty -w z "zle -N show; bindkey \"^T\" show; print R\EADY"
		zpty -r -m z said "*READY*"
		zpty -w -n z "$2"$'"'\t'"'$'"'\x14'"'
		zpty -r -m z said "*<*>*"
		print -r -- "$said"' zsh "$T/zsh" "$1" 2>/dev/null | tr -d '\r' | grep -o '<.*>' | tail -1
}

zsh_ours() {
	local line
	for line in 'btrfs device policy us=btrfs device policy usage' \
		    'btrfs-policy device policy set --reada=btrfs-policy device policy set --readahead' \
		    'btrfs device policy set round=btrfs device policy set roundrobin'; do
		[ "$(in_zsh "${line%=*}")" = "<${line#*=} >" ] || { in_zsh "${line%=*}"; return 1; }
	done
}

check "candidates for each place" words
check "devices are offered with and without privilege" devices
check "whose words they are" whose
if [ -r /usr/share/bash-completion/bash_completion ]; then
	check "bash completes our words" bash_ours
	check "bash completes btrfs's words as before, and ours" bash_theirs
else
	result 0 "bash # SKIP no bash-completion"
fi
if command -v zsh >/dev/null; then
	check "zsh completes our words" zsh_ours
else
	result 0 "zsh # SKIP no zsh"
fi
done_testing
