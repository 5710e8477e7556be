package naming_test

import (
	"testing"

	"github.com/espalier-ml/espalier/induce/naming"
)

func TestCheckBelow(t *testing.T) {
	for _, name := range []string{"a", "a/b.json", "..a/b..", "a:b", "-", "runs/2026-11-01-0f", "name with blank", ".hidden"} {
		if err := naming.CheckBelow(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{
		"", ".", "..", "/", "/etc/passwd", "../x", "a/../../x", "a/..", "./a", "a//b", "a/", "a/./b", `..\x`, `a\b`,
		"gs://bucket/x", "gs:/bucket/x", "file:///x", "C:/x", "a\x00b",
	} {
		if naming.CheckBelow(name) == nil {
			t.Errorf("%q is taken for a name below a folder", name)
		}
	}
}
