package config

import (
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
)

// This file has the texts of settings of a Training.

// Words for a value that is left out, and for a value that the data decide.
const (
	none = "none"
	auto = "auto"

	repeatFull           = "full" // each test on a path is paid, as in the paper
	balancedClassWeights = "balanced"
)

// listOf is a setting of several values with names. A list of the word alone is empty.
func listOf[T fmt.Stringer](to *[]T, word string, parse func(string) (T, error)) setting.Value {
	return setting.Choices(to, setting.EachBy(word, parse), setting.SpellEach(word, T.String))
}

// whole and number are settings of numbers whose range Settings.Faults checks.
func whole[T int | int64 | uint64](to *T, name string) setting.Value {
	return setting.Unchecked(setting.Whole(to, settings.RangeOf(name)))
}

func number(to *float64, name string) setting.Value {
	return setting.Unchecked(setting.Number(to, settings.RangeOf(name)))
}

// numbers is a setting of several numbers.
func numbers(to *[]float64, word, name string) setting.Value {
	parse := func(text string) (float64, error) {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, fmt.Errorf("want a number %s", settings.RangeOf(name))
		}
		return x, nil
	}
	return setting.Choices(to, setting.EachBy(word, parse), setting.SpellEach(word, spell))
}

// parseCut parses a cut of a label of numbers.
func parseCut(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, errors.New("want a number")
	}
	if dataset.LosesDigits(text, x) {
		return 0, fmt.Errorf("want a number of at most 2^53, or one that floating point holds exactly, such as %s", dataset.SpellNumber(x))
	}
	return x + 0, nil // -0 becomes 0
}

// spell spells a number so that it is read back exactly.
func spell(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// oneOfTwo is a setting that has a name for false and another name for true.
func oneOfTwo(to *bool, no, yes string) setting.Value {
	wants := setting.Alternatives([]string{no, yes})
	parse := func(text string) (bool, error) {
		if text != no && text != yes {
			return false, errors.New("want " + wants)
		}
		return text == yes, nil
	}
	return setting.Typed(to, wants, parse, func(on bool) string {
		if on {
			return yes
		}
		return no
	})
}

// parseCertificate reads --certificate. Earlier versions had two modes of certificates.
func parseCertificate(text string) (bool, error) {
	modes := []string{none, auto, "quick", "full"}
	if !slices.Contains(modes, text) {
		return false, errors.New("want " + setting.Alternatives(modes))
	}
	return text != none, nil
}

func spellCertificate(on bool) string {
	if on {
		return auto
	}
	return none
}

func parseAlpha(text string) (*float64, error) {
	if text == auto {
		return nil, nil //nolint:nilnil // Select decides
	}
	alpha, err := strconv.ParseFloat(text, 64)
	if err != nil {
		err = fmt.Errorf("want a number %s", settings.RangeOf("alpha"))
	}
	return &alpha, err
}

func spellAlpha(alpha *float64) string {
	if alpha == nil {
		return auto
	}
	return spell(*alpha)
}

// parseLeast reads CLASS=SHARE.
func parseLeast(text string) (settings.LeastShare, error) {
	if text == "" {
		return settings.LeastShare{}, nil
	}
	at := strings.LastIndex(text, "=")
	share, err := strconv.ParseFloat(text[at+1:], 64)
	if at < 1 || err != nil || share <= 0 {
		return settings.LeastShare{}, errors.New("want CLASS=SHARE, such as ill=0.95")
	}
	return settings.LeastShare{Class: text[:at], Share: share}, nil
}

func spellLeast(x settings.LeastShare) string {
	if x.Share == 0 {
		return ""
	}
	return x.Class + "=" + spell(x.Share)
}

func parseMadeUp(text string) (*int64, error) {
	if text == auto || text == "-1" { // "-1" was auto in version 0.3
		return nil, nil //nolint:nilnil // the number of training objects decides
	}
	rows, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		err = fmt.Errorf("want %s or a whole number %s", auto, settings.RangeOf("made_up_rows"))
	}
	return &rows, err
}

func spellMadeUp(rows *int64) string {
	if rows == nil {
		return auto
	}
	return strconv.FormatInt(*rows, 10)
}

// parseTolerance reads a number, or auto.
func parseTolerance(items []string) (*float64, error) {
	if slices.Equal(items, []string{auto}) {
		return nil, nil //nolint:nilnil // the limits and the models decide
	}
	x, err := strconv.ParseFloat(strings.Join(items, ","), 64)
	if err != nil {
		err = fmt.Errorf("want %s or a number %s", auto, settings.RangeOf("tolerance"))
	}
	return &x, err
}

