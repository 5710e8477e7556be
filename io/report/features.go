package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// FeatureUse is what a tested feature brings and costs. All but Lost are of the training rows.
type FeatureUse struct {
	Name     string
	Asked    float64  // share of the rows with a test on the feature
	Tests    float64  // mean number of tests on it
	Paid     float64  // mean billed cost of these tests
	Impurity float64  // fall of the entropy by these tests, in bits a row
	Lost     *float64 // AUC lost if the feature is shuffled; nil: not measured
}

// maxUses is the greatest number of features listed one by one.
const maxUses = 10

// Features writes the table of FeaturesTable for the ten features of the greatest losses. Lines
// have at most width characters; 0: any length. No features have no table.
func Features(w io.Writer, list []FeatureUse, width int) error {
	if len(list) == 0 {
		return nil
	}
	return FeaturesTable(list, maxUses).Write(w, width)
}

// FeaturesTable returns a table of tested features, with the AUC and the cost of each. They
// stand by falling loss of AUC. Features beyond the given number share a row.
func FeaturesTable(list []FeatureUse, most int) *Table {
	list = slices.SortedStableFunc(slices.Values(list), func(a, b FeatureUse) int {
		return cmp.Or(cmp.Compare(lostOf(&b), lostOf(&a)), cmp.Compare(b.Impurity, a.Impurity), cmp.Compare(b.Paid, a.Paid))
	})
	table := NewTable(Column{Head: "feature", Left: true}, Column{Head: "AUC lost"},
		Column{Head: "AUC per cost", Rank: 1}, Column{Head: "of impurity", Rank: 2}, Column{Head: "paid a row"},
		Column{Head: "of all paid", Rank: 4}, Column{Head: "rows asked", Rank: 3}, Column{Head: "tests a row", Rank: 5})
	var all FeatureUse
	for i := range list {
		all.Paid, all.Impurity = all.Paid+list[i].Paid, all.Impurity+list[i].Impurity
	}
	shown, others := Visible(len(list), most)
	for i := range list[:shown] {
		u := &list[i]
		each, asked := "-", Percent(u.Asked)
		if u.Lost != nil && u.Paid > 0 {
			each = fmt.Sprintf("%.4f", *u.Lost/u.Paid)
		}
		table.Add(name(u.Name), Figure(u.Lost), each, shareOf(u.Impurity, all.Impurity), fourDigits(u.Paid),
			shareOf(u.Paid, all.Paid), asked, threeDigits(u.Tests))
	}
	if others != "" {
		var rest FeatureUse
		for _, u := range list[shown:] {
			rest.Tests, rest.Paid, rest.Impurity = rest.Tests+u.Tests, rest.Paid+u.Paid, rest.Impurity+u.Impurity
		}
		table.Add(others, "", "", shareOf(rest.Impurity, all.Impurity),
			fourDigits(rest.Paid), shareOf(rest.Paid, all.Paid), "", threeDigits(rest.Tests))
	}
	return table
}

// lostOf returns the AUC lost, below all losses where it is not measured.
func lostOf(u *FeatureUse) float64 {
	if u.Lost == nil {
		return -2
	}
	return *u.Lost
}

func shareOf(part, whole float64) string {
	if whole <= 0 {
		return "-"
	}
	return Percent(part / whole)
}

func fourDigits(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
