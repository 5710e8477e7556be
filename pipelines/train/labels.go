package train

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/io/csvio"
)

// numbersFrom is the number of classes from which a label of numbers is probably a quantity: scales and codes have fewer.
const numbersFrom = 50

// quantity reports whether the classes are probably values of a quantity.
func quantity(classes []string) bool {
	return len(classes) >= numbersFrom && !slices.ContainsFunc(classes, func(name string) bool {
		_, isNumber := dataset.LabelNumber(name)
		return !isNumber
	})
}

// numbersOf names the values of a label of numbers.
func numbersOf(u dataset.Unit) string {
	if u == dataset.Plain {
		return "numbers"
	}
	return u.Things()
}

// cutHint says how a label of numbers becomes classes.
func cutHint(s *binning.Summary, u dataset.Unit) string {
	hint := fmt.Sprintf("Espalier does not predict %s, but classes", numbersOf(u))
	cuts := thirds(s)
	switch {
	case u != dataset.Plain:
		return hint + ": write a column of classes, such as early and late"
	case len(cuts) == 0:
		return hint + ": --label_cuts CUT,CUT makes classes of ranges"
	default:
		return fmt.Sprintf("%s: --label_cuts %s makes %d classes", hint, strings.Join(cuts, ","), len(cuts)+1)
	}
}

// thirds returns up to two cuts of a label of numbers, which divide the rows into ranges of about a third, and of at least
// a sixth. It returns no cut if numbers have digits that cuts cannot have.
func thirds(s *binning.Summary) (cuts []string) {
	values, weights := s.Spelled()
	order := make([]int, len(values))
	numbers := make([]float64, len(values))
	for i, value := range values {
		order[i] = i
		if numbers[i], _ = strconv.ParseFloat(value, 64); dataset.LosesDigits(value, numbers[i]) {
			return nil
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(numbers[a], numbers[b]) })
	total := s.Weight()
	before, last := int64(0), int64(0) // weight below the value, and below the last cut
	for k, i := range order {
		third := int64(len(cuts) + 1)
		if third <= 2 && before >= third*(total/3) && before-last >= total/6 && total-before >= total/6 {
			cuts = append(cuts, dataset.SpellNumber(between(numbers[order[k-1]], numbers[i])))
			last = before
		}
		before += weights[i]
	}
	return cuts
}

// between returns a number in (low, high] with few digits, which is whole if high is.
func between(low, high float64) float64 {
	const digits = 17 // tell all numbers apart
	middle := float64(low/2) + float64(high/2)
	if high == math.Trunc(high) {
		middle = math.Ceil(middle)
	}
	for n := range digits {
		x, err := strconv.ParseFloat(strconv.FormatFloat(middle, 'e', n, 64), 64)
		if err == nil && low < x && x <= high {
			return x
		}
	}
	return high
}

// rangesWith returns the ranges that have rows, and warns of others.
func rangesWith(warn func(text string), column string, cuts []float64, rows map[string]int64) (classes []string) {
	for _, name := range dataset.RangeNames(cuts) {
		if rows[name] > 0 {
			classes = append(classes, name)
		} else {
			warn(fmt.Sprintf("no row has a label %q in the range %q: it is no class", column, name))
		}
	}
	return classes
}

// warnOfLabels warns of classes that may be one class in several spellings, and of classes that may stand for a missing
// label. rows has the rows of each class.
func warnOfLabels(warn func(text string), column string, classes []string, rows map[string]int64) {
	var absent []string
	for _, name := range classes {
		if slices.Contains(absentNames(), plain(name)) {
			absent = append(absent, name)
		}
	}
	for _, same := range spellings(classes) {
		warn(fmt.Sprintf("the label %q has classes that differ in case, blanks or zeros only: %q; if they are one class, spell them equally",
			column, same))
	}
	if rare := misspelled(classes, rows); len(rare) > 0 {
		warn(fmt.Sprintf("the label %q has rare classes whose names nearly match a frequent one: %s; if they are misspelled, correct them",
			column, strings.Join(rare, ", ")))
	}
	if len(absent) > 0 {
		warn(fmt.Sprintf("the label %q has classes that may stand for a missing label: %q; if they do, make them null and give "+
			"--drop_null_labels", column, absent))
	}
}

// warnOfManyClasses warns of classes that are probably values of a quantity in a spelling that is not read as numbers, or
// names of single rows.
func warnOfManyClasses(warn func(text string), column string, classes []string, rows map[string]int64) {
	const few = 3 // rows of a class, on average
	if len(classes) < numbersFrom {
		return
	}
	var looks csvio.Looks
	total := int64(0)
	for _, name := range classes {
		looks.Add(name, 1)
		total += rows[name]
	}
	switch what, _ := looks.Mostly(); {
	case strings.HasPrefix(what, "numbers"):
		warn(fmt.Sprintf("the label %q has %d classes, most of which are %s: Espalier predicts classes; write numbers as numbers, which "+
			"--label_cuts makes classes of", column, len(classes), what))
	case what != "":
		warn(fmt.Sprintf("the label %q has %d classes, most of which are %s: Espalier predicts classes; write a column of classes, such as "+
			"early and late", column, len(classes), what))
	case total < few*int64(len(classes)):
		warn(fmt.Sprintf("the label %q has %d classes of %.2g rows on average, as names or keys have: name a column of classes by --label",
			column, len(classes), float64(total)/float64(len(classes))))
	}
}

