package tables

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// classValues are numbers that a flag gives to classes, or to pairs of them, by
// their names: the classes are known only once the rows have been read.
type classValues struct {
	flag, url string
	digest    string // SHA-256 of the file; empty: there is none
	values    []classValue
	seen      map[string]bool // classes that have a value
}

type classValue struct {
	line    int // of the file; 0: of the flag itself
	classes []string
	value   float64
}

// classFile is the form of a file of values.
type classFile struct {
	flag     string
	header   string // of the classes' columns, then of the value's
	positive bool   // there is no value 0
	instead  string // what the flag may be but a file
}

// maxClassValue bounds weights and costs so that their products with those of rows
// can be counted.
const maxClassValue = 1e6

func classWeightsFile() classFile {
	return classFile{flag: "class_weights", header: "class,weight", instead: "none, balanced"}
}

func priorsFile() classFile {
	return classFile{flag: "priors", header: "class,prior", positive: true, instead: "CLASS=P,.."}
}

func errorCostsFile() classFile {
	return classFile{flag: "error_costs", header: "actual,predicted,cost"}
}

// read reads a CSV file.
func (f *classFile) read(ctx context.Context, from *source.Files, url string) (*classValues, error) {
	v := &classValues{flag: f.flag, url: url}
	b, err := read(ctx, from, url)
	if err != nil {
		hint := ""
		if f.instead != "" {
			hint = fmt.Sprintf("; want %s or a CSV file", f.instead)
			if near := naming.Nearest(url, strings.Split(f.instead, ", ")); near != "" {
				hint = fmt.Sprintf("; did you mean %q?", near)
			}
		}
		return nil, usage.Errorf("--%s: %v%s", f.flag, err, hint)
	}
	v.digest = fileDigest(b)
	r := newCSV(b)
	header, err := r.Read()
	if err != nil || strings.Join(header, ",") != f.header {
		return nil, usage.Errorf("--%s %s: %s", f.flag, url, headerProblem(header, err, f.header))
	}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return v, nil
		}
		if err != nil {
			return nil, usage.Errorf("--%s %s, %s", f.flag, url, lineProblem(err, len(header)))
		}
		line, _ := r.FieldPos(0)
		if err := f.add(v, line, record[:len(record)-1], record[len(record)-1]); err != nil {
			return nil, err
		}
	}
}

// name returns what the file calls a value.
func (f *classFile) name() string { return f.header[strings.LastIndexByte(f.header, ',')+1:] }

// add checks and adds a value.
func (f *classFile) add(v *classValues, line int, classes []string, text string) error {
	one := classValue{line: line, classes: classes}
	var err error
	one.value, err = strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(one.value >= 0 && one.value <= maxClassValue) || f.positive && one.value == 0 {
		from := "from 0"
		if f.positive {
			from = "above 0 and up"
		}
		return v.fault(&one, "%s %q: want a number %s to %d", f.name(), text, from, int(maxClassValue))
	}
	if v.seen == nil {
		v.seen = make(map[string]bool)
	}
	key := fmt.Sprintf("%q", classes)
	if v.seen[key] {
		return v.fault(&one, "%s has a %s already", key, f.name())
	}
	v.seen[key] = true
	v.values = append(v.values, one)
	return nil
}

func (v *classValues) fault(at *classValue, format string, args ...any) error {
	place := ""
	if v.url != "" {
		place = fmt.Sprintf(" %s, line %d", v.url, at.line)
	}
	return usage.Errorf("--%s%s: %s", v.flag, place, fmt.Sprintf(format, args...))
}

// each calls set for each value with the numbers of its classes. A class that is
// not among those of the label is an error unless some may be absent.
func (v *classValues) each(classes []string, absent bool, set func(at []int, x float64)) error {
	numbers := make(map[string]int, len(classes))
	for i, name := range classes {
		numbers[name] = i
	}
next:
	for i := range v.values {
		one := &v.values[i]
		at := make([]int, len(one.classes))
		for j, name := range one.classes {
			number, ok := numbers[name]
			if !ok && absent {
				continue next
			}
			if !ok {
				return v.fault(one, "the label has no class %q%s", name, setting.Hint(name, classes))
			}
			at[j] = number
		}
		set(at, one.value)
	}
	return nil
}

// readPriors reads --priors: CLASS=P,.. or a file.
func readPriors(ctx context.Context, from *source.Files, flag string) (*classValues, error) {
	f := priorsFile()
	items := strings.Split(flag, ",")
	v := &classValues{flag: f.flag}
	for _, item := range items {
		at := strings.LastIndex(item, "=")
		if at < 0 {
			return f.read(ctx, from, flag)
		}
		text := item[at+1:]
		if strings.Contains(text, "/") || strings.HasSuffix(text, ".csv") { // folders may be called name=value
			return f.read(ctx, from, flag)
		}
		if err := f.add(v, 0, []string{item[:at]}, text); err != nil {
			return nil, err
		}
	}
	return v, nil
}
