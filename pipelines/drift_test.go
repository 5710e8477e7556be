package pipelines_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/drift"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// day writes rows of one distribution: a number, a category with rare values, and a class that depends on both. Later
// days of a drift have greater numbers.
func day(t *testing.T, seed uint64, rows int, by float64) string {
	t.Helper()
	x, shop, class := rowsOfDay(seed, rows, by)
	return writeDay(t, x, shop, class)
}

func rowsOfDay(seed uint64, rows int, by float64) (x []float64, shop, class []string) {
	r := rand.New(rand.NewPCG(seed, 1))
	for range rows {
		number := r.NormFloat64() + by
		at := string(rune('a' + min(r.IntN(26), r.IntN(26))))
		of := []string{"no", "yes"}[r.IntN(2)]
		if number > 0.5 || at < "d" && r.IntN(4) > 0 {
			of = "yes"
		}
		x = append(x, number)
		shop = append(shop, at)
		class = append(class, of)
	}
	return x, shop, class
}

// writeDay writes the rows of a day; x are numbers or texts.
func writeDay(t *testing.T, x any, shop, class []string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rows.parquet")
	err := parquetio.Write(t.Context(), objectstore.New(), file, []parquetio.WriteColumn{
		{Name: "x", Values: x}, {Name: "shop", Values: shop}, {Name: "class", Values: class},
	}, parquetio.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestDriftOfTexts: a file whose numbers are texts counts as the same file with numbers does, if another file has numbers.
func TestDriftOfTexts(t *testing.T) {
	x, shop, class := rowsOfDay(3, 500, 0.2)
	texts := make([]string, len(x))
	for i := range x {
		texts[i] = strconv.FormatFloat(x[i], 'g', -1, 64)
	}
	run := trainedOn(t, day(t, 1, 1000, 0), "", "70/10/20")
	first := day(t, 2, 500, 0)
	columns := func(second string) []runfolder.DriftedBins {
		c := config.DefaultDrift()
		c.Model = run
		c.Input = []string{first, second}
		found, err := pipelines.Drift(t.Context(), c, engine.Silent{})
		if err != nil {
			t.Fatal(err)
		}
		return found.Columns
	}
	numbers := columns(writeDay(t, x, shop, class))
	if got := columns(writeDay(t, texts, shop, class)); !reflect.DeepEqual(got, numbers) {
		t.Errorf("drift of texts: %+v; of the same numbers: %+v", got, numbers)
	}
}

// TestDaysWithoutDrift: of 60 days without drift, at most so many give an alarm as the stated rate allows. At a rate of
// 0.05, more than 6 of 60 come with a probability of 0.03 (binomial); the seeds are fixed. PSI is no condition here,
// so that the rate is that of the tests alone. A day that has drifted gives an alarm.
func TestDaysWithoutDrift(t *testing.T) {
	longtest.Skip(t)
	training := config.DefaultTrain()
	training.Input, training.Label, training.Select = []string{day(t, 1, 4000, 0)}, "class", frontier.First
	training.Output = filepath.Join(t.TempDir(), "run")
	if _, err := train.Train(t.Context(), training, engine.Silent{}); err != nil {
		t.Fatal(err)
	}
	alarms := func(seed uint64, by, rate, psi float64) []string {
		c := config.DefaultDrift()
		c.Model, c.Input, c.FalseAlarms, c.LeastPSI = training.Output, []string{day(t, seed, 800, by)}, rate, psi
		found, err := pipelines.Drift(t.Context(), c, engine.Silent{})
		if err != nil {
			t.Fatal(err)
		}
		return found.Alarms()
	}
	days := 0
	for seed := range uint64(60) {
		if list := alarms(seed+2, 0, 0.05, 0); len(list) > 0 {
			days++
		}
	}
	if days > 6 {
		t.Errorf("%d of 60 days without drift give an alarm, at a rate of 0.05", days)
	}
	if list := alarms(500, 0, 0.01, 0.1); len(list) > 0 {
		t.Errorf("by default a day without drift gives an alarm: %q", list)
	}
	if list := alarms(501, 0.5, 0.01, 0.1); len(list) == 0 || list[0] != "x" {
		t.Errorf("a day that has drifted gives alarms of %q, want x first", list)
	}
}

// visits writes rows of customers, ten each, of one distribution: an age, a shop and a name, which all rows of a
// customer share.
func visits(t *testing.T, seed uint64, customers int, key string) string {
	t.Helper()
	const each = 10
	r := rand.New(rand.NewPCG(seed, 1))
	var customer []int64
	var age []float64
	var name, shop, class []string
	for range customers {
		id, years := r.Int64N(1<<40), r.NormFloat64()
		at := string(rune('a' + r.IntN(5)))
		for range each {
			customer, age = append(customer, id), append(age, years)
			name, shop = append(name, "customer "+strconv.FormatInt(id, 36)), append(shop, at)
			class = append(class, []string{"no", "yes"}[r.IntN(2)])
			if years > 0 {
				class[len(class)-1] = "yes"
			}
		}
	}
	file := filepath.Join(t.TempDir(), "rows.parquet")
	err := parquetio.Write(t.Context(), objectstore.New(), file, []parquetio.WriteColumn{
		{Name: key, Values: customer},
		{Name: "age", Values: age},
		{Name: "name", Values: name},
		{Name: "shop", Values: shop},
		{Name: "class", Values: class},
	}, parquetio.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestDriftByKey: rows of a key are one unit of chance, by the key of the run. Of 20 days without drift, more than 4 at
// a rate of 0.05 come with a probability of 0.003 (binomial); the seeds are fixed. Without the design effects, as in
// runs of earlier versions, all columns are left out, and files without the key take the effects of the run.
func TestDriftByKey(t *testing.T) {
	training := config.DefaultTrain()
	training.Input, training.Label, training.Group, training.Select = []string{visits(t, 1, 300, "customer")}, "class", "customer", frontier.First
	training.Output = filepath.Join(t.TempDir(), "run")
	if _, err := train.Train(t.Context(), training, engine.Silent{}); err != nil {
		t.Fatal(err)
	}
	measure := func(file string) *runfolder.Drift {
		c := config.DefaultDrift()
		c.Model, c.Input, c.FalseAlarms, c.LeastPSI = training.Output, []string{file}, 0.05, 0
		found, err := pipelines.Drift(t.Context(), c, engine.Silent{})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	days := 0
	for seed := range uint64(20) {
		found := measure(visits(t, seed+2, 100, "customer"))
		if len(found.Alarms()) > 0 {
			days++
		}
		if name := found.Columns[1]; name.Column != "name" || name.LeftOut == "" || found.Columns[0].LeftOut != "" || found.Key != "customer" {
			t.Fatalf("key %q, left out %q: want the name to be left out", found.Key, found.LeftOut())
		}
		if effects := found.Columns[0].DesignEffects; effects[0] < 8 || effects[1] < 8 {
			t.Errorf("design effects %v of an age that ten rows of a customer share", *effects)
		}
	}
	if days > 4 {
		t.Errorf("%d of 20 days without drift give an alarm, at a rate of 0.05", days)
	}
	other := measure(visits(t, 30, 100, "visitor"))
	if effects := other.Columns[0].DesignEffects; other.Key != "" || effects == nil || effects[0] != effects[1] {
		t.Errorf("files without the key: key %q, design effects %v, want those of the run", other.Key, effects)
	}
	file := filepath.Join(training.Output, "distribution.json")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b = regexp.MustCompile(`,"design_effect":[^,}]*`).ReplaceAll(b, nil)
	b = regexp.MustCompile(`,"keys":\[[^]]*\]`).ReplaceAll(b, nil)
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if old := measure(visits(t, 40, 100, "customer")); old.Tested() != 0 || len(old.Alarms()) > 0 || len(old.LeftOut()) == 0 {
		t.Errorf("a run of an earlier version: %d columns are compared, alarms %q", old.Tested(), old.Alarms())
	}
}

// trainedOn trains the first tree of a grid on a file.
func trainedOn(t *testing.T, file, cutsFrom, split string) string {
	t.Helper()
	c := config.DefaultTrain()
	c.Input, c.Label, c.Select, c.CutsFrom = []string{file}, "class", frontier.First, cutsFrom
	c.Binning = binning.KMeans // whose cuts are midpoints, which other rows do not have
	c.Split, _ = dataset.ParseShares(split)
	c.Output = filepath.Join(t.TempDir(), "run")
	if _, err := train.Train(t.Context(), c, engine.Silent{}); err != nil {
		t.Fatal(err)
	}
	return c.Output
}

// TestDriftBetween: with the same cuts the drift of a run's training rows equals the drift of its
// files. With other cuts the rows of common bins add up, and a column without common cuts is named.
func TestDriftBetween(t *testing.T) {
	before, now := day(t, 1, 3000, 0), day(t, 2, 2000, 0.5)
	first := trainedOn(t, before, "", "100/0/0")
	measure := func(change func(c *config.Drift)) *runfolder.Drift {
		c := config.DefaultDrift()
		c.Model = first
		change(&c)
		found, err := pipelines.Drift(t.Context(), c, engine.Silent{})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	same := trainedOn(t, now, first, "100/0/0")
	found := measure(func(c *config.Drift) { c.Against = same })
	want := measure(func(c *config.Drift) { c.Input = []string{now} })
	if want.Against, want.Leaves = same, nil; !reflect.DeepEqual(found, want) {
		t.Errorf("%+v\nwant, as of the files,\n%+v", found, want)
	}
	if found.Now != 2000 || found.Before != 3000 || !slices.Contains(found.Alarms(), "x") {
		t.Errorf("%d rows against %d, alarms %q", found.Now, found.Before, found.Alarms())
	}
	found = measure(func(c *config.Drift) { c.Against = trainedOn(t, now, "", "100/0/0") })
	if !slices.Equal(found.Omitted, []string{"x"}) || len(found.Columns) != 1 || found.Columns[0].PSI != want.Columns[0].PSI {
		t.Errorf("with other cuts: %+v, want shop alone as before, without x", found)
	}
	c := config.DefaultDrift()
	c.Model, c.Against, c.Input = first, same, []string{now}
	if _, err := pipelines.Drift(t.Context(), c, engine.Silent{}); err == nil || !strings.Contains(err.Error(), "leave out --input") {
		t.Errorf("--against beside --input: %v", err)
	}
}

// TestDriftContract: rows that break the contract are not compared.
func TestDriftContract(t *testing.T) {
	before, now := day(t, 1, 3000, 0), day(t, 2, 2000, 0.5)
	c := config.DefaultDrift()
	c.Model, c.Input, c.MaxRejects = trainedOn(t, before, "", "70/10/20"), []string{now}, 2000
	c.ContractFile = filepath.Join(t.TempDir(), "contract.yaml")
	text := "format: espalier/contract\nversion: 1\ncolumns:\n" +
		"- {name: x, type: number, role: feature, max: 0.5}\n- {name: outcome, type: text, role: label}\n"
	if err := os.WriteFile(c.ContractFile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := pipelines.Drift(t.Context(), c, engine.Silent{})
	if err != nil {
		t.Fatal(err)
	}
	// x is normal of mean 0.5: half of the rows are above; 1000 of 2000 by more than 100 have a probability below 1e-5
	if found.Now < 900 || found.Now > 1100 || len(found.Alarms()) == 0 {
		t.Errorf("%d rows were compared, want about 1000; alarms %q", found.Now, found.Alarms())
	}
	for _, bins := range found.All() {
		if n := drift.Rows(bins.Now); n != found.Now {
			t.Errorf("%d rows of %s, want %d", n, bins.Column, found.Now)
		}
	}
	c.MaxRejects = 10
	if _, err := pipelines.Drift(t.Context(), c, engine.Silent{}); !errors.As(err, new(*dataset.DataError)) {
		t.Errorf("too many rows break the contract: %v", err)
	}
}
