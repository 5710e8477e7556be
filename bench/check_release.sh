#!/usr/bin/env bash
# Checks the archives of a release for Linux, and the container image, of the last commit:
#
# - Two builds, in two clones, have the same bytes.
# - The wheel alone, without Go, fits an estimator.
# - An archive alone, in an empty folder, prints what the README shows. qemu runs the archive
#   for arm64, if it is installed.
# - The image, built from the Dockerfile of cmd/espalier/deploy, does the same without root,
#   network, capabilities and a writable root file system. Its base is made here, from the
#   machine's certificates and time zones, as no registry may be in reach. Needs root and podman.
#
#	bench/check_release.sh
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
export STORAGE_DRIVER=vfs
pod() { podman --root "$work/store" --runroot "$work/run" --tmpdir "$work/libpod" --cgroup-manager cgroupfs --events-backend file "$@"; }
trap 'rm -rf "$work"' EXIT

targets=(linux/amd64)
! command -v qemu-aarch64-static >/dev/null || targets+=(linux/arm64)
export NOTICES=$work/notices
for build in first second; do
	git clone -q . "$work/$build"
	(cd "$work/$build" && bench/release.sh "${targets[@]}" >sums)
	targets=("${targets[0]}") # one is enough for the second build
done
(cd "$work/second/dist" && sha256sum -- *.tar.gz *.whl) | (cd "$work/first/dist" && sha256sum -c --quiet)
echo "release: two builds have the same bytes"

awk '/^```/ { shown = $0 == "```text"; if (!shown && found) exit; next } shown { found = 1; print }' README.md >"$work/wanted"
example=(train --config cmd/espalier/example/mushroom.yaml)
unpack() { mkdir -p "$2" && tar -C "$2" --strip-components 1 -xzf "$work/first/dist/"*"_$1.tar.gz"; }
for archive in "$work"/first/dist/*.tar.gz; do
	arch=${archive##*_}
	arch=${arch%.tar.gz}
	unpack "$arch" "$work/$arch"
	run=()
	[ "$arch" = amd64 ] || run=(qemu-aarch64-static)
	(cd "$work/$arch" && env -i "${run[@]}" ./espalier "${example[@]}" >printed && diff "$work/wanted" printed)
	cmp "$work/amd64/runs/mushroom/tree.json" "$work/$arch/runs/mushroom/tree.json"
	echo "release: the archive for $arch prints what the README shows"
done

python3 -m venv "$work/python"
"$work/python/bin/pip" install -q --no-compile "$work/first/dist"/*x86_64.whl
printf '%s\n' 'from espalier import EspalierClassifier, find' 'model = EspalierClassifier().fit([[0], [1]] * 50, ["no", "yes"] * 50)' \
	'print(find(), model.predict([[1]]))' >"$work/fit.py"
[ "$(env -i "$work/python/bin/python" -W ignore "$work/fit.py")" = "$work/python/bin/espalier ['yes']" ]
echo "release: the wheel alone fits an estimator"

mkdir -p "$work/base"/{etc/ssl/certs,usr/share} "$work/runs"
cp /etc/ssl/certs/ca-certificates.crt "$work/base/etc/ssl/certs"
cp -r /usr/share/zoneinfo "$work/base/usr/share"
echo 'nonroot:x:65532:65532::/:/sbin/nologin' >"$work/base/etc/passwd"
printf 'FROM scratch\nCOPY . /\n' | pod build -q -t localhost/base -f - "$work/base"
unpack amd64 "$work/build/opt/espalier"
pod build -q --isolation chroot --build-context "build=$work/build" --build-arg BASE=localhost/base --target espalier \
	--build-arg TARGETARCH=amd64 -t localhost/espalier -f cmd/espalier/deploy/Dockerfile "$work/first"
chown 65532:65532 "$work/runs"
# An engine starts the image as a worker, by arguments of its own; a trial has no engine.
serves() { pod --runtime runc run --rm --network none --ulimit nofile=1024:1024 --ulimit nproc=4096:4096 "$1" --id=1 --logging_endpoint=x --artifact_endpoint=x --provision_endpoint=trial --control_endpoint=x; }
[ "$(serves localhost/espalier)" = "this program serves engines" ]
mkdir "$work/program"
awk '/^```/ { if (index(block, "// Command hours ")) printf "%s", block; block = ""; inside = $0 == "```go"; next }
	inside { block = block $0 "\n" }' docs/go.md >"$work/program/main.go"
(cd "$work/program" && go mod init example.com/hours 2>/dev/null && go mod edit -require github.com/espalier-ml/espalier@v0.0.0 \
	-replace "github.com/espalier-ml/espalier=$work/first" && cp "$work/first/go.sum" . && CGO_ENABLED=0 go build -mod=mod -o program .)
printf 'FROM localhost/base\nUSER 65532\nCOPY program /program\nENTRYPOINT ["/program"]\n' | pod build -q --isolation chroot -t localhost/program -f - "$work/program"
[ "$(serves localhost/program)" = "this program serves engines" ]
echo "release: the images of espalier and of a program of docs/go.md are images of workers"
# The limits are low, as a sandbox may refuse to raise its own.
pod --runtime runc run --rm --network none --read-only --read-only-tmpfs=false --cap-drop all --security-opt no-new-privileges \
	--ulimit nofile=1024:1024 --ulimit nproc=4096:4096 -v "$work/runs:/opt/espalier/runs" localhost/espalier "${example[@]}" >"$work/printed"
diff "$work/wanted" "$work/printed"
cmp "$work/amd64/runs/mushroom/tree.json" "$work/runs/mushroom/tree.json"
[ "$(stat -c %u "$work/runs/mushroom/tree.json")" = 65532 ]
echo "release: the image prints what the README shows, without root and with a read-only root file system"
