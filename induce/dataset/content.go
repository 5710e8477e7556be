package dataset

import (
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/espalier-ml/espalier/induce/portable"
)

// AddContent adds the hash of a column's values to hashes, by row. The sum over columns is a hash of the contents of a
// row, in whatever order the columns come; without a column it is the sum minus the hash of the column.
func AddContent(hashes []uint64, column string, v *Vector) {
	seed := HashText(0, column)
	one := func(i int) uint64 {
		switch {
		case i < 0 || v.Type == Number && math.IsNaN(v.Numbers[i]):
			return mix(seed, 0)
		case v.Type == Text:
			return HashText(seed, v.Texts[i])
		default:
			return HashNumber(seed, v.Numbers[i])
		}
	}
	if v.Index == nil {
		for r := range hashes {
			hashes[r] += one(r)
		}
		return
	}
	of := make([]uint64, 1+v.entries()) // of missing values, then by entry
	for i := range of {
		of[i] = one(i - 1)
	}
	for r, i := range v.Index {
		hashes[r] += of[1+max(-1, i)]
	}
}

// Copies counts rows with equal contents: with equal values in all columns. If there are many rows it counts the rows of
// a share of the contents, by their hash.
type Copies struct {
	Rows     int64
	Contents int64 // different contents
	// Neighbours is the number of contents that another content equals in all columns but one, added up over the columns.
	Neighbours float64
	Rests      Rests
	Parts      [Parts]int64 // rows by part
	Trained    [Parts]int64 // rows by part whose content a training row has
	// Pairs are the ordered pairs of rows with equal contents, and Agreeing is how many of them also have equal labels.
	Pairs, Agreeing portable.Products
	// Times is how many contents have a number of rows, by this number.
	Times map[int64]int64
	// Labels is how many rows have a label, by its hash.
	Labels map[uint64]int64
}

// Content is what is known of a content's rows.
type Content struct {
	Parts    [Parts]int64      // rows by part
	Agreeing portable.Products // ordered pairs of rows with the same label
}

// Add counts the rows of a content.
func (c *Copies) Add(one *Content) {
	var times int64
	for part, rows := range one.Parts {
		times += rows
		c.Parts[part] += rows
		if one.Parts[Train] > 0 {
			c.Trained[part] += rows
		}
	}
	c.Rows += times
	c.Contents++
	c.Pairs.Add(uint64(times), uint64(times-1))
	c.Agreeing.Plus(one.Agreeing)
	if c.Times == nil {
		c.Times = make(map[int64]int64)
	}
	c.Times[times]++
}

// Repeated returns the share of rows whose content an earlier row has.
func (c *Copies) Repeated() float64 { return float64(c.Rows-c.Contents) / float64(max(1, c.Rows)) }

// TrainedShare returns the share of a part's rows whose content a training row has.
func (c *Copies) TrainedShare(part Part) float64 {
	return float64(c.Trained[part]) / float64(max(1, c.Parts[part]))
}

// Real reports whether equal rows are copies of each other, and not equal by chance: more rows repeat a content than
// contents have a neighbour. In a table of a few values in each column, rows that differ in one column are as frequent as
// equal rows. Where values are measured, hardly any row differs from another one in a single column.
func (c *Copies) Real() bool {
	return c.Repeated() > c.Neighbours/float64(max(1, c.Contents))
}

// Agree reports whether pairs of rows with equal contents have different labels at most 0.15 times as often as any two rows.
// Copies have equal labels, but for errors (about 4 %, with two classes of the same frequency). Cases of the same object,
// such as sales of a product, have labels of their own and are no copies, whatever their contents are.
func (c *Copies) Agree() bool {
	const most = 0.15
	alike := 0.
	for _, rows := range slices.Sorted(maps.Values(c.Labels)) { // in an order, as sums are rounded
		share := float64(rows) / float64(max(1, c.Rows))
		alike += float64(share * share)
	}
	pairs := c.Pairs.Float()
	return pairs-c.Agreeing.Float() <= most*pairs*(1-alike)
}

// Even reports whether equal rows are copies of each other where a single column is measured, so that all rows are equal
// without it: the numbers of rows by content are more even than chance makes them.
//
// If each row draws its content, whatever the probabilities of the contents are, then k! times the number n(k) of
// contents with k rows are moments of a measure, on average. Moments are logarithmically convex:
// k/(k+1) n(k)^2 <= n(k-1) n(k+1). Copies break that, as many contents have the same number of rows.
func (c *Copies) Even() bool {
	const beyondChance = 3 // standard errors
	for times, contents := range c.Times {
		if times < 2 {
			continue
		}
		n := float64(contents)
		k := float64(times)
		fewer := float64(c.Times[times-1])
		more := float64(c.Times[times+1])
		factor := k / (k + 1)
		excess := float64(factor*n*n) - float64(fewer*more)
		// The variance of a product of counts, each with one more than were seen, as none is not certain.
		variance := float64(4*factor*factor*n*n*n) + float64((fewer+1)*(more+1)*(fewer+more+3))
		if excess > beyondChance*math.Sqrt(variance) {
			return true
		}
	}
	return false
}

// Rests are hashes of different contents without one of their columns, by column, of a sample of the hashes. They tell in
// which column alone rows differ that are copies of each other, for example in the day on which they were loaded.
type Rests [][]uint64

// Add adds the rests of objects, whose contents are their codes, if a rest has this many leading zeros.
func (r Rests) Add(o *Objects, zeros int) {
	all := o.Without(-1)
	one := make([]uint64, len(all))
	for f := range o.Codes {
		clear(one)
		o.Codes[f].addTo(one, f)
		for i, hash := range one {
			if rest := mix(all[i]-hash, uint64(f)); bits.LeadingZeros64(rest) >= zeros {
				r[f] = append(r[f], rest)
			}
		}
	}
}

// Neighbours returns how many rests are equal to another one of their column.
func (r Rests) Neighbours() (n int64) {
	for _, hashes := range r {
		slices.Sort(hashes)
		for from := 0; from < len(hashes); {
			to := from + 1
			for to < len(hashes) && hashes[to] == hashes[from] {
				to++
			}
			if to-from > 1 {
				n += int64(to - from)
			}
			from = to
		}
	}
	return n
}

// Alone returns the column without which the largest share of contents repeats another one, and this share. The share
// is 0 if it is not far times the share without any other column. Alone changes r.
func (r Rests) Alone(far float64) (column int, share float64) {
	second := 0.
	for f, hashes := range r {
		slices.Sort(hashes)
		n := len(hashes)
		repeated := float64(n-len(slices.Compact(hashes))) / float64(max(1, n))
		if repeated > share {
			column, share, second = f, repeated, share
		} else {
			second = max(second, repeated)
		}
	}
	if share < far*second {
		share = 0
	}
	return column, share
}

// Without returns a hash of the codes of each object, without the codes of one feature. The feature -1 leaves out none.
func (o *Objects) Without(feature int) []uint64 {
	hashes := make([]uint64, o.Len())
	for f := range o.Codes {
		if f != feature {
			o.Codes[f].addTo(hashes, f)
		}
	}
	return hashes
}

// addTo adds a hash of each code of a feature to hashes.
func (c *Codes) addTo(hashes []uint64, feature int) {
	for i := range hashes {
		hashes[i] += mix(uint64(feature), uint64(c.At(i)))
	}
}
