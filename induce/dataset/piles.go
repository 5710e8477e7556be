package dataset

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/espalier-ml/espalier/induce/portable"
)

// ByRow distributes the rows of the objects among up to 256 piles, and returns grouped objects whose buckets are the
// piles. The rows of a class are assigned at random, evenly: any piles that follow one another have their share of the
// class, but for a row. The assignment depends on the seed and on what Shuffled depends on: a class has random numbers of
// its own, by a hash of its objects, so the names and the order of the classes have no effect. If rows have weights, the
// rows of an object count as equally heavy or, if the groups of the objects are classes of weights (see WeightClass),
// the rows of each such class do, and are assigned evenly. All rows of a soft object are in the same pile.
func (o *Objects) ByRow(piles int, seed uint64) *Objects {
	order := o.Shuffled()
	d := &dealer{
		objects: o, classes: o.classKeys(positions(order)), piles: make(map[uint32]*pile), shares: make([]GroupShare, piles),
	}
	for i := range o.Len() {
		d.each(i, func(s GroupShare, rows int64) { d.pile(s.place()).rows += rows })
	}
	for place, p := range d.piles {
		p.random.Key = mix(seed, mix(d.classes[uint16(place)], uint64(place>>16)))
		p.divide(int64(piles))
	}
	shares := make([][]GroupShare, o.Len())
	for _, id := range order {
		shares[id] = d.deal(int(id))
	}
	dealt := *o
	dealt.KeepGroups()
	for _, list := range shares {
		dealt.groups.add(list)
	}
	return &dealt
}

// Ungrouped returns the objects without their groups.
func (o *Objects) Ungrouped() *Objects {
	plain := *o
	plain.groups = nil
	return &plain
}

// dealer deals rows to piles.
type dealer struct {
	objects *Objects
	classes []uint64         // by class: a hash of its objects, see Objects.classKeys
	piles   map[uint32]*pile // by class, and by the class of the weights if rows have one
	shares  []GroupShare     // by number of a pile: what it gets of a part of an object
}

// pile counts the rows of a class that are not dealt yet, and how many of them each pile takes.
type pile struct {
	rows   int64
	takes  []int64
	random portable.Random
}

func (d *dealer) pile(place uint32) *pile {
	p := d.piles[place]
	if p == nil {
		p = new(pile)
		d.piles[place] = p
	}
	return p
}

// divide divides the rows evenly. It is random which piles take a row more than others.
func (p *pile) divide(piles int64) {
	p.takes = make([]int64, piles)
	first := int64(p.random.Below(int(piles)))
	upTo := func(at int64) int64 { return at*(p.rows/piles) + (at*(p.rows%piles)+first)/piles }
	for at := range piles {
		p.takes[at] = upTo(at+1) - upTo(at)
	}
}

// take returns the number of a pile for a row, at random among the rows that the piles still take.
func (p *pile) take() uint8 {
	at, _ := bits.Mul64(p.random.Next(), uint64(p.rows))
	p.rows--
	number := 0
	for rest := int64(at); rest >= p.takes[number]; number++ {
		rest -= p.takes[number]
	}
	p.takes[number]--
	return uint8(number)
}

// manyRows is the number of rows of a part of an object from which they are dealt together.
const manyRows = 1 << 12

// takeMany calls f with each pile that takes some of n rows, with the number of rows it takes. The numbers have the bounds
// of n calls of take, and approximately their mean and variance.
func (p *pile) takeMany(n int64, f func(number int, rows int64)) {
	rest := p.rows // rows that this pile and further piles take
	p.rows -= n
	for number, takes := range p.takes {
		if rest == 0 {
			return
		}
		share := float64(takes) / float64(rest)
		mean := float64(share * float64(n))
		variance := mean * (1 - share) * (float64(rest-n) / float64(max(1, rest-1)))
		own := int64(math.Round(mean + float64(math.Sqrt(variance)*p.random.Normal())))
		own = min(max(own, n-(rest-takes), 0), n, takes)
		p.takes[number] -= own
		n -= own
		rest -= takes
		if own > 0 {
			f(number, own)
		}
	}
}

// each calls f with the parts of object i that are dealt in the same way, and with their rows. The bucket of a part is the class
// of its weights.
func (d *dealer) each(i int, f func(s GroupShare, rows int64)) {
	o := d.objects
	switch {
	case o.Soft():
		f(GroupShare{Class: d.ordered(o.Labels(i))[0].Class}, 1)
	case o.Grouped():
		for _, s := range o.Groups(i) {
			f(s, s.Rows)
		}
	default:
		rows := o.RowsOf(i)
		first := int64(0)
		before := int64(0)
		list := o.Raw(i)
		if o.Rows != nil {
			list = d.ordered(list) // the order decides how the rows of the classes are rounded
		}
		for _, w := range list {
			before += w.Weight
			end := scaled(rows, before, o.Weight[i])
			f(GroupShare{Class: w.Class, Weight: w.Weight, Rows: end - first}, max(1, end-first))
			first = end
		}
	}
}

// ordered returns the class weights of an object, the greatest first, and classes of equal weight by key.
func (d *dealer) ordered(list []ClassWeight) []ClassWeight {
	if len(list) > 1 {
		list = slices.Clone(list)
		slices.SortFunc(list, func(a, b ClassWeight) int {
			return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(d.classes[a.Class], d.classes[b.Class]))
		})
	}
	return list
}

// positions returns the position of each object in an order.
func positions(order []int32) []uint64 {
	at := make([]uint64, len(order))
	for position, id := range order {
		at[id] = uint64(position)
	}
	return at
}

// deal returns the shares of the piles in object i.
func (d *dealer) deal(i int) (list []GroupShare) {
	o := d.objects
	d.each(i, func(s GroupShare, rows int64) {
		p := d.piles[s.place()]
		if o.Soft() {
			list = o.whole(i, p.take())
			return
		}
		clear(d.shares)
		row := int64(0)
		given := int64(0)
		give := func(number int, n int64) {
			row += n
			upTo := scaled(s.Weight, row, rows)
			share := &d.shares[number]
			share.Weight += upTo - given
			share.Rows += min(n, s.Rows)
			given = upTo
		}
		if rows > manyRows {
			p.takeMany(rows, give)
		} else {
			for range rows {
				give(int(p.take()), 1)
			}
		}
		for number, share := range d.shares {
			if share.Weight > 0 {
				share.Bucket = uint8(number)
				share.Class = s.Class
				list = addShare(list, share)
			}
		}
	})
	return list
}

// whole returns the shares of a soft object that is in one bucket.
func (o *Objects) whole(i int, bucket uint8) (list []GroupShare) {
	for _, w := range o.Labels(i) {
		list = addShare(list, GroupShare{Bucket: bucket, Class: w.Class, Weight: w.Weight})
	}
	for _, w := range o.Raw(i) {
		list = addShare(list, GroupShare{Bucket: bucket, Class: w.Class, Soft: w.Weight})
	}
	list[0].Rows = o.RowsOf(i)
	return list
}

// scaled returns x * part / whole, rounded half up, for 0 <= part <= whole.
func scaled(x, part, whole int64) int64 {
	hi, lo := bits.Mul64(uint64(x), uint64(part))
	lo, carry := bits.Add64(lo, uint64(whole)/2, 0)
	quotient, _ := bits.Div64(hi+carry, lo, uint64(whole))
	return int64(quotient)
}
