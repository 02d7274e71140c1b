#!/bin/sh
# test.sh: run every file in tests/; exit 1 when one of them fails.
cd "$(dirname "$0")" || exit 1
pass=0
fail=0
for t in tests/*.sh; do
	if sh "$t"; then
		pass=$((pass + 1))
	else
		fail=$((fail + 1))
		echo "FAIL $t"
	fi
done
echo "$pass passed, $fail failed"
[ "$fail" -eq 0 ]
