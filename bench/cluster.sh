#!/usr/bin/env bash
# Trains on a real Flink cluster, of a JobManager and two TaskManagers in
# separate processes: undisturbed, and with a TaskManager killed in the
# middle of a level. Both trees have the bytes of the direct runner's, and no
# process and no file stays behind. The same for the programs of docs/go.md, which are
# their own workers, for a stream that is killed and updated (updates.py), and for ten days of the nightly job, whose
# workers are killed (nights.py). Prints the seconds.
#
#	bench/cluster.sh [train] [programs] [updates] [nights]
#
# Needs Java 17, 4 GB of memory, and root: the job service listens on all interfaces and
# runs every program that it receives, so it gets its own namespaces. ESPALIER_FLINK and
# ESPALIER_FLINK_DIST name folders with Beam's and Flink's jars; without them the script
# fetches the jars.
set -euo pipefail
[ $# -gt 0 ] || set -- train programs updates nights
for name in "$@"; do
	case $name in
	train | programs | updates | nights) ;;
	*)
		echo "$name: want train, programs, updates or nights" >&2
		exit 2
		;;
	esac
done
part() { [[ " $parts " == *" $1 "* ]]; }
parts=$*
cd "$(dirname "$0")/.."
bench=$PWD/bench
testdata=$PWD/cmd/espalier/testdata

if [ -z "${ESPALIER_CLUSTER_WORK:-}" ]; then
	# Outside: fetch and build. Inside, /tmp is a folder of the work folder's.
	export ESPALIER_CLUSTER_WORK
	ESPALIER_CLUSTER_WORK=$(mktemp -d -p /var/tmp espalier-cluster.XXXXXX)
	trap 'rm -rf "$ESPALIER_CLUSTER_WORK"' EXIT
	cd "$ESPALIER_CLUSTER_WORK"
	if [ -z "${ESPALIER_FLINK:-}" ]; then
		export ESPALIER_FLINK=$PWD/beam
		mvn -q -B -f "$testdata/flink/pom.xml" dependency:copy-dependencies \
			-DoutputDirectory="$ESPALIER_FLINK" -DincludeScope=runtime
	fi
	if [ -z "${ESPALIER_FLINK_DIST:-}" ]; then # as Maven has no flink-dist
		pip download -q --no-deps -d . apache-flink-libraries==1.19.0
		tar xzf apache-flink-libraries-1.19.0.tar.gz --strip-components=2 --wildcards \
			'*/deps/lib/flink-dist-*' '*/deps/lib/log4j-*'
		rm apache-flink-libraries-1.19.0.tar.gz
		export ESPALIER_FLINK_DIST=$PWD/lib
	fi
	(cd "$testdata/../../.." && go build -o "$ESPALIER_CLUSTER_WORK/" ./cmd/espalier ./bench/synth ./bench/pipeline)
	for program in nightly hours; do # each in a module of its own
		mkdir -p "programs/$program"
		awk -v want="// Command $program " '/^```/ { if (index(block, want)) printf "%s", block; block = ""; inside = $0 == "```go"; next }
			inside { block = block $0 "\n" }' "$testdata/../../../docs/go.md" >"programs/$program/main.go"
		(
			cd "programs/$program"
			go mod init "example.com/$program" 2>/dev/null
			go mod edit -require github.com/espalier-ml/espalier@v0.0.0 \
				-replace "github.com/espalier-ml/espalier=$(cd "$testdata/../../.." && pwd)"
			cp "$testdata/../../../go.sum" .
			go build -mod=mod -o "$program" .
		)
	done
	javac -cp "$ESPALIER_FLINK/*" -d thin "$testdata/cluster/ThinJobServer.java"
	mkdir tmp conf
	cp "$testdata/cluster/flink-conf.yaml" conf/
	unshare -n -m -p -f --kill-child --mount-proc bash "$bench/cluster.sh" "$@"
	exit
fi

cd "$ESPALIER_CLUSTER_WORK"
mkdir beam-jars flink-jars # which may lie in /tmp
mount --bind "$ESPALIER_FLINK" beam-jars
mount --bind "$ESPALIER_FLINK_DIST" flink-jars
mount --bind tmp /tmp
ip link set lo up
export TMPDIR=/tmp
opens=()
for package in java.lang java.lang.reflect java.util java.util.concurrent java.net java.io \
	java.nio java.text java.time sun.nio.ch; do
	opens+=("--add-opens=java.base/$package=ALL-UNNAMED")
