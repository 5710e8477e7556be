package tables

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// ReadClasses returns the class settings of a configuration, including those in files. Errors are
// usage errors.
func ReadClasses(ctx context.Context, from *source.Files, c *config.Train) (Classes, error) {
	s := Classes{PerClass: c.PerClass, files: make(map[string]*classFile)}
	weights := &classFile{flag: "class_weights", header: "class,weight", instead: "none, balanced", url: c.ClassWeightsFile}
	priors := &classFile{flag: "priors", header: "class,prior", positive: true, instead: "CLASS=P,..", url: c.PriorsFile}
	costs := &classFile{
		flag: "error_costs", header: "actual,predicted,cost", url: c.ErrorCostsFile, most: settings.GreatestCost,
		negative: ": for a gain, add the same number to all costs of the actual class",
	}
	if priors.url != "" {
		s.Priors = make(map[string]float64)
	}
	if costs.url != "" {
		s.ErrorCosts = []settings.ErrorCost{}
	}
	var errs []error
	for _, f := range []struct {
		*classFile

		read func(context.Context, *source.Files, func(classes []string, x float64)) error
		set  func(classes []string, x float64)
	}{
		{weights, weights.read, func(classes []string, x float64) { set(&s.ClassWeights, classes[0], x) }},
		{priors, priors.readPriors, func(classes []string, x float64) { set(&s.Priors, classes[0], x) }},
		{costs, costs.read, func(classes []string, x float64) {
			s.ErrorCosts = append(s.ErrorCosts, settings.ErrorCost{Actual: classes[0], Predicted: classes[1], Cost: x})
		}},
	} {
		if f.url != "" {
			s.files[f.flag] = f.classFile
			errs = append(errs, f.read(ctx, from, f.set))
		}
	}
	return s, cmp.Or(errs...)
}

// ReadErrorCosts returns the error costs in a CSV file, by actual and then by predicted class. Errors are usage errors.
func ReadErrorCosts(ctx context.Context, from *source.Files, url string, classes []string) ([][]float64, error) {
	read, err := ReadClasses(ctx, from, &config.Train{Tables: config.Tables{ErrorCostsFile: url}})
	if err != nil {
		return nil, err
	}
	return read.ErrorCostsOf(classes)
}

// set sets a number in a map, and creates the map if it is nil.
func set(values *map[string]float64, class string, x float64) {
	if *values == nil {
		*values = make(map[string]float64)
	}
	(*values)[class] = x
}

// classFile is a file with numbers for classes, or for pairs of classes, given by a flag. The
// classes are named, because they are known only after the rows have been read.
type classFile struct {
	flag     string
	header   string  // names of the columns of classes, then of the value
	positive bool    // whether the value 0 is invalid
	most     float64 // greatest value; 0: settings.GreatestClassValue
	negative string  // what to do about a value below 0
	instead  string  // values of the flag other than a file

	url    string         // empty if the values are in the flag
	digest string         // SHA-256 of the file; empty if there is no file
	lines  map[string]int // by classes: see keyOf
}

// keyOf returns the key of the classes of a value.
func keyOf(classes []string) string { return fmt.Sprintf("%q", classes) }

// read reads a CSV file.
func (f *classFile) read(ctx context.Context, from *source.Files, set func([]string, float64)) error {
	b, err := from.Store.ReadAll(ctx, f.url, maxCosts)
	if err != nil {
		hint := ""
		if f.instead != "" {
			hint = cmp.Or(setting.Near(f.url, strings.Split(f.instead, ", ")), fmt.Sprintf("; want %s or a CSV file", f.instead))
		}
		return usage.Errorf("--%s: %v%s", f.flag, err, hint)
	}
	f.digest = fileDigest(b)
	return eachLine(b, f.flag, f.url, []string{f.header}, func(line int, _, record []string) error {
		return f.add(line, record[:len(record)-1], record[len(record)-1], set)
	})
}

// name returns the name of a value in the file.
func (f *classFile) name() string { return f.header[strings.LastIndexByte(f.header, ',')+1:] }

// add checks and sets a value.
func (f *classFile) add(line int, classes []string, text string, set func([]string, float64)) error {
	place := ""
	if f.url != "" {
		place = fmt.Sprintf(" %s, line %d", f.url, line)
	}
	most := cmp.Or(f.most, settings.GreatestClassValue)
	within := settings.Between(0, most)
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !within.Has(x) || f.positive && x == 0 {
		from := "from 0"
		if f.positive {
			from = "above 0 and up"
		}
		hint := ""
		if x < 0 {
			hint = f.negative
		}
		return usage.Errorf("--%s%s: %s %q: want a number %s to %s%s", f.flag, place, f.name(), text, from,
			strconv.FormatFloat(most, 'g', 7, 64), hint)
	}
	if f.lines == nil {
		f.lines = make(map[string]int)
	}
	key := keyOf(classes)
	if _, seen := f.lines[key]; seen {
		return usage.Errorf("--%s%s: %s has a %s already", f.flag, place, key, f.name())
	}
	f.lines[key] = line
	set(classes, x)
	return nil
}

// readPriors reads --priors: CLASS=P,.. or a file.
func (f *classFile) readPriors(ctx context.Context, from *source.Files, set func([]string, float64)) error {
	items := strings.Split(f.url, ",")
	for _, item := range items {
		at := strings.LastIndex(item, "=")
		if at < 0 || strings.Contains(item[at+1:], "/") || strings.HasSuffix(item[at+1:], ".csv") { // folders may be called name=value
			return f.read(ctx, from, set)
		}
	}
	f.url = ""
	for _, item := range items {
		at := strings.LastIndex(item, "=")
		if err := f.add(0, []string{item[:at]}, item[at+1:], set); err != nil {
			return err
		}
	}
	return nil
}
