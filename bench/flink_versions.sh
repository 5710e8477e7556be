#!/usr/bin/env bash
# Trains on tic-tac-toe on Flink under each of several versions of Beam's job server and Flink, and compares the tree with
# the tree of the direct runner. Prints a table.
#
#	bench/flink_versions.sh [FLINK:BEAM[:JOB_SERVICE] ..]
#
# The job server is beam-runners-flink-FLINK in version BEAM, with its dependencies, as Maven has them. JOB_SERVICE is the
# version of beam-runners-java-job-service if Maven does not have it in version BEAM. Needs Java 17, Maven and root: the
# job service runs in a network of its own, because it listens on all interfaces and runs every program that it receives.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${ESPALIER_VERSIONS_WORK:-}" ]; then
	[ $# -gt 0 ] || set -- 1.19:2.62.0 1.19:2.70.0:2.65.0
	export ESPALIER_VERSIONS_WORK
	ESPALIER_VERSIONS_WORK=$(mktemp -d)
	trap 'rm -rf "$ESPALIER_VERSIONS_WORK"' EXIT
	go build -o "$ESPALIER_VERSIONS_WORK/espalier" ./cmd/espalier
	printf '| Go SDK | job server | Flink | result |\n| ------ | ---------- | ----- | ------ |\n'
	for pair; do
		IFS=: read -r flink beam service <<<"$pair"
		work=$ESPALIER_VERSIONS_WORK/$flink-$beam
		mkdir "$work"
		dependency() { echo "<dependency><groupId>$1</groupId><artifactId>$2</artifactId><version>$3</version></dependency>"; }
		cat >"$work/pom.xml" <<-END
			<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
			<groupId>espalier</groupId><artifactId>flink-versions</artifactId><version>1</version><dependencies>
			$(dependency org.apache.beam "beam-runners-flink-$flink" "$beam")
			$(dependency org.apache.beam beam-runners-java-job-service "${service:-$beam}")
			$(dependency org.slf4j slf4j-simple 1.7.30)
			</dependencies></project>
		END
		result="not in Maven"
		version=$flink
		if mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/jars" -DincludeScope=runtime >"$work/log" 2>&1; then
			version=$(cd "$work/jars" && echo flink-runtime-*.jar | sed 's/flink-runtime-\(.*\).jar/\1/')
			result=$(unshare -n -m -p -f --kill-child --mount-proc bash bench/flink_versions.sh "$work")
		fi
		echo "| $(go list -m -f '{{.Version}}' github.com/apache/beam/sdks/v2) | $beam${service:+, job service $service} | $version | $result |"
	done
	exit
fi

work=$1
ip link set lo up
export TMPDIR=$work
opens=()
for package in java.lang java.lang.reflect java.util java.util.concurrent java.net java.io java.nio java.text java.time sun.nio.ch; do
	opens+=("--add-opens=java.base/$package=ALL-UNNAMED")
done
(cd "$work" && exec java -Xmx2g -XX:TieredStopAtLevel=1 -XX:+UseSerialGC "${opens[@]}" -cp "jars/*" \
	org.apache.beam.runners.flink.FlinkJobServerDriver --job-host=localhost --job-port=8099 --artifact-port=0 --expansion-port=0 \
	--artifacts-dir="$work" --flink-master='[local]') >"$work/log" 2>&1 &
for _ in {1..600}; do
	! (echo >/dev/tcp/127.0.0.1/8099) 2>/dev/null || break
	sleep 0.1
done
train() {
	"$ESPALIER_VERSIONS_WORK/espalier" train --input bench/data/tic-tac-toe --label class --memory_objects 100 --max_depth 6 \
		--progress none --report none --output "$work/$1" "${@:2}" 2>&1 >/dev/null | tail -1 | cut -c1-200 | tr '|\n' '  '
}
train direct
start=$SECONDS
said=$(train flink --runner flink --endpoint localhost:8099 --environment_type PROCESS --parallelism 2 --job_timeout 5m)
if cmp -s "$work/direct/tree.json" "$work/flink/tree.json"; then
	echo "the same tree, $((SECONDS - start)) s"
else
	echo "fails: $said"
fi
