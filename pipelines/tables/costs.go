package tables

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// maxCosts bounds a file of costs, of cuts or about classes.
const maxCosts = 64 << 20

// Costs are the prices of a configuration, or of the costs file that it names.
type Costs struct {
	settings.Prices

	Digest string // SHA-256 of the file
	url    string
	lines  map[costKey]int // lines of the file
}

type costLine struct {
	number    int
	feature   string
	value     string // of tests for a single value
	single    bool
	cost      float64
	group     string // group of features that share a set-up; empty if none
	groupCost float64

	further, groupFurther map[string]float64 // costs in further currencies
}

// costKey identifies the subject of a line's cost.
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

// parseCost reads a cost. A free test costs 0.
func parseCost(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(x):
		return 0, errNoNumber
	case x < 0:
		return 0, errNegative
	case x > settings.GreatestCost:
		return 0, errGreat
	case x > 0 && x < settings.LeastCost:
		return 0, errSmall
	}
	return x, nil
}

// Problems of a cost, with remedies.
var (
	errNoNumber = errors.New("want a number from 0, which is free")
	errNegative = errors.New("is below 0: want a number from 0, which is free")
	errGreat    = fmt.Errorf("is above %v: count all costs in a larger unit", settings.GreatestCost)
	errSmall    = fmt.Errorf("is above 0 and below %v: count all costs in a smaller unit, or write 0 for what is free",
		settings.LeastCost)
)

// ReadCosts returns the prices of a training, with the costs of the CSV file that it names, which begins with one of
// settings.CostHeaders. columns are the names that a line may have.
func ReadCosts(ctx context.Context, f *source.Files, t *config.Train, columns []string) (*Costs, error) {
	url := t.CostsFile
	c := &Costs{Prices: t.Prices, url: url, lines: make(map[costKey]int)}
	if url == "" {
		return c, c.checkNames(columns)
	}
	c.Costs = nil
	c.ValueCosts = nil
	c.Groups = nil
	c.Further = nil
	b, err := tableFile(ctx, f, "costs", url)
	if err != nil {
		return nil, err
	}
	c.Digest = fileDigest(b)
	known := make(map[string]bool, len(columns))
	for _, name := range columns {
		known[name] = true
	}
	groups := make(map[string]*costLine)
	headers, err := costHeaders(b)
	if err != nil {
		return nil, usage.Errorf("--costs %s, line 1: %v", url, err)
	}
	err = eachLine(b, "costs", url, headers, func(number int, header, record []string) error {
		line, err := c.parse(number, header, record)
		if err != nil {
			return err
		}
		if !known[line.feature] {
			return c.fault(line, "no feature %q%s", line.feature, setting.Near(line.feature, columns))
		}
		key := costKey{line.feature, line.value, line.single}
		if first, ok := c.lines[key]; ok {
			return c.fault(line, "%s has a cost by line %d already: keep one of the two lines", key, first)
		}
		if first := groups[line.group]; first != nil && (first.groupCost != line.groupCost || !maps.Equal(first.groupFurther, line.groupFurther)) {
			return c.fault(line, "group_cost %s: the group %q costs %s by line %d; want one price for all of a group",
				line.ofGroup(), line.group, first.ofGroup(), first.number)
		}
		groups[line.group] = line
		c.lines[key] = line.number
		c.add(line)
		return nil
	})
	if err == nil && slices.Contains(c.FurtherUnits(), t.CostUnit) {
		err = usage.Errorf("--costs %s: the column %q has the name of the --cost_unit, in which the column cost is: choose another name", url,
			t.CostUnit)
	}
	return c, err
}

// ofGroup writes what the group of a line costs.
func (l *costLine) ofGroup() string {
	list := []string{settings.Spelled(l.groupCost)}
	for _, unit := range slices.Sorted(maps.Keys(l.groupFurther)) {
		list = append(list, settings.Spelled(l.groupFurther[unit])+" "+unit)
	}
	return strings.Join(list, ", ")
}

// ofGroups begins the name of the column of a group's costs in a further currency.
const ofGroups = "group_"

// costHeaders returns the first lines that a costs file may have, with its own if further columns, each named by its
// currency, follow the columns of a file with costs by feature. An error names the first further column that is none.
func costHeaders(b []byte) ([]string, error) {
	list := settings.CostHeaders()
	header, err := newCSV(b).Read()
	at := 0
	for _, known := range list {
		if columns := strings.Split(known, ","); !strings.Contains(known, "value") && err == nil && len(header) > len(columns) &&
			slices.Equal(header[:len(columns)], columns) {
			at = len(columns)
		}
	}
	if at == 0 || slices.Contains(list, strings.Join(header, ",")) {
		return list, nil
	}
	units := 0
	for i, column := range header[at:] {
		unit, group := strings.CutPrefix(column, ofGroups)
		switch {
		case column == "value" || column == "group" || column == ofGroups+"cost":
			return list, nil
		case slices.Contains(header[:at+i], column):
			return nil, fmt.Errorf("the column %q is there twice: leave one out", column)
		case group && at < 4:
			return nil, fmt.Errorf("the column %q has prices of groups: want it after %s", column, list[1])
		case group && !slices.Contains(header[at:], unit):
			return nil, fmt.Errorf("the column %q has no column %q next to it, with the prices of the tests: add one, with 0 where "+
				"there is no price", column, unit)
		}
		if err := dataset.CheckUnit(column); err != nil {
			return nil, fmt.Errorf("column %d names a further currency: %w", at+i+1, err)
		}
		if !group {
			units++
		}
	}
	if units > dataset.MostFurther {
		return nil, fmt.Errorf("%d columns of further currencies: want at most %d", units, dataset.MostFurther)
	}
	return append(list, strings.Join(header, ",")), nil
}

