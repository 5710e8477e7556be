package main_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/espalier-ml/espalier/io/parquetio"
)

// TestNoEngine: an engine that is not there is told at once.
func TestNoEngine(t *testing.T) {
	input := mixed(t, 100, parquetio.WriteOptions{})
	args := []string{
		"train", "--input", input, "--label", "class", "--progress", "none", "--output",
		filepath.Join(t.TempDir(), "run"), "--runner",
	}
	espalier(t, append(args, "flink")...).wants(t, 2, "--endpoint")
	espalier(t, append(args, "flink", "--endpoint", "127.0.0.1:9")...).wants(t, 5, "flink", "refused")
	config := filepath.Join(t.TempDir(), "engine.yaml")
	if err := os.WriteFile(config, []byte("runner: flink\nendpoint: 127.0.0.1:9\nparallelism: 2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	espalier(t, append(args, "flink", "--config", config)...).wants(t, 5, "flink", "127.0.0.1:9")
	espalier(t, append(args, "flonk")...).wants(t, 2, "--runner flonk", "spark")
	espalier(t, "--id=1", "--provision_endpoint=127.0.0.1:9").wants(t, 1, "worker", "refused")
}

// onPrism returns the flags with which the binary sends its jobs to a prism of this process.
func onPrism(t *testing.T) []string {
	t.Helper()
	port := freePort(t)
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prism.CreateJobServer(t.Context(), prism.Options{Port: number}); err != nil {
		t.Fatal(err)
	}
	return []string{"--runner", "prism", "--endpoint", "localhost:" + port, "--environment_type", "LOOPBACK"}
}

// freePort returns a port that nobody listens on.
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
