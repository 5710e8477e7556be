package main_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/parquetio"
)

func column(name string, values any) parquetio.WriteColumn {
	return parquetio.WriteColumn{Name: name, Values: values}
}

// repeat returns n values, f of each row.
func repeat[T any](n int, f func(i int) T) []T {
	values := make([]T, n)
	for i := range values {
		values[i] = f(i)
	}
	return values
}

func ab(i int) string { return []string{"a", "b"}[i%2] }

// badInput is a case of TestBadInput.
type badInput struct {
	input input
	flags []string
	code  int
	words []string
}

// input returns the input of a case, which it may write to a folder of the test.
type input func(t *testing.T) string

// withColumns returns a Parquet file of columns.
func withColumns(columns ...parquetio.WriteColumn) input {
	return func(t *testing.T) string {
		t.Helper()
		return parquet(t, parquetio.WriteOptions{}, columns...)
	}
}

// withContent returns a file of some content, Parquet or not.
func withContent(name, content string) input {
	return func(t *testing.T) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
}

// inEmptyFolder returns a name or a pattern in an empty folder.
func inEmptyFolder(pattern string) input {
	return func(t *testing.T) string {
		t.Helper()
		return filepath.Join(t.TempDir(), pattern)
	}
}

// goodColumns returns a numeric feature and a label, of 20 rows.
func goodColumns() (x, class parquetio.WriteColumn) {
	return column("x", repeat(20, func(i int) float64 { return float64(i * i % 7) })), column("class", repeat(20, ab))
}

// badInputs lists inputs and flags with the exit code and words of the message.
func badInputs() map[string]badInput {
	all := badFiles()
	maps.Copy(all, badSettings())
	maps.Copy(all, oddValues())
	maps.Copy(all, badProbabilities())
	return all
}

// badFiles lists missing files, and files without the columns or values of a training.
func badFiles() map[string]badInput {
	x, class := goodColumns()
	nulls := repeat(20, func(i int) *string {
		s := ab(i)
		if i == 7 {
			return nil
		}
		return &s
	})
	nested := func(*testing.T) string { return filepath.Join("testdata", "nested.parquet") }
	return map[string]badInput{
		"no such file": {
			func(*testing.T) string { return "nowhere/data.parquet" }, nil, 2,
			[]string{"--input", "nowhere/data.parquet"},
		},
		"no match": {inEmptyFolder("*.parquet"), nil, 2, []string{"--input", "no object matches"}},
		"a folder": {inEmptyFolder(""), nil, 2, []string{"*.parquet", "/**"}},
		"not Parquet": {
			withContent("data.parquet", strings.Repeat("a,b,c\n1,2,3\n", 40)), nil, 3,
			[]string{"data.parquet", "not a Parquet file"},
		},
		"empty file": {withContent("data.parquet", ""), nil, 3, []string{"data.parquet"}},
		"no label":   {withColumns(x, class), []string{"--label", "clss"}, 2, []string{"--label", `did you mean "class"?`}},
		"null label": {
			withColumns(x, column("class", nulls)), nil, 3,
			[]string{"data.parquet", "row group 0", `column "class"`, "row 7", "--drop_null_labels"},
		},
		"null label dropped": {withColumns(x, column("class", nulls)), []string{"--drop_null_labels"}, 0, nil},
		"nested label": {
			nested,
			[]string{"--label", "tags"},
			3,
			[]string{`column "tags"`, "nested"},
		},
		"nested column": {
			nested, nil, 3,
			[]string{`["tags" "period"]`, "nested", "--ignore tags"},
		},
		"nested ignored": {
			nested,
			[]string{"--ignore", "tags,period"},
			0, nil,
		},
		"unsupported label": {
			nested,
			[]string{"--label", "period", "--ignore", "tags"},
			3,
			[]string{`column "period"`},
		},
	}
}

