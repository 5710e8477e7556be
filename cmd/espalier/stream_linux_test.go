package main_test

import (
	"flag"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"

	//nolint:depguard // not the command is tested here, but the engine that its tests start
	"github.com/espalier-ml/espalier/transforms/transformstest"
)

// TestFlinkStream sends streams of events from a broker through Score and
// WindowedTree on Flink, which calls back into this process. The number of events
// is ESPALIER_STREAM_EVENTS, 20,000 unless set.
func TestFlinkStream(t *testing.T) {
	flink.require(t)
	events := 20_000
	if s := os.Getenv("ESPALIER_STREAM_EVENTS"); s != "" {
		var err error
		if events, err = strconv.Atoi(s); err != nil {
			t.Fatalf("ESPALIER_STREAM_EVENTS=%s: want a number", s)
		}
	}
	startFlink(t)
	for name, c := range map[string]transformstest.Config{
		"own bins":      {},
		"previous bins": {Previous: true},
		"given bins":    {Given: true},
	} {
		t.Run(name, func(t *testing.T) {
			c.Runner, c.Events, c.Windows = "flink", events, 10
			c.Deadline = 2*time.Minute + time.Duration(events)*time.Millisecond
			t.Logf("%+v", *transformstest.Run(t, c))
		})
	}
}

// startFlink starts Flink, for pipelines that call back into this process.
func startFlink(t *testing.T) {
	t.Helper()
	if !beam.Initialized() {
		beam.Init()
	}
	e := flink.start(t)
	options := map[string]string{"endpoint": e.endpoint, "environment_type": "LOOPBACK", "parallelism": "2"}
	for name, value := range options {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFlinkLibrary: on Flink a pipeline scores rows by the trees that it grows, of all rows and
// of windows, and bad rows are dead letters.
func TestFlinkLibrary(t *testing.T) {
	flink.require(t)
	startFlink(t)
	for name, windowed := range map[string]bool{"batch": false, "windows": true} {
		t.Run(name, func(t *testing.T) { transformstest.Feed(t, "flink", windowed, false) })
		t.Run(name+"/keyed", func(t *testing.T) { transformstest.Feed(t, "flink", windowed, true) })
	}
	t.Run("score", func(t *testing.T) { transformstest.DeadLetters(t, "flink", 100_000, false) })
	t.Run("train", func(t *testing.T) { transformstest.DeadLetters(t, "flink", 20_000, true) })
}
