package main_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
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
	o.wants(t, 0)
	for _, part := range []string{
		"wrote 300 rows, ", "(files: 2)", "n       integer ", "x       number ", "day     date ", "kind    text ", "zip     text ",
	} {
		if !strings.Contains(o.stdout, part) {
			t.Errorf("stdout lacks %q:\n%s", part, o.stdout)
		}
	}
	validate(t, "import", filepath.Join(output("made"), "_manifest.json"))
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
	wide := filepath.Join(folder, "wide.csv")
	names := strings.Repeat("a,", 1<<16-1) + "a\n"
	if err := os.WriteFile(wide, []byte(numbered(names)+strings.ReplaceAll(names, "a", "1")), 0o666); err != nil {
		t.Fatal(err)
	}
	espalier(t, "import", wide, "--output", output).wants(t, 3, "65536 columns, expected at most 65535")
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
	espalier(t, "import", good, good, "--output", output, "--overwrite").wants(t, 0)
	espalier(t, "import", "--output", output).wants(t, 2, "import takes CSV files")
	espalier(t, "import", good, "--output", output, "--delimiter", "ab").wants(t, 2, "--delimiter", "one character")
	espalier(t, "import", good, "--output", output, "--overwrite", "--text", "B").wants(t, 2, "--text", `did you mean "b"?`)
	espalier(t, "import", filepath.Join(folder, "none.csv"), "--output", output+"2").wants(t, 2, "none.csv")
}

// numbered numbers the columns of a header.
func numbered(header string) string {
	columns := strings.Split(strings.TrimSuffix(header, "\n"), ",")
	for i := range columns {
		columns[i] += strconv.Itoa(i)
	}
	return strings.Join(columns, ",") + "\n"
}

