package main_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/io/parquetio"
)

// TestNoEngine: an engine that is not there is told at once.
func TestNoEngine(t *testing.T) {
	input := mixed(t, 100, parquetio.WriteOptions{})
	args := []string{"train", "--input", input, "--label", "class", "--progress", "none", "--output", filepath.Join(t.TempDir(), "run"), "--runner"}
	espalier(t, append(args, "flink")...).wants(t, 2, "--endpoint")
	espalier(t, append(args, "flink", "--endpoint", "127.0.0.1:9")...).wants(t, 5, "flink", "refused")
	config := filepath.Join(t.TempDir(), "engine.yaml")
	if err := os.WriteFile(config, []byte("runner: flink\nendpoint: 127.0.0.1:9\nparallelism: 2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	espalier(t, append(args, "flink", "--config", config)...).wants(t, 5, "flink", "127.0.0.1:9")
	espalier(t, append(args, "flonk")...).wants(t, 2, "--runner flonk", "spark")
	espalier(t, "train", "--provision_endpoint=127.0.0.1:9", "--id=1").wants(t, 1, "worker")
}

// startFlink starts a job server with an embedded Flink, of which the jars lie
// in the folder that ESPALIER_FLINK names, and returns its endpoint. It binds to
// all interfaces and runs what it is sent: see .ci/run for the network of its
// own.
func startFlink(t *testing.T) string {
	t.Helper()
	jars := os.Getenv("ESPALIER_FLINK")
	if jars == "" {
		t.Skip("waits for ESPALIER_FLINK to name a folder of Flink's jars: .ci/run fetches them by testdata/flink/pom.xml and sets it")
	}
	conf, err := filepath.Abs(filepath.Join("testdata", "flink"))
	if err != nil {
		t.Fatal(err)
	}
	var args []string
	for _, name := range []string{"lang", "util", "net", "io", "nio", "util.concurrent", "lang.reflect", "text", "time"} {
		args = append(args, "--add-opens=java.base/java."+name+"=ALL-UNNAMED")
	}
	port := freePort(t)
	work := t.TempDir()
	args = append(args, "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", "-Xmx2g", "-Djava.io.tmpdir="+work, "-cp", jars+"/*",
		"org.apache.beam.runners.flink.FlinkJobServerDriver", "--flink-master=[local]", "--job-host=localhost", "--job-port="+port,
		"--artifact-port=0", "--expansion-port=0", "--artifacts-dir="+work, "--flink-conf-dir="+conf)
	server := exec.CommandContext(t.Context(), "java", args...) // Java 17
	server.Dir = work
	log, err := os.Create(filepath.Join(work, "log"))
	if err != nil {
		t.Fatal(err)
	}
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	t.Cleanup(func() {
		_ = server.Process.Kill() // it may have ended by itself
		_ = log.Close()
	})
	endpoint := "localhost:" + port
	for range 600 {
		if c, err := net.Dial("tcp", endpoint); err == nil {
			_ = c.Close() // only a look
			return endpoint
		}
		select {
		case err := <-ended:
			t.Fatalf("the job server ended: %v\n%s", err, read(t, log.Name()))
		case <-time.After(100 * time.Millisecond):
		}
	}
	t.Fatalf("the job server is not ready:\n%s", read(t, log.Name()))
	return ""
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // the port is free again
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// TestFlink: trees grown on Flink, by workers in this process's child or by ones
// that Flink starts, have the bytes of those grown here; and what is wrong with
// the data is told by the same sentence.
func TestFlink(t *testing.T) {
	endpoint := startFlink(t)
	t.Setenv("TMPDIR", t.TempDir()) // the SDK leaves folders behind
	input := mixed(t, 5000, parquetio.WriteOptions{RowsPerGroup: 700})
	train := func(output string, flags ...string) outcome {
		return espalier(t, append([]string{
			"train", "--input", input, "--label", "class", "--output", output, "--progress", "plain", "--split", "80/10/10",
			"--theta", "0.001", "--max_depth", "4",
		}, flags...)...)
	}
	here := filepath.Join(t.TempDir(), "here")
	train(here).wants(t, 0)
	want := files(t, here)
	engine := func(environment string, parallelism int) []string {
		return []string{"--runner", "flink", "--endpoint", endpoint, "--environment_type", environment, "--parallelism", strconv.Itoa(parallelism)}
	}
	for _, c := range []struct {
		environment string
		parallelism int
		memory      string
	}{{"LOOPBACK", 1, "-1"}, {"LOOPBACK", 2, "0"}, {"LOOPBACK", 4, "500"}, {"PROCESS", 2, "500"}, {"PROCESS", 4, "0"}} {
		t.Run(fmt.Sprintf("environment=%s/parallelism=%d/memory=%s", c.environment, c.parallelism, c.memory), func(t *testing.T) {
			there := filepath.Join(t.TempDir(), "there")
			train(there, append(engine(c.environment, c.parallelism), "--memory_objects", c.memory)...).wants(t, 0)
			got := files(t, there)
			for name := range got {
				if _, ok := want[name]; !ok {
					t.Errorf("%s stays", name)
				}
			}
			for _, name := range []string{"tree.json", "metrics.json", "schema.json"} {
				if got[name] != want[name] {
					t.Errorf("%s differs from that of the direct runner", name)
				}
			}
		})
	}
	ages := make([]string, 20)
	for i := range ages {
		ages[i] = strconv.Itoa(i)
	}
	ages[7] = "old"
	input = parquet(t, parquetio.WriteOptions{}, column("age", ages), column("class", repeat(20, ab)))
	for _, environment := range []string{"LOOPBACK", "PROCESS"} {
		o := train(filepath.Join(t.TempDir(), "there"), append(engine(environment, 2), "--numeric", "age")...)
		o.wants(t, 3, "data.parquet", "row group 0", `column "age"`, `"old"`)
		if strings.Contains(o.stderr, "caused by") {
			t.Errorf("%s: the engine's words are in the message: %s", environment, o.stderr)
		}
	}
}
