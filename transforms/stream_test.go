package transforms_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/transforms/transformstest"
)

// streamEvents returns the number of events of a stream and the time that it may take.
// ESPALIER_STREAM_EVENTS raises the number.
func streamEvents(t *testing.T, n int) (events int, deadline time.Duration) {
	t.Helper()
	if s := os.Getenv("ESPALIER_STREAM_EVENTS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatalf("ESPALIER_STREAM_EVENTS=%s: want a number", s)
		}
	}
	return n, time.Minute + time.Duration(n)*time.Millisecond
}

// TestStream sends a stream of events through Score and WindowedTree on prism.
func TestStream(t *testing.T) {
	for name, c := range map[string]transformstest.Config{
		"own bins":      {},
		"previous bins": {Previous: true},
		"given bins":    {Given: true},
	} {
		t.Run(name, func(t *testing.T) {
			c.Runner, c.Windows = "prism", 5
			c.Events, c.Deadline = streamEvents(t, 6000)
			t.Logf("%+v", *transformstest.Run(t, c))
		})
	}
}
