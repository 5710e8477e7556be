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

// applyCosts sets the costs of features and of single tests from a CSV file
// with the header "feature,cost" or "feature,value,cost"; tests without a
// line cost 1. known lists the columns that a line may name.
func applyCosts(ctx context.Context, f *files, url string, features []dataset.Feature, known []string) error {
	for i := range features {
		features[i].Cost = 1
	}
	if url == "" {
		return nil
	}
	b, err := f.store.ReadAll(ctx, url, maxCosts)
	if err != nil {
		return usagef("--costs: %v", err)
	}
	r := csv.NewReader(bytes.NewReader(b))
	header, err := r.Read()
	if err != nil {
		return usagef("--costs %s: expected CSV with the header feature,cost or feature,value,cost: %v", url, err)
	}
	single := false
	switch strings.Join(header, ",") {
	case "feature,cost":
	case "feature,value,cost":
		single = true
	default:
		return usagef("--costs %s: header %q: want feature,cost or feature,value,cost", url, strings.Join(header, ","))
	}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return usagef("--costs %s: %v", url, err)
		}
		if err := applyCost(features, known, record, single); err != nil {
			line, _ := r.FieldPos(0)
			return usagef("--costs %s, line %d: %v", url, line, err)
		}
	}
}

func applyCost(features []dataset.Feature, known, record []string, single bool) error {
	name, text := record[0], record[len(record)-1]
	cost, err := strconv.ParseFloat(text, 64)
	if err != nil || !(cost > 0) || cost > math.MaxFloat32 {
		return fmt.Errorf("cost %q: want a number above 0", text)
	}
	at := slices.IndexFunc(features, func(f dataset.Feature) bool { return f.Name == name })
	if at < 0 {
		if slices.Contains(known, name) {
			return nil // a column that is no feature here: ignored or constant
		}
		if n := nearest(name, known); n != "" {
			return fmt.Errorf("no feature %q; did you mean %q?", name, n)
		}
		return fmt.Errorf("no feature %q", name)
	}
	f := &features[at]
	if !single {
		f.Cost = cost
		return nil
	}
	if f.Kind != dataset.Categorical {
		return fmt.Errorf("feature %q is numeric, only the values of categorical features have tests of their own", name)
	}
	if !slices.Contains(f.Values, record[1]) {
		return fmt.Errorf("feature %q has no value %q among the training rows", name, record[1])
	}
	if f.ValueCosts == nil {
		f.ValueCosts = make(map[string]float64)
	}
	f.ValueCosts[record[1]] = cost
	return nil
}
