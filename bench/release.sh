#!/usr/bin/env bash
# Builds the archives of a release and SHA256SUMS: a tar.gz for Linux and macOS, a zip for
# Windows. An archive contains the program, the README, the changelog, the licences of the
# linked modules and the README's example. A wheel for Python has the same program and licences, and
# a bill of materials (CycloneDX) lists the modules of each archive. Builds of one commit have the same bytes.
#
#	bench/release.sh [--output FOLDER] [OS/ARCH ..]
#
# The default is the folder dist and six targets. Go takes the version from the git tag of the
# commit; without a tag it is a pseudo-version. If VERSION is set, another version fails. If
# NOTICES names a folder, licences are read once and kept there, which takes a minute for an OS.
set -euo pipefail
cd "$(dirname "$0")/.."
output=dist
if [ "${1-}" = --output ]; then
	output=$2
	shift 2
fi
[ $# -gt 0 ] || set -- {linux,darwin,windows}/{amd64,arm64}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf "$output"
mkdir -p "$output"
output=$(cd "$output" && pwd)
module=$(go list -m)
time=$(git log -1 --format=%ct)

notices=${NOTICES:-$work/notices}
mkdir -p "$notices"
# With -trimpath it does not know GOROOT, and may take all packages for Go's own.
GOFLAGS='' GOBIN=$work go install github.com/google/go-licenses@v1.6.0
python3 -m venv "$work/python"
"$work/python/bin/pip" install -q hatchling==1.33.0

GOFLAGS='' GOBIN=$work go install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0

# Licences that a program under Apache-2.0 may link. Another licence fails.
allowed=Apache-2.0,BSD-2-Clause,BSD-3-Clause,ISC,MIT

# licences OS VERB FLAGS runs go-licenses over the modules that the program for OS links.
licences() {
	GOOS=$1 "$work/go-licenses" "$2" ./cmd/espalier --ignore "$module" "${@:3}" 2>"$work/log" || { cat "$work/log" >&2 && return 1; }
}

# collect OS writes the licences and notices of what the program for OS contains.
collect() {
	local saved=$work/$1.saved
	licences "$1" check --allowed_licenses "$allowed"
	licences "$1" save --save_path "$saved"
	(
		cat <<-END
			Espalier links the Go standard library and the modules below. Its other embedded
			files (JavaScript, CSS, templates, schemas) are its own. The example contains the
			Mushroom data set: UCI Machine Learning Repository, J. Schlimmer, 1987; ODC-PDDL.
		END
		mkdir "$saved/go"
		cp "$(go env GOROOT)"/{LICENSE,PATENTS} "$saved/go"
		cd "$saved"
		find . -type f | LC_ALL=C sort | while read -r file; do
			printf '\n%s\n%s\n\n' "$(printf '=%.0s' {1..80})" "${file#./}"
			cat "$file"
		done
	) >"$work/collected"
	mv "$work/collected" "$notices/$1.txt"
}

for target; do
	os=${target%/*} arch=${target#*/} program=espalier
	[ "$os" != windows ] || program=espalier.exe
	[ -e "$notices/$os.txt" ] || collect "$os"
	CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -trimpath -buildvcs=true -ldflags '-s -w' -o "$work/$program" ./cmd/espalier
	version=$(go version -m "$work/$program" | awk '$1 == "mod" { print $3 }')
	[ "${VERSION:-$version}" = "$version" ] || { echo "the version is $version, not $VERSION: is the tag on this commit, and nothing changed?" >&2 && exit 1; }
	[ -z "${VERSION-}" ] || grep -q "^version = \"${VERSION#v}\"\$" python/pyproject.toml || { echo "python/pyproject.toml has another version than $VERSION" >&2 && exit 1; }
	(
		cd python
		export ESPALIER_PROGRAM=$work/$program ESPALIER_NOTICES=$notices/$os.txt GOOS=$os GOARCH=$arch SOURCE_DATE_EPOCH=$time
		"$work/python/bin/hatchling" build -t wheel -d "$output" &>"$work/log" || { cat "$work/log" >&2 && exit 1; }
	)
	name=espalier_${version#v}_${os}_$arch
	"$work/cyclonedx-gomod" bin -json -noserial -output "$output/$name.cdx.json" "$work/$program" 2>"$work/log" || { cat "$work/log" >&2 && exit 1; }
	sed -i "s/\"timestamp\": \"[^\"]*\"/\"timestamp\": \"$(date -u -d "@$time" +%FT%TZ)\"/" "$output/$name.cdx.json"
	folder=$work/$name
	mkdir -p "$folder/cmd/espalier/example"
	mv "$work/$program" "$folder"
	cp LICENSE README.md CHANGELOG.md "$folder"
	cp "$notices/$os.txt" "$folder/THIRD_PARTY_NOTICES.txt"
	cp cmd/espalier/example/mushroom.{csv,parquet,yaml} "$folder/cmd/espalier/example"
	chmod -R u=rwX,go=rX "$folder"
	find "$folder" -exec touch -d "@$time" {} +
	if [ "$os" = windows ]; then
		(cd "$work" && find "$name" -type f | LC_ALL=C sort | TZ=UTC zip -9 -q -X "$output/$name.zip" -@)
	else
		tar -C "$work" --format=ustar --sort=name --owner=0 --group=0 --numeric-owner -c "$name" | gzip -9 -n >"$output/$name.tar.gz"
	fi
	rm -r "$folder"
done
cd "$output"
sha256sum espalier[-_]* | tee SHA256SUMS
