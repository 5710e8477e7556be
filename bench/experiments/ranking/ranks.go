package ranking

import (
	"math"
	"slices"
)

// Ranks returns the rank of each value, from 1 for the best. Equal values share the mean of
// their ranks. high reports whether the highest value is the best.
func Ranks(values []float64, high bool) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch x, y := values[a], values[b]; {
		case x == y:
			return 0
		case x > y == high:
			return -1
		default:
			return 1
		}
	})
	ranks := make([]float64, len(values))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && values[order[to]] == values[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = float64(from+1+to) / 2
		}
		from = to
	}
	return ranks
}

// MeanRanks returns the mean rank of each method over the data sets. Each row has the figures
// of all methods on one data set.
func MeanRanks(rows [][]float64, high bool) []float64 {
	if len(rows) == 0 {
		return nil
	}
	means := make([]float64, len(rows[0]))
	for _, row := range rows {
		for i, r := range Ranks(row, high) {
			means[i] += r
		}
	}
	for i := range means {
		means[i] /= float64(len(rows))
	}
	return means
}

// Mean returns the mean of at least one value.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, x := range values {
		sum += x
	}
	return sum / float64(len(values))
}

// Deviation returns the standard deviation of a sample: the squares are divided by one less than
// their number. Of one value it is 0.
func Deviation(values []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	mean := Mean(values)
	squares := 0.0
	for _, x := range values {
		squares += float64((x - mean) * (x - mean))
	}
	return math.Sqrt(squares / float64(len(values)-1))
}
