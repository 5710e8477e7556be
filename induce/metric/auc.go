package metric

import (
	"cmp"
	"math/bits"
	"slices"
)

// fillAreas computes the areas under ROC curves.
func (m *Metrics) fillAreas(leaves []Leaf) {
	if len(m.PerClass) == 2 {
		m.fillBinary(leaves)
		return
	}
	var rest, pairs []float64
	areas := make([][]*float64, len(m.PerClass)) // of the first class against the second, by the first's probability
	for c := range areas {
		order := byProbability(leaves, c)
		m.PerClass[c].AUC = area(leaves, order, c, everyOther)
		if auc := m.PerClass[c].AUC; auc != nil {
			rest = append(rest, *auc)
		}
		areas[c] = make([]*float64, len(areas))
		for other := range areas {
			if other != c {
				areas[c][other] = area(leaves, order, c, other)
			}
		}
	}
	for a := range areas {
		for b := range a {
			if areas[a][b] != nil {
				pairs = append(pairs, (*areas[a][b]+*areas[b][a])/2)
			}
		}
	}
	m.AUCOvRMacro, m.AUCOvOMacro = mean(rest), mean(pairs)
}

// fillBinary uses the probability of the second class for all areas. By that of
// the first they are the same, but where rounding makes two probabilities equal
// and not their complements.
func (m *Metrics) fillBinary(leaves []Leaf) {
	auc := area(leaves, byProbability(leaves, 1), 1, 0)
	m.AUCOvRMacro, m.AUCOvOMacro = auc, auc
	m.PerClass[0].AUC, m.PerClass[1].AUC = auc, auc
}

// byProbability returns the positions of the leaves by ascending probability of
// a class.
func byProbability(leaves []Leaf, class int) []int {
	order := make([]int, len(leaves))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Compare(leaves[i].Probabilities[class], leaves[j].Probabilities[class])
	})
	return order
}

// everyOther stands for all classes but the positive one.
const everyOther = -1

// area returns the share of pairs of a positive and a negative row in which the
// positive one has the higher probability of the positive class, where a tie
// counts half (Mann and Whitney's U over the number of pairs). It is undefined
// without positive or negative rows. The sum behind it is exact.
func area(leaves []Leaf, order []int, positive, negative int) *float64 {
	var positives, negatives uint64 // so far
	var twice uint128               // the pairs won so far, a tie counting 1
	for from, to := 0, 0; from < len(order); from = to {
		p := leaves[order[from]].Probabilities[positive]
		var pos, neg uint64 // of this probability
		for to = from; to < len(order) && leaves[order[to]].Probabilities[positive] == p; to++ {
			weights := leaves[order[to]].Weights
			pos += uint64(weights[positive])
			neg += negativeWeight(weights, positive, negative)
		}
		twice.addProduct(pos, 2*negatives+neg)
		positives += pos
		negatives += neg
	}
	if positives == 0 || negatives == 0 {
		return nil
	}
	return defined(twice.float() / 2 / float64(positives) / float64(negatives))
}

func negativeWeight(weights []int64, positive, negative int) uint64 {
	if negative != everyOther {
		return uint64(weights[negative])
	}
	var sum uint64
	for c, w := range weights {
		if c != positive {
			sum += uint64(w)
		}
	}
	return sum
}

// uint128 is a sum of products.
type uint128 struct{ hi, lo uint64 }

func (u *uint128) addProduct(a, b uint64) {
	hi, lo := bits.Mul64(a, b)
	var carry uint64
	u.lo, carry = bits.Add64(u.lo, lo, 0)
	u.hi, _ = bits.Add64(u.hi, hi, carry)
}

func (u *uint128) float() float64 { return float64(float64(u.hi)*0x1p64) + float64(u.lo) }
