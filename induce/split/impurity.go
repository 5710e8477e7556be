package split

// Impurity returns w phi(M), the impurity of class weights M times their sum w:
// phi is the Gini index or the entropy in bits. The same bits on all machines.
func Impurity(weights []int64, gini bool) float64 {
	c := Criterion{algorithm: C45} // without a table, which would take longer to fill than it saves
	if gini {
		c.algorithm = CART
	}
	var total int64
	for _, w := range weights {
		total += w
	}
	return max(c.impurity(weights, total), 0) // rounding alone takes it below 0
}