// badSettings lists flags that do not fit the rows.
func badSettings() map[string]badInput {
	x, class := goodColumns()
	return map[string]badInput{
		"one class": {
			withColumns(x, column("class", repeat(20, func(int) string { return "only" }))), nil, 0,
			[]string{"warning", "one class"},
		},
		"too many classes": {
			withColumns(x, column("class", repeat(20, func(i int) int64 { return int64(i) }))),
			[]string{"--max_classes", "5"},
			3,
			[]string{"more than 5 classes", "--max_classes"},
		},
		"numbers as label": {withColumns(column("class", repeat(3000, func(i int) float64 { return float64(i) / 3 })),
			column("x", repeat(3000, ab))), nil, 3, []string{"more than 1000 classes"}},
		"unknown ignore": {withColumns(x, class), []string{"--ignore", "xx"}, 2, []string{"--ignore", `did you mean "x"?`}},
		"unknown categories": {
			withColumns(x, class), []string{"--categorical", "klass"}, 2, []string{"--categorical", `did you mean "class"?`},
		},
		"unknown numbers": {withColumns(x, class), []string{"--numeric", "y"}, 2, []string{"--numeric", `"y"`}},
		"unknown weight":  {withColumns(x, class), []string{"--weight", "weight"}, 2, []string{"--weight"}},
		"unknown key":     {withColumns(x, class), []string{"--group", "id"}, 2, []string{"--group"}},
		"unknown split":   {withColumns(x, class), []string{"--split", "part"}, 2, []string{"--split"}},
		"bad split":       {withColumns(x, class), []string{"--split", "70/30"}, 2, []string{"70/10/20"}},
		"text weights": {
			withColumns(x, class), []string{"--weight", "class", "--label", "x"}, 3, []string{"weight", `column "class"`},
		},
		"negative weight": {
			withColumns(x, class, column("w", repeat(20, func(i int) float64 { return float64(5 - i) }))),
			[]string{"--weight", "w"},
			3,
			[]string{`column "w"`, "row 6", "0 or a number from 1e-200 to 1e200"},
		},
		"text as numbers": {
			withColumns(column("x", repeat(20, ab)), class),
			[]string{"--numeric", "x"},
			3,
			[]string{`column "x"`, "not a number", "--numeric"},
		},
		"constant features": {
			withColumns(column("x", repeat(20, func(int) float64 { return 1 })), class), nil, 0,
			[]string{"warning", "constant"},
		},
		"only a label": {withColumns(class), nil, 0, []string{"warning"}},
		"one class, and models": {
			withColumns(x, column("class", repeat(20, func(int) string { return "a" }))),
			[]string{"--preset", "accurate"},
			0,
			[]string{"one class"},
		},
		"only a label, and models": {withColumns(class), []string{"--preset", "accurate"}, 0, []string{"warning"}},
		"zero rows": {
			withColumns(column("x", []float64{}), column("class", []string{})), nil, 3,
			[]string{"no input file has a row"},
		},
		"all rows for test": {
			withColumns(x, class, column("part", repeat(20, func(int) string { return "test" }))),
			[]string{"--split", "part"},
			3,
			[]string{"no row is left for training"},
		},
	}
}

// badProbabilities lists probabilities of classes that do not fit the rows.
func badProbabilities() map[string]badInput {
	const missing = -7
	x, class := goodColumns()
	one := func(name string, at int, value float64) parquetio.WriteColumn {
		return column(name, repeat(20, func(i int) *float64 {
			p := 0.5
			if i == at {
				p = value
			}
			if p == missing {
				return nil
			}
			return &p
		}))
	}
	soft := []string{"--label_probabilities", "p_*", "--split", "100/0/0"}
	bad := func(value float64, words ...string) badInput {
		words = append([]string{"data.parquet", "row group 0", "row 6"}, words...)
		return badInput{withColumns(x, class, one("p_a", 6, value), one("p_b", 6, 0.5)), soft, 3, words}
	}
	return map[string]badInput{
		"probabilities":          {withColumns(x, class, one("p_a", 0, 0.5), one("p_b", 0, 0.5)), soft, 0, nil},
		"negative probability":   bad(-0.25, `column "p_a"`, "from 0 to 1", "-0.25"),
		"probability above 1":    bad(1.5, `column "p_a"`, "from 0 to 1", "1.5"),
		"null probability":       bad(missing, `column "p_a"`, "null or NaN"),
		"NaN probability":        bad(math.NaN(), `column "p_a"`, "null or NaN"),
		"probabilities of 1.25":  bad(0.75, `column "p_*"`, "add up to 1", "1e-06", "1.25"),
		"a class without column": {withColumns(x, class, one("p_a", 0, 0.5)), soft, 3, []string{"data.parquet", "add up to 1"}},
		"a class without its column": {
			withColumns(x, class, one("p_a", 0, 0.5), one("p_c", 0, 0.5)), soft, 3, []string{`column "class"`, `value "b"`, "p_*"},
		},
		"a column without class": {
			withColumns(x, class, one("p_a", 0, 0.5), one("p_b", 0, 0.5), column("p_c", make([]float64, 20))), soft, 3,
			[]string{`column "p_c"`, "no class", "--ignore"},
		},
		"a column without class ignored": {
			withColumns(x, class, one("p_a", 0, 0.5), one("p_b", 0, 0.5), one("p_c", 0, 0)),
			append([]string{"--ignore", "p_c"}, soft...), 0, nil,
		},
		"text probabilities": {
			withColumns(x, class, one("p_a", 0, 0.5), column("p_b", repeat(20, ab))), soft, 3, []string{`column "p_b"`, "text"},
		},
		"no such probabilities": {withColumns(x, class), soft, 2, []string{"--label_probabilities", "p_*"}},
		"no such probability": {
			withColumns(x, class), []string{"--label_probabilities", "a=q"}, 2, []string{"--label_probabilities", `"q"`},
		},
		"probabilities of no class": {
			withColumns(x, class), []string{"--label_probabilities", "p_"}, 2, []string{"--label_probabilities", "CLASS=COLUMN"},
		},
		"two columns of a class": {
			withColumns(x, class, one("p_a", 0, 0.5), one("p_b", 0, 0.5), one("q", 0, 0.5)),
			[]string{"--label_probabilities", "p_*,a=q"},
			2,
			[]string{`"p_a"`, `"q"`},
		},
		"the label as probability": {
			withColumns(x, class), []string{"--label_probabilities", "a=class"}, 2, []string{`"class"`, "another use"},
		},
		"teacher without probabilities": {
			withColumns(x, class), []string{"--teacher_weight", "0.25"}, 2, []string{"--teacher_weight", "--label_probabilities"},
		},
		"no label and no probabilities": {withColumns(x, class), []string{unlabelled}, 2, []string{"--label is required"}},
		"probabilities without a label": {
			withColumns(x, one("p_a", 3, 1), one("p_b", 3, 0)), append([]string{unlabelled}, soft...), 0, nil,
		},
	}
}

