#!/bin/sh
# slug.sh TITLE: print TITLE as a slug for a URL.
printf '%s' "$1" | tr 'A-Z' 'a-z' | tr -cs 'a-z0-9' '-' | sed 's/-$//'
echo
