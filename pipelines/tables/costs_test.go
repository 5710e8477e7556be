package tables_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/pipelines/tables"
)

// columns are the columns of the input.
func columns() []string { return []string{"a", "b", "twin", "color", "flag"} }

func costsFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "costs.csv")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// readCosts reads a costs file without faults.
func readCosts(t *testing.T, text string) *tables.Costs {
	t.Helper()
	c, err := tables.ReadCosts(t.Context(), source.Process, &config.Train{Tables: config.Tables{CostsFile: costsFile(t, text)}}, columns())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCostsRefused: each fault of a costs file is told with its line and what to do.
func TestCostsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"feature,cost\na,1\na,1\n":                               `line 3: the feature "a" has a cost by line 2 already`,
		"feature,value,cost\ncolor,red,1\ncolor,red,2\n":         `line 3: the value "red" of the feature "color" has a cost by line 2 already`,
		"feature,cost,group,group_cost\na,1,lab,3\nb,1,lab,4\n":  `line 3: group_cost 4: the group "lab" costs 3 by line 2`,
		"feature,cost\na,1e-310\n":                               `line 2: cost "1e-310": is above 0 and below 1e-30: count all costs in a smaller unit`,
		"feature,cost\na,1e50\n":                                 `line 2: cost "1e50": is above 1e+30: count all costs in a larger unit`,
		"feature,cost\na,1e999\n":                                `line 2: cost "1e999": is above 1e+30`,
		"feature,cost\na,-1\n":                                   `line 2: cost "-1": is below 0`,
		"feature,cost\na,NaN\n":                                  `line 2: cost "NaN": want a number from 0`,
		"feature,cost\na,much\n":                                 `line 2: cost "much": want a number from 0`,
		"feature,cost,group,group_cost\na,1,lab ,3\nb,1,lab,3\n": `line 2: the group "lab " begins or ends with a blank`,
		"feature,cost,group,group_cost\na,1,lab,1e40\n":          `line 2: group_cost "1e40" of the group "lab": is above 1e+30`,
		"feature,cost,group,group_cost\na,1,,3\n":                `line 2: group_cost "3" of no group`,
		"feature,cost,group,group_cost\na,1,lab,\n":              `line 2: group_cost "" of the group "lab": want a number from 0`,
		"feature,cost,minutes\na,1,x\n":                          `line 2: minutes "x": want a number from 0`,
		"feature,cost,group,group_cost,minutes,group_minutes\na,1,lab,3,1,4\nb,1,lab,3,1,5\n": `line 3: group_cost 3, 5 minutes: the group "lab" costs 3, 4 minutes by line 2`,
		"feature,cost,group,group_cost,minutes,group_minutes\na,1,,,1,5\n":                    `line 2: group_minutes "5" of no group`,
		"feature,cost\nb,1\ncolour,1\n":                                                       `line 3: no feature "colour"; did you mean "color"?`,
		"feature,cost\nsomething else,1\n":                                                    `line 2: no feature "something else"`,
	} {
		url := costsFile(t, text)
		_, err := tables.ReadCosts(t.Context(), source.Process, &config.Train{Tables: config.Tables{CostsFile: url}}, columns())
		if !errors.As(err, new(*usage.Error)) || !strings.HasPrefix(err.Error(), "--costs "+url+", "+want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	_, err := tables.ReadCosts(t.Context(), source.Process, &config.Train{Tables: config.Tables{CostsFile: filepath.Join(t.TempDir(), "none.csv")}}, columns())
	if !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), "--costs: ") {
		t.Errorf("no such file: %v", err)
	}
}

// TestFurtherColumns: further columns of a costs file are prices in further currencies. Other further columns are refused.
func TestFurtherColumns(t *testing.T) {
	c := readCosts(t, "feature,cost,group,group_cost,minutes,visits,group_minutes\na,1,lab,3,4,0,6\nb,2,lab,3,5,1,6\ncolor,1,,,0,1,\n")
	if diff := cmp.Diff(map[string]map[string]float64{
		"minutes": {"a": 4, "b": 5, "color": 0}, "visits": {"a": 0, "b": 1, "color": 1},
	}, c.Further); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if g := c.Groups; len(g) != 1 || g[0].Cost != 3 || !cmp.Equal(g[0].Further, map[string]float64{"minutes": 6}) {
		t.Errorf("groups %+v", g)
	}
	const general = "want feature,cost or "
	for header, want := range map[string]string{
		"feature,cost,":                               `line 1: column 3 names a further currency: the currency "": want 1 to 40 letters`,
		"feature,cost, minutes":                       `line 1: column 3 names a further currency: the currency " minutes"`,
		"feature,cost,minutes,minutes":                `line 1: the column "minutes" is there twice`,
		"feature,cost,group_minutes":                  `line 1: the column "group_minutes" has prices of groups: want it after feature,cost,group,group_cost`,
		"feature,cost,minutes,group_minutes":          `line 1: the column "group_minutes" has prices of groups`,
		"feature,cost,group,group_cost,group_minutes": `line 1: the column "group_minutes" has no column "minutes"`,
		"feature,cost,a,b,c,d":                        "line 1: 4 columns of further currencies: want at most 3",
		"feature,value,cost,minutes":                  general,
		"feature,cost,value":                          general,
		"feature,minutes":                             general,
		"feature,cost,group":                          general,
		"feature,cost,group_cost":                     general,
	} {
		url := costsFile(t, header+"\n")
		_, err := tables.ReadCosts(t.Context(), source.Process, &config.Train{Tables: config.Tables{CostsFile: url}}, columns())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", header, err, want)
		}
	}
}

