package engine

import (
	"errors"
	"strings"
	"testing"
)

// TestCause: errors of engines, as seen on Flink 1.19 under Beam 2.62, are cut to a sentence.
func TestCause(t *testing.T) {
	const grpc = "org.apache.beam.vendor.grpc.v1p60p1.io.grpc.StatusRuntimeException: "
	harness := "java.lang.RuntimeException: Error received from SDK harness for instruction 6: process bundle failed for instruction 6 using plan 49-6 : while executing FinishBundle for Plan[49-6]:\n" +
		"1: DataSource[S[fn/read/n3:0@localhost:33783], local_output] Out:4\n\tcaused by:\nDoFn[UID:4, PID:e4, Name: github.com/espalier-ml/espalier/transforms.summariseFn] failed:\n"
	for _, c := range []struct{ text, want string }{
		{grpc + grpc + "CANCELLED: client cancelled", "a worker process ended without a word"},
		{"java.lang.IllegalStateException: Process died with exit code 1", "a worker process ended without a word"},
		{harness + "open file:///x: permission denied", "open file:///x: permission denied"},
		{harness + "panic: index out of range\nFull error:\ngoroutine 7 [running]:\n...", "panic: index out of range"},
		{"java.io.IOException: Insufficient number of network buffers", "java.io.IOException: Insufficient number of network buffers"},
	} {
		got := (&RunnerError{Job: "level 1", Runner: "flink", Err: errors.New(c.text)}).Error()
		if want := `the job "level 1" failed on the runner "flink": ` + c.want; !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
