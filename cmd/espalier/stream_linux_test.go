package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"

	//nolint:depguard // not the command is tested here, but the engine that its tests start
	"github.com/espalier-ml/espalier/transforms/transformstest/conformance"
)

// TestFlinkStream sends a stream of events from a broker through Score and
// WindowedTree on Flink, which calls back into this process. With ESPALIER_NATS the
// broker is a NATS server: its tests are a module of their own, in another process.
func TestFlinkStream(t *testing.T) {
	flink.require(t)
	if os.Getenv("ESPALIER_NATS") == "" {
		startFlink(t)
		conformance.Stream(t, conformance.Config{Runner: "flink", Events: 20_000, Windows: 10, Deadline: 2 * time.Minute})
		return
	}
	tests := exec.Command("go", "-C", filepath.Join("..", "..", "transforms", "transformstest", "conformance", "natstest"), "test",
		"-count=1", "-v", "-timeout=30m", "-run=^TestStream$", ".")
	tests.Env = append(os.Environ(), "ESPALIER_NATS_FLINK="+flink.start(t).endpoint)
	out, err := tests.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestStream")) {
		t.Errorf("%v:\n%s", err, tail(out, 20_000))
	}
}

// startFlink starts Flink, for pipelines that call back into this process.
func startFlink(t *testing.T) {
	t.Helper()
	conformance.Loopback(t, flink.start(t).endpoint)
}

// TestFlinkLibrary: on Flink a pipeline scores rows by the trees that it grows, of all rows and
// of windows or the latest ones, it chooses trees with models and certificates, and bad rows are dead letters.
func TestFlinkLibrary(t *testing.T) {
	flink.require(t)
	startFlink(t)
	for name, windowed := range map[string]bool{"batch": false, "windows": true} {
		t.Run(name, func(t *testing.T) { conformance.Feed(t, "flink", windowed, false) })
		t.Run(name+"/keyed", func(t *testing.T) { conformance.Feed(t, "flink", windowed, true) })
	}
	t.Run("latest", func(t *testing.T) {
		conformance.Latest(t, conformance.LatestConfig{Runner: "flink", Keyed: true, First: true})
	})
	t.Run("latest in a stream", func(t *testing.T) {
		conformance.Latest(t, conformance.LatestConfig{Runner: "flink", Stream: true, Keyed: true})
	})
	t.Run("chosen", func(t *testing.T) { conformance.Chosen(t, "flink") })
	t.Run("score", func(t *testing.T) { conformance.DeadLetters(t, "flink", "Score", 100_000) })
	t.Run("train", func(t *testing.T) { conformance.DeadLetters(t, "flink", "Train", 20_000) })
}
