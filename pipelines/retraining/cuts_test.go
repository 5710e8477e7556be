package retraining_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/retraining"
)

// keeping is a retraining of a window of three days, whose runs keep cuts and cache objects.
type keeping struct {
	config.Retrain

	folder string
	start  time.Time
}

func newKeeping(t *testing.T) *keeping {
	t.Helper()
	k := &keeping{config.DefaultRetrain(), t.TempDir(), time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)}
	c := &k.Train
	c.Input, c.Label, c.Select = []string{filepath.Join(k.folder, "{date-2..date}.parquet")}, "class", frontier.First
	c.MaxDepth, c.Certificate, c.Report, c.ObjectCache = 3, false, "none", filepath.Join(k.folder, "cache")
	k.Destination, k.Gate.Metrics, k.Gate.MaxAUCFall, k.KeepRuns = filepath.Join(k.folder, "models"), nil, 0.2, 3
	return k
}

func (k *keeping) date(day int) string { return k.start.AddDate(0, 0, day).Format(config.DateFormat) }

// write writes the rows of a day: x is from low to low + 1, and the class says whether it is above the middle, with errors.
// Shuffled classes say nothing.
func (k *keeping) write(t *testing.T, day int, low float64, shuffled bool) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(day), 7))
	x, shop, class := make([]float64, 800), make([]string, 800), make([]string, 800)
	for i := range x {
		x[i], shop[i] = low+r.Float64(), string(rune('a'+r.IntN(4)))
		class[i] = strconv.FormatBool((x[i] > low+0.5 && shop[i] != "a") != (r.IntN(10) == 0))
	}
	if shuffled {
		r.Shuffle(len(class), func(i, j int) { class[i], class[j] = class[j], class[i] })
	}
	err := parquetio.Write(t.Context(), objectstore.New(), filepath.Join(k.folder, k.date(day)+".parquet"), []parquetio.WriteColumn{
		{Name: "x", Values: x}, {Name: "shop", Values: shop}, {Name: "class", Values: class},
	}, parquetio.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func (k *keeping) retrain(t *testing.T, day int) (*retraining.Attempt, error) {
	t.Helper()
	k.Date = k.date(day)
	a, repeated, err := retraining.Retrain(t.Context(), k.Retrain, engine.Silent{})
	if a == nil || repeated {
		t.Fatalf("day %d: %+v, %v", day, a, err)
	}
	return a, err
}

// cached returns the number of entries of a run's cuts, without windows, and the number of cuts with a cache.
func (k *keeping) cached(t *testing.T, run string) (entries, cuts int) {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(k.folder, "cache", path.Base(run), "*", "entry-*.json"))
	if err != nil {
		t.Fatal(err)
	}
	list = slices.DeleteFunc(list, func(name string) bool { return strings.Contains(name, "window") })
	folders, err := os.ReadDir(filepath.Join(k.folder, "cache"))
	if err != nil {
		t.Fatal(err)
	}
	return len(list), len(folders)
}