// oddValues lists values at the limits of what features may have.
func oddValues() map[string]badInput {
	_, class := goodColumns()
	big := strings.Repeat("long ", 2<<20)
	return map[string]badInput{
		"NaN and Inf and -0": {withColumns(column("x", repeat(20, func(i int) float64 {
			return []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 1}[i%6]
		})), class), []string{"--split", "100/0/0"}, 0, nil},
		"NaN and Inf by k-means": {withColumns(column("x", repeat(40, func(i int) float64 {
			return []float64{
				math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 1e-308, 3,
				float64(i),
			}[i%8]
		})), column("class", repeat(40, ab))), []string{"--split", "100/0/0", "--preset", "paper"}, 0, nil},
		"beyond 2^53": {
			withColumns(column("x", repeat(20, func(i int) int64 { return 1<<53 + int64(i) })), class), nil, 3,
			[]string{"data.parquet", "row group 0", `column "x"`, "900719925474099"},
		},
		"infinite times": {
			withColumns(column("t", repeat(20, func(i int) float64 { return 1 / float64(i%10) })), class),
			[]string{"--split_time", "t"},
			3,
			[]string{`column "t"`, "not finite", `"+Inf"`},
		},
		"times in nanoseconds": {
			withColumns(column("t", repeat(20, func(i int) int64 { return 1<<60 + int64(i) })), class),
			[]string{"--split_time", "t"},
			2,
			[]string{`column "t" has whole numbers that may be beyond 2^53`, "TIMESTAMP or in microseconds"},
		},
		"weights beyond 2^53": {
			withColumns(column("x", repeat(20, func(i int) int64 { return 1<<60 + int64(i) })), class),
			[]string{"--weight", "x"},
			3,
			[]string{`column "x"`, "1152921504606846977", "divide the weights by a constant"},
		},
		"10 MB text": {
			withColumns(column("x", repeat(20, func(i int) string { return big + ab(i) })), class), nil, 3,
			[]string{`column "x"`, "--ignore"},
		},
		"identifiers": {withColumns(column("x", repeat(200_000, func(i int) string { return fmt.Sprintf("id-%07d", i) })),
			column("class", repeat(200_000, ab))), []string{"--categorical", "x"}, 3, []string{`column "x"`, "65536", "--ignore x"}},
	}
}

// TestBadInput: each fault ends in its exit code and one clear sentence.
func TestBadInput(t *testing.T) {
	for name, c := range badInputs() {
		t.Run(name, func(t *testing.T) {
			o, output := train(t, c.input(t), c.flags...)
			o.wants(t, c.code, c.words...)
			if c.code == 0 {
				validate(t, "tree", filepath.Join(output, "tree.json"))
			} else {
				leftNothing(t, output)
			}
		})
	}
}

// leftNothing checks that a failed run left no file, hidden ones included.
func leftNothing(t *testing.T, output string) {
	t.Helper()
	entries, err := os.ReadDir(output)
	if err == nil && len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
}

