package forest

import (
	"runtime"
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
)

// Options are the options of a forest. The zero value of an option selects its default.
type Options struct {
	Trees   int         // number of trees; 0: 200
	Seed    uint64      // seed of all random choices
	Workers int         // number of goroutines; 0: GOMAXPROCS. It does not change the forest
	Stop    func() bool // called often, from any goroutine; if it returns true, there is no result; may be nil

	Draws    int     // mean number of rows that a tree draws, at most; 0: 2^15
	Features int     // number of features that a node considers; 0: the rounded square root of the number of features
	Leaf     float64 // least weight of a leaf, in rows; 0: 1
	Smooth   float64 // weight, in rows, of the class shares of all objects in each leaf; 0: 0.1
}

// The defaults of Options.
const (
	defaultTrees  = 200
	defaultDraws  = 1 << 15
	defaultLeaf   = 1
	defaultSmooth = 0.1
)

// Forest is a random forest. It keeps the objects that it is grown from. Its methods may be
// called from many goroutines. They use the options Workers and Stop.
type Forest struct {
	objects  *dataset.Objects
	features []dataset.Feature
	options  Options
	drawing  *drawing
	prior    []float64 // class shares of all objects
	trees    []tree
}

// Grow grows a forest from the class weights (Raw) of objects with the given features. It
// returns nil if no object has a weight, or if Stop returns true.
func Grow(objects *dataset.Objects, features []dataset.Feature, o Options) *Forest {
	f := &Forest{objects: objects, features: features, options: o.orDefault(len(features))}
	f.drawing = newDrawing(objects, f.options.Draws)
	if f.drawing == nil {
		return nil
	}
	f.prior = priors(objects)
	f.trees = make([]tree, f.options.Trees)
	var next atomic.Int64
	var stopped atomic.Bool
	parallel.Run(min(f.options.Workers, len(f.trees)), func() {
		g := newGrower(f)
		for i := int(next.Add(1) - 1); i < len(f.trees); i = int(next.Add(1) - 1) {
			if stopped.Load() || f.options.Stop() {
				stopped.Store(true)
				return
			}
			f.trees[i] = g.grow(i)
		}
	})
	if stopped.Load() {
		return nil
	}
	return f
}

// each calls f(0), f(1), .. f(n-1) until Stop returns true, and reports whether all calls were made.
func (o *Options) each(n int, f func(i int)) bool {
	var stopped atomic.Bool
	parallel.Each(n, o.Workers, func(i int) {
		if stopped.Load() || o.Stop() {
			stopped.Store(true)
			return
		}
		f(i)
	})
	return !stopped.Load()
}

func (o Options) orDefault(features int) Options {
	if o.Stop == nil {
		o.Stop = func() bool { return false }
	}
	if o.Trees <= 0 {
		o.Trees = defaultTrees
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Draws <= 0 {
		o.Draws = defaultDraws
	}
	if o.Features <= 0 {
		for o.Features = 1; o.Features*(o.Features+1) < features; {
			o.Features++
		}
	}
	if o.Leaf <= 0 {
		o.Leaf = defaultLeaf
	}
	if o.Smooth <= 0 {
		o.Smooth = defaultSmooth
	}
	return o
}

// priors returns the share of each class in the weight of all objects.
func priors(o *dataset.Objects) []float64 {
	weights, total := o.ClassWeights(), o.TotalWeight()
	shares := make([]float64, o.Classes)
	for k, w := range weights {
		shares[k] = float64(w) / float64(total)
	}
	return shares
}
