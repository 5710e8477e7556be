package boost_test

import (
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestForward: of a strong feature, a feature that repeats it with errors and a weak one, the repetition tells the
// second most alone, but less than the weak feature after the strong one. A feature without an effect hardly
// lowers the loss, for single rows and for rows in groups.
func TestForward(t *testing.T) {
	const strong, repeated, weak, noise = 0, 1, 2, 3
	var features []dataset.Feature
	for _, name := range []string{"strong", "repeated", "weak", "noise"} {
		features = append(features, dataset.Feature{Name: name, Kind: dataset.Numeric, Cuts: []float64{1, 2, 3, 4, 5, 6, 7}})
	}
	for _, step := range []int{0, 1, 2} { // 0: no groups; 2: even buckets, as blocks of time may have
		grouped := step > 0
		r := rand.New(rand.NewPCG(1, 1))
		o := dataset.NewObjects(dataset.NewLayout(features), 2, false, 0)
		if grouped {
			o.KeepGroups()
		}
		for range 4000 {
			codes := []int{r.IntN(8), 0, r.IntN(8), r.IntN(8)}
			codes[repeated] = codes[strong]
			if r.IntN(3) == 0 {
				codes[repeated] = r.IntN(8)
			}
			class := uint16(0)
			if 2*codes[strong]+codes[weak]+r.IntN(6) > 13 {
				class = 1
			}
			if grouped {
				o.AppendGrouped(codes, []dataset.GroupShare{{Bucket: uint8(step * r.IntN(128)), Class: class, Weight: 1, Rows: 1}})
			} else {
				o.Append(codes, []dataset.ClassWeight{{Class: class, Weight: 1}}, 1)
			}
		}
		none := boost.NewForward(o, features, boost.Options{Trees: 10})
		alone := none.With(strong)
		losses := map[string]float64{
			"none": none.Loss(), "strong": alone.Loss(), "repeated": none.With(repeated).Loss(), "weak": none.With(weak).Loss(),
			"noise": none.With(noise).Loss(), "strong, repeated": alone.With(repeated).Loss(), "strong, weak": alone.With(weak).Loss(),
		}
		for _, order := range [][2]string{
			{"strong", "repeated"},
			{"repeated", "weak"},
			{"weak", "none"},
			{"strong, weak", "strong"},
			{"strong, weak", "strong, repeated"},
		} {
			if losses[order[0]] >= losses[order[1]] {
				t.Errorf("step %d: loss by %s %.1f, by %s %.1f: want less by the former",
					step, order[0], losses[order[0]], order[1], losses[order[1]])
			}
		}
		if gain := losses["none"] - losses["noise"]; gain > 4 { // half the logarithm of the number of rows
			t.Errorf("step %d: a feature without an effect lowers the loss by %.1f", step, gain)
		}
	}
}
