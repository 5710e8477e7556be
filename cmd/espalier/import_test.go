package main_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// letters returns a CSV file of 300 rows with two classes.
func letters() string {
	b := &strings.Builder{}
	b.WriteString("n,x,day,kind,zip,class\n")
	for i := range 300 {
		class := "low"
		if i%20 > 9 {
			class = "high"
		}
		fmt.Fprintf(b, "%d,%d.5,2024-01-%02d,%q,0%d,%s\n", i, i%20, i%28+1, "a,"+string(rune('a'+i%3)), i%7, class)
	}
	return b.String()
}

// TestImport makes Parquet of CSV, of its gzip form and of standard input, and trains on it.
func TestImport(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "letters.csv")
	compressed := &bytes.Buffer{}
	z := gzip.NewWriter(compressed)
	if _, err := z.Write([]byte(letters())); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{file: []byte(letters()), file + ".gz": compressed.Bytes()} {
		if err := os.WriteFile(name, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	output := func(name string) string { return filepath.Join(folder, name) }
	rows := []string{"--rows_per_file", "200", "--rows_per_group", "64"}
	o := espalier(t, append([]string{"import", file, "--output", output("made")}, rows...)...)
	o.wants(t, 0, "import: 300 rows in ")
	for _, part := range []string{
		"wrote 300 rows, ", "(files: 2)", "n       integer ", "x       number ", "day     date ", "kind    text ", "zip     text ",
	} {
		if !strings.Contains(o.stdout, part) {
			t.Errorf("stdout lacks %q:\n%s", part, o.stdout)
		}
	}
	validate(t, "import", filepath.Join(output("made"), "manifest.json"))
	espalier(t, append([]string{"import", file + ".gz", "--output", output("unzipped")}, rows...)...).wants(t, 0)
	c := exec.Command(binary, append([]string{"import", "-", "--output", output("piped")}, rows...)...)
	c.Stdin = strings.NewReader(letters())
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, part := range []string{"part-00000.parquet", "part-00001.parquet"} {
		first, err := os.ReadFile(filepath.Join(output("made"), part))
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{"unzipped", "piped"} {
			if b, err := os.ReadFile(filepath.Join(output(other), part)); err != nil || !bytes.Equal(b, first) {
				t.Errorf("%s/%s has other bytes than made/%s, %v", other, part, part, err)
			}
		}
	}
	espalier(t, "train", "--input", output("made"), "--label", "class", "--ignore", "n", "--output", output("run"),
		"--progress", "none").wants(t, 0)
	shown := espalier(t, "show", output("run"))
	shown.wants(t, 0)
	if !strings.Contains(shown.stdout, "x < ") && !strings.Contains(shown.stdout, "x ") {
		t.Errorf("the tree does not test x, which decides:\n%s", shown.stdout)
	}
}

// TestImportRefuses: faults of the files have exit code 3 and leave no file, nor harm an earlier
// import.
func TestImportRefuses(t *testing.T) {
	folder := t.TempDir()
	good, ragged := filepath.Join(folder, "good.csv"), filepath.Join(folder, "ragged.csv")
	other := filepath.Join(folder, "other.csv")
	for name, content := range map[string]string{good: "a,b\n1,2\n", ragged: "a,b\n1,2\n3\n", other: "a,c\n1,2\n"} {
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	output := filepath.Join(folder, "made")
	espalier(t, "import", ragged, "--output", output).wants(t, 3, "ragged.csv", "line 3", `column "b"`)
	if _, err := os.Stat(output); !os.IsNotExist(err) {
		t.Errorf("a failed import leaves %s: %v", output, err)
	}
	espalier(t, "import", good, "--output", output).wants(t, 0)
	espalier(t, "import", good, "--output", output).wants(t, 2, "a finished import", "--overwrite")
	espalier(t, "import", good, other, "--output", output, "--overwrite").wants(t, 3, "other.csv", `column "c"`, "column 2")
	for _, name := range []string{"_SUCCESS", "part-00000.parquet"} {
		if _, err := os.Stat(filepath.Join(output, name)); err != nil {
			t.Errorf("a failed import has removed the earlier one: %v", err)
		}
	}
	espalier(t, "import", good, good, "--output", output, "--overwrite").wants(t, 0, "import: 2 rows in ")
	espalier(t, "import", "--output", output).wants(t, 2, "import takes CSV files")
	espalier(t, "import", good, "--output", output, "--delimiter", "ab").wants(t, 2, "--delimiter", "one character")
	espalier(t, "import", good, "--output", output, "--overwrite", "--text", "B").wants(t, 2, "--text", `did you mean "b"?`)
	espalier(t, "import", filepath.Join(folder, "none.csv"), "--output", output+"2").wants(t, 2, "none.csv")
}
