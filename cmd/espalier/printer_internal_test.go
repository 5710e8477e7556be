package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// TestNamesArePrintable: what verbs print of columns, values, classes, files and URLs that others have named
// has no character that a terminal obeys, and no password.
func TestNamesArePrintable(t *testing.T) {
	const hostile, odd, secret = "\x1b]0;owned\x07\x1b[2J\u202e", "\x1b]0;owned\x07\u202e", "pass/word"
	folder := t.TempDir()
	t.Chdir(folder)
	const n = 120
	x, s, class := make([]float64, n), make([]string, n), make([]string, n)
	for i := range n {
		x[i], s[i], class[i] = float64(i%17), "v"+hostile+string('a'+rune(i%3)), "c"+hostile+string('a'+rune(i%17/9))
	}
	csv := "x" + hostile + ",class\n" + strings.Repeat("1"+hostile+",a\n", n)
	rows := odd + ".parquet"
	err := parquetio.Write(t.Context(), objectstore.New(), rows, []parquetio.WriteColumn{
		{Name: "x" + hostile, Values: x}, {Name: "s" + hostile, Values: s}, {Name: "class" + hostile, Values: class},
	}, parquetio.WriteOptions{})
	if err == nil {
		err = os.WriteFile(odd+".csv", []byte(csv), 0o666)
	}
	if err == nil {
		err = os.WriteFile(odd+".yaml", []byte("label: [\n"), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	run := "run" + odd
	model := []string{"--model", run, "--input", rows}
	good := [][]string{
		{"train", "--input", rows, "--label", "class" + hostile, "--output", run, "--algorithm", "c45", "--slice", "s" + hostile},
		{"show", run},
		{"show", run, "--format", "rules"},
		{"show", run, "--row", rows + ":3"},
		append([]string{"predict", "--output", "out" + hostile}, model...), append([]string{"evaluate"}, model...),
		append([]string{"evaluate", "--json"}, model...), append([]string{"drift"}, model...), append([]string{"drift", "--json"}, model...),
		{"evaluate", run, "--against", run, "--input", rows},
		{"frontier", run},
		{"report", run, "--output", hostile + ".html"},
		{"ask", run, "--value", "x" + hostile + "=3"},
		{"import", odd + ".csv", "--output", "imported" + hostile},
	}
	bad := [][]string{
		{"train", "--input", rows, "--label", "nothing" + hostile, "--output", "other"},
		{"train", "--config", odd + ".yaml"},
		{"train", "--input", rows, "--output", "x", "--label", "class" + hostile, "--" + hostile},
		{hostile},
		{"show", hostile},
		{"show", "s3://me:" + secret + "@bucket/x"},
		{"show", "https://me:" + secret + "@host/x"},
		{"predict", "--model", run, "--input", "gs://me:" + secret + "@bucket/*.parquet", "--output", "y"},
		{"train", "--input", "https://host/x?sig=" + secret, "--label", "y", "--output", "z"},
	}
	for i, args := range append(good, bad...) {
		var stdout, stderr bytes.Buffer
		code := start(t.Context(), args, &stdout, &stderr)
		printed := stdout.String() + stderr.String()
		if (code == 0) != (i < len(good)) {
			t.Errorf("%q: exit code %d: %s", args, code, printed)
		}
		if naming.Printable(printed) != printed {
			t.Errorf("%q prints %q", args, printed)
		}
		if strings.Contains(printed, secret) {
			t.Errorf("%q prints a password: %s", args, printed)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, run, "tree.json")); err != nil {
		t.Error(err)
	}
}

// TestPrinterPieces: a text in pieces that end anywhere is printed as the whole.
func TestPrinterPieces(t *testing.T) {
	const text = "├─ ä 漢字 😀 \x1b[2J \xff open s3://me:pass/word@bucket/x: denied https://h/x?sig=secret&token=other \xe2\x94"
	for size := 1; size <= len(text); size++ {
		var got bytes.Buffer
		p := &printer{to: &got}
		for at := 0; at < len(text); at += size {
			piece := text[at:min(at+size, len(text))]
			if n, err := p.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Fatalf("%d bytes of %d written, error %v", n, len(piece), err)
			}
		}
		p.end()
		if want := naming.Printable(text); got.String() != want {
			t.Errorf("pieces of %d bytes: got %q, want %q", size, got.String(), want)
		}
	}
	var got bytes.Buffer
	p := &printer{to: &got}
	say(p, "question 1: x\n> ")
	if got.String() != "question 1: x\n> " {
		t.Errorf("a prompt is held: %q", got.String())
	}
}
