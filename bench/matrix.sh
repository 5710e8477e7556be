#!/usr/bin/env bash
# Trains on every row of each data set, by each algorithm and family of tests,
# and lets an independent judge check the tree against its rows.
#
#	bench/matrix.sh [DATASET ...]
#
# Needs the folder of data sets, and Python. Prints one line per tree and
# fails when one is wrong.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
data=bench/data
python3 -B bench/needs.py matrix || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/espalier" ./cmd/espalier || exit 1

configs=(
	"--preset paper --algorithm ec45 --lambda 10"
	"--preset paper --algorithm ecart --lambda 1"
	"--preset paper --algorithm asr"
	"--preset paper --algorithm ip"
	"--preset paper --algorithm bal"
	"--preset paper --algorithm c45"
	"--preset paper --algorithm cart"
	"--preset paper --algorithm cc45"
	"--preset paper --algorithm ccart"
	"--preset paper --algorithm ec45 --tests both --bins 32"
	"--preset paper --algorithm ec45 --tests threshold --bins 128 --binning quantile"
	"--preset paper --algorithm ec45 --tests multiway"
	"--preset paper --algorithm ec45 --tests both --classes rows"
	"--preset paper --algorithm cart --tests threshold --classes rows"
)
failed=0 done=0
tail -n +2 "$data/MANIFEST.tsv" | cut -f1,10 >"$work/sets"
while IFS=$'\t' read -r set categorical; do
	[ $# -eq 0 ] || [[ " $* " == *" $set "* ]] || continue
	[ -d "$data/$set" ] || continue
	[ "$categorical" = - ] && categorical=
	for config in "${configs[@]}"; do
		rm -rf "$work/run"
		# shellcheck disable=SC2086 # the configuration is words
		if "$work/espalier" train --input "$data/$set/*.parquet" --label class --output "$work/run" \
			--categorical "$categorical" --split 100/0/0 --progress none $config >"$work/out" 2>&1 &&
			python3 -B bench/judge.py "$work/run/tree.json" "$data/$set" >"$work/out" 2>&1; then
			echo "ok   $set: $config: $(tail -1 "$work/out")"
			done=$((done + 1))
		else
			echo "FAIL $set: $config"
			head -20 "$work/out"
			failed=$((failed + 1))
		fi
	done
done <"$work/sets"
echo "$done passed, $failed failed"
[ "$failed" -eq 0 ]
