package synth_test

import (
	"math"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/synth"
)

func plan(t *testing.T, change func(c *synth.Config)) *synth.Plan {
	t.Helper()
	c := synth.Default()
	c.Rows = 100_000
	change(&c)
	p, err := synth.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// group returns a group of the rows from first on.
func group(p *synth.Plan, first int64, rows int) *synth.Group {
	g := p.NewGroup()
	g.Reset(first, rows)
	return g
}

// rows returns all values of a group: by column its levels, or the bits of its numbers, and
// last the classes.
func rows(p *synth.Plan, g *synth.Group) [][]uint64 {
	var all [][]uint64
	for i := range p.Columns {
		var values []uint64
		for _, level := range g.Levels(i) {
			values = append(values, uint64(level))
		}
		if p.Columns[i].Dictionary == nil {
			for j, x := range g.Numbers(i) {
				values[j] = math.Float64bits(x)
			}
		}
		all = append(all, values)
	}
	var classes []uint64
	for _, class := range g.Labels() {
		classes = append(classes, uint64(class))
	}
	return append(all, classes)
}

func everything(c *synth.Config) {
	c.Duplicates, c.Distinct, c.Nulls, c.Noise, c.Classes = 0.5, 50, 0.1, 0.1, 3
}

// TestRowsStandAlone makes the same rows at once, in pieces and in another
// order.
func TestRowsStandAlone(t *testing.T) {
	p := plan(t, everything)
	whole := rows(p, group(p, 1000, 5000))
	again := p.NewGroup()
	for _, piece := range [][2]int{{3000, 1500}, {0, 1}, {1, 2999}, {4500, 500}} {
		again.Reset(1000+int64(piece[0]), piece[1])
		for i, values := range rows(p, again) {
			if !slices.Equal(values, whole[i][piece[0]:piece[0]+piece[1]]) {
				t.Errorf("column %d: rows %d.. of %d differ by themselves", i, piece[0], piece[1])
			}
		}
	}
	if other := plan(t, func(c *synth.Config) { everything(c); c.Seed++ }); reflect.DeepEqual(rows(other,
		group(other, 1000, 5000)), whole) {
		t.Error("another seed makes the same rows")
	}
	if !reflect.DeepEqual(p, plan(t, everything)) {
		t.Error("the same configuration makes another plan")
	}
}

// TestFixed pins values made on linux/amd64. Other values would change the data sets of
// users' seeds.
func TestFixed(t *testing.T) {
	p := plan(t, everything)
	g := group(p, 0, 100_000)
	sum := uint64(14695981039346656037) // FNV-1a by values
	for _, values := range rows(p, g) {
		for _, v := range values {
			sum = (sum ^ v) * 1099511628211
		}
	}
	if want := uint64(0xcad9f9051ae4c8e2); sum != want {
		t.Errorf("values hash to %#x, want %#x", sum, want)
	}
}

// within checks that a share of n draws is within five standard deviations. A random share is
// outside 5 times in 10 million.
func within(t *testing.T, what string, got, want float64, n int) {
	t.Helper()
	if slack := 5 * math.Sqrt(want*(1-want)/float64(n)); math.Abs(got-want) > slack {
		t.Errorf("%s: a share of %v, want %v +- %v", what, got, want, slack)
	}
}

func TestShares(t *testing.T) {
	const n = 100_000
	for _, share := range []float64{0, 0.03, 0.5, 1} {
		p := plan(t, func(c *synth.Config) { c.Nulls = share })
		g := group(p, 0, n)
		for i := range p.Columns {
			nulls := 0
			for _, level := range g.Levels(i) {
				if level == synth.Null {
					nulls++
				}
			}
			within(t, "nulls of "+p.Columns[i].Name, float64(nulls)/n, share, n)
		}

		// Numbers without a dictionary are hardly ever equal by chance.
		const distinct = 20
		p = plan(t, func(c *synth.Config) { c.Duplicates, c.Distinct = share, distinct })
		seen := make(map[float64]int)
		for _, x := range group(p, 0, n).Numbers(9) {
			seen[x]++
		}
		copies, pool := 0, 0
		for _, times := range seen {
			if times > 10 {
				copies += times
				pool++
			}
		}
		within(t, "duplicates", float64(copies)/n, share, n)
		if share > 0 && pool != distinct {
			t.Errorf("copies of %d prototypes, want %d", pool, distinct)
		}

		p = plan(t, func(c *synth.Config) { c.Noise, c.Classes = share, 4 })
		g = group(p, 0, n)
		noisy := slices.Clone(g.Labels())
		clean := plan(t, func(c *synth.Config) { c.Noise, c.Classes = 0, 4 })
		others := make([]int, 4)
		for i, class := range group(clean, 0, n).Labels() {
			others[(noisy[i]-class)%4]++
		}
		within(t, "noise", 1-float64(others[0])/n, share, n)
		for _, other := range others[1:] {
			within(t, "noise of one other class", float64(other)/n, share/3, n)
		}
	}
}

// TestColumns checks names, dictionaries, costs and proxies for many seeds.
func TestColumns(t *testing.T) {
	for seed := range uint64(30) {
		p := plan(t, func(c *synth.Config) { c.Seed = seed })
		var columns []string
		continuous, dear := 0, 0
		for i := range p.Columns {
			c := &p.Columns[i]
			columns = append(columns, c.Name)
			switch d := c.Dictionary.(type) {
			case nil:
				continuous++
			case []float64:
				checkDictionary(t, c.Name, d)
			case []int64:
				checkDictionary(t, c.Name, d)
			case []string:
				checkDictionary(t, c.Name, d)
			}
			if c.Proxy >= 0 {
				dear++
				if of := &p.Columns[c.Proxy]; of.Kind != c.Kind || of.Cost < 10*c.Cost || of.Proxy >= 0 {
					t.Errorf("seed %d: %s for %v is the proxy of %s for %v", seed, c.Name, c.Cost, of.Name, of.Cost)
				}
			}
		}
		want := "x00 x01 x02 x03 x04 x05 x06 x07 x08 x09 c00 c01 c02 c03 c04 c05 c06 c07 c08 c09"
		if got := strings.Join(columns, " "); got != want || continuous != 1 || dear != 4 {
			t.Errorf("seed %d: columns %s, %d continuous, %d dear; want %s, 1, 4", seed, got, continuous, dear, want)
		}
	}
}

func checkDictionary[T int64 | float64 | string](t *testing.T, name string, d []T) {
	t.Helper()
	if len(d) < 2 || len(d) > 4096 || !sort.SliceIsSorted(d, func(i, j int) bool { return d[i] < d[j] }) ||
		len(slices.Compact(slices.Clone(d))) < len(d) {
		t.Errorf("%s: values %v: want 2 to 4096, ascending", name, d)
	}
	if x, ok := any(d).([]float64); ok {
		for _, v := range x {
			if v*64 != math.Trunc(v*64) {
				t.Errorf("%s: %v is no multiple of 1/64", name, v)
			}
		}
	}
}

// TestProxies: a proxy's level has much information on the expensive column's level, but not all.
func TestProxies(t *testing.T) {
	p := plan(t, func(*synth.Config) {})
	g := group(p, 0, 20_000)
	for i := range p.Columns {
		c := &p.Columns[i]
		if c.Proxy < 0 {
			continue
		}
		dear := slices.Clone(g.Levels(c.Proxy))
		same, near, most := 0, 0, slices.Max(dear)
		for row, level := range g.Levels(i) {
			if level == dear[row] {
				same++
			}
			if math.Abs(float64(level)-float64(dear[row])) <= float64(most)/4 {
				near++
			}
		}
		told := same // share of equal categories
		if c.Kind == dataset.Numeric {
			told = near
		}
		if told < 15_000 || same > 19_000 {
			t.Errorf("%s shows %s right in %d rows of 20000, near in %d", c.Name, p.Columns[c.Proxy].Name, same, near)
		}
	}
}

// TestBalance: for many seeds, each class has rows and at most 60 percent of them, and the root
// tests an expensive column.
func TestBalance(t *testing.T) {
	const n = 20_000
	for seed := range uint64(40) {
		for _, classes := range []int{2, 3, 5} {
			p := plan(t, func(c *synth.Config) { c.Seed, c.Classes, c.Noise = seed, classes, 0 })
			counts := make([]int, classes)
			for _, class := range group(p, 0, n).Labels() {
				counts[class]++
			}
			if slices.Max(counts)*100 > 60*n || slices.Min(counts) == 0 {
				t.Errorf("seed %d: classes of %v rows", seed, counts)
			}
			hidden := p.Tree(make([]int64, p.CountsLen()))
			if cost := hidden.Nodes[0].Test.Cost; cost < 10 {
				t.Errorf("seed %d: the root asks a column for %v", seed, cost)
			}
		}
	}
}

// TestTree: the hidden tree is a tree.json that routes every row to its class,
// with the right counts.
func TestTree(t *testing.T) {
	for _, change := range []func(c *synth.Config){
		func(*synth.Config) {},
		everything,
		func(c *synth.Config) { c.Numeric, c.Categorical, c.Depth = 0, 1, 1 },
		func(c *synth.Config) { c.Numeric, c.Categorical, c.Depth = 1, 0, 3 },
		func(c *synth.Config) { c.Depth, c.Classes, c.Nulls = 9, 40, 0.2 },
		func(c *synth.Config) { c.Nulls = 1 },
		func(c *synth.Config) { c.Duplicates, c.Distinct = 1, 1 },
	} {
		p := plan(t, func(c *synth.Config) { change(c); c.Noise = 0 })
		const n = 3000
		g := group(p, 0, n)
		labels := slices.Clone(g.Labels())
		counts := make([]int64, p.CountsLen())
		g.Count(counts)
		hidden, err := tree.Decode(p.Tree(counts).Encode())
		if err != nil {
			t.Fatal(err)
		}
		if hidden.Nodes[0].Rows != n || hidden.Training.Rows != n {
			t.Errorf("%d rows, want %d", hidden.Nodes[0].Rows, n)
		}
		objects := encoded(p, g, hidden)
		router := hidden.Router()
		for i, class := range labels {
			leaf := &hidden.Nodes[router.Leaf(objects, i)]
			if leaf.Class != int(class) || leaf.RawClassWeights[class] != leaf.Rows {
				t.Fatalf("row %d of class %d ends in a leaf of class %d, weights %v", i, class, leaf.Class,
					leaf.RawClassWeights)
			}
		}
	}
}

// encoded returns a group's rows as objects, with the codes of a tree's features.
func encoded(p *synth.Plan, g *synth.Group, t *tree.Tree) *dataset.Objects {
	o := &dataset.Objects{Codes: make([]dataset.Codes, len(p.Columns))}
	for i := range p.Columns {
		f, d := &t.Features[i], p.Columns[i].Dictionary
		levels, numbers := slices.Clone(g.Levels(i)), []float64(nil)
		if d == nil {
			numbers = g.Numbers(i)
		}
		codes := make([]uint16, len(levels))
		for row, level := range levels {
			code := int(level)
			switch {
			case level == synth.Null:
				code = f.MissingCode()
			case numbers != nil:
				code = f.Bin(numbers[row])
			case f.Kind == dataset.Numeric:
				code = f.Bin(number(d, level))
			}
			codes[row] = uint16(code)
		}
		o.Codes[i].U16 = codes
	}
	return o
}

func number(dictionary any, level uint16) float64 {
	if d, ok := dictionary.([]int64); ok {
		return float64(d[level])
	}
	d, _ := dictionary.([]float64)
	return d[level]
}

func TestValidate(t *testing.T) {
	for flag, change := range map[string]func(c *synth.Config){
		"--rows -1:":                             func(c *synth.Config) { c.Rows = -1 },
		"--rows 0:":                              func(c *synth.Config) { c.Rows = 0 },
		"--numeric -2:":                          func(c *synth.Config) { c.Numeric = -2 },
		"--categorical 10001:":                   func(c *synth.Config) { c.Categorical = 10_001 },
		"--numeric 0 and --categorical 0:":       func(c *synth.Config) { c.Numeric, c.Categorical = 0, 0 },
		"--numeric 9000 and --categorical 9000:": func(c *synth.Config) { c.Numeric, c.Categorical = 9000, 9000 },
		"--classes 0:":                           func(c *synth.Config) { c.Classes = 0 },
		"--classes 1:":                           func(c *synth.Config) { c.Classes = 1 },
		"--classes 17:":                          func(c *synth.Config) { c.Classes = 17 },
		"--depth 0:":                             func(c *synth.Config) { c.Depth = 0 },
		"--depth 13:":                            func(c *synth.Config) { c.Depth = 13 },
		"--duplicates 1.5:":                      func(c *synth.Config) { c.Duplicates = 1.5 },
		"--distinct 0:":                          func(c *synth.Config) { c.Distinct = 0 },
		"--nulls -0.1:":                          func(c *synth.Config) { c.Nulls = -0.1 },
		"--noise NaN:":                           func(c *synth.Config) { c.Noise = math.NaN() },
	} {
		c := synth.Default()
		change(&c)
		if _, err := synth.New(c); err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("got %v, want %q", err, flag)
		}
	}
}
