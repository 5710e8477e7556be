package dataset_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// benchRows is the number of rows of a typical row group.
const benchRows = 1 << 16

// benchShape has three classes. Every tenth feature has codes of two bytes, the other features of
// one byte.
func benchShape(features, distinct int) *shape {
	s := &shape{features: make([]dataset.Feature, features), distinct: distinct, classes: 3}
	for i := range s.features {
		s.features[i] = numeric("bins", 128)
		if i%10 == 9 {
			s.features[i] = numeric("fine", 1000)
		}
	}
	return s
}

func benchShapes() []*shape {
	var list []*shape
	for _, features := range []int{5, 20, 200} {
		for _, distinct := range []int{100, benchRows} {
			list = append(list, benchShape(features, distinct))
		}
	}
	return list
}

func (s *shape) benchName() string {
	return fmt.Sprintf("features=%d/distinct=%d", len(s.features), s.distinct)
}

func (s *shape) benchRows() []row { return s.rows(rand.New(rand.NewPCG(1, 2)), benchRows) }

// reportEach reports the time per item of an operation on n items.
func reportEach(b *testing.B, n int, unit string) {
	b.Helper()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), unit)
}

// BenchmarkHashKey hashes the keys of a row group.
func BenchmarkHashKey(b *testing.B) {
	for _, size := range []int{4, 22, 220} {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			key := make([]byte, size)
			b.SetBytes(int64(size))
			for b.Loop() {
				dataset.HashKey(key)
			}
		})
	}
}

// BenchmarkTableAdd adds a row group to an empty table.
func BenchmarkTableAdd(b *testing.B) {
	for _, s := range benchShapes() {
		b.Run(s.benchName(), func(b *testing.B) {
			rows := s.benchRows()
			keys, hashes := make([][]byte, len(rows)), make([]uint64, len(rows))
			for i := range rows {
				keys[i] = s.key(rows[i].codes)
				hashes[i] = dataset.HashKey(keys[i])
			}
			b.ReportAllocs()
			for b.Loop() {
				t := dataset.NewTable(s.layout(), false)
				for i := range rows {
					t.Add(keys[i], hashes[i], rows[i].class, 1, 1)
				}
			}
			reportEach(b, len(rows), "ns/row")
		})
	}
}

// BenchmarkTableAddBlock merges the objects of a row group into a table.
func BenchmarkTableAddBlock(b *testing.B) {
	for _, s := range benchShapes() {
		b.Run(s.benchName(), func(b *testing.B) {
			from := s.table(s.benchRows())
			block := from.AppendBlock(nil, 0, from.Len())
			b.SetBytes(int64(len(block)))
			b.ReportAllocs()
			for b.Loop() {
				if err := dataset.NewTable(s.layout(), false).AddBlock(block, s.classes); err != nil {
					b.Fatal(err)
				}
			}
			reportEach(b, from.Len(), "ns/object")
		})
	}
}

// BenchmarkAppendBlock encodes objects, from a table and from columns.
func BenchmarkAppendBlock(b *testing.B) {
	for _, s := range benchShapes() {
		t := s.table(s.benchRows())
		block := t.AppendBlock(nil, 0, t.Len())
		objects := s.noObjects()
		if err := objects.AppendFrom(block, s.layout()); err != nil {
			b.Fatal(err)
		}
		for _, from := range []struct {
			name   string
			encode func(dst []byte) []byte
		}{
			{"table", func(dst []byte) []byte { return t.AppendBlock(dst, 0, t.Len()) }},
			{"objects", objects.AppendBlock},
		} {
			b.Run(fmt.Sprintf("from=%s/%s", from.name, s.benchName()), func(b *testing.B) {
				b.SetBytes(int64(len(block)))
				b.ReportAllocs()
				for b.Loop() {
					block = from.encode(block[:0])
				}
				reportEach(b, t.Len(), "ns/object")
			})
		}
	}
}

// BenchmarkAppendFrom decodes a block into objects with room for it.
func BenchmarkAppendFrom(b *testing.B) {
	for _, s := range benchShapes() {
		b.Run(s.benchName(), func(b *testing.B) {
			t := s.table(s.benchRows())
			block := t.AppendBlock(nil, 0, t.Len())
			b.SetBytes(int64(len(block)))
			b.ReportAllocs()
			for b.Loop() {
				o := dataset.NewObjects(s.layout(), s.classes, s.weighted, t.Len())
				if err := o.AppendFrom(block, s.layout()); err != nil {
					b.Fatal(err)
				}
			}
			reportEach(b, t.Len(), "ns/object")
		})
	}
}

