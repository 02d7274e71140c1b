#!/bin/sh
# Prints the path of the pinned client, and installs it first where it is missing:
# the native package of this platform, whatever node is about, in a cache outside the tree.
#
# Exit: 0 it is there; 75 it could not be downloaded; 1 anything else.
set -eu

version=2.1.332

say() { echo "client.sh: $*" >&2; }

case "$(uname -s)-$(uname -m)" in
Linux-x86_64) platform=linux-x64 ;;
Linux-aarch64 | Linux-arm64) platform=linux-arm64 ;;
Darwin-x86_64) platform=darwin-x64 ;;
Darwin-arm64) platform=darwin-arm64 ;;
*)
	say "no client is packaged for $(uname -s) on $(uname -m)"
	exit 1
	;;
esac
if [ "${platform%-*}" = linux ] && (ldd --version 2>&1 || true) | grep -qi musl; then
	platform=$platform-musl
fi

package=@anthropic-ai/claude-code-$platform
cache=${XDG_CACHE_HOME:-$HOME/.cache}/loop-e2e/claude-$version
client=$cache/node_modules/$package/claude

is_pinned() { [ "$("$1" --version 2>/dev/null </dev/null)" = "$version (Claude Code)" ]; }

if ! is_pinned "$client"; then
	command -v npm >/dev/null || { say "npm is needed to install $package" && exit 1; }
	say "installing $package@$version into $cache"
	mkdir -p "$(dirname "$cache")"
	# Made beside its place and moved there, so that a torn download is never taken for the client.
	fresh=$(mktemp -d "$cache.XXXXXX")
	trap 'rm -rf "$fresh"' EXIT
	if ! npm install --prefix "$fresh" --ignore-scripts --no-audit --no-fund --no-package-lock \
		--fetch-retries=0 "$package@$version" >"$fresh/npm.log" 2>&1; then
		cat "$fresh/npm.log" >&2
		say "could not download $package@$version"
		# A package that is not there is a wrong pin, not a bad night of the network.
		grep -Eq 'E404|ETARGET' "$fresh/npm.log" && exit 1
		exit 75
	fi
	if ! is_pinned "$fresh/node_modules/$package/claude"; then
		say "what npm installed does not say that it is version $version"
		exit 1
	fi
	rm -rf "$cache"
	mv "$fresh" "$cache"
	trap - EXIT
fi
echo "$client"
