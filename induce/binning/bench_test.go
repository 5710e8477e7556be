package binning_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
)

func BenchmarkKMeans(b *testing.B) {
	for _, shape := range []string{"uniform", "normal", "lognormal"} {
		for _, c := range []struct{ values, bins int }{{2600, 5}, {2600, 32}, {65536, 5}, {65536, 128}} {
			b.Run(fmt.Sprintf("shape=%s/values=%d/bins=%d", shape, c.values, c.bins), func(b *testing.B) {
				s := numericSummary(draw(shape, c.values))
				var f binning.Fitter
				b.ReportAllocs()
				for b.Loop() {
					f.FitNumeric(s, binning.KMeans, c.bins)
				}
			})
		}
	}
}

func BenchmarkQuantile(b *testing.B) {
	for _, values := range []int{2600, 65536} {
		b.Run(fmt.Sprintf("values=%d/bins=128", values), func(b *testing.B) {
			s := numericSummary(draw("normal", values))
			var f binning.Fitter
			for b.Loop() {
				f.FitNumeric(s, binning.Quantile, 128)
			}
		})
	}
}

func BenchmarkSummaryAdd(b *testing.B) {
	const rows = 1 << 17
	all := allRows(rows)
	for _, distinct := range []int{256, 4096, 65536, rows} {
		r := rand.New(rand.NewPCG(1, uint64(distinct)))
		index := make([]int32, rows)
		dictionary, texts := make([]float64, distinct), make([]string, distinct)
		for i := range dictionary {
			dictionary[i] = r.NormFloat64()
			texts[i] = fmt.Sprintf("value %d", i)
		}
		plain := make([]float64, rows)
		for i := range index {
			index[i] = int32(r.IntN(distinct))
			plain[i] = dictionary[index[i]]
		}
		for _, c := range []struct {
			form string
			kind dataset.Kind
			v    dataset.Vector
		}{
			{"plain", dataset.Numeric, dataset.Vector{Type: dataset.Number, Numbers: plain}},
			{"dictionary", dataset.Numeric, dataset.Vector{Type: dataset.Number, Index: index, Numbers: dictionary}},
			{"text", dataset.Categorical, dataset.Vector{Type: dataset.Text, Index: index, Texts: texts}},
		} {
			b.Run(fmt.Sprintf("form=%s/distinct=%d", c.form, distinct), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s := binning.New(c.kind, c.v.Type, binning.DefaultLimits())
					s.AddVector(&c.v, all, nil)
					s.Distinct()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
			})
		}
	}
}

func BenchmarkSummaryAddWeighted(b *testing.B) {
	const rows, distinct = 1 << 17, 4096
	r := rand.New(rand.NewPCG(1, distinct))
	all, weights := allRows(rows), make([]int64, rows)
	v := dataset.Vector{Type: dataset.Number, Index: make([]int32, rows), Numbers: draw("normal", distinct)}
	byRow := dataset.Vector{Type: dataset.Number, Numbers: make([]float64, rows)}
	for i := range weights {
		weights[i] = 1 + r.Int64N(1000)
		v.Index[i] = int32(r.IntN(distinct))
		byRow.Numbers[i] = v.Numbers[v.Index[i]]
	}
	for _, c := range []struct {
		form string
		v    *dataset.Vector
	}{{"plain", &byRow}, {"dictionary", &v}} {
		b.Run(fmt.Sprintf("form=%s/distinct=%d", c.form, distinct), func(b *testing.B) {
			for b.Loop() {
				s := numericSummary(nil)
				s.AddVector(c.v, all, weights)
				s.Distinct()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}

// overlapping returns two summaries with the given number of values each, half of them common.
func overlapping(form string, values int) [2]*binning.Summary {
	if form == "number" {
		numbers := draw("normal", 3*values/2)
		return [2]*binning.Summary{numericSummary(numbers[:values]), numericSummary(numbers[values/2:])}
	}
	c := categories(dataset.Text, 2*values, slices.Repeat([]int64{1}, 3*values/2)...)
	left, right := *c, *c
	left.cells, right.cells = c.cells[:values], c.cells[values/2:]
	return [2]*binning.Summary{left.sum(), right.sum()}
}

func BenchmarkSummaryMerge(b *testing.B) {
	for _, form := range []string{"number", "text"} {
		for _, values := range []int{2600, 65536, 200000} {
			b.Run(fmt.Sprintf("form=%s/values=%d", form, values), func(b *testing.B) {
				parts := overlapping(form, values)
				b.ReportAllocs()
				for b.Loop() {
					s := binning.New(parts[0].Kind(), parts[0].Type(), parts[0].Limits())
					for _, part := range parts {
						if err := s.Merge(part); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}

func BenchmarkSummaryCodec(b *testing.B) {
	for _, form := range []string{"number", "text"} {
		for _, values := range []int{2600, 65536} {
			s := overlapping(form, values)[0]
			encoded := encode(b, s)
			b.Run(fmt.Sprintf("op=encode/form=%s/values=%d", form, values), func(b *testing.B) {
				b.SetBytes(int64(len(encoded)))
				for b.Loop() {
					encoded, _ = s.AppendBinary(encoded[:0])
				}
			})
			b.Run(fmt.Sprintf("op=decode/form=%s/values=%d", form, values), func(b *testing.B) {
				b.SetBytes(int64(len(encoded)))
				for b.Loop() {
					if _, _, err := binning.Decode(encoded); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkFitCategorical(b *testing.B) {
	for _, values := range []int{2600, 65536} {
		s := overlapping("text", values)[0]
		b.Run(fmt.Sprintf("values=%d/categories=250", values), func(b *testing.B) {
			for b.Loop() {
				if _, _, err := binning.FitCategorical(s, 250, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
