package pipelines

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// maxCosts bounds a costs file.
const maxCosts = 64 << 20

// costs are the prices that a costs file names.
type costs struct {
	url    string
	digest string // SHA-256 of the file
	lines  []costLine
}

type costLine struct {
	number  int
	feature string
	value   string // of single tests
	single  bool
	cost    float64
}

// readCosts reads a CSV file with the header "feature,cost" or
// "feature,value,cost". columns are the names that a line may have.
func readCosts(ctx context.Context, f *files, url string, columns []string) (*costs, error) {
	c := &costs{url: url}
	if url == "" {
		return c, nil
	}
	b, err := f.store.ReadAll(ctx, url, maxCosts)
	if err != nil {
		return nil, usagef("--costs: %v", err)
	}
	c.digest = digest(b)
	r := csv.NewReader(bytes.NewReader(b))
	header, err := r.Read()
	if err != nil {
		return nil, usagef("--costs %s: expected CSV with the header feature,cost or feature,value,cost: %v", url, err)
	}
	names := strings.Join(header, ",")
	if names != "feature,cost" && names != "feature,value,cost" {
		return nil, usagef("--costs %s: header %q: want feature,cost or feature,value,cost", url, names)
	}
	known := make(map[string]bool, len(columns))
	for _, name := range columns {
		known[name] = true
	}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return c, nil
		}
		if err != nil {
			return nil, usagef("--costs %s: %v", url, err)
		}
		line := costLine{feature: record[0], single: len(record) == 3, value: record[1]}
		line.number, _ = r.FieldPos(0)
		text := record[len(record)-1]
		line.cost, err = strconv.ParseFloat(text, 64)
		if err != nil || !(line.cost > 0) || line.cost > math.MaxFloat32 {
			return nil, c.fault(&line, "cost %q: want a number above 0", text)
		}
		if !known[line.feature] {
			hint := ""
			if n := Nearest(line.feature, columns); n != "" {
				hint = fmt.Sprintf("; did you mean %q?", n)
			}
			return nil, c.fault(&line, "no feature %q%s", line.feature, hint)
		}
		c.lines = append(c.lines, line)
	}
}

func (c *costs) fault(line *costLine, format string, args ...any) error {
	return usagef("--costs %s, line %d: %s", c.url, line.number, fmt.Sprintf(format, args...))
}

// apply sets the costs of features and single tests; those without a line cost
// 1. Lines of columns that are no features, constant ones for example, have no
// effect.
func (c *costs) apply(features []dataset.Feature) error {
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
			f.Cost = line.cost
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