// checkNames checks that all features with prices are among the columns.
func (c *Costs) checkNames(columns []string) error {
	for _, name := range slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Values(c.Features()))...))) {
		if !slices.Contains(columns, name) {
			return usage.Errorf("--costs: no feature %q%s", name, setting.Hint(name, columns))
		}
	}
	return nil
}

// add adds the cost of a line.
func (c *Costs) add(line *costLine) {
	if line.single {
		if c.ValueCosts == nil {
			c.ValueCosts = make(map[string]map[string]float64)
		}
		values := c.ValueCosts[line.feature]
		set(&values, line.value, line.cost)
		c.ValueCosts[line.feature] = values
		return
	}
	set(&c.Costs, line.feature, line.cost)
	for unit, cost := range line.further {
		if c.Further == nil {
			c.Further = make(map[string]map[string]float64)
		}
		costs := c.Further[unit]
		set(&costs, line.feature, cost)
		c.Further[unit] = costs
	}
	if line.group == "" {
		return
	}
	at := slices.IndexFunc(c.Groups, func(g settings.CostGroup) bool { return g.Name == line.group })
	if at < 0 {
		at = len(c.Groups)
		c.Groups = append(c.Groups, settings.CostGroup{Name: line.group, Cost: line.groupCost, Further: line.groupFurther})
	}
	c.Groups[at].Features = append(c.Groups[at].Features, line.feature)
}

func tableFile(ctx context.Context, f *source.Files, flag, url string) ([]byte, error) {
	b, err := f.Store.ReadAll(ctx, url, maxCosts)
	if err != nil {
		return nil, usage.Errorf("--%s: %v", flag, err)
	}
	return b, nil
}

// DigestOf returns the digest of the file that a flag names; empty if there is no file.
func DigestOf(ctx context.Context, f *source.Files, flag, url string) (string, error) {
	if url == "" {
		return "", nil
	}
	b, err := tableFile(ctx, f, flag, url)
	if err != nil {
		return "", err
	}
	return fileDigest(b), nil
}

// parse reads the fields of a line.
func (c *Costs) parse(number int, header, record []string) (*costLine, error) {
	line := &costLine{number: number}
	groupCosts := make(map[string]string) // by column
	costOf := func(column, text string) (float64, error) {
		cost, err := parseCost(text)
		if err != nil {
			return 0, c.fault(line, "%s %q: %v", column, text, err)
		}
		return cost, nil
	}
	for i, text := range record {
		switch header[i] {
		case "feature":
			line.feature = text
		case "value":
			line.value = text
			line.single = true
		case "cost":
			var err error
			if line.cost, err = costOf("cost", text); err != nil {
				return nil, err
			}
		case "group":
			line.group = text
			if strings.TrimSpace(text) != text {
				return nil, c.fault(line, "the group %q begins or ends with a blank, and would be another group than %q: leave the blank out",
					text, strings.TrimSpace(text))
			}
		default:
			if strings.HasPrefix(header[i], ofGroups) {
				groupCosts[header[i]] = text
				continue
			}
			cost, err := costOf(header[i], text)
			if err != nil {
				return nil, err
			}
			set(&line.further, header[i], cost)
		}
	}
	for _, column := range slices.Sorted(maps.Keys(groupCosts)) {
		text := groupCosts[column]
		if line.group == "" {
			if text != "" {
				return nil, c.fault(line, "%s %q of no group: name the group, or leave both empty", column, text)
			}
			continue
		}
		cost, err := parseCost(text)
		switch unit := strings.TrimPrefix(column, ofGroups); {
		case err != nil:
			return nil, c.fault(line, "%s %q of the group %q: %v", column, text, line.group, err)
		case column == "group_cost":
			line.groupCost = cost
		default:
			set(&line.groupFurther, unit, cost)
		}
	}
	return line, nil
}

func (c *Costs) fault(line *costLine, format string, args ...any) error {
	return usage.Errorf("--costs %s, line %d: %s", c.url, line.number, fmt.Sprintf(format, args...))
}

// Apply sets the prices of features, as settings.Prices.Apply does. Lines for columns that are not features, such as constant
// columns, have no effect.
func (c *Costs) Apply(features []dataset.Feature, weight int64) error {
	err := c.Prices.Apply(features, weight)
	var fault *dataset.DataError
	switch {
	case !errors.As(err, &fault):
		return err
	case c.url == "":
		return usage.Errorf("--costs: %s", fault.Problem)
	default:
		at := costLine{number: c.lines[costKey{fault.Column, fault.Value, true}]}
		return c.fault(&at, "%s", fault.Problem)
	}
}

func fileDigest(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }
