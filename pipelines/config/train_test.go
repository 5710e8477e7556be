package config_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/pipelines/tables"
)

// required returns the default settings of a training with what a run requires.
func required() config.Train {
	c := config.DefaultTrain()
	c.Input, c.Label, c.Output = []string{"a.parquet"}, "class", "run"
	return c
}

func parsed(t *testing.T, c config.Train) *config.Parsed {
	t.Helper()
	p, err := c.Parse()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestGrids: the trees of a grid, by hand: an algorithm without a lambda takes one tree for
// all lambdas, and cc45 grows the trees of c45 where all tests have one price.
func TestGrids(t *testing.T) {
	for name, test := range map[string]struct {
		change func(c *config.Train)
		trees  int
		single bool // tests for single bins
	}{
		"default": {func(*config.Train) {}, (4 + 1) * 2 * 2, true},
		"with prices": {func(c *config.Train) {
			c.FreeRepeats, c.Algorithm = true, []split.Algorithm{split.EC45, split.C45, split.CC45}
		}, (4 + 2) * 2 * 2, true},
		"the paper's": {func(c *config.Train) { c.Lambda, c.Theta = nil, []float64{0.005} }, (9 + 1) * 2, true},
		"thresholds":  {func(c *config.Train) { c.Tests = []split.Family{split.Thresholds} }, (4 + 1) * 2, false},
	} {
		c := required()
		test.change(&c)
		p := parsed(t, c)
		if len(p.Grid) != test.trees || grid.SingleBins(p.Grid) != test.single {
			t.Errorf("%s: %d trees, single bins %v; want %d, %v", name, len(p.Grid), grid.SingleBins(p.Grid), test.trees, test.single)
		}
	}
}

// TestAutoBins: 128 bins, 512 from 30,000 rows on, and at least 16 for each class up to 16,384, as
// docs/settings.md says. A number that was asked for stays.
func TestAutoBins(t *testing.T) {
	for _, c := range []struct {
		rows    int64
		classes int
		want    int
	}{
		{29_999, 2, 128},
		{30_000, 2, 512},
		{29_999, 8, 128},
		{29_999, 9, 144},
		{30_000, 32, 512},
		{100, 1000, 16_000},
		{1e9, 3000, 1 << 14},
	} {
		p := parsed(t, required())
		p.SettleBins(c.rows)
		if got := p.GridFor(c.classes, 1)[0].Algorithm.Bins; p.BinsFor(c.classes) != c.want || got != c.want {
			t.Errorf("%+v: %v bins, %d in the tree", c, p.BinsFor(c.classes), got)
		}
		p.Bins = 48
		if got := p.BinsFor(c.classes); got != 48 {
			t.Errorf("%+v: %v bins, want the 48 that were asked for", c, got)
		}
	}
}

// TestPricing: the grid where tests have different prices, by hand. In it are the first tree, the four
// lambdas and c45 of both families with the least theta, and for each lambda with threshold tests two
// further ways to count prices, or seven where a group has a price.
func TestPricing(t *testing.T) {
	for costs, trees := range map[string]int{
		"feature,cost\n":                                        5 * 2 * 2,
		"feature,cost\na,7\nb,7\n":                              5 * 2 * 2,
		"feature,cost\na,7\n":                                   1 + 5*2 + 4*2,
		"feature,cost\na,0\nb,7\n":                              1 + 5*2 + 4*2,
		"feature,value,cost\na,x,1\n":                           1 + 5*2 + 4*2,
		"feature,cost,group,group_cost\na,1,lab,0\nb,1,lab,0\n": 5 * 2 * 2,
		"feature,cost,group,group_cost\na,1,lab,5\nb,1,lab,5\n": 1 + 5*2 + 4*7,
	} {
		url := filepath.Join(t.TempDir(), "costs.csv")
		if err := os.WriteFile(url, []byte(costs), 0o600); err != nil {
			t.Fatal(err)
		}
		features := []string{"a", "b"}
		c := required()
		c.CostsFile, c.FreeRepeats = url, false
		read, err := tables.ReadCosts(t.Context(), source.Process, &c, features)
		if err != nil {
			t.Fatal(err)
		}
		p := parsed(t, c)
		first := p.Grid[0]
		if err := p.SettlePricing(&read.Prices, features); err != nil {
			t.Fatal(err)
		}
		if len(p.Grid) != trees || p.Grid[0].Params != first.Params {
			t.Errorf("%q: %d trees, the first %+v; want %d and %+v", costs, len(p.Grid), p.Grid[0], trees, first)
		}
		for _, m := range p.Grid {
			if way := m.Params.Pricing; m.Algorithm.Prices != way.Prices.String() || m.Algorithm.SetUps != way.SetUps.String() {
				t.Errorf("%q: a tree that counts prices by %+v says %q, %q", costs, way, m.Algorithm.Prices, m.Algorithm.SetUps)
			}
		}
	}
	for _, rule := range []frontier.Rule{frontier.First, frontier.Paper} { // they compare no ways to count prices
		c := required()
		c.FreeRepeats, c.Select = true, rule
		p := parsed(t, c)
		before := len(p.Grid)
		if err := p.SettlePricing(&c.Prices, []string{"a"}); err != nil || len(p.Grid) != before {
			t.Errorf("%s: %d trees of %d, error %v", rule, len(p.Grid), before, err)
		}
	}
}

// TestFaults: settings that do not go together are refused by their names.
func TestFaults(t *testing.T) {
	for text, change := range map[string]func(c *config.Train){
		`"a" is named in both --categorical`:      func(c *config.Train) { c.Categorical, c.Numeric = []string{"a"}, []string{"a"} },
		"--lambda auto":                           func(c *config.Train) { c.Select, c.Lambda = frontier.First, nil },
		"--max_cost 3":                            func(c *config.Train) { c.Select, c.MaxCost = frontier.First, 3 },
		"--alpha":                                 func(c *config.Train) { c.Alpha = new(0.5) },
		`--monotone: "a" 2: want +1 or -1`:        func(c *config.Train) { c.Monotone = map[string]int8{"a": 2} },
		`--first: the feature "a" is named twice`: func(c *config.Train) { c.First = []string{"a", "", "", "a"} },
		"--costs: there are values and the file": func(c *config.Train) {
			c.Costs, c.CostsFile = map[string]float64{"a": 2}, "costs.csv"
		},
		"threshold tests":              func(c *config.Train) { c.Monotone, c.Tests = map[string]int8{"a": 1}, []split.Family{split.OneHot} },
		"both --first and --forbid":    func(c *config.Train) { c.First, c.Forbid = []string{"a"}, []string{"a"} },
		"both --monotone and --forbid": func(c *config.Train) { c.Monotone, c.Forbid = map[string]int8{"a": 1}, []string{"a"} },
		"--bins":                       func(c *config.Train) { c.Bins = 1 },
		"trees: want 1 to 256": func(c *config.Train) {
			c.Theta = nil
			for i := range 60 {
				c.Theta = append(c.Theta, float64(i)/1000)
			}
		},
	} {
		c := required()
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("want an error with %q, got %v", text, err)
		}
	}
}

