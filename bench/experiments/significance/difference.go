package significance

import (
	"math"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"
)

// Nemenyi returns the critical difference of mean ranks for all pairs of methods: pairs whose
// ranks are at least as far apart differ, at a level of significance.
func Nemenyi(methods, sets int, level float64) float64 {
	return rounded(float64(studentizedRange{methods}.quantile(level) / math.Sqrt2 * unit(methods, sets)))
}

// NemenyiP returns the p value of a pair whose mean ranks are so far apart.
func NemenyiP(methods, sets int, difference float64) float64 {
	return rounded(studentizedRange{methods}.survival(math.Sqrt2 * difference / unit(methods, sets)))
}

// BonferroniDunn returns the critical difference of mean ranks for pairs of one method with each
// other method.
func BonferroniDunn(methods, sets int, level float64) float64 {
	share := level / float64(2*(methods-1))
	return rounded(float64(distuv.UnitNormal.Quantile(1-share) * unit(methods, sets)))
}

// BonferroniDunnP returns the p value of such a pair.
func BonferroniDunnP(methods, sets int, difference float64) float64 {
	tail := distuv.UnitNormal.Survival(difference / unit(methods, sets))
	return rounded(min(1, float64(2*float64(methods-1)*tail)))
}

// unit is the standard error of the difference of two mean ranks.
func unit(methods, sets int) float64 {
	return math.Sqrt(float64(methods*(methods+1)) / float64(6*sets))
}

// Groups returns the largest runs of methods whose mean ranks differ by less than the critical
// difference, each as the indices of its first and its last method. The ranks must ascend. A method
// that differs from all other methods is in no run.
func Groups(ascending []float64, critical float64) [][2]int {
	var groups [][2]int
	last := -1 // end of the group before
	for first := range ascending {
		end := first
		for end+1 < len(ascending) && ascending[end+1]-ascending[first] < critical {
			end++
		}
		if end > first && end > last {
			groups = append(groups, [2]int{first, end})
			last = end
		}
	}
	return groups
}

// rounded rounds to twelve significant digits.
func rounded(x float64) float64 {
	y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 11, 64), 64) // a number as it was written
	return y
}
