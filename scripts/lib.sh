# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Helpers shared by the scripts of the lab. To be sourced, not run.

# The checkout that the calling script belongs to.
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# shellcheck source=scripts/kernel.lock
. "$TOP/scripts/kernel.lock"

# Everything that is expensive to make is kept here, shared by all checkouts.
CACHE=${OXE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/oxe}

# say TEXT...: progress, on stderr so that a command's output stays clean.
say() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}

# die TEXT...: an error; the text says what to do about it.
die() {
	printf '%s: error: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# have COMMAND: is there such a command?
have() {
	command -v "$1" >/dev/null 2>&1
}

# need COMMAND...: stop when one of the host's commands is missing.
need() {
	local c
	for c; do
		have "$c" || die "'$c' is missing; run scripts/setup"
	done
}

# key FILE-OR-TEXT...: a short content key; the contents of files (less comment
# lines), the text of everything else.
key() {
	local a
	for a; do
		if [ -f "$a" ]; then
			grep -v '^[[:space:]]*\(#\|$\)' "$a" | sha256sum
		else
			printf '%s\n' "$a"
		fi
	done | sha256sum | cut -c1-12
}

# with_lock NAME COMMAND...: run the command while no other process of this
# cache runs one under the same name. A failure ends the script, so this must not
# be called where errors are ignored (after if, before || and so on).
with_lock() {
	local name=$1 fd
	shift
	mkdir -p "$CACHE/locks"
	exec {fd}>"$CACHE/locks/$name"
	if ! flock -n "$fd"; then
		say "waiting for another process that makes '$name'"
		flock "$fd"
	fi
	# The lock must not live on in what the command leaves running.
	"$@" {fd}>&-
	exec {fd}>&-
}

# in_namespace COMMAND...: run as root (of a user namespace if need be) with
# mounts of its own, which go away with the command.
in_namespace() {
	"${NAMESPACE[@]}" "$@"
}

NAMESPACE=(unshare --mount --propagation slave --)
if [ "$(id -u)" != 0 ]; then
	NAMESPACE=(unshare --map-root-user --map-auto --mount --)
fi

# check_namespace: can an ordinary user become root of a namespace here?
check_namespace() {
	[ "$(id -u)" != 0 ] || return 0
	have newuidmap ||
		die "an ordinary user needs the package 'uidmap'; run scripts/setup"
	grep -q "^$(id -un):" /etc/subuid 2>/dev/null ||
		die "no line for $(id -un) in /etc/subuid; an administrator can add" \
			"it with: usermod --add-subuids 100000-165535" \
			"--add-subgids 100000-165535 $(id -un)"
	in_namespace true ||
		die "user namespaces are not allowed here; allow them" \
			"(sysctl kernel.unprivileged_userns_clone=1) or run as root"
}

# mirror: the Debian mirror, as configured for this machine's own apt.
mirror() {
	local found
	if [ -n "${MIRROR:-}" ]; then
		printf '%s\n' "${MIRROR%/}"
		return
	fi
	need apt-get
	found=$(
		# shellcheck disable=SC1091
		. /etc/os-release
		# shellcheck disable=SC2016
		apt-get indextargets \
			--format '$(RELEASE) $(COMPONENT) $(REPO_URI)' \
			'Created-By: Packages' |
			awk -v name="${VERSION_CODENAME:-}" \
				'($1 == name || $1 ~ /^(stable|testing|unstable|sid)$/) && $2 == "main" { print $3; exit }'
	)
	[ -n "$found" ] ||
		die "no Debian mirror in this machine's apt configuration;" \
			"set MIRROR to the base URI of one"
	printf '%s\n' "${found%/}"
}

# keyring: the option that lets mmdebstrap trust the suite on this host.
keyring() {
	local k=/usr/share/keyrings/debian-archive-keyring.gpg
	[ -r "$k" ] ||
		die "$k is missing; install the package debian-archive-keyring"
	printf '%s\n' "$k"
}

# logged NAME COMMAND...: run a talkative command; show the lines that begin with
# a letter and a colon (mmdebstrap's and apt's own), or with a script's name, and
# keep all of it in the cache.
logged() {
	local log=$CACHE/log/$1.log rc=0
	shift
	mkdir -p "$CACHE/log"
	(
		set -o pipefail
		"$@" 2>&1 | tee "$log" |
			grep --line-buffered -E '^([IWE]|[a-z-]+): |^Fetched ' >&2
	) || rc=$?
	[ "$rc" = 0 ] || die "failed; all that it said is in $log"
}

# timed TEXT COMMAND...: run, and say how long it took.
timed() {
	local text=$1 start=$SECONDS
	shift
	say "$text"
	"$@"
	say "$text: done in $((SECONDS - start)) s"
}