// TestLimits: limits in further currencies are given beside the limit of costs, at once or one after the other. A setting
// without them is a number.
func TestLimits(t *testing.T) {
	for _, texts := range [][]string{{"20,minutes=30"}, {"7", "minutes=5", "minutes=30", "20"}, {"minutes=30", "20"}} {
		c := required()
		at := slices.IndexFunc(c.Settings(), func(s setting.Setting) bool { return s.Name == "max_cost" })
		value := c.Settings()[at].Value
		for _, text := range texts {
			if err := errors.Join(value.Set(text), setting.Refused(value)); err != nil {
				t.Fatal(err)
			}
		}
		b, err := json.Marshal(c)
		again := required()
		if err != nil || json.Unmarshal(b, &again) != nil || again.MaxCost != 20 || !maps.Equal(again.MaxFurther, map[string]float64{"minutes": 30}) {
			t.Errorf("%q: %v, %v %v in %s", texts, err, again.MaxCost, again.MaxFurther, b)
		}
		if limits := c.Selection().Limits.String(); limits != "a maximum cost of 20, a maximum cost of 30 minutes" {
			t.Errorf("%q: limits %s", texts, limits)
		}
	}
	c := required()
	if err := json.Unmarshal([]byte(`{"max_cost": 20, "max_expected_cost": "minutes=2"}`), &c); err != nil || c.MaxCost != 20 || c.MaxExpectedFurther["minutes"] != 2 {
		t.Errorf("%v: %v, %v", err, c.MaxCost, c.MaxExpectedFurther)
	}
	c.MaxExpectedFurther = nil
	if b, err := json.Marshal(c); err != nil || !strings.Contains(string(b), `"max_expected_cost":0,"max_cost":20,`) {
		t.Errorf("%v: %s", err, b)
	}
	for _, text := range []string{"much", "=3", "minutes=", "minutes=x"} {
		c := required()
		if err := json.Unmarshal([]byte(`{"max_cost": "`+text+`"}`), &c); err == nil || !strings.Contains(err.Error(), "or CURRENCY=NUMBER") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestLimitsOnTop: on top of limits of a run, only the limits in the currencies that are named change. The text of the setting
// names what the texts have named, so that frontier hands it on.
func TestLimitsOnTop(t *testing.T) {
	run := `{"max_cost": [20, "minutes=45", "visits=3"]}`
	for _, x := range []struct {
		texts []string
		text  string // of the setting
		cost  float64
		want  map[string]float64
	}{
		{[]string{"15"}, "15", 15, map[string]float64{"minutes": 45, "visits": 3}},
		{[]string{"0"}, "0", 0, map[string]float64{"minutes": 45, "visits": 3}},
		{[]string{"minutes=30"}, "minutes=30", 20, map[string]float64{"minutes": 30, "visits": 3}},
		{[]string{"minutes=0"}, "minutes=0", 20, map[string]float64{"minutes": 0, "visits": 3}},
		{[]string{"0,minutes=30"}, "0,minutes=30", 0, map[string]float64{"minutes": 30, "visits": 3}},
		{[]string{"minutes=30", "10", "minutes=25"}, "10,minutes=25", 10, map[string]float64{"minutes": 25, "visits": 3}},
	} {
		given := config.DefaultTrain()
		of := func(c *config.Train) setting.Value {
			list := c.Settings()
			return list[slices.IndexFunc(list, func(s setting.Setting) bool { return s.Name == "max_cost" })].Value
		}
		value := of(&given)
		for _, text := range x.texts {
			if err := errors.Join(value.Set(text), setting.Refused(value)); err != nil {
				t.Fatal(err)
			}
		}
		if value.String() != x.text {
			t.Errorf("%q is spelled %s, want %s", x.texts, value, x.text)
		}
		p := config.DefaultPromote()
		p.Choice = map[string]string{"max_cost": value.String()}
		c, err := p.Of([]byte(run), false)
		if err != nil || c.MaxCost != x.cost || !maps.Equal(c.MaxFurther, x.want) {
			t.Errorf("%q: %v, %v (%v)", x.texts, c.MaxCost, c.MaxFurther, err)
		}
	}
	for _, text := range []string{`[20, 30]`, `[27, "minutes=24", "minutes=50"]`, `["minutes=0", "minutes=0"]`} {
		c := required()
		if err := json.Unmarshal([]byte(`{"max_cost": `+text+`}`), &c); err == nil || !strings.Contains(err.Error(), "a second limit in ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestSettingTexts: texts are read as their flags read them, and refused with what is wanted. --split may name the column
// of --split_column, as in earlier versions.
func TestSettingTexts(t *testing.T) {
	for text, want := range map[string]string{
		`{"monotone": ["a=+1", "a=-1"]}`: `the feature "a" is named twice`,
		`{"monotone": ["a"]}`:            "want FEATURE=+1 or FEATURE=-1",
		`{"split": "70/10"}`:             "want three whole numbers such as 70/10/20",
		`{"lambda": ["auto", 3]}`:        "want a number from 0 to 1e+12",
		`{"algorithm": "id3"}`:           "want one of ec45, ",
		`{"costs": {"prices": {}}}`:      `unknown key "prices"`,
		`{"alpha": "some"}`:              "want a number from 0",
		`{"certificate": "some"}`:        "want none, auto, quick or full",
	} {
		c := required()
		if err := json.Unmarshal([]byte(text), &c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	c := required()
	err := json.Unmarshal([]byte(`{"split": "part", "monotone": ["b=1", "a=-1"], "certificate": "quick", "class_weights": "balanced",
		"lambda": "auto", "prune": "none", "bins": [8], "costs": {"costs": {"a": 2.5}, "groups": [{"Name": "g", "Features": ["a"]}]}}`), &c)
	if err != nil {
		t.Fatal(err)
	}
	want := required()
	want.SplitColumn, want.Monotone, want.Certificate, want.BalanceClasses = "part", map[string]int8{"a": -1, "b": 1}, true, true
	want.Lambda, want.Prune, want.Bins, want.Costs = nil, nil, 8, map[string]float64{"a": 2.5}
	want.Groups = []settings.CostGroup{{Name: "g", Features: []string{"a"}}}
	if diff := cmp.Diff(want.Training, c.Training); diff != "" || len(c.Deprecated()) != 1 || len(want.Deprecated()) > 0 {
		t.Errorf("notes %q (-want +got):\n%s", c.Deprecated(), diff)
	}
	b, err := json.Marshal(c)
	again := required()
	if err != nil || json.Unmarshal(b, &again) != nil {
		t.Fatalf("%s: %v", b, err)
	}
	if diff := cmp.Diff(c.Training, again.Training); diff != "" {
		t.Errorf("written and read again (-want +got):\n%s", diff)
	}
	for _, part := range []string{
		`"split":"70/10/20"`, `"split_column":"part"`, `"monotone":["a=-1","b=+1"]`, `"lambda":"auto"`,
		`"prune":"none"`, `"bins":8`, `"theta":[0.005,0.0005]`, `"alpha":"auto"`, `"folds":"auto"`, `"class_weights":"balanced"`,
		`"repeat_cost":"free"`, `"certificate":"auto"`, `"priors":""`, `"costs":{"costs":{"a":2.5},"groups":[{`,
	} {
		if !strings.Contains(string(b), part) {
			t.Errorf("JSON lacks %s: %s", part, b)
		}
	}
}

// TestFixed: the fixed settings decide which tree a run makes. All other settings may change when a
// run is resumed.
func TestFixed(t *testing.T) {
	c := required()
	c.Monotone, c.Alpha, c.Prune, c.SplitColumn = map[string]int8{"a": -1}, new(0.5), []prune.Currency{prune.Leaves}, "part"
	p := parsed(t, c)
	if c.Monotone["a"] != -1 || c.SplitColumn != "part" || p.Selection.Alpha == nil || *p.Selection.Alpha != 0.5 {
		t.Errorf("parsed %+v", p)
	}
	fixed, err := c.Fixed()
	if err != nil {
		t.Fatal(err)
	}
	if _, there := fixed["output"]; there || fixed["label"] != "class" || fixed["alpha"] != "0.5" {
		t.Errorf("fixed settings: %v", fixed)
	}
	if _, err := config.Preset("papers"); err == nil {
		t.Error("no error for a preset that there is not")
	}
}

// TestOtherVerbs: evaluate and predict name their missing settings.
func TestOtherVerbs(t *testing.T) {
	evaluate, predict := config.DefaultEvaluate(), config.DefaultPredict()
	for name, err := range map[string]error{"evaluate": evaluate.Validate(), "predict": predict.Validate()} {
		if err == nil || !strings.Contains(err.Error(), "required") {
			t.Errorf("%s without settings: %v", name, err)
		}
	}
	evaluate.Model, evaluate.Input = "run", []string{"a.parquet"}
	predict.Model, predict.Input, predict.Output = "run", []string{"a.parquet"}, "scored"
	for name, err := range map[string]error{"evaluate": evaluate.Validate(), "predict": predict.Validate()} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEarlierNames: manifests of version 0.3 name settings as that version did.
func TestEarlierNames(t *testing.T) {
	c := config.DefaultTrain()
	if err := json.Unmarshal([]byte(`{"schema": "a.yaml", "key": "id", "rows": 3}`), &c); err != nil {
		t.Fatal(err)
	}
	if c.ContractFile != "a.yaml" || c.Group != "id" {
		t.Errorf("contract %q, group %q", c.ContractFile, c.Group)
	}
}

// TestPrecisionWithPriorsOfFile: a precision is refused with priors and class weights that a file or a flag contains.
func TestPrecisionWithPriorsOfFile(t *testing.T) {
	for _, name := range []string{"priors", "class_weights"} {
		c := required()
		c.MinPrecision = settings.LeastShare{Class: "a", Share: .5}
		c.Split = dataset.Shares{50, 40, 10}
		for _, s := range c.Settings() {
			if s.Name == name {
				if err := s.Value.Set("a=.5,b=.5"); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "frequencies among the rows, not by --"+name+":") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
