package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/usage"
)

// TestCause: errors of engines, as seen on Flink 1.19 under Beam 2.62, are cut to a sentence.
func TestCause(t *testing.T) {
	const grpc = "org.apache.beam.vendor.grpc.v1p60p1.io.grpc.StatusRuntimeException: "
	const died = "java.lang.IllegalStateException: Process died with exit code "
	harness := "java.lang.RuntimeException: Error received from SDK harness for instruction 6: process bundle failed for instruction 6 using plan 49-6 : while executing FinishBundle for Plan[49-6]:\n" +
		"1: DataSource[S[fn/read/n3:0@localhost:33783], local_output] Out:4\n\tcaused by:\nDoFn[UID:4, PID:e4, Name: github.com/espalier-ml/espalier/transforms.summariseFn] failed:\n"
	for _, c := range []struct{ text, want string }{
		{grpc + grpc + "CANCELLED: client cancelled", "a worker process ended at work, without a word: killed, or out of memory? "},
		{"java.io.IOException: error=2, No such file or directory", "a host of the engine does not have the program"},
		{died + "0", "a worker process ended at its start with exit code 0: its main returned"},
		{died + "1", "a worker process ended at its start with exit code 1: run it on a host"},
		{died + "2", "a worker process ended at its start with exit code 2: it panicked, or it read its flags"},
		{died + "137", "a worker process ended at its start with exit code 137: it was killed: out of memory? Give"},
		{harness + "open file:///x: permission denied", "open file:///x: permission denied"},
		{harness + "panic: index out of range\nFull error:\ngoroutine 7 [running]:\n...", "panic: index out of range"},
		{harness + "panic: rpc error: code = Unavailable desc = error reading from server: EOF", "panic: rpc error: code = Unavailable"},
		{"java.io.IOException: Insufficient number of network buffers", "java.io.IOException: Insufficient number of network buffers"},
	} {
		failed := &RunnerError{Job: "level 1", Runner: "flink", Err: errors.New(c.text)}
		got := failed.Error()
		if want := `the job "level 1" failed on the runner "flink": ` + c.want; !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		nature := usage.TryAgain
		if strings.HasPrefix(c.want, "panic: index") {
			nature = usage.Internal
		}
		if got := usage.NatureOf(failed); got != nature {
			t.Errorf("%s: nature %d, want %d", c.want, got, nature)
		}
	}
}
