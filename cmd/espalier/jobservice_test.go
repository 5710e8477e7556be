package main_test

import (
	"testing"

	"github.com/espalier-ml/espalier/io/parquetio"
)

// TestNoJobService: a port of something else is told in a sentence.
func TestNoJobService(t *testing.T) {
	input := mixed(t, 100, parquetio.WriteOptions{})
	args := []string{"--runner", "flink", "--environment_type", "LOOPBACK", "--endpoint"}
	o, _ := train(t, input, append(args, "127.0.0.1:"+freePort(t))...)
	o.wants(t, 5, "no job service at 127.0.0.1", "refused")
	o, _ = train(t, input, append(args, "127.0.0.1")...)
	o.wants(t, 5, "127.0.0.1", "missing port")
	o, _ = train(t, input, append(args, "127.0.0.1:9", "--async")...)
	o.wants(t, 2, "--async")
	o, _ = train(t, input, "--job_timeout", "0")
	o.wants(t, 2, "--job_timeout 0")
}