// documents returns what a run folder says of its tree.
func documents(t *testing.T, folder string) []byte {
	t.Helper()
	var all []byte
	for _, name := range []string{"tree.json", "metrics.json", "distribution.json", "importance.json", "frontier.json"} {
		b, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil && (name != "frontier.json" || !errors.Is(err, fs.ErrNotExist)) {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}

// direct checks that a run has the bytes of a training that reads all rows of its days, with the same cuts.
func (k *keeping) direct(t *testing.T, a *retraining.Attempt, day int) {
	t.Helper()
	c := k.Train
	c.Input, c.Output, c.ObjectCache = nil, t.TempDir(), ""
	for d := max(0, day-2); d <= day; d++ {
		c.Input = append(c.Input, filepath.Join(k.folder, k.date(d)+".parquet"))
	}
	if a.Cuts.Run != a.Run {
		c.CutsFrom = filepath.Join(k.Destination, a.Cuts.Run)
	}
	if _, err := pipelines.Train(t.Context(), c, engine.Silent{}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(documents(t, c.Output), documents(t, filepath.Join(k.Destination, a.Run))) {
		t.Errorf("day %d: not the bytes of reading all rows", day)
	}
}

// TestKeepCuts goes through thirty days. The rows jump on day 10, and back on day 20: the run of that day shows it, so the
// next one renews the cuts. That one's window has rows of before the jump, and the next one's has none: cuts are renewed
// once more. Each run has the bytes of reading all days with its cuts, and reads the new day alone, or all days once.
// Without -tags long drift alone renews cuts, in the first fourteen days.
func TestKeepCuts(t *testing.T) {
	for name, c := range map[string]struct {
		days int
		psi  float64
		want []int
	}{
		"days":          {8, 0, []int{0, 8, 16, 24}},
		"drift":         {365, 0.25, []int{0, 11, 13, 21, 23}},
		"both":          {4, 0.25, []int{0, 4, 8, 11, 13, 17, 21, 23, 27}},
		"neither":       {365, 0, []int{0}},
		"a great drift": {365, 100, []int{0}},
	} {
		if name != "drift" && !longtest.Enabled() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			k := newKeeping(t)
			k.KeepCuts, k.KeepCutsPSI = c.days, c.psi
			days := 30
			if !longtest.Enabled() {
				days = 14
			}
			switch name {
			case "neither":
				k.Train.Select, days = config.DefaultTrain().Select, 5 // a frontier takes its time
			case "a great drift":
				days = 13
			case "both":
				k.Train.ObjectCache = ""
			}
			var renewed []int
			before := 0 // entries of the cuts
			for day := range days {
				low := 0.0
				if day >= 10 && day < 20 {
					low = 0.7
				}
				k.write(t, day, low, false)
				a, err := k.retrain(t, day)
				if err != nil {
					t.Fatal(err)
				}
				if own := a.Cuts.Run == a.Run; own != slices.Contains(c.want, day) || (a.Cuts.Renewed != "") != (own && day > 0) {
					t.Fatalf("day %d: %+v; want new cuts on %v", day, a.Cuts, c.want)
				}
				read := 1
				if a.Cuts.Run == a.Run {
					renewed, before, read = append(renewed, day), 0, min(day+1, 3)
				}
				if k.Train.ObjectCache == "" {
					read = 0
				} else if entries, cuts := k.cached(t, a.Cuts.Run); entries != before+read || cuts != 1 {
					t.Errorf("day %d: %d entries after %d, of %d cuts; want %d more, of one", day, entries, before, cuts, read)
				}
				before += read
				k.direct(t, a, day)
				k.again(t, a)
			}
			if want := slices.DeleteFunc(c.want, func(day int) bool { return day >= days }); !slices.Equal(renewed, want) {
				t.Errorf("cuts were found on %v, want %v", renewed, want)
			}
		})
	}
}

// again repeats an attempt of a day: it is as before, and nothing is decided anew.
func (k *keeping) again(t *testing.T, a *retraining.Attempt) {
	t.Helper()
	other, repeated, err := retraining.Retrain(t.Context(), k.Retrain, engine.Silent{})
	if err != nil || !repeated || other.Run != a.Run || *other.Cuts != *a.Cuts && other.Cuts.Run != a.Cuts.Run {
		t.Errorf("again: %+v, %v; want %s as before", other, err, a.Run)
	}
}

// TestKeepCutsRefused: the gate refuses a renewal; the tree in use stays with its cuts, and the next day renews them. Cached
// objects of the refused cuts go.
func TestKeepCutsRefused(t *testing.T) {
	k := newKeeping(t)
	k.KeepCuts, k.Train.Input = 2, []string{filepath.Join(k.folder, "{date}.parquet")}
	var list []*retraining.Attempt
	for day := range 4 {
		k.write(t, day, 0, day == 2)
		a, err := k.retrain(t, day)
		if refused := errors.As(err, new(*retraining.RefusedError)); refused != (day == 2) || err != nil && !refused {
			t.Fatalf("day %d: %+v, %v", day, a, err)
		}
		list = append(list, a)
	}
	if list[1].Cuts.Run != list[0].Run || list[2].Cuts.Run != list[2].Run || list[3].Cuts.Run != list[3].Run ||
		list[3].Before != list[1].Run || !strings.Contains(list[3].Cuts.Renewed, "3 days old") {
		t.Errorf("cuts of %+v, %+v, %+v, %+v", list[0].Cuts, list[1].Cuts, list[2].Cuts, list[3].Cuts)
	}
	if _, cuts := k.cached(t, list[3].Run); cuts != 1 {
		t.Errorf("the cache has objects of %d cuts, want those in use", cuts)
	}
}

// TestKeepCutsOvertaken: the rows jump so far that no tree by the old cuts passes the gate. The next day renews the cuts
// nevertheless. A class that the kept cuts do not have is told with the way out.
func TestKeepCutsOvertaken(t *testing.T) {
	k := newKeeping(t)
	k.KeepCuts, k.KeepCutsPSI, k.Train.Input = 365, 0.25, []string{filepath.Join(k.folder, "{date}.parquet")}
	k.Gate.MinAUC, k.Train.Bins = 0.7, []int{8}
	var list []*retraining.Attempt
	for day, low := range []float64{0, 0, 5, 5, 5} {
		k.write(t, day, low, false)
		a, err := k.retrain(t, day)
		if refused := errors.As(err, new(*retraining.RefusedError)); refused != (day == 2) || err != nil && !refused {
			t.Fatalf("day %d: %+v, %v", day, a, err)
		}
		list = append(list, a)
	}
	if list[2].Cuts.Run != list[0].Run || !strings.Contains(list[3].Cuts.Renewed, "x has drifted since 2026-11-01") ||
		list[4].Cuts.Run != list[3].Run {
		t.Errorf("cuts %+v, %+v, %+v", list[2].Cuts, list[3].Cuts, list[4].Cuts)
	}
	file := filepath.Join(k.folder, k.date(5)+".parquet")
	err := parquetio.Write(t.Context(), objectstore.New(), file, []parquetio.WriteColumn{
		{Name: "x", Values: slices.Repeat([]float64{5, 5.5, 6}, 100)},
		{Name: "shop", Values: slices.Repeat([]string{"a", "b", "c"}, 100)},
		{Name: "class", Values: slices.Repeat([]string{"true", "false", "new"}, 100)},
	}, parquetio.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := k.retrain(t, 5)
	if err == nil || a.Outcome != retraining.Failed || !strings.Contains(err.Error(), "--keep_cuts 0") ||
		!strings.Contains(a.Error, list[3].Run) {
		t.Errorf("%+v: %v, want the way out", a.Cuts, err)
	}
}

// TestKeepCutsAgain: an attempt that was killed at any place decides on the same cuts again; a late file takes the cuts of the
// day's first run; a run that is gone, or says nothing of its cuts, has them renewed.
func TestKeepCutsAgain(t *testing.T) {
	k := newKeeping(t)
	k.KeepCuts, k.KeepRuns = 2, 1
	var list []*retraining.Attempt
	for day := range 3 {
		k.write(t, day, 0, false)
		a, err := k.retrain(t, day)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	renewal := list[2]
	files, err := filepath.Glob(filepath.Join(k.Destination, "history", "*-"+k.date(2)+".json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	running := *renewal
	running.Outcome = retraining.Running
	b, err := json.Marshal(&running)
	if err == nil {
		err = os.WriteFile(files[0], b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	a, err := k.retrain(t, 2) // killed behind the promotion
	if err != nil || a.Run != renewal.Run || a.Cuts.Run != renewal.Run || a.Cuts.Renewed == "" {
		t.Errorf("%+v, %v; want %s once more", a, err, renewal.Run)
	}
	k.write(t, 2, 0.01, false) // the file was written again
	late, err := k.retrain(t, 2)
	if err != nil || late.Cuts.Run != renewal.Run || late.Run == renewal.Run {
		t.Errorf("%+v, %v; want the cuts of %s", late.Cuts, err, renewal.Run)
	}
	if _, err := os.Stat(filepath.Join(k.Destination, renewal.Run)); err != nil {
		t.Errorf("the run that has found the cuts: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(k.Destination, renewal.Run)); err != nil {
		t.Fatal(err)
	}
	k.write(t, 3, 0, false)
	a, err = k.retrain(t, 3)
	if err != nil || !strings.Contains(a.Cuts.Renewed, "is gone") {
		t.Errorf("%+v, %v; want new cuts, as the run is gone", a.Cuts, err)
	}
}

// TestKeepCutsByHand: without --keep_cuts a run finds its own cuts, and the next one keeps them. A refit keeps the cuts of
// its run.
func TestKeepCutsByHand(t *testing.T) {
	k := newKeeping(t)
	k.KeepCuts = 30
	run := func(day int) *retraining.Attempt {
		t.Helper()
		k.write(t, day, 0, false)
		a, err := k.retrain(t, day)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	run(0)
	k.KeepCuts = 0
	second := run(1)
	k.KeepCuts = 30
	third := run(2)
	k.Mode = config.ModeRefit
	fourth := run(3)
	if second.Cuts.Run != second.Run || third.Cuts.Run != second.Run || fourth.Cuts.Run != second.Run {
		t.Errorf("cuts of %s, %s and %s, want those of %s", second.Cuts.Run, third.Cuts.Run, fourth.Cuts.Run, second.Run)
	}
	if p, err := latest.Read(t.Context(), objectstore.New(), k.Destination); err != nil || p.Run != fourth.Run {
		t.Errorf("%+v, %v", p, err)
	}
	for text, change := range map[string]func(c *config.Retrain){
		"leave out one of them": func(c *config.Retrain) { c.Mode, c.Train.CutsFrom = config.ModeTrain, second.Run },
		"such as 365":           func(c *config.Retrain) { c.KeepCuts, c.KeepCutsPSI = 0, 0.2 },
	} {
		c := k.Retrain
		change(&c)
		if _, _, err := retraining.Retrain(t.Context(), c, engine.Silent{}); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %q", err, text)
		}
	}
}