// BenchmarkEncode codes a column of a row group, plain and by dictionary, and of a piece of a row group.
func BenchmarkEncode(b *testing.B) {
	const stride = 20
	keys := make([]byte, benchRows*stride)
	for _, c := range []struct {
		form    string
		feature dataset.Feature
	}{
		{"plain", numeric("x", 2)},
		{"plain", numeric("x", 32)},
		{"plain", numeric("x", 128)},
		{"plain", numeric("x", 1000)},
		{"dictionary", numeric("x", 128)},
		{"dictionary", numeric("x", 1000)},
		{"piece", numeric("x", 1000)},
		{"texts", categorical("job", 12)},
		{"texts", categorical("job", 1000)},
	} {
		b.Run(fmt.Sprintf("form=%s/codes=%d", c.form, c.feature.Codes()), func(b *testing.B) {
			v := benchVector(c.form, &c.feature)
			e := dataset.NewEncoder(&c.feature)
			var scratch []uint16
			b.ReportAllocs()
			for b.Loop() {
				scratch = e.Encode(&v, keys, 3, stride, scratch)
			}
			reportEach(b, benchRows, "ns/row")
		})
	}
}

// benchVector draws a column whose values reach all codes of a feature.
func benchVector(form string, f *dataset.Feature) dataset.Vector {
	r := rand.New(rand.NewPCG(1, 2))
	if form == "plain" {
		v := dataset.Vector{Type: dataset.Number, Numbers: make([]float64, benchRows)}
		for i := range v.Numbers {
			v.Numbers[i] = float64(f.Bins()) * r.Float64()
		}
		return v
	}
	v := dataset.Vector{Type: f.Type, Index: make([]int32, benchRows), Texts: append([]string{"unseen"}, f.Values...)}
	entries := f.Bins()
	if form == "piece" { // of a row group of 8 times the rows, with as many values
		entries = 8 * benchRows
	}
	for i := range entries {
		v.Numbers = append(v.Numbers, float64(i*f.Bins()/entries))
	}
	for i := range v.Index {
		v.Index[i] = int32(r.IntN(entries+1)) - 1
	}
	return v
}

// BenchmarkFeatures encodes and decodes features in the form sent to workers.
func BenchmarkFeatures(b *testing.B) {
	for _, n := range []int{20, 2000} {
		features := benchShape(n, 1).features
		encoded := dataset.EncodeFeatures(features)
		b.Run(fmt.Sprintf("op=encode/features=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(encoded)))
			for b.Loop() {
				dataset.EncodeFeatures(features)
			}
		})
		b.Run(fmt.Sprintf("op=decode/features=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(encoded)))
			for b.Loop() {
				if _, err := dataset.DecodeFeatures(encoded); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkParts deals the rows of a row group to the parts of a split.
func BenchmarkParts(b *testing.B) {
	shares := dataset.Shares{70, 10, 20}
	for b.Loop() {
		group := dataset.HashPosition(1, "part-0.parquet", 0)
		for r := range benchRows {
			shares.Of(dataset.HashRow(group, r))
		}
	}
	reportEach(b, benchRows, "ns/row")
}

// BenchmarkTableGrow fills a new table with the rows of a row group, one by one or
// together.
func BenchmarkTableGrow(b *testing.B) {
	for _, s := range benchShapes() {
		rows := s.benchRows()
		all := dataset.Rows{}
		at := make([]int32, len(rows))
		for i := range rows {
			key := s.key(rows[i].codes)
			all.Keys, all.Hashes = append(all.Keys, key...), append(all.Hashes, dataset.HashKey(key))
			all.Classes, at[i] = append(all.Classes, rows[i].class), int32(i)
		}
		stride := s.layout().Stride
		b.Run(s.benchName()+"/add=one", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				t := dataset.NewTable(s.layout(), false)
				for i := range rows {
					t.Add(all.Keys[i*stride:(i+1)*stride], all.Hashes[i], all.Classes[i], 1, 1)
				}
			}
			reportEach(b, len(rows), "ns/row")
		})
		b.Run(s.benchName()+"/add=rows", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				dataset.NewTable(s.layout(), false).AddRows(&all, at)
			}
			reportEach(b, len(rows), "ns/row")
		})
	}
}
