package split

// Impurity measures how mixed the classes of a node are: the phi of the criterion.
type Impurity uint8

// The impurities. Every other impurity has a term and a finish of its own in phi.
const (
	Entropy Impurity = iota // in bits: w phi = w log2 w - sum m log2 m
	Gini                    // the Gini index: w phi = w - sum m^2/w

	Impurities // the number of impurities
)

// String returns the name in texts.
func (i Impurity) String() string { return [...]string{"entropy in bits", "Gini index"}[i] }

// Weighted returns w phi(M): the impurity of class weights M, times the sum w of the weights. All processors give the
// same bits.
func (i Impurity) Weighted(weights []int64) float64 {
	p := phi{kind: i} // without a table: filling it would take longer than it saves
	var total int64
	for _, w := range weights {
		total += w
	}
	return max(p.of(weights, total), 0) // rounding alone can give a number below 0
}

// phi computes an impurity.
type phi struct {
	kind  Impurity
	xlogx xlogx
}

// of returns w phi(M).
func (p *phi) of(m []int64, w int64) float64 {
	sum := 0.0
	for _, x := range m {
		sum += p.term(x)
	}
	return p.finish(sum, w)
}

// term returns one class's term of the sum in the impurity.
func (p *phi) term(m int64) float64 {
	if p.kind == Gini {
		return float64(float64(m) * float64(m))
	}
	return p.xlogx.at(m)
}

// finish returns the impurity from the sum of the terms.
func (p *phi) finish(sum float64, w int64) float64 {
	if w == 0 {
		return 0
	}
	if p.kind == Gini {
		return float64(w) - sum/float64(w)
	}
	return p.xlogx.at(w) - sum
}

// nearTerm is an estimate of term, see xlogx.near.
func (p *phi) nearTerm(m int64) float64 {
	if p.kind == Gini {
		return p.term(m)
	}
	return p.xlogx.near(m)
}

// nearFinish is an estimate of finish.
func (p *phi) nearFinish(sum float64, w int64) float64 {
	if p.kind == Gini || w == 0 {
		return p.finish(sum, w)
	}
	return p.xlogx.near(w) - sum
}
