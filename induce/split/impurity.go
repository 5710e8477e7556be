package split

// Impurity returns w phi(M): the impurity of class weights M, times their sum w. phi
// is the Gini index or the entropy in bits. All processors give the same bits.
func Impurity(weights []int64, gini bool) float64 {
	c := Criterion{definition: definition{gini: gini}} // without a table: filling it would take longer than it saves
	var total int64
	for _, w := range weights {
		total += w
	}
	return max(c.impurity(weights, total), 0) // rounding alone can give a number below 0
}