done
mkdir cluster-tmp
printf '%s\n' "io.tmp.dirs: $PWD/cluster-tmp" "state.checkpoints.dir: file://$PWD/checkpoints" >>conf/flink-conf.yaml
printf '%s\n' 'rootLogger.level=INFO' 'rootLogger.appenderRef.c.ref=C' 'appender.c.name=C' 'appender.c.type=CONSOLE' \
	'appender.c.layout.type=PatternLayout' 'appender.c.layout.pattern=%d{HH:mm:ss.SSS} %-5p %c{1} - %m%n' >log4j.properties

# The cluster has Beam's jars beside its own, except Flink's jars and jars for logging.
on_cluster=$(ls flink-jars/flink-dist-*.jar flink-jars/log4j-*.jar)
class_path=$(paste -sd: <<<"$on_cluster")
for jar in beam-jars/*.jar; do
	case ${jar##*/} in
	flink-* | slf4j-* | log4j* | scala-*) ;;
	*) class_path+=:$jar ;;
	esac
done

# jvm NAME ARGUMENT... starts a JVM and leaves its process id in $pid.
jvm() {
	local name=$1
	shift
	java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData "${opens[@]}" \
		-Djava.io.tmpdir="$PWD/cluster-tmp" "-Dlog4j.configurationFile=$PWD/log4j.properties" "$@" >"$name.log" 2>&1 &
	pid=$!
}
task_manager() {
	jvm "$1" -Xmx768m -XX:MaxDirectMemorySize=512m -cp "$class_path" \
		org.apache.flink.runtime.taskexecutor.TaskManagerRunner --configDir conf
}
# left prints the processes that this script started and that still run.
left() {
	for exe in /proc/[0-9]*/exe; do
		case $(readlink "$exe" 2>/dev/null || true) in
		*/java* | */espalier* | */pipeline | */programs/* | */night) tr '\0' ' ' <"${exe%/exe}/cmdline" | cut -c1-150 ;;
		esac
	done
}
fail() {
	echo "FAILED: $*"
	tail -n 5 ./*.log ./*.err 2>/dev/null || true
	left
	exit 1
}
# await SECONDS WHAT COMMAND... waits until a command succeeds.
await() {
	local until=$((SECONDS + $1)) what=$2
	shift 2
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $until ] || fail "no $what"
		sleep 0.05
	done
}
registered() { curl -sf http://127.0.0.1:8081/overview | grep -q "\"taskmanagers\":$1,"; }
listens() { (echo >/dev/tcp/127.0.0.1/8099); }
# workers PID prints the workers that a TaskManager has started.
workers() { pgrep -P "$1" -f -- '--provision_endpoint='; }
has_worker() { [ -n "$(workers "$1")" ]; }
now() { date +%s.%N; }
since() { awk "BEGIN { printf \"%.1f\", $(now) - $1 }"; }

start=$(now)
jvm jobmanager -Xmx700m -cp "$class_path" \
	org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint --configDir conf
jobmanager=$pid
task_manager taskmanager1
first=$pid
task_manager taskmanager2
second=$pid
mkdir artifacts
jvm jobserver -Xmx700m -cp "thin:beam-jars/*" ThinJobServer --flink-master=127.0.0.1:8081 --flink-conf-dir=conf \
	--job-host=127.0.0.1 --job-port=8099 --artifact-port=0 --expansion-port=0 --artifacts-dir="$PWD/artifacts"
jobserver=$pid
await 120 "cluster" registered 2
await 120 "job server" listens
echo "the cluster is up: $(since "$start") s"

managers=("$first" "$second")
trained() {
	./synth --output data --rows 1000000 --rows_per_group 50000
	# train NAME FLAG... trains level by level into a folder of this name.
	train() {
		local name=$1
		shift
		./espalier train --input 'data/*.parquet' --label class --output "$name" \
			--memory_objects 500 --max_depth 4 --progress plain "$@" >"$name.out" 2>"$name.err"
	}
	on_flink=(--runner flink --endpoint 127.0.0.1:8099 --environment_type PROCESS --parallelism 4)
	train direct || fail "the direct runner"
	digest() { sha256sum <"$1/tree.json"; }

	train warm "${on_flink[@]}" || fail "the first run on the cluster"
	start=$(now)
	train undisturbed "${on_flink[@]}" || fail "the undisturbed run on the cluster"
	undisturbed=$(since "$start")
	[ "$(digest undisturbed)" = "$(digest direct)" ] || fail "the tree differs from that of the direct runner"

	start=$(now)
	train disturbed "${on_flink[@]}" &
	driver=$!
	await 120 "level 0" grep -q '^level 0:' disturbed.err
	known=$(workers "$second" || true)
	newer() { [ -n "$(comm -13 <(sort <<<"$known") <(workers "$second" | sort))" ]; }
	await 60 "worker of level 1" newer
	kill -9 "$second"
	wait "$second" 2>/dev/null || true # or bash would report the end of the job
	echo "a TaskManager was killed after $(since "$start") s"
	sleep 2
	task_manager taskmanager3
	third=$pid
	wait "$driver" || fail "the run is not recovered"
	disturbed=$(since "$start")
	[ "$(digest disturbed)" = "$(digest direct)" ] || fail "the tree differs after a TaskManager was killed"
	restarts=$(grep -c 'from state RUNNING to RESTARTING' jobmanager.log || true)
	[ "$restarts" -gt 0 ] || fail "the TaskManager was killed when no job was on its way"
	managers=("$first" "$third")
	echo "undisturbed $undisturbed s, with a TaskManager killed $disturbed s ($restarts restarts);" \
		"the same tree: $(digest direct)"
}
if part train; then
	trained
fi

# disturbed_program NAME OUTPUT ARGUMENT... runs a program of docs/go.md here and on the cluster, kills a TaskManager that
# has a worker of it, and compares the output. The job may have ended before: then it does so again.
restarts() { grep -c 'from state RUNNING to RESTARTING' "$ESPALIER_CLUSTER_WORK/jobmanager.log" || true; }
awk 'BEGIN { print "id,class,age,scan"
	for (i = 0; i < 400; i++) print i "," (i % 60 < 30 ? "well" : "ill") "," 20 + i % 60 ".5," i * 7 % 11 }' >visits.csv
disturbed_program() {
	local name=$1 output=$2 before start try i killed driver file files
	shift 2
	cd "programs/$name"
	../../espalier import ../../visits.csv --output visits --progress none >/dev/null
	TMPDIR=$PWD "./$name" >"../../$name.log" 2>&1 || fail "$name here" # prism leaves a file there
	mkdir here
	compgen -G "$output" | xargs mv -t here
	files=(here/*)
	before=$(restarts)
	for try in 1 2 3 4 5 6; do
		rm -rf runs
		start=$(now)
		"./$name" "$@" >"../../$name.log" 2>&1 &
		driver=$! killed=
		until [ -n "$killed" ]; do
			kill -0 "$driver" 2>/dev/null || fail "no worker of $name was seen"
			for i in "${!managers[@]}"; do
				! pgrep -P "${managers[i]}" -f "$name --id=" >/dev/null || killed=$i
			done
		done
		kill -9 "${managers[killed]}"
		wait "${managers[killed]}" 2>/dev/null || true
		sleep 2
		cd ../..
		task_manager "taskmanager-$name-$try"
		cd "programs/$name"
		managers[killed]=$pid
		wait "$driver" || fail "$name is not recovered"
		for file in "${files[@]}"; do
			cmp "$file" "${output%/*}/${file##*/}" || fail "$name: ${file##*/} differs"
		done
		[ "$(restarts)" -eq "$before" ] || break
	done
	cd ../..
	[ "$(restarts)" -gt "$before" ] || fail "no TaskManager was killed when $name had a job on its way"
	echo "$name: ${#files[@]} files of the same bytes, with a TaskManager killed in $(since "$start") s"
}
if part programs; then
	disturbed_program nightly 'runs/nightly/tree.json' 127.0.0.1:8099
	disturbed_program hours 'visits/[0-9]*.json' --runner flink --endpoint 127.0.0.1:8099 --parallelism 2 --environment_type PROCESS \
		--environment_config "{\"command\":\"$PWD/programs/hours/hours\"}" --worker_binary /dev/null
