package dataset_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestByRow: the rows of an object with two classes are dealt by chance: each pile has about its share of
// the rows, and the shares of a class differ from pile to pile as by chance, neither less nor more, however many rows they
// are. With weights of any unit the piles have the same rows.
func TestByRow(t *testing.T) {
	for _, hundred := range []int64{100, 100_000, 1 << 40} {
		testByRow(t, hundred)
	}
}

func testByRow(t *testing.T, hundred int64) {
	t.Helper()
	const piles, times = 5, 300
	features := []dataset.Feature{{Name: "x", Kind: dataset.Numeric, Cuts: make([]float64, times)}}
	make1 := func(unit int64) *dataset.Objects {
		o := dataset.NewObjects(dataset.NewLayout(features), 2, unit > 1, times)
		for code := range times {
			classes := []dataset.ClassWeight{{Class: 0, Weight: 3 * hundred * unit}, {Class: 1, Weight: hundred * unit}}
			o.Append([]int{code}, classes, 4*hundred)
		}
		return o
	}
	square := 0.0
	one, many := make1(1).ByRow(piles, 7), make1(1<<10).ByRow(piles, 7)
	for i := range times {
		shares := one.Groups(i)
		var all [2]int64
		for k, s := range shares {
			all[s.Class] += s.Weight
			expected := []float64{3 * float64(hundred) / piles, float64(hundred) / piles}[s.Class]
			square += (float64(s.Weight) - expected) * (float64(s.Weight) - expected) / (expected * (1 - 1./piles))
			if s.Rows != s.Weight {
				t.Fatalf("object %d: %d rows of weight %d", i, s.Rows, s.Weight)
			}
			if of := many.Groups(i)[k]; of.Bucket != s.Bucket || of.Class != s.Class || of.Rows != s.Rows || of.Weight != s.Weight<<10 {
				t.Fatalf("object %d: %+v in large units, %+v in small ones", i, of, s)
			}
		}
		if all != [2]int64{3 * hundred, hundred} {
			t.Fatalf("object %d: the piles have %v", i, all)
		}
	}
	// The mean of 3,000 squares of standardized numbers is 1, with a standard deviation of about 0.03.
	if mean := square / (times * 2 * piles); math.Abs(mean-1) > .15 {
		t.Errorf("%d rows: the variance is %.3f of that by chance", hundred, mean)
	}
}

// TestByRowWeights: no weight is lost where the rows of an object do not tell its classes apart.
func TestByRowWeights(t *testing.T) {
	features := []dataset.Feature{{Name: "x", Kind: dataset.Numeric, Cuts: make([]float64, 300)}}
	o := dataset.NewObjects(dataset.NewLayout(features), 3, true, 300)
	for code := range 300 {
		w := int64(code)
		o.Append([]int{code}, []dataset.ClassWeight{{Class: 0, Weight: 1 + w}, {Class: 1, Weight: 7*w + 1}, {Class: 2, Weight: 1}}, 1+w%5)
	}
	dealt := o.ByRow(7, 1)
	for i := range o.Len() {
		var weight [3]int64
		rows := int64(0)
		for _, s := range dealt.Groups(i) {
			weight[s.Class] += s.Weight
			rows += s.Rows
		}
		for _, s := range o.Raw(i) {
			if weight[s.Class] != s.Weight {
				t.Errorf("object %d: the piles have the weights %v, want %v", i, weight, o.Raw(i))
			}
		}
		if rows != o.RowsOf(i) {
			t.Errorf("object %d: the piles have %d rows, want %d", i, rows, o.RowsOf(i))
		}
	}
}