func spellTolerance(x *float64) []string {
	if x == nil {
		return []string{auto}
	}
	return []string{spell(*x)}
}

// limits is a setting of a limit on costs, and of limits in further currencies, such as 20 or minutes=30 or both. Only the
// limits in the currencies that are named change; 0 removes a limit.
func limits(to *float64, further *map[string]float64, name string) setting.Value {
	named := false // whether a text has named the first currency
	parse := func(items []string) (float64, error) {
		if len(items) == 0 {
			return 0, fmt.Errorf("want a number %s, or CURRENCY=NUMBER", settings.RangeOf(name))
		}
		limit := *to
		list := maps.Clone(*further)
		seen := make(map[string]bool)
		for _, text := range items {
			at := strings.LastIndexByte(text, '=')
			unit := text[:max(at, 0)]
			x, err := strconv.ParseFloat(text[at+1:], 64)
			switch {
			case err != nil || at == 0:
				return 0, &setting.ItemError{Item: text, Err: fmt.Errorf("want a number %s, or CURRENCY=NUMBER", settings.RangeOf(name))}
			case seen[unit] && at < 0:
				return 0, &setting.ItemError{Item: text, Err: errors.New("a second limit in the first currency: want one in each currency")}
			case seen[unit]:
				return 0, &setting.ItemError{Item: text, Err: fmt.Errorf("a second limit in %s: want one in each currency", unit)}
			case at < 0:
				limit = x
			case list == nil:
				list = map[string]float64{unit: x}
			default:
				list[unit] = x
			}
			seen[unit] = true
		}
		named = named || seen[""]
		*further = list
		return limit, nil
	}
	spellAll := func(limit float64) []string {
		var items []string
		if limit != 0 || named || len(*further) == 0 {
			items = append(items, spell(limit))
		}
		for _, unit := range slices.Sorted(maps.Keys(*further)) {
			items = append(items, unit+"="+spell((*further)[unit]))
		}
		return items
	}
	return setting.Amended(to, parse, spellAll, further)
}

// parseBins reads a number of bins, or auto.
func parseBins(items []string) (int, error) {
	if slices.Equal(items, []string{auto}) {
		return 0, nil
	}
	n, err := strconv.Atoi(strings.Join(items, ","))
	if err != nil {
		return 0, fmt.Errorf("want a number from 2 to %d, or auto", settings.MaxBins)
	}
	return n, nil
}

func spellBins(bins int) []string {
	if bins == 0 {
		return []string{auto}
	}
	return []string{strconv.Itoa(bins)}
}

// parseMonotone reads constraints such as age=+1 or income=-1.
func parseMonotone(items []string) (map[string]int8, error) {
	var constraints map[string]int8
	for _, text := range items {
		at := strings.LastIndexByte(text, '=')
		sign, err := strconv.ParseInt(text[at+1:], 10, 8)
		if at < 0 || err != nil || sign != 1 && sign != -1 {
			return nil, &setting.ItemError{Item: text, Err: errors.New("want FEATURE=+1 or FEATURE=-1")}
		}
		if _, twice := constraints[text[:at]]; twice {
			return nil, &setting.ItemError{Item: text, Err: fmt.Errorf("the feature %q is named twice", text[:at])}
		}
		if constraints == nil {
			constraints = make(map[string]int8)
		}
		constraints[text[:at]] = int8(sign)
	}
	return constraints, nil
}

func spellMonotone(constraints map[string]int8) []string {
	var items []string
	for _, feature := range slices.Sorted(maps.Keys(constraints)) {
		items = append(items, fmt.Sprintf("%s=%+d", feature, constraints[feature]))
	}
	return items
}

// parseAbsent reads how absent values are read, such as ct=unordered or value, which is for all other features.
func parseAbsent(items []string) (map[string]settings.Absence, error) {
	var absent map[string]settings.Absence
	for _, text := range items {
		at := strings.LastIndexByte(text, '=')
		feature, rule := text[:max(at, 0)], settings.Absence(text[at+1:])
		_, twice := absent[feature]
		switch {
		case at == 0 || !slices.Contains(settings.Absences(), string(rule)):
			return nil, &setting.ItemError{Item: text, Err: fmt.Errorf("want FEATURE=HOW or HOW, where HOW is %s",
				setting.Alternatives(settings.Absences()))}
		case twice && feature == "":
			return nil, &setting.ItemError{Item: text, Err: errors.New("all other features are named twice")}
		case twice:
			return nil, &setting.ItemError{Item: text, Err: fmt.Errorf("the feature %q is named twice", feature)}
		case absent == nil:
			absent = make(map[string]settings.Absence)
		}
		absent[feature] = rule
	}
	return absent, nil
}

