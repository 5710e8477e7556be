package train_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// TestMain keeps the SDK's log out of what a failing test says.
func TestMain(m *testing.M) {
	beamlog.SetLogger(noLog{})
	slog.SetLogLoggerLevel(slog.LevelError)
	debug.SetGCPercent(300) // as the command does
	if os.Getenv(bareProcess) != "" {
		startPrism()
		os.Exit(m.Run()) //nolint:forbidigo // ends the test process, as ptest's main does
	}
	startPrism()
	ptest.MainWithDefault(m, "direct")
}

// startPrism starts prism as a job service, to which --runner prism sends the jobs of all tests.
func startPrism() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	*jobopts.Endpoint, *jobopts.EnvironmentType = l.Addr().String(), "LOOPBACK"
	_ = l.Close() // prism listens there
	port := int(netip.MustParseAddrPort(*jobopts.Endpoint).Port())
	if _, err := prism.CreateJobServer(context.Background(), prism.Options{Port: port}); err != nil {
		panic(err)
	}
}

// bareProcess is the environment variable of a test process that leaves the SDK
// as it is without beam.Init.
const bareProcess = "ESPALIER_TEST_WITHOUT_INIT"

type noLog struct{}

func (noLog) Log(context.Context, beamlog.Severity, int, string) {}

// silent is a Reporter that keeps the warnings.
type silent struct{ warnings []string }

func (*silent) Job(string, int64, string) {}
func (*silent) Step(int64, string)        {}
func (s *silent) Warn(text string)        { s.warnings = append(s.warnings, text) }
func (*silent) Note(string)               {}

// rows is a data set with what makes trees differ when something is wrong: ties
// (one feature is another's twin), nulls, heavy objects (many equal rows), three
// classes, noise and fractional weights.
type rows struct {
	id     []int64
	a, b   []*float64
	twin   []*float64
	color  []*string
	flag   []bool
	weight []float64
	class  []string
}

func newRows(n int) *rows {
	random := rand.New(rand.NewPCG(7, 11))
	r := &rows{}
	for i := range n {
		a, b, color := float64(random.IntN(30))/8, random.NormFloat64(), []string{"red", "green", "blue", "grey"}[random.IntN(4)]
		if i%5 == 0 { // one row in five is the same: a heavy object
			a, b, color = 1.5, 0.25, "red"
		}
		pa, pb, pc := &a, &b, &color
		if i%5 != 0 && random.IntN(12) == 0 {
			pa = nil
		}
		if i%5 != 0 && random.IntN(15) == 0 {
			pc = nil
		}
		class := "low"
		switch {
		case a > 2 && color != "blue":
			class = "high"
		case b > 0.5:
			class = "middle"
		}
		if random.IntN(10) == 0 {
			class = []string{"low", "middle", "high"}[random.IntN(3)]
		}
		r.id = append(r.id, int64(i))
		r.a, r.b, r.twin, r.color = append(r.a, pa), append(r.b, pb), append(r.twin, pa), append(r.color, pc)
		r.flag = append(r.flag, random.IntN(2) == 0)
		r.weight = append(r.weight, float64(1+random.IntN(8))/4)
		r.class = append(r.class, class)
	}
	return r
}

func pick[T any](values []T, order []int) []T {
	out := make([]T, len(order))
	for i, k := range order {
		out[i] = values[k]
	}
	return out
}

// write writes the rows, in the given order, to the given number of files.
func (r *rows) write(t *testing.T, order []int, files int, opts parquetio.WriteOptions) string {
	t.Helper()
	number, text := parquetio.Dictionary, parquetio.Dictionary
	if opts.PageVersion == 2 { // other encodings with it
		number, text = parquetio.ByteStreamSplit, parquetio.DeltaPrefix
	}
	folder := t.TempDir()
	for f := range files {
		part := order[f*len(order)/files : (f+1)*len(order)/files]
		columns := []parquetio.WriteColumn{
			{Name: "id", Values: pick(r.id, part), Encoding: number},
			{Name: "a", Values: pick(r.a, part), Encoding: number},
			{Name: "twin", Values: pick(r.twin, part), Encoding: number},
			{Name: "b", Values: pick(r.b, part), Encoding: number},
			{Name: "color", Values: pick(r.color, part), Encoding: text},
			{Name: "flag", Values: pick(r.flag, part)},
			{Name: "weight", Values: pick(r.weight, part), Encoding: number},
			{Name: "class", Values: pick(r.class, part), Encoding: text},
		}
		url := filepath.Join(folder, fmt.Sprintf("part-%02d.parquet", f))
		if err := parquetio.Write(context.Background(), objectstore.New(), url, columns, opts); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(folder, "*.parquet")
}

func ascending(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// train returns the trees and metrics of a run, with the frontier that they stand
// in.
func treeOf(t *testing.T, c config.Train) []byte {
	t.Helper()
	c.Output = t.TempDir()
	r, err := train.Train(context.Background(), c, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"tree.json", "metrics.json", "importance.json", "distribution.json"}
	if r.Frontier != nil {
		names = append(names, "frontier.json")
		for _, p := range r.Frontier.Points {
			names = append(names, p.Tree)
		}
	}
	var all []byte
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(c.Output, name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}

// oneTree is the default preset without a choice: for tests of other things, which
// need not grow the whole grid each time.
func oneTree() config.Train {
	c := config.DefaultTrain()
	c.Bins = 128 // whatever the number of rows
	c.Select, c.Certificate = frontier.First, false
	return c
}

// fewTrees returns settings with a frontier, of fewer trees than by default.
func fewTrees(c config.Train) config.Train {
	c.Algorithm, c.Lambda, c.Theta = []split.Algorithm{split.EC45, split.C45}, []float64{10}, []float64{0.005}
	return c
}

// TestSameBytes trains on the same rows in all ways that must not matter. By default
// each configuration goes through a sixth of the ways, those with leaf models through
// fewer, and each way is gone by one configuration or more; with -tags long, or
// for the one configuration of -short, through all ways.
func TestSameBytes(t *testing.T) {
	const n = 600
	data := newRows(n)
	shuffled := rand.New(rand.NewPCG(3, 4)).Perm(n)
	paper, err := config.Preset("paper")
	if err != nil {
		t.Fatal(err)
	}
	both := oneTree()
	both.Tests, both.Bins, both.Binning, both.Theta, both.Weight, both.LeafEstimate = []split.Family{split.Both}, 12, binning.KMeans, []float64{0.001}, "weight", tree.Raw
	both.Slice = []string{"weight", "b"}
	key := fewTrees(config.DefaultTrain())
	key.Tests = []split.Family{split.Thresholds}
	key.Split, key.Group, key.Slice = dataset.Shares{70, 10, 20}, "id", []string{"color", "id", "a"}
	all := oneTree()
	all.Split, all.Slice = dataset.Shares{100, 0, 0}, []string{"flag", "weight"}
	paper.Split, both.Split = dataset.Shares{100, 0, 0}, dataset.Shares{100, 0, 0}
	multiway := all
	multiway.Tests, multiway.Algorithm, multiway.Lambda, multiway.MaxLeaves = []split.Family{split.Multiways}, []split.Algorithm{split.ECART}, []float64{1}, 9
	priced := both
	priced.FreeRepeats, priced.Weight, priced.CostsFile = true, "", filepath.Join(t.TempDir(), "costs.csv")
	if err := os.WriteFile(priced.CostsFile, []byte("feature,cost,group,group_cost\na,1,lab,3\nb,2,lab,3\ncolor,0.5,,\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	wishes := priced
	wishes.Label, wishes.First, wishes.Forbid, wishes.Monotone = "flag", []string{"color", "b"}, []string{"class"}, map[string]int8{"a": 1, "b": -1}
	unordered := key
	unordered.CostsFile, unordered.Folds = priced.CostsFile, crossvalidate.Setting{Number: 2}
	unordered.Absent = map[string]settings.Absence{"": settings.AbsentUnordered}
	modelled := key
	modelled.Algorithm = []split.Algorithm{split.C45} // models take the time of several trees
	modelled.LeafModel, modelled.Weight, modelled.Folds = "auto", "weight", crossvalidate.Setting{Number: 2}
	taught := modelled
	taught.Teacher, taught.MadeUpRows = "boosted", new(int64(300))
	boosted := taught
	boosted.LeafModel, boosted.Teacher = "boosted", "boosted"
	configurations := map[string]config.Train{
		"paper": paper, "weighted": both, "modelled": modelled, "taught": taught, "boosted": boosted, "by_key": key, "default": all, "multiway": multiway, "priced": priced, "wishes": wishes,
		"unordered": unordered,
	}
	for place, name := range slices.Sorted(maps.Keys(configurations)) {
		t.Run(name, func(t *testing.T) {
			c := configurations[name]
			if testing.Short() && name != "weighted" {
				t.Skip("waits for a run without -short: under the race detector one configuration goes through all code")
			}
			if c.Ignore = []string{"id", "weight"}; c.Label == "" {
				c.Label = "class"
			}
			if c.Weight != "" {
				c.Ignore = []string{"id"}
			}
			if c.Group != "" {
				c.Ignore = slices.DeleteFunc([]string{"weight"}, func(column string) bool { return column == c.Weight })
			}
			plain := data.write(t, ascending(n), 1, parquetio.WriteOptions{})
			c.Input = []string{plain}
			want := treeOf(t, c)
			ways, every := 0, 6
			if c.LeafModel != "" && c.LeafModel != "none" {
				every = 12 // models take the time of several trees
			}
			goes := func() bool { // whether the next way is one of this configuration's
				ways++
				return (ways+place)%every == 0 || longtest.Enabled() || testing.Short()
			}
			check := func(what string, c config.Train) {
				t.Helper()
				if got := treeOf(t, c); !bytes.Equal(want, got) {
					t.Errorf("%s: another tree, or other metrics", what)
				}
			}
			same := func(what string, c config.Train) {
				t.Helper()
				if goes() {
					check(what, c)
				}
			}
			for _, way := range []struct {
				what    string
				order   []int
				files   int
				options parquetio.WriteOptions
			}{
				{"1-row row groups", ascending(n), 1, parquetio.WriteOptions{RowsPerGroup: 1}},
				{"7 files", shuffled, 7, parquetio.WriteOptions{RowsPerGroup: 50}},
				{"other codec, encoding", ascending(n), 2, parquetio.WriteOptions{Codec: parquetio.Zstd, PageVersion: 2, PageBytes: 100}},
				{"rows shuffled", shuffled, 1, parquetio.WriteOptions{}},
			} {
				if !goes() {
					continue
				}
				c := c
				c.Input = []string{data.write(t, way.order, way.files, way.options)}
				check(way.what, c)
			}
			for _, objects := range []int64{0, 40, 1000} {
				c := c
				c.MemoryObjects = objects
				same(fmt.Sprintf("memory_objects %d", objects), c)
				c.Runner = "prism"
				same(fmt.Sprintf("memory_objects %d on prism", objects), c)
			}
			for _, w := range []struct {
				levels int
				memory int64
			}{{3, 256 << 20}, {3, 20_000}, {1, 20_000}, {1, 0}} {
				c := c
				c.MemoryObjects, c.LevelsPerJob, c.HistogramMemory = 40, w.levels, w.memory
				same(fmt.Sprintf("%d levels per job, %d bytes of histograms", w.levels, w.memory), c)
				if w.levels > 1 {
					c.Runner = "prism"
					same(fmt.Sprintf("%d levels per job, %d bytes of histograms on prism", w.levels, w.memory), c)
				}
			}
			for _, procs := range []int{1, 2} {
				before := runtime.GOMAXPROCS(procs)
				same(fmt.Sprintf("GOMAXPROCS %d", procs), c)
				runtime.GOMAXPROCS(before)
			}
			reruns := 2
			if longtest.Enabled() {
				reruns = 20
			}
			for range reruns {
				same("again", c)
			}
			many := c
			many.Input, many.Runner, many.MemoryObjects = []string{data.write(t, shuffled, 7, parquetio.WriteOptions{RowsPerGroup: 50})}, "prism", 0
			same("7 files on prism, level by level", many)
		})
	}
}