fi

# updated FLAG... updates a stream, in which a TaskManager is killed; the stream goes on with the slots of the other one.
updated() {
	local i
	"$bench/updates.py" --program "$PWD/pipeline" --espalier "$PWD/espalier" --endpoint 127.0.0.1:8099 --rest 127.0.0.1:8081 \
		--kill "$@" || fail "the stream that is updated"
	for i in "${!managers[@]}"; do
		kill -0 "${managers[i]}" 2>/dev/null && continue
		wait "${managers[i]}" 2>/dev/null || true
		task_manager "taskmanager-updates-$i-$#"
		managers[i]=$pid
	done
	await 60 "TaskManager" registered 2
}
if part updates; then
	updated
	updated --structs
fi

if part nights; then
	"$bench/nights.py" --espalier "$PWD/espalier" --endpoint 127.0.0.1:8099 || fail "the nightly job"
fi

kill "$jobserver" "${managers[@]}" "$jobmanager"
gone() {
	local pid
	for pid in "$jobserver" "${managers[@]}" "$jobmanager"; do
		! kill -0 "$pid" 2>/dev/null || return 1
	done
}
await 30 "end of the cluster" gone
nothing_left() { [ -z "$(left)" ]; }
await 30 "end of all processes" nothing_left
[ -z "$(ls -A /tmp)" ] || fail "files stay in /tmp: $(ls -A /tmp)"
