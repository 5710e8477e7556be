#!/usr/bin/env bash
# The same bytes on other processors: arm64, which qemu runs, and amd64 with all
# instructions of its third level. Both can multiply and add with a single
# rounding, if the code allows it.
#
#	bench/processors.sh fused       reads the machine code, a minute; make check runs it, too
#	bench/processors.sh build DIR   compiles what the check runs (minutes, mostly Beam)
#	bench/processors.sh check DIR   runs it
set -euo pipefail
cd "$(dirname "$0")/.."
fused() { # the compiler's output shows whether it fuses a product with a sum
	ESPALIER_FUSED="./../io/... ./../transforms/... ./../pipelines/... ./../cmd/..." go test -vet=off -count=1 \
		-run 'NothingFused|OwnFunctions' ./induce
}
if [ "$1" = fused ]; then
	fused
	exit
fi
bin=$2
tests="./induce/grow/inmemory ./induce/grow/bylevel ./induce/portable ./induce/split"
if [ "$1" = build ]; then
	go build -ldflags '-s -w' -o "$bin/amd64" ./cmd/espalier
	GOARCH=arm64 CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$bin/arm64" ./cmd/espalier
	for p in $tests; do
		GOARCH=arm64 CGO_ENABLED=0 go test -trimpath -vet=off -c -o "$bin/arm64-$(basename "$p").test" "$p"
		GOAMD64=v3 CGO_ENABLED=0 go test -vet=off -c -o "$bin/v3-$(basename "$p").test" "$p"
	done
	exit
fi

run() { # runs a test binary in the folder of its package
	for p in $tests; do
		(cd "$p" && "${@:2}" \
			"$bin/$1-$(basename "$p").test" \
			-test.run 'Golden|Levels|Bits|Ends|Log2|Xlogx|Heavy|Score') | tail -1
	done
}
echo "arm64:" && run arm64 qemu-aarch64-static
if grep -qw fma /proc/cpuinfo; then echo "amd64, v3:" && run v3; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
same() { # NAME train flags: the same files, byte for byte
	local name=$1
	shift
	# Both write to one path, since report.html tells the output's.
	"$bin/amd64" train "$@" --output "$work/$name" --progress=none >/dev/null 2>&1
	mv "$work/$name" "$work/$name-amd64"
	qemu-aarch64-static "$bin/arm64" train "$@" --output "$work/$name" --progress=none >/dev/null 2>&1
	mv "$work/$name" "$work/$name-arm64"
	# The report has the minute of its run in two lines.
	diff -r -x manifest.json -I '^<p>Trained by Espalier ' -I '^<li>Trained: ' "$work/$name-amd64" "$work/$name-arm64"
	echo "$name: $(find "$work/$name-amd64" -name '*.json' | wc -l) files are the same"
}
shipped=cmd/espalier/example/tic-tac-toe.parquet
same tic-tac-toe --input $shipped --label class
same tic-tac-toe-paper --input $shipped --label class --preset paper
data=bench/data
same credit-g --input "$data/credit-g/*.parquet" --label class
same phoneme-kmeans --input "$data/phoneme/*.parquet" --label class --preset paper --leaf_estimate smoothed
same credit-g-models --input "$data/credit-g/*.parquet" --label class --preset accurate
same iris-models --input "$data/iris/*.parquet" --label class --preset accurate
same electricity --input "$data/electricity/*.parquet" --label class --categorical day \
	--algorithm ecart,asr --lambda 10 --prune leaves --select best
