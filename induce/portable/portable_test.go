package portable_test

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"testing"

	"github.com/espalier-ml/espalier/induce/portable"
)

// bits has arguments and results by the bits of their doubles (origin:
// testdata/bits.py, the same steps in CPython's floats, judged by mpmath).
//
//go:embed testdata/bits.tsv
var bits []byte

func TestBits(t *testing.T) {
	functions := map[string]func(float64) float64{
		"log2": portable.Log2, "log": portable.Log, "exp2": portable.Exp2, "exp": portable.Exp,
	}
	lines := 0
	for line := range bytes.Lines(bits) {
		var name string
		var x, want uint64
		if _, err := fmt.Sscanf(string(line), "%s %x %x", &name, &x, &want); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		lines++
		if got := functions[name](math.Float64frombits(x)); math.Float64bits(got) != want {
			t.Errorf("%s(%v) = %016x, want %016x", name, math.Float64frombits(x), math.Float64bits(got), want)
		}
	}
	if lines < 1000 {
		t.Errorf("only %d lines", lines)
	}
}

// TestEnds: arguments without a logarithm, and results beyond a double (by the
// functions' definitions).
func TestEnds(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name     string
		got, nat float64
	}{
		{"log2 0", portable.Log2(0), -inf},
		{"log 0", portable.Log(0), -inf},
		{"log2 inf", portable.Log2(inf), inf},
		{"log inf", portable.Log(inf), inf},
		{"log2 -1", portable.Log2(-1), nan},
		{"log -1", portable.Log(-1), nan},
		{"log2 nan", portable.Log2(nan), nan},
		{"log nan", portable.Log(nan), nan},
		{"exp2 inf", portable.Exp2(inf), inf},
		{"exp2 -inf", portable.Exp2(-inf), 0},
		{"exp2 1024", portable.Exp2(1024), inf},
		{"exp2 -2000", portable.Exp2(-2000), 0},
		{"exp2 nan", portable.Exp2(nan), nan},
		{"exp inf", portable.Exp(inf), inf},
		{"exp -inf", portable.Exp(-inf), 0},
		{"exp 709.79", portable.Exp(709.79), inf},
		{"exp -746", portable.Exp(-746), 0},
		{"exp nan", portable.Exp(nan), nan},
	} {
		if math.Float64bits(c.got) != math.Float64bits(c.nat) && !(math.IsNaN(c.got) && math.IsNaN(c.nat)) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.nat)
		}
	}
}

// BenchmarkExp: of scores, one by one and seven at a time, and of the same numbers by
// package math.
func BenchmarkExp(b *testing.B) {
	var xs [1024]float64
	for i := range xs {
		xs[i] = -float64(i*i%997) / 50
	}
	for name, exp := range map[string]func(float64) float64{"portable": portable.Exp, "math": math.Exp} {
		b.Run("by="+name, func(b *testing.B) {
			sum := 0.0
			for b.Loop() {
				for _, x := range xs {
					sum += exp(x)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(len(xs)*b.N), "ns/value")
			if sum == 0 {
				b.Fatal("no sum")
			}
		})
	}
	b.Run("by=each", func(b *testing.B) {
		sum := 0.0
		for b.Loop() {
			list := xs
			for at := 0; at+7 <= len(list); at += 7 {
				portable.ExpEach(list[at : at+7])
			}
			sum += list[1]
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(len(xs)*b.N), "ns/value")
		if sum == 0 {
			b.Fatal("no sum")
		}
	})
}

// TestExpEach: each number's exponential is that of Exp, far numbers' too.
func TestExpEach(t *testing.T) {
	list := []float64{0, -1, 1.5, -708.5, -745.2, 709.5, 710, math.Inf(1), math.Inf(-1), math.NaN(), -1e-300, 5e-324}
	for i := range 2000 {
		list = append(list, math.Sin(float64(i))*750)
	}
	got := append([]float64(nil), list...)
	portable.ExpEach(got)
	for i, x := range list {
		if want := portable.Exp(x); math.Float64bits(got[i]) != math.Float64bits(want) {
			t.Errorf("e^%v = %v, want %v", x, got[i], want)
		}
		if want := math.Exp(x); math.Abs(got[i]-want) > 1e-15*want {
			t.Errorf("e^%v = %v, math.Exp says %v", x, got[i], want)
		}
	}
}

// TestFillProbabilities: two scores of a logit's halves and one logit give the same
// probabilities; they add up to 1, and scores beyond all exponentials stay finite.
func TestFillProbabilities(t *testing.T) {
	for _, z := range []float64{0, 0.3, -2, 40, -40, 1e5, -1e5} {
		logistic, softmax := make([]float64, 2), make([]float64, 3)
		portable.FillProbabilities(logistic, []float64{z})
		portable.FillProbabilities(softmax, []float64{0, z, math.Inf(-1)})
		for k, p := range logistic {
			if !(math.Abs(p-softmax[k]) <= 1e-15) {
				t.Errorf("logit %v: class %d has %v, by softmax %v", z, k, p, softmax[k])
			}
		}
		if sum := logistic[0] + logistic[1]; math.Abs(sum-1) > 1e-15 {
			t.Errorf("logit %v: probabilities add up to %v", z, sum)
		}
	}
}

// TestSum: numbers are added in their order.
func TestSum(t *testing.T) {
	if got := portable.Sum([]float64{1e16, 1, 1, -1e16}); got != 0 {
		t.Errorf("sum %v: want each 1 rounded off", got)
	}
	if got := portable.Sum([]int64{1 << 60, 1}); got != 1<<60+1 {
		t.Errorf("sum %d", got)
	}
}
