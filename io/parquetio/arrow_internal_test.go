package parquetio

import (
	"encoding/base64"
	"encoding/binary"
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestDurations: the units of testdata/make.py, in a message that pyarrow wrote. Whatever else the message may be, it is
// read without a panic.
func TestDurations(t *testing.T) {
	file, err := os.ReadFile("testdata/durations_ns.parquet")
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`/////[A-Za-z0-9+/]+=*`).Find(file) // it begins with ffffffff
	message, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"wait": "ns", "s": "s", "ms": "ms", "us": "us", "ns": "ns"}
	if got := durationsOf(message, 100); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := durationsOf(message[4:], 100); !maps.Equal(got, want) {
		t.Errorf("a message without a mark: %v, want %v", got, want)
	}
	if got := durationsOf(message, len(want)-1); got != nil {
		t.Errorf("a message of more columns than the file has: %v", got)
	}
	for n := range message {
		durationsOf(message[:n], 100)
		for _, b := range []byte{0, 1, 0x7f, 0xff} {
			changed := slices.Clone(message)
			changed[n] = b
			durationsOf(changed, 100)
			if n+4 <= len(changed) {
				binary.LittleEndian.PutUint32(changed[n:], 1<<31+uint32(b))
				durationsOf(changed, 100)
			}
		}
	}

	columns := []Column{
		{Name: "ns", Physical: "INT64"},
		{Name: "wait", Physical: "INT64", Logical: "TIMESTAMP"}, // another column than at the time of the schema
		{Name: "number", Physical: "INT64"},
	}
	columns = append(columns, make([]Column, len(want))...) // at least as many as the schema has
	markDurations(columns, []keyValue{{Key: arrowKey, Value: string(text)}})
	if columns[0].Duration != "ns" || columns[1].Duration != "" || columns[2].Duration != "" {
		t.Errorf("durations %+v", columns)
	}
}