func spellAbsent(absent map[string]settings.Absence) []string {
	var items []string
	for _, feature := range slices.Sorted(maps.Keys(absent)) {
		if feature == "" {
			items = append(items, string(absent[feature]))
		} else {
			items = append(items, feature+"="+string(absent[feature]))
		}
	}
	return items
}

// parseOrdered reads columns with their values, such as size=low,medium,high.
func parseOrdered(items []string) (map[string][]string, error) {
	return parseLists(items, "COLUMN=VALUE,VALUE,.., from the least to the greatest", func(values []string) ([]string, error) { return values, nil })
}

func spellOrdered(ordered map[string][]string) []string {
	return spellLists(ordered, func(values []string) []string { return values })
}

// parseCuts reads --cuts: columns with their cuts, such as age=18,65, or a file.
func (c *Train) parseCuts(items []string) (map[string][]float64, error) {
	file := ""
	if len(items) == 1 && isFile(items[0]) {
		file = items[0]
		items = nil
	}
	cuts, err := parseColumnCuts(items)
	if err == nil {
		c.CutsFile = file
	}
	return cuts, err
}

// isFile reports whether an item is the name of a file, such as cuts.csv or day=1/cuts.csv, not COLUMN=VALUE,VALUE.
func isFile(item string) bool {
	return !strings.Contains(item, "=") && strings.ContainsAny(item, "./") || strings.HasSuffix(item, ".csv")
}

func (c *Train) spellCuts(cuts map[string][]float64) []string {
	if c.CutsFile != "" {
		return []string{c.CutsFile}
	}
	return spellLists(cuts, func(cuts []float64) (values []string) {
		for _, cut := range cuts {
			values = append(values, dataset.SpellNumber(cut))
		}
		return values
	})
}

func parseColumnCuts(items []string) (map[string][]float64, error) {
	return parseLists(items, "COLUMN=NUMBER,NUMBER,.., ascending, or one CSV file feature,cut", func(values []string) (cuts []float64, err error) {
		for _, text := range values {
			cut, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, err
			}
			cuts = append(cuts, cut)
		}
		return cuts, nil
	})
}

// parseLists reads a list of values for each column. wanted describes an item, and parse reads the values of one.
func parseLists[T any](items []string, wanted string, parse func(values []string) ([]T, error)) (map[string][]T, error) {
	var lists map[string][]T
	for _, text := range items {
		column, list, ok := strings.Cut(text, "=")
		values, err := setting.Cut(list)
		var parsed []T
		if err == nil {
			parsed, err = parse(values)
		}
		switch _, twice := lists[column]; {
		case !ok || err != nil || column == "":
			return nil, &setting.ItemError{Item: text, Err: errors.New("want " + wanted)}
		case twice:
			return nil, &setting.ItemError{Item: text, Err: fmt.Errorf("the column %q is named twice", column)}
		case lists == nil:
			lists = make(map[string][]T)
		}
		lists[column] = parsed
	}
	return lists, nil
}

// spellLists writes lists as parseLists reads them.
func spellLists[T any](lists map[string][]T, spell func([]T) []string) []string {
	var items []string
	for _, column := range slices.Sorted(maps.Keys(lists)) {
		items = append(items, column+"="+setting.Join(spell(lists[column])))
	}
	return items
}

// parseSplit reads --split: shares, or the column of --split_column, as earlier versions had it.
func (c *Train) parseSplit(text string) (dataset.Shares, error) {
	if text == "" || text[0] >= '0' && text[0] <= '9' || strings.Contains(text, "/") {
		return dataset.ParseShares(text)
	}
	c.SplitColumn = text
	c.columnInSplit = true
	return c.Split, nil
}

// Deprecated returns notes on settings in the spelling of earlier versions.
func (c *Train) Deprecated() []string {
	if !c.columnInSplit {
		return nil
	}
	return []string{fmt.Sprintf("--split %s names a column: write --split_column %s now", c.SplitColumn, c.SplitColumn)}
}

// parseClassWeights reads --class_weights: none, balanced or a file.
func (c *Train) parseClassWeights(text string) (file string, err error) {
	if c.BalanceClasses = text == balancedClassWeights; c.BalanceClasses || text == none {
		return "", nil
	}
	return text, nil
}

func (c *Train) spellClassWeights(file string) string {
	switch {
	case c.BalanceClasses:
		return balancedClassWeights
	case file == "":
		return none
	default:
		return file
	}
}

// WeighsClasses reports whether training rows are weighed by their classes.
func (c *Train) WeighsClasses() bool { return c.Weighs() || c.ClassWeightsFile != "" }
