package tables

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// maxCosts bounds a costs file.
const maxCosts = 64 << 20

// RepeatFull is the --repeat_cost of the paper: each test on a path is paid.
const RepeatFull = "full"

// Costs are the prices that a costs file names.
type Costs struct {
	url    string
	Digest string // SHA-256 of the file
	lines  []costLine
}

type costLine struct {
	number    int
	feature   string
	value     string // of single tests
	single    bool
	cost      float64
	group     string // features that share a set-up; empty: none
	groupCost float64
}

// costKey is what a line gives the cost of.
type costKey struct {
	feature, value string
	single         bool
}

func (k costKey) String() string {
	if k.single {
		return fmt.Sprintf("the value %q of the feature %q", k.value, k.feature)
	}
	return fmt.Sprintf("the feature %q", k.feature)
}

// The least and the greatest cost above 0.
const (
	leastCost    = 1e-30
	greatestCost = 1e30
)

// parseCost reads a cost. A free test costs 0.
func parseCost(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(x):
		return 0, errNoNumber
	case x < 0:
		return 0, errNegative
	case x > greatestCost:
		return 0, errGreat
	case x > 0 && x < leastCost:
		return 0, errSmall
	}
	return x, nil
}

// What is wrong with a cost, and what to do.
var (
	errNoNumber = errors.New("want a number from 0, which is free")
	errNegative = errors.New("is below 0: want a number from 0, which is free")
	errGreat    = fmt.Errorf("is above %v: count all costs in a larger unit", greatestCost)
	errSmall    = fmt.Errorf("is above 0 and below %v: count all costs in a smaller unit, or write 0 for what is free",
		leastCost)
)

// costHeaders are the first lines that a costs file may have.
func costHeaders() []string {
	return []string{"feature,cost", "feature,cost,group,group_cost", "feature,value,cost"}
}

// ReadCosts reads a CSV file with one of costHeaders. columns are the names that
// a line may have.
func ReadCosts(ctx context.Context, f *source.Files, url string, columns []string) (*Costs, error) {
	c := &Costs{url: url}
	if url == "" {
		return c, nil
	}
	b, err := costsFile(ctx, f, url)
	if err != nil {
		return nil, err
	}
	c.Digest = fileDigest(b)
	r := newCSV(b)
	header, err := r.Read()
	wanted := strings.Join(costHeaders(), " or ")
	if err != nil {
		return nil, usage.Errorf("--costs %s: %s", url, headerProblem(header, err, wanted))
	}
	if !slices.Contains(costHeaders(), strings.Join(header, ",")) {
		return nil, usage.Errorf("--costs %s: %s", url, headerProblem(header, nil, wanted))
	}
	known := make(map[string]bool, len(columns))
	for _, name := range columns {
		known[name] = true
	}
	groups, before := make(map[string]*costLine), make(map[costKey]int)
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return c, nil
		}
		if err != nil {
			return nil, usage.Errorf("--costs %s, %s", url, lineProblem(err, len(header)))
		}
		line, err := c.parse(header, record, r)
		if err != nil {
			return nil, err
		}
		if !known[line.feature] {
			hint := ""
			if n := naming.Nearest(line.feature, columns); n != "" {
				hint = fmt.Sprintf("; did you mean %q?", n)
			}
			return nil, c.fault(line, "no feature %q%s", line.feature, hint)
		}
		key := costKey{line.feature, line.value, line.single}
		if first, ok := before[key]; ok {
			return nil, c.fault(line, "%s has a cost by line %d already: keep one of the two lines", key, first)
		}
		before[key] = line.number
		if first := groups[line.group]; first != nil && first.groupCost != line.groupCost {
			return nil, c.fault(line, "group_cost %v: the group %q costs %v by line %d; want one price for all of a group",
				line.groupCost, line.group, first.groupCost, first.number)
		}
		groups[line.group] = line
		c.lines = append(c.lines, *line)
	}
}

func costsFile(ctx context.Context, f *source.Files, url string) ([]byte, error) {
	b, err := read(ctx, f, url)
	if err != nil {
		return nil, usage.Errorf("--costs: %v", err)
	}
	return b, nil
}

// DigestOf returns the digest of a file of costs; empty: there is no file.
func DigestOf(ctx context.Context, f *source.Files, url string) (string, error) {
	if url == "" {
		return "", nil
	}
	b, err := costsFile(ctx, f, url)
	if err != nil {
		return "", err
	}
	return fileDigest(b), nil
}

// parse reads the fields of a line.
func (c *Costs) parse(header, record []string, r *csv.Reader) (*costLine, error) {
	line := new(costLine)
	line.number, _ = r.FieldPos(0)
	groupCost := ""
	for i, text := range record {
		switch header[i] {
		case "feature":
			line.feature = text
		case "value":
			line.value, line.single = text, true
		case "cost":
			var err error
			if line.cost, err = parseCost(text); err != nil {
				return nil, c.fault(line, "cost %q: %v", text, err)
			}
		case "group":
			line.group = text
		default:
			groupCost = text
		}
	}
	if line.group == "" {
		if groupCost != "" {
			return nil, c.fault(line, "group_cost %q of no group: name the group, or leave both empty", groupCost)
		}
		return line, nil
	}
	var err error
	if line.groupCost, err = parseCost(groupCost); err != nil {
		return nil, c.fault(line, "group_cost %q of the group %q: %v", groupCost, line.group, err)
	}
	return line, nil
}

func (c *Costs) fault(line *costLine, format string, args ...any) error {
	return usage.Errorf("--costs %s, line %d: %s", c.url, line.number, fmt.Sprintf(format, args...))
}

// Apply sets the costs and groups of features and the costs of single tests; those without a line cost
// 1. Lines of columns that are no features, constant ones for example, have no
// effect.
func (c *Costs) Apply(features []dataset.Feature) error {
	byName := make(map[string]*dataset.Feature, len(features))
	for i := range features {
		features[i].Cost = 1
		byName[features[i].Name] = &features[i]
	}
	for i := range c.lines {
		line := &c.lines[i]
		f := byName[line.feature]
		switch {
		case f == nil:
		case !line.single:
			f.Cost, f.Group, f.GroupCost = line.cost, line.group, line.groupCost
		case f.Kind != dataset.Categorical:
			return c.fault(line, "feature %q is numeric, only the values of categorical features have tests of their own", f.Name)
		case !slices.Contains(f.Values, line.value):
			return c.fault(line, "feature %q has no value %q among the training rows", f.Name, line.value)
		default:
			if f.ValueCosts == nil {
				f.ValueCosts = make(map[string]float64)
			}
			f.ValueCosts[line.value] = line.cost
		}
	}
	return nil
}

// Differ reports whether tests of the features have different prices: those of single values,
// of a group, or of the features. A feature without a line costs 1.
func (c *Costs) Differ(features []string) bool {
	costs := make(map[string]float64, len(features))
	for i := range c.lines {
		l := &c.lines[i]
		if l.single {
			return true
		}
		costs[l.feature] = l.cost
	}
	return c.Grouped() || grid.Differ(costs, features)
}

// Grouped reports whether a group of features has a price.
func (c *Costs) Grouped() bool {
	return slices.ContainsFunc(c.lines, func(l costLine) bool { return l.group != "" && l.groupCost > 0 })
}

func fileDigest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// OfFeatures returns the costs without those of single values, of which a sample
// need not have each.
func (c *Costs) OfFeatures() *Costs {
	return &Costs{lines: slices.DeleteFunc(slices.Clone(c.lines), func(l costLine) bool { return l.single }), url: c.url}
}