// someFeatures are two numeric features and a categorical one.
func someFeatures() []dataset.Feature {
	return []dataset.Feature{
		{Name: "a", Kind: dataset.Numeric},
		{Name: "twin", Kind: dataset.Numeric},
		{Name: "color", Kind: dataset.Categorical, Values: []string{"blue", "red"}},
	}
}

// TestApply: by hand. Features without a line cost 1, and columns that are no features
// have no effect.
func TestApply(t *testing.T) {
	for text, c := range map[string]struct {
		edit    func(f []dataset.Feature)
		grouped bool
	}{
		"feature,cost\na,2.5\nb,7\ncolor,0\n": {func(f []dataset.Feature) { f[0].Cost, f[2].Cost = 2.5, 0 }, false},
		"feature,cost,group,group_cost\na,2,lab,9\ncolor,3,lab,9\ntwin,4,,\n": {func(f []dataset.Feature) {
			f[0].Cost, f[0].Group, f[0].GroupCost = 2, "lab", 9
			f[2].Cost, f[2].Group, f[2].GroupCost = 3, "lab", 9
			f[1].Cost = 4
		}, true},
		"feature,cost,group,group_cost\na,2,lab,0\n":      {func(f []dataset.Feature) { f[0].Cost, f[0].Group = 2, "lab" }, false},
		"feature,value,cost\ncolor,red,5\ncolor,blue,0\n": {func(f []dataset.Feature) { f[2].ValueCosts = map[string]float64{"red": 5, "blue": 0} }, false},
	} {
		costs, got, want := readCosts(t, text), someFeatures(), someFeatures()
		for i := range want {
			want[i].Cost = 1
		}
		c.edit(want)
		if err := costs.Apply(got, 100); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" || costs.Grouped() != c.grouped || len(costs.Digest) != 64 {
			t.Errorf("%q: grouped %t, digest %q (-want +got):\n%s", text, costs.Grouped(), costs.Digest, diff)
		}
	}
	none, err := tables.ReadCosts(t.Context(), source.Process, new(config.Train), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := someFeatures()
	if err := none.Apply(got, 100); err != nil || got[0].Cost != 1 || none.Digest != "" || none.Grouped() {
		t.Errorf("without a file: costs %v, digest %q, %v", got[0].Cost, none.Digest, err)
	}
}

// TestApplyAbsent: prices of values that no training row has are listed, and have no effect. So are features without a
// price, if others have one.
func TestApplyAbsent(t *testing.T) {
	costs := readCosts(t, "feature,value,cost\ncolor,mauve,5\ncolor,red,2\n")
	features := someFeatures()
	if err := costs.Apply(features, 100); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(features, func(f dataset.Feature) bool { return f.Name == "color" })
	if absent := costs.Unseen(features); !slices.Equal(absent, []string{`"mauve" of "color"`}) || len(features[at].ValueCosts) != 1 {
		t.Errorf("absent %q, prices %v", absent, features[at].ValueCosts)
	}
	var others []string // all values but red
	for _, value := range features[at].Values {
		if value != "red" {
			others = append(others, fmt.Sprintf("%q of %q", value, "color"))
		}
	}
	if got := costs.UnpricedValues(features); len(others) == 0 || !slices.Equal(got, others) {
		t.Errorf("values without a price %q, want %q", got, others)
	}
	for text, want := range map[string]int{
		"feature,cost\n": 0, "feature,cost\ncolor,3\n": len(features) - 1, "feature,value,cost\ncolor,red,2\n": len(features) - 1,
		"feature,cost,group,group_cost\na,1,lab,5\ncolor,1,,\n": len(features) - 2,
	} {
		costs := readCosts(t, text)
		if got := costs.Unpriced(features); len(got) != want || slices.Contains(got, "color") {
			t.Errorf("%q: features without a price %q, want %d", text, got, want)
		}
	}
}

// TestApplyRefused: a value has a cost of its own only if a test asks for it alone.
func TestApplyRefused(t *testing.T) {
	for text, want := range map[string]string{
		"feature,value,cost\ncolor,red,5\na,7,1\n": `, line 3: feature "a" is numeric, only the values of categorical features`,
	} {
		costs := readCosts(t, text)
		if err := costs.Apply(someFeatures(), 100); !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
