package train

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// numbersFrom is the number of classes from which a label of numbers is probably a quantity: scales and codes have fewer.
const numbersFrom = 50

const predictsClasses = "Espalier does not predict numbers, but classes: cut the column into ranges first, such as low and high"

// quantity reports whether the classes are probably values of a quantity.
func quantity(classes []string) bool {
	number := func(name string) bool {
		_, err := strconv.ParseFloat(name, 64)
		return err == nil
	}
	return len(classes) >= numbersFrom && !slices.ContainsFunc(classes, func(name string) bool { return !number(name) })
}

// warnOfLabels warns of classes that may be one class in several spellings, of classes that may stand for a missing label,
// and of a label of numbers.
func warnOfLabels(warn func(text string), column string, classes []string) {
	if quantity(classes) {
		warn(fmt.Sprintf("the label %q has %d different numbers as its classes; %s", column, len(classes), predictsClasses))
		return
	}
	bySpelling := make(map[string][]string)
	var absent []string
	for _, name := range classes {
		plain := strings.ToLower(strings.TrimSpace(name))
		if bySpelling[plain] = append(bySpelling[plain], name); slices.Contains(absentNames(), plain) {
			absent = append(absent, name)
		}
	}
	for _, name := range classes {
		if alike := bySpelling[strings.ToLower(strings.TrimSpace(name))]; len(alike) > 1 && alike[0] == name {
			warn(fmt.Sprintf("the label %q has classes that differ in case or blanks only: %q; if they are one class, spell them equally",
				column, alike))
		}
	}
	if len(absent) > 0 {
		warn(fmt.Sprintf("the label %q has classes that may stand for a missing label: %q; if they do, make them null and give "+
			"--drop_null_labels", column, absent))
	}
}

// absentNames returns the texts by which people and programs write that a value is missing.
func absentNames() []string { return []string{"", "?", "-", "na", "n/a", "nan", "null", "none"} }

// tooManyClasses adds a hint to the error of a label with too many classes.
func tooManyClasses(err error, typ dataset.ValueType) error {
	if typ == dataset.Number {
		return dataset.WithHint(err, predictsClasses+"; or raise --max_classes")
	}
	return dataset.WithHint(err, "raise --max_classes, or name a column of classes with --label")
}
