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

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"plain: ä, 漢字, e\u0301, emoji 😀\n\tnext":  "plain: ä, 漢字, e\u0301, emoji 😀\n\tnext",
		"\x1b]0;title\x07\x1b[31mred\rover\x7f":   `\x1b]0;title\x07\x1b[31mred\x0dover\u007f`,
		"\u202eevil\u2066 \u2028 \u0085 \u009b":   `\u202eevil\u2066 \u2028 \u0085 \u009b`,
		"bytes \x9b\xff":                          `bytes \x9b\xff`,
		"open s3://me:s3/cr+t@bucket/x: denied":   "open s3://me:***@bucket/x: denied",
		"https://host:80/path, https://me@host/x": "https://host:80/path, https://me@host/x",
		"https://h/x?X-Amz-Signature=abc&part=1":  "https://h/x?X-Amz-Signature=***&part=1",
		"a replacement \ufffd":                    "a replacement \\ufffd",
	} {
		if got := naming.Printable(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestNearest: by hand.
func TestNearest(t *testing.T) {
	names := []string{"max_depth", "max_leaves", "lambda", "labelled_rows", "label"}
	for name, want := range map[string]string{
		"max-depth": "max_depth", "Lamda": "lambda", "max_l": "max_leaves",
		"lab": "label", "zz": "", "": "",
	} {
		if got := naming.Nearest(name, names); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestNearestEdits: by hand, each kind of edit is one step, of characters and not of bytes.
func TestNearestEdits(t *testing.T) {
	for name, want := range map[string]string{
		"strasse": "Straße", "köln": "Köln", "koln": "Köln", "oln": "Köln", "kölnnn": "Köln", "klön": "Köln", "xyz": "", "": "",
	} {
		if got := naming.Nearest(name, []string{"Straße", "Köln"}); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
