package textview

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/espalier-ml/espalier/induce/importance"
)

// maxUses is the greatest number of features listed one by one.
const maxUses = 10

// Features writes the table of FeaturesTable for the ten features of the greatest losses. Lines
// have at most width characters; 0: any length. No features have no table.
func Features(w io.Writer, list []importance.Feature, width int) error {
	if len(list) == 0 {
		return nil
	}
	return FeaturesTable(list, maxUses).Write(w, width)
}

// FeaturesTable returns a table of tested features, with the AUC and the cost of each. They
// stand by falling loss of AUC. Features beyond the given number share a row.
func FeaturesTable(list []importance.Feature, most int) *Table {
	list = slices.SortedStableFunc(slices.Values(list), func(a, b importance.Feature) int {
		return cmp.Or(cmp.Compare(lostOf(&b), lostOf(&a)), cmp.Compare(b.Impurity, a.Impurity), cmp.Compare(b.ExpectedCost, a.ExpectedCost))
	})
	table := NewTable(Column{Head: "feature", Left: true}, Column{Head: "AUC lost"},
		Column{Head: "AUC per cost", Rank: 1}, Column{Head: "of impurity", Rank: 2}, Column{Head: "paid a row"},
		Column{Head: "of all paid", Rank: 4}, Column{Head: "rows asked", Rank: 3}, Column{Head: "tests a row", Rank: 5})
	var all importance.Feature
	for i := range list {
		all.ExpectedCost += list[i].ExpectedCost
		all.Impurity += list[i].Impurity
	}
	shown, others := Visible(len(list), most)
	for i := range list[:shown] {
		u := &list[i]
		each := "-"
		asked := Percent(u.RowsAsked)
		if u.AUCLost != nil && u.ExpectedCost > 0 {
			each = fmt.Sprintf("%.4f", *u.AUCLost/u.ExpectedCost)
		}
		table.Add(name(u.Name), Figure(u.AUCLost), each, shareOf(u.Impurity, all.Impurity), fourDigits(u.ExpectedCost),
			shareOf(u.ExpectedCost, all.ExpectedCost), asked, threeDigits(u.ExpectedTests))
	}
	if others != "" {
		var rest importance.Feature
		for _, u := range list[shown:] {
			rest.ExpectedTests += u.ExpectedTests
			rest.ExpectedCost += u.ExpectedCost
			rest.Impurity += u.Impurity
		}
		table.Add(others, "", "", shareOf(rest.Impurity, all.Impurity),
			fourDigits(rest.ExpectedCost), shareOf(rest.ExpectedCost, all.ExpectedCost), "", threeDigits(rest.ExpectedTests))
	}
	return table
}

// lostOf returns the AUC lost, below all losses where it is not measured.
func lostOf(u *importance.Feature) float64 {
	if u.AUCLost == nil {
		return -2
	}
	return *u.AUCLost
}

func shareOf(part, whole float64) string {
	if whole <= 0 {
		return "-"
	}
	return Percent(part / whole)
}

func fourDigits(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