// TestImportSays: what may be read otherwise than it was meant is said, and the settings that are named read
// it so. A case is a file, further arguments, and what is printed.
func TestImportSays(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "x.csv")
	for i, c := range []struct {
		content string
		flags   string // between bars
		code    int
		want    []string
	}{
		{"age, work, class\n39, 12.5, yes\n40, 13, no\n", "", 0, []string{`because of " 12.5" in line 2`, "(--trim)", "begin or end with spaces"}},
		{"age, work, class\n39, 12.5, \"yes\"\n40, 13, no\n", "--trim", 0, []string{"\nwork    number ", "\nclass   text "}},
		{"a;class\n1,5;x\n2,75;y\n", "", 0, []string{`column "a" is a text because of "1,5" in line 2`, "(--decimal ,)"}},
		{"a;class\n1,5;x\n1.002,75;y\n", "--decimal|,|--thousands|.", 0, []string{"\na       number "}},
		{"a;class\n1.500;x\n2.750;y\n", "", 0, []string{`the points in "a" were read as decimal points`, "--thousands ."}},
		{"d,class\n31/12/2024,x\n", "", 0, []string{"(--date_format '%d/%m/%Y')"}},
		{"d,class\n31/12/2024,x\n", "--date_format|%d/%m/%Y", 0, []string{"\nd       date "}},
		{"d,class\n\"April 30, 2024\",x\n", "", 0, []string{`(--date_format '"%B %d, %Y"')`}},
		{"d,class\n\"April 30, 2024\",x\n", `--date_format|"%B %d, %Y"`, 0, []string{"\nd       date "}},
		{"a,class\n1,x\n?,y\n3,z\n", "", 0, []string{`(--missing "?" if`}},
		{"a,class\n1,NA\n?,y\n", "--missing|?,-", 0, []string{"\na       integer          1         missing: ", `missing: "NA"`}},
		{"a,class\n1,NA\n?,y\n", "--missing|none,?", 0, []string{"\na       integer          1         missing: ", "\nclass   text             0  "}},
		{"a,b\n1,NA\nnone,2\n3,3\n", "", 0, []string{`(--missing "NA,none" if`}},
		{"a,b\n1,NA\nnone,2\n3,3\n", "--missing|NA,none", 0, []string{"\na       integer          1 ", "\nb       integer          1 "}},
		{"5.1,setosa\n4.9,setosa\n", "", 0, []string{"looks like a row", `"5.1"`, "--names"}},
		{"x,setosa\ny,setosa\nx,virginica\n", "", 0, []string{"looks like a row", `"setosa"`}},
		{"5.1,setosa\n4.9,setosa\n", "--names|width,kind", 0, []string{"wrote 2 rows", "\nwidth   number "}},
		{"5.1,setosa\n4.9,setosa\n", "--names|width", 3, []string{"the number of fields is 2", "expected 1", "name each column in --names"}},
		{"5.1,setosa\n", "--names|a,a", 2, []string{"--names", "none twice"}},
		{"a,b,\n1,2,\n,,\n,,\n", "", 0, []string{"wrote 1 rows", "rows without any value (2), the first is line 3", "columns without a name and without any value (1)"}},
		{",a,b\nr1,2,3\n", "", 0, []string{"left out: column 1, which has no name", "wrote 1 rows", "\na       integer "}},
		{"a,b\nx,y\rz,1\n", "", 3, []string{"line 2"}},
		{"a,b\nx,y\rz\nu,v\n", "", 0, []string{`carriage returns in "b"`}},
		{"a,b,\n1,2\n3,4\n", "", 0, []string{"ends in a delimiter that no other line has", "wrote 2 rows", "\nb       integer "}},
		{"a,b\n1,2,\n3,4,\n", "", 0, []string{"columns without a name and without any value (1)", "wrote 2 rows", "\nb       integer "}},
		{"a,b\n1,2,3\n2,4,5\n", "", 0, []string{"names of rows", "left out: column 1", "\na       integer "}},
		{"a,b,a\n1,2,3\n", "", 0, []string{`renamed: "a.1"`, "\na.1     integer "}},
		{"a,,b\n1,2,3\n", "", 3, []string{"column 2 has no name"}},
		{"a,b\nx,1\nTotal,1\n", "", 0, []string{`the last row begins with "Total"`}},
		{"a b c\n1 2 3\n", "", 0, []string{"has one column", "--delimiter"}},
		{"t,class\n9999-12-31 23:59:59.999999,x\n2024-01-01 00:00:00,y\n2024-01-02 00:00:00,y\n", "", 0, []string{"\nt       text ", "dates or times (--missing"}},
		{"a;b\n1,5;1.5\n2,5;2.25\n", "--decimal|,", 0, []string{"most of its values are numbers in a spelling that does not go with --decimal\n"}},
		{"a\n1\n", "--decimal|,|--thousands|,", 2, []string{"--thousands"}},
		{"a\n1\n", "--date_format|dd/mm", 2, []string{"--date_format", "strftime"}},
	} {
		if err := os.WriteFile(file, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"import", file, "--output", filepath.Join(folder, strconv.Itoa(i))}
		if c.flags != "" {
			args = append(args, strings.Split(c.flags, "|")...)
		}
		o := espalier(t, args...)
		o.wants(t, c.code)
		for _, part := range c.want {
			if !strings.Contains(o.stdout+o.stderr, part) {
				t.Errorf("%q %s: no %q in\n%s%s", c.content, c.flags, part, o.stdout, o.stderr)
			}
		}
	}
	for _, day := range []string{"day=1", "day=2"} {
		if err := os.Mkdir(filepath.Join(folder, day), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, day, "x.csv"), []byte("a\n1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := espalier(t, "import", folder+"/day=*/x.csv", folder+"/day=1/x.csv", "--output", filepath.Join(folder, "days"))
	o.wants(t, 0)
	for _, part := range []string{"wrote 2 rows", "files that are named again are read once (1)", "in which of the folders they were (day=1, day=2)"} {
		if !strings.Contains(o.stdout+o.stderr, part) {
			t.Errorf("folders: no %q in\n%s%s", part, o.stdout, o.stderr)
		}
	}
}

// TestImportKilled: an import that is killed leaves no copy of standard input, and the next one into the folder
// no temporary file.
func TestImportKilled(t *testing.T) {
	folder := t.TempDir()
	output, temporary := filepath.Join(folder, "out"), filepath.Join(folder, "tmp")
	if err := os.Mkdir(temporary, 0o755); err != nil {
		t.Fatal(err)
	}
	left := func() (names []string) {
		for _, in := range []string{temporary, output} {
			entries, err := os.ReadDir(in)
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			for _, e := range entries {
				if in == temporary || strings.HasPrefix(e.Name(), ".") {
					names = append(names, e.Name())
				}
			}
		}
		return names
	}
	run := func(kill func(c *exec.Cmd, in io.WriteCloser)) error {
		c := exec.Command(binary, "import", "-", "--output", output, "--overwrite", "--rows_per_file", "100000")
		c.Env = append(os.Environ(), "TMPDIR="+temporary)
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(in, "a,b\n"+strings.Repeat("1,x\n2,y\n", 200_000)) // a killed program reads no more
		kill(c, in)
		return c.Wait()
	}
	for _, killed := range []func(c *exec.Cmd, in io.WriteCloser){
		func(c *exec.Cmd, _ io.WriteCloser) { _ = c.Process.Kill() }, // it waits for more
		func(c *exec.Cmd, in io.WriteCloser) {
			_ = in.Close()
			for deadline := time.Now().Add(20 * time.Second); len(left()) == 0 && time.Now().Before(deadline); {
				time.Sleep(time.Millisecond)
			}
			_ = c.Process.Kill() // it writes
		},
	} {
		_ = run(killed) // it was killed
		if entries, err := os.ReadDir(temporary); err != nil || len(entries) > 0 {
			t.Errorf("a killed import leaves %v, %v", entries, err)
		}
	}
	if err := run(func(_ *exec.Cmd, in io.WriteCloser) { _ = in.Close() }); err != nil || len(left()) > 0 {
		t.Errorf("%v, left %v", err, left())
	}
}

// TestImportLocked: an import into a folder in which another one is at work waits for another attempt, and changes nothing.
func TestImportLocked(t *testing.T) {
	folder := t.TempDir()
	rows := filepath.Join(folder, "rows.csv")
	output := filepath.Join(folder, "out")
	if err := os.WriteFile(rows, []byte(letters()), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"import", rows, "--output", output, "--overwrite"}
	espalier(t, args...).wants(t, 0)
	before, err := os.ReadFile(filepath.Join(output, "_manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	lock, _, _, err := runfolder.Acquire(t.Context(), objectstore.New(), output, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	espalier(t, args...).wants(t, 5, "another run", "is at work there")
	if now, err := os.ReadFile(filepath.Join(output, "_manifest.json")); err != nil || !bytes.Equal(now, before) {
		t.Errorf("the import of before has changed (%v)", err)
	}
	lock.Release(t.Context())
	espalier(t, args...).wants(t, 0)
	if _, err := os.Stat(filepath.Join(output, runfolder.LockName)); !os.IsNotExist(err) {
		t.Errorf("a finished import leaves its lock (%v)", err)
	}
}

// TestImportTrains: train reads what import writes, whatever the values are, and a contract that is inferred
// from the rows takes them.
func TestImportTrains(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	columns := []struct{ name, odd, usual string }{
		{"until", "9999-12-31 23:59:59.999999", "2024-01-01 00:00:00"},
		{"since", "0001-01-01", "2024-01-01"},
		{"last", "9999-12-31", "2024-01-01"},
		{"at", "9999-12-31T23:59:59.999999Z", "2024-01-01T00:00:00Z"},
		{"big", "9007199254740993", "1"},
		{"huge", "1e308", "1"},
		{"tiny", "5e-324", "-0"},
		{"infinite", "inf", "2.5"},
		{"none", "", ""},
		{"nul", "x\x00y", "\u200b"},
		{"time", "23:59:59.999999", "00:00"},
		{"flag", "TRUE", "false"},
		{"a,\"b\"", "\"\"\"\"", "x"},
		{"class", "", "no"},
	}
	b := &strings.Builder{}
	for i, c := range columns {
		fmt.Fprintf(b, "%s%q", map[bool]string{true: ","}[i > 0], c.name)
	}
	lines := []string{strings.ReplaceAll(b.String(), `\"`, `""`)}
	for row := range 120 {
		var fields []string
		for _, c := range columns {
			value := c.usual
			switch {
			case c.name == "class" && row%3 == 1:
				value = "yes"
			case row%3 == 0:
				value = c.odd
			}
			fields = append(fields, value)
		}
		lines = append(lines, strings.Join(fields, ","))
	}
	if err := os.WriteFile(at("x.csv"), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	espalier(t, "import", at("x.csv"), "--output", at("data")).wants(t, 0)
	train := []string{"train", "--input", at("data"), "--label", "class", "--drop_null_labels", "--output"}
	espalier(t, append(train, at("run"))...).wants(t, 0)
	espalier(t, "contract", at("data"), "--output", at("contract.yaml")).wants(t, 0)
	espalier(t, append(train, at("again"), "--contract", at("contract.yaml"))...).wants(t, 0)
	espalier(t, "contract", at("data"), "--ignore", "until,last").wants(t, 0)
	espalier(t, "contract", at("data"), "--ignore", "untl").wants(t, 2, "--ignore", `"until"`)
}