// damaged runs train on damaged copies of a file and checks that each ends in an
// orderly way. Two at a time, on as many cores.
func damaged(t *testing.T, cases int, damage func(i int) []byte) {
	t.Helper()
	folder := t.TempDir()
	next := make(chan int)
	var wg sync.WaitGroup
	for worker := range runtime.NumCPU() {
		wg.Add(1)
		go func() {
			defer wg.Done()
			file := filepath.Join(folder, fmt.Sprintf("damaged-%d.parquet", worker))
			output := filepath.Join(folder, fmt.Sprintf("run-%d", worker))
			for i := range next {
				if err := os.WriteFile(file, damage(i), 0o666); err != nil {
					t.Error(err)
				}
				o := espalier(t, "train", "--input", file, "--label", "class", "--output", output, "--progress", "none",
					"--overwrite",
					"--select", "first", "--certificate", "none")
				switch o.code {
				case 0, 2, 3: // 2: a damaged name of the label
				default:
					t.Errorf("case %d: exit code %d: %s", i, o.code, o.stderr)
				}
				o.wants(t, o.code)
			}
		}()
	}
	for i := range cases {
		next <- i
	}
	close(next)
	wg.Wait()
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTruncated(t *testing.T) {
	whole := read(t, mixed(t, 20_000, parquetio.WriteOptions{RowsPerGroup: 6000, Codec: parquetio.Uncompressed}))
	step := 32 << 10
	if longtest.Enabled() {
		step = 4 << 10
	}
	damaged(t, (len(whole)-1)/step+1, func(i int) []byte { return whole[:i*step] })
}

// TestFlipped flips one to four bytes, in turn anywhere and in the footer, of
// files of several codecs and page versions.
func TestFlipped(t *testing.T) {
	cases := 60
	if longtest.Enabled() {
		cases = 2000
	}
	var files [][]byte
	for _, opts := range []parquetio.WriteOptions{
		{},
		{Codec: parquetio.Zstd, PageVersion: 2},
		{Codec: parquetio.Gzip},
		{Codec: parquetio.LZ4, PageVersion: 2},
		{Codec: parquetio.Uncompressed, RowsPerGroup: 100, PageBytes: 200},
		{Codec: parquetio.Brotli, DictionaryBytes: 64},
	} {
		files = append(files, read(t, mixed(t, 300, opts)))
	}
	damaged(t, cases, func(i int) []byte {
		random := rand.New(rand.NewPCG(uint64(i), 42))
		b := append([]byte(nil), files[i%len(files)]...)
		from := 0
		if i%2 == 0 {
			footer := int(b[len(b)-8]) | int(b[len(b)-7])<<8
			from = len(b) - 8 - footer
		}
		for range 1 + random.IntN(4) {
			b[from+random.IntN(len(b)-from)] ^= byte(1 + random.IntN(255))
		}
		return b
	})
}

func TestOutputThatCannotBeWritten(t *testing.T) {
	input := mixed(t, 100, parquetio.WriteOptions{})
	file := filepath.Join(t.TempDir(), "taken")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{
		"train", "--select", "first", "--certificate", "none", "--input", input, "--label", "class",
		"--progress", "none", "--output",
	}
	espalier(t, append(args, file)...).wants(t, 2, "--output", "taken")
	espalier(t, append(args, "/proc/nowhere")...).wants(t, 2, "--output", "/proc/nowhere")
}

// TestInterrupt interrupts a long run in its middle.
func TestInterrupt(t *testing.T) {
	input := mixed(t, 200_000, parquetio.WriteOptions{RowsPerGroup: 20_000})
	output := filepath.Join(t.TempDir(), "run")
	o := interruptAt(t, "level 1", "train", "--select", "first", "--certificate", "none", "--input", input, "--label",
		"class", "--output", output,
		"--progress", "plain", "--memory_objects", "0", "--theta", "0", "--split", "100/0/0")
	o.wants(t, 130, "interrupted")
	for name := range files(t, output) {
		if !strings.HasPrefix(name, "checkpoints/") {
			t.Errorf("left behind: %s", name)
		}
	}
}

// interruptAt runs the binary and interrupts it once its progress has the text.
func interruptAt(t *testing.T, text string, args ...string) outcome {
	t.Helper()
	c := exec.Command(binary, args...)
	var stderr strings.Builder
	lines := &notifier{w: &stderr, on: text, seen: make(chan struct{})}
	c.Stderr = lines
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-lines.seen:
	case <-time.After(deadline):
		t.Errorf("the run does not get to %s", text)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	_ = c.Wait() // the exit code is looked at
	return outcome{code: c.ProcessState.ExitCode(), stderr: stderr.String()}
}

// notifier closes seen once the text has been written.
type notifier struct {
	w    *strings.Builder
	on   string
	seen chan struct{}
	once sync.Once
}

func (n *notifier) Write(b []byte) (int, error) {
	k, err := n.w.Write(b)
	if strings.Contains(n.w.String(), n.on) {
		n.once.Do(func() { close(n.seen) })
	}
	return k, err
}