// TestByRowClasses: objects that know the classes of their rows' weights are dealt by class, so a heavy row is
// whole in one pile, and nothing is lost.
func TestByRowClasses(t *testing.T) {
	features := []dataset.Feature{{Name: "x", Kind: dataset.Numeric, Cuts: make([]float64, 200)}}
	o := dataset.NewObjects(dataset.NewLayout(features), 2, true, 200)
	o.KeepGroups()
	const heavy, light, rows = 1000, 2, 30
	for code := range 200 {
		o.AppendGrouped([]int{code}, []dataset.GroupShare{
			{Bucket: dataset.WeightClass(light, 30), Weight: light * rows, Rows: rows},
			{Bucket: dataset.WeightClass(heavy, 30), Class: 1, Weight: heavy, Rows: 1},
		})
	}
	dealt, used := o.ByRow(dataset.Buckets, 3), map[uint8]bool{}
	for i := range 200 {
		all, rowsOf := [2]int64{}, int64(0)
		for _, s := range dealt.Groups(i) {
			all[s.Class] += s.Weight
			rowsOf += s.Rows
			if s.Class == 1 && s.Weight != heavy || s.Class == 0 && s.Weight != light*s.Rows {
				t.Fatalf("object %d: %+v", i, s)
			}
			used[s.Bucket] = true
		}
		if all != [2]int64{light * rows, heavy} || rowsOf != rows+1 {
			t.Fatalf("object %d: weights %v of %d rows", i, all, rowsOf)
		}
	}
	if len(used) != dataset.Buckets {
		t.Errorf("%d piles have rows, want all", len(used))
	}
}

// TestByRowStratified: any five piles that follow one another have their share of a class, but for a row or two, also if
// its rows are few.
func TestByRowStratified(t *testing.T) {
	const piles, objects, rare = 60, 900, 37
	features := []dataset.Feature{{Name: "x", Kind: dataset.Numeric, Cuts: make([]float64, objects)}}
	o := dataset.NewObjects(dataset.NewLayout(features), 2, false, objects)
	for code := range objects {
		class := uint16(0)
		if code%25 == 3 && code < 25*rare {
			class = 1
		}
		o.Append([]int{code}, []dataset.ClassWeight{{Class: class, Weight: 1}}, 1)
	}
	all := o.ClassWeights()
	for seed := range uint64(5) {
		var rows [2][piles]int64
		dealt := o.ByRow(piles, seed)
		for i := range objects {
			for _, s := range dealt.Groups(i) {
				rows[s.Class][s.Bucket] += s.Rows
			}
		}
		for class := range rows {
			for first := 0; first < piles; first += 5 {
				sum := int64(0)
				for _, n := range rows[class][first : first+5] {
					sum += n
				}
				if want := float64(all[class]) * 5 / piles; math.Abs(float64(sum)-want) > 1.01 {
					t.Errorf("seed %d: the piles from %d on have %d rows of class %d, want about %.1f", seed, first, sum, class, want)
				}
			}
		}
	}
}

// TestByRowNames: rows go to the same piles whatever the numbers of their classes are: if rows have no weights, if the
// rows of an object weigh differently, and if objects are soft.
func TestByRowNames(t *testing.T) {
	const classes, objects = 4, 200
	features := []dataset.Feature{{Name: "x", Kind: dataset.Numeric, Cuts: make([]float64, objects)}}
	deal := func(form int, numbers []uint16) (dealt [objects]map[dataset.GroupShare]bool) {
		o := dataset.NewObjects(dataset.NewLayout(features), classes, form > 0, objects)
		for code := range objects {
			var list []dataset.ClassWeight
			for class := range numbers {
				if w := (code*code + 3*class*code) % 5; w > 0 || class == code%classes {
					list = append(list, dataset.ClassWeight{Class: numbers[class], Weight: int64(w + 1)})
				}
			}
			slices.SortFunc(list, func(a, b dataset.ClassWeight) int { return int(a.Class) - int(b.Class) })
			if form == 2 {
				o.AppendSoft([]int{code}, list, list, 2)
			} else {
				o.Append([]int{code}, list, int64(3+code%4))
			}
		}
		of := make([]uint16, classes)
		for class, number := range numbers {
			of[number] = uint16(class)
		}
		all := o.ByRow(7, 1)
		for i := range objects {
			dealt[i] = make(map[dataset.GroupShare]bool)
			for _, s := range all.Groups(i) {
				s.Class = of[s.Class]
				if form == 2 {
					s.Rows = 0 // of the first class
				}
				dealt[i][s] = true
			}
		}
		return dealt
	}
	for form, name := range []string{"rows", "weights", "soft"} {
		want := deal(form, []uint16{0, 1, 2, 3})
		for i, got := range deal(form, []uint16{2, 3, 1, 0}) {
			if !maps.Equal(got, want[i]) {
				t.Errorf("%s: object %d: %v, with other numbers of classes %v", name, i, want[i], got)
				break
			}
		}
	}
}
