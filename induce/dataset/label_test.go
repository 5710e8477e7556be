package dataset_test

import (
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestReadClass: a label names a class in the spelling of another type, and a code with leading zeros names no number.
func TestReadClass(t *testing.T) {
	for _, c := range []struct {
		classes []string
		label   string
		want    string // empty: no class
	}{
		{[]string{"1", "2"}, "1", "1"},
		{[]string{"1", "2"}, "1.0", "1"},
		{[]string{"1", "2"}, "2e0", "2"},
		{[]string{"1", "2"}, "01", ""},
		{[]string{"1", "2"}, "0x1", ""},
		{[]string{"01", "1"}, "01", "01"},
		{[]string{"1.5", "2"}, "1.50", "1.5"},
		{[]string{"9007199254740992", "2"}, "9007199254740993", ""},
		{[]string{"false", "true"}, "True", "true"},
		{[]string{"false", "true"}, "1", "true"},
		{[]string{"false", "true"}, "0.0", "false"},
		{[]string{"0", "1"}, "FALSE", "0"},
		{[]string{"0", "1", "2"}, "true", ""},
		{[]string{"no", "yes"}, "true", ""},
		{[]string{"no", "yes"}, "", ""},
	} {
		codes := make(map[string]uint16)
		for k, class := range c.classes {
			codes[class] = uint16(k)
		}
		got := ""
		if code, ok := dataset.ReadClass(codes, c.label); ok {
			got = c.classes[code]
		}
		if got != c.want {
			t.Errorf("%q of the classes %q: %q, want %q", c.label, c.classes, got, c.want)
		}
	}
}