// warnOfMoments warns of a label of points in time, which are no names of classes.
func warnOfMoments(warn func(text string), column string, classes []string, u dataset.Unit) {
	if x, err := strconv.ParseFloat(classes[0], 64); err == nil {
		warn(fmt.Sprintf("the label %q has %s, which are named as numbers, such as class %s for %s: write them as texts to keep their "+
			"names, for example by --text of import", column, u.Things(), classes[0], u.Spell(x)))
	}
}

// warnOfGroups warns of groups that may be one group in several spellings: its rows are dealt to several parts.
func warnOfGroups(warn func(text string), column string, groups *binning.Summary) {
	const shown = 3
	names, weights := groups.Spelled()
	sets := spellings(names)
	if len(sets) == 0 {
		return
	}
	var texts []string
	for _, set := range sets[:min(len(sets), shown)] {
		for i, name := range set {
			at, _ := slices.BinarySearch(names, name)
			set[i] = fmt.Sprintf("%q (%d rows)", name, weights[at])
		}
		texts = append(texts, strings.Join(set, ", "))
	}
	if more := len(sets) - shown; more > 0 {
		texts = append(texts, fmt.Sprintf("%d more such sets", more))
	}
	warn(fmt.Sprintf("--group: column %q has groups that differ in case, blanks or zeros only: %s; if they are one group, spell them equally: "+
		"rows of such a group may be in several parts, so figures on test rows may be too good", column, strings.Join(texts, "; ")))
}

// warnOfValues warns of features with values that may be one value in several spellings, which takes a test for each.
func warnOfValues(warn func(text string), features []dataset.Feature) {
	const shown = 3
	var found []string
	for i := range features {
		if sets := spellings(features[i].Values); len(sets) > 0 {
			found = append(found, fmt.Sprintf("%q: %q", features[i].Name, sets[0]))
		}
	}
	if len(found) > 0 {
		warn("features have values that differ in case, blanks or zeros only; if they are one value, spell them equally: " +
			naming.First(found, shown))
	}
}

// spellings returns the sets of names that differ in case, blanks or zeros only, in the order of their first names.
func spellings(names []string) (sets [][]string) {
	bySpelling := make(map[string][]string)
	for _, name := range names {
		bySpelling[plain(name)] = append(bySpelling[plain(name)], name)
	}
	for _, name := range names {
		if same := bySpelling[plain(name)]; len(same) > 1 && same[0] == name {
			sets = append(sets, same)
		}
	}
	return sets
}

// rareFrom is how many rows a class has for each row of a class that may be a misspelling of it.
const rareFrom = 10

// misspelled returns the rare classes with almost the name of one frequent class, with both numbers of rows.
func misspelled(classes []string, rows map[string]int64) (list []string) {
	for _, rare := range classes {
		var meant []string
		for _, frequent := range classes {
			if rows[rare]*rareFrom <= rows[frequent] && alike([]rune(plain(rare)), []rune(plain(frequent))) {
				meant = append(meant, frequent)
			}
		}
		if len(meant) == 1 {
			list = append(list, fmt.Sprintf("%q (%d rows) for %q (%d)", rare, rows[rare], meant[0], rows[meant[0]]))
		}
	}
	return list
}

// plain returns a name without the differences of case, of blanks, and of zeros: 1 of 001 and 1.0.
func plain(name string) string {
	name = strings.Join(strings.Fields(strings.ToLower(strings.ReplaceAll(name, "\u200b", ""))), " ")
	if whole, tenths, _ := strings.Cut(name, "."); whole != "" && strings.Trim(whole, "0123456789") == "" && strings.Trim(tenths, "0") == "" {
		return cmp.Or(strings.TrimLeft(whole, "0"), "0")
	}
	return name
}

// alike reports whether a rare name may be a frequent name that is misspelled or cut: a letter differs, is missing, is added, or is
// exchanged with the next. Other digits, letters that are words, as in type A, and a syllable such as un- in front make
// names of their own.
func alike(rare, frequent []rune) bool {
	const least = 3 // letters of a name that may be misspelled
	if len(frequent) < least || len(rare) == 0 || slices.Equal(rare, frequent) || strings.HasSuffix(string(rare), string(frequent)) ||
		strings.HasSuffix(string(frequent), string(rare)) {
		return false
	}
	front := 0
	for front < min(len(rare), len(frequent)) && rare[front] == frequent[front] {
		front++
	}
	if front == len(rare) {
		return unicode.IsLetter(frequent[front]) && !slices.ContainsFunc(frequent[front:], unicode.IsDigit) // an abbreviation
	}
	back := 0
	for back < min(len(rare), len(frequent))-front && rare[len(rare)-1-back] == frequent[len(frequent)-1-back] {
		back++
	}
	a, b := rare[front:len(rare)-back], frequent[front:len(frequent)-back]
	exchanged := len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
	if slices.ContainsFunc(slices.Concat(a, b), unicode.IsDigit) || !exchanged && max(len(a), len(b)) > 1 {
		return false
	}
	word := (front == 0 || !unicode.IsLetter(rare[front-1])) && (back == 0 || !unicode.IsLetter(rare[len(rare)-back]))
	return !word && min(len(rare), len(frequent)) >= least
}

// absentNames returns the texts by which people and programs write that a value is missing.
func absentNames() []string { return []string{"", "?", "-", "na", "n/a", "nan", "null", "none"} }

// tooManyClasses adds a hint to the error of a label with too many classes.
func tooManyClasses(err error, s *binning.Summary, u dataset.Unit) error {
	if values, _ := s.Spelled(); s.Type() == dataset.Number || quantity(values) {
		return dataset.WithHint(err, cutHint(s, u)+"; or raise --max_classes")
	}
	return dataset.WithHint(err, "raise --max_classes, or name a column of classes with --label")
}
