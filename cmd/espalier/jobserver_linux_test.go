package main_test

import (
	"bytes"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// jobServer is how Beam's job server for an engine is started, with the engine
// inside.
type jobServer struct {
	runner   string
	jars     string // the variable that names the folder of its jars
	class    string
	packages []string // of java.base that it reaches into
	java     func(work string) []string
	flags    func(work, conf string) []string
}

// opened are the packages of java.base that all engines reach into from Java 17
// on.
var opened = []string{
	"java.lang", "java.lang.reflect", "java.util", "java.util.concurrent", "java.net", "java.io", "java.nio", "java.text",
	"java.time", "sun.nio.ch",
}

var (
	flink = jobServer{
		runner: "flink", jars: "ESPALIER_FLINK", class: "org.apache.beam.runners.flink.FlinkJobServerDriver",
		java:  func(string) []string { return nil },
		flags: func(_, conf string) []string { return []string{"--flink-master=[local]", "--flink-conf-dir=" + conf} },
	}
	spark = jobServer{
		runner: "spark", jars: "ESPALIER_SPARK", class: "org.apache.beam.runners.spark.SparkJobServerDriver",
		packages: []string{"sun.nio.cs", "sun.util.calendar", "sun.security.action", "jdk.internal.ref"},
		java: func(work string) []string {
			return []string{
				"-Dspark.ui.enabled=false", "-Dspark.driver.host=127.0.0.1", "-Dspark.driver.bindAddress=127.0.0.1",
				"-Dspark.local.dir=" + work,
			}
		},
		flags: func(string, string) []string { return []string{"--spark-master-url=local[2]"} },
	}
)

// engine is a running job server.
type engine struct {
	runner, endpoint string
	log              string
	process          *os.Process
	ended            chan struct{}
}

// require returns the folder of the engine's jars, without which the test is
// skipped.
func (s *jobServer) require(t *testing.T) string {
	t.Helper()
	jars := os.Getenv(s.jars)
	if jars == "" {
		t.Skipf("waits for %s to name a folder of jars: .ci/run fetches them by testdata/%s/pom.xml and sets it", s.jars,
			s.runner)
	}
	return jars
}

// start starts a job server that has ended, with all its workers, when the test
// has. It binds to all interfaces and runs what it is sent: see .ci/run for the
// network of its own.
func (s *jobServer) start(t *testing.T) *engine {
	t.Helper()
	jars := s.require(t)
	conf, err := filepath.Abs(filepath.Join("testdata", s.runner))
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	t.Setenv("TMPDIR", work) // of its workers, too; the SDK leaves folders behind
	port := freePort(t)
	args := append([]string{
		"-Xmx2g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", // it does not live for long: half the processor time
		"-XX:-UsePerfData", // a file in /tmp, whatever java.io.tmpdir says
		"-Djava.io.tmpdir=" + work,
	}, s.java(work)...)
	for _, name := range append(s.packages, opened...) {
		args = append(args, "--add-opens=java.base/"+name+"=ALL-UNNAMED")
	}
	args = append(args, "-cp", jars+"/*", s.class, "--job-host=localhost", "--job-port="+port, "--artifact-port=0",
		"--expansion-port=0", "--artifacts-dir="+work)
	server := exec.Command("java", append(args, s.flags(work, conf)...)...) // Java 17
	server.Dir = work
	server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that its workers can be found
	log, err := os.Create(filepath.Join(work, "log"))
	if err != nil {
		t.Fatal(err)
	}
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	e := &engine{
		runner: s.runner, endpoint: "localhost:" + port, log: log.Name(), process: server.Process,
		ended: make(chan struct{}),
	}
	go func() {
		_ = server.Wait() // how it ends is looked at where that matters
		close(e.ended)
	}()
	t.Cleanup(func() {
		e.stop(t)
		_ = log.Close()
	})
	e.await(t)
	return e
}

// await waits until the job service answers.
func (e *engine) await(t *testing.T) {
	t.Helper()
	for range 600 {
		if c, err := net.Dial("tcp", e.endpoint); err == nil {
			_ = c.Close() // only a look
			return
		}
		select {
		case <-e.ended:
			t.Fatalf("the job server ended:\n%s", read(t, e.log))
		case <-time.After(100 * time.Millisecond):
		}
	}
	t.Fatalf("the job server is not ready:\n%s", read(t, e.log))
}

// stop ends the job server and checks that no worker outlives it.
func (e *engine) stop(t *testing.T) {
	t.Helper()
	if t.Failed() {
		t.Logf("the job server's last words:\n%s", tail(read(t, e.log), 4000))
	}
	_ = e.process.Signal(syscall.SIGTERM) // it may have ended by itself
	select {
	case <-e.ended:
	case <-time.After(10 * time.Second):
		t.Error("the job server does not end when it is told to")
		_ = e.process.Kill()
		<-e.ended
	}
	noWorkers(t)
	if err := syscall.Kill(-e.process.Pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the job server leaves processes behind (%v)", err)
	}
}

// restarts returns how often Flink has started a job again.
func (e *engine) restarts(t *testing.T) int {
	t.Helper()
	return bytes.Count(read(t, e.log), []byte("from state RUNNING to RESTARTING"))
}

// flags returns the flags for running on this engine.
func (e *engine) flags(environment, parallelism string) []string {
	return []string{
		"--runner", e.runner, "--endpoint", e.endpoint, "--environment_type", environment, "--parallelism",
		parallelism,
	}
}

func tail(b []byte, n int) []byte { return b[max(0, len(b)-n):] }

// workerProcesses returns the processes of a program that an engine has started.
func workerProcesses(t *testing.T, program string) []int {
	t.Helper()
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, folder := range folders {
		exe, err := os.Readlink(filepath.Join(folder, "exe"))
		if err != nil || exe != program {
			continue // it ended meanwhile, or is another's
		}
		line, err := os.ReadFile(filepath.Join(folder, "cmdline"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(line), "--provision_endpoint") && !strings.Contains(string(line), "=trial") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// noWorkers checks that all workers end before long.
func noWorkers(t *testing.T) {
	t.Helper()
	var left []int
	for range 150 {
		if left = workerProcesses(t, binary); len(left) == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("workers stay: %v", left)
}

// newWorker waits for a worker that is not known yet, and returns it.
func newWorker(t *testing.T, program string, known []int) int {
	t.Helper()
	for start := time.Now(); time.Since(start) < deadline; time.Sleep(2 * time.Millisecond) {
		for _, pid := range workerProcesses(t, program) {
			if !slices.Contains(known, pid) {
				return pid
			}
		}
	}
	t.Fatal("no worker is started")
	return 0
}
