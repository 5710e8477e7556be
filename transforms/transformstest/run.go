// Package transformstest helps to test pipelines that train trees or score rows: Rows makes rows, Run runs a pipeline in
// the process of the test, Collect gathers its elements, and Diff compares trees.
//
//	rows := transformstest.Rows[Visit](t, model, 1000, 1)
//	var trees *transformstest.Collected[[]byte]
//	err := transformstest.Run("direct", func(s beam.Scope) {
//		trees = transformstest.Collect[[]byte](s, MyTraining(s, beam.CreateList(s, rows)))
//	})
//
// The test imports its runner for its side effects, such as Beam's package runners/direct. A test with runners in other
// processes, which Collect cannot reach, writes files.
package transformstest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"weak"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/transforms"
)

// Run builds a pipeline and runs it on a runner, such as "direct" or "prism". It returns the error of either.
func Run(runner string, build func(s beam.Scope)) error {
	p, s := beam.NewPipelineWithRoot()
	if _, err := transforms.Try(func() bool { build(s); return true }); err != nil {
		return err
	}
	_, err := beam.Run(context.Background(), runner, p)
	return err
}

// Collected has the elements of a collection, in the order in which they came.
type Collected[T any] struct {
	mu   sync.Mutex
	list []T
}

// All returns the elements. Call it after the run. A nil Collected has none.
func (c *Collected[T]) All() []T {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.list
}

func (c *Collected[T]) add(x T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, x)
}

// Collect gathers the elements of a collection when the pipeline runs in this process.
func Collect[T any](s beam.Scope, elements beam.PCollection) *Collected[T] {
	c := new(Collected[T])
	beam.ParDo0(s, &collectFn{open(c, func(c *Collected[T], x, _ any) error {
		one, ok := x.(T)
		if !ok {
			return fmt.Errorf("transformstest: an element is of type %T, want %v", x, reflect.TypeFor[T]())
		}
		c.add(one)
		return nil
	})}, elements)
	return c
}

// Pair is an element of a collection of keys with values, such as the rows and predictions of transforms.Scored.
type Pair[K, V any] struct {
	Key   K
	Value V
}

// CollectPairs gathers the elements of a collection of keys with values, as Collect does.
func CollectPairs[K, V any](s beam.Scope, pairs beam.PCollection) *Collected[Pair[K, V]] {
	c := new(Collected[Pair[K, V]])
	beam.ParDo0(s, &collectPairFn{open(c, func(c *Collected[Pair[K, V]], x, y any) error {
		k, isKey := x.(K)
		v, isValue := y.(V)
		if !isKey || !isValue {
			return fmt.Errorf("transformstest: an element is a pair of %T and %T, want %v and %v", x, y, reflect.TypeFor[K](),
				reflect.TypeFor[V]())
		}
		c.add(Pair[K, V]{k, v})
		return nil
	})}, pairs)
	return c
}

// collectors has the functions that gather elements, by name: a runner makes the DoFns from their fields. A function is
// there for as long as its Collected can be reached.
var collectors sync.Map //nolint:gochecknoglobals // likewise

// process identifies this process.
var process = rand.Text() //nolint:gochecknoglobals // a constant

// collector identifies the function that gathers elements.
type collector struct{ Process, Name string }

// open registers the function that adds elements to c.
func open[T any](c *Collected[T], add func(c *Collected[T], x, y any) error) collector {
	name := rand.Text()
	reached := weak.Make(c)
	collectors.Store(name, func(x, y any) error {
		if c := reached.Value(); c != nil {
			return add(c, x, y)
		}
		return nil
	})
	runtime.AddCleanup(c, func(name string) { collectors.Delete(name) }, name)
	return collector{process, name}
}

// collect hands an element to the function. It drops an element that nobody can read any more.
func (c *collector) collect(x, y any) error {
	if c.Process != process {
		return errors.New("transformstest: the runner works in another process, from which nothing can be collected")
	}
	f, ok := collectors.Load(c.Name)
	if !ok {
		return nil
	}
	return f.(func(x, y any) error)(x, y) //nolint:errcheck // nothing else is stored
}

type collectFn struct{ Into collector }

func (f *collectFn) ProcessElement(x beam.T) error { return f.Into.collect(x, nil) }

type collectPairFn struct{ Into collector }

func (f *collectPairFn) ProcessElement(x beam.X, y beam.Y) error { return f.Into.collect(x, y) }

func init() {
	beam.RegisterDoFn(reflect.TypeFor[collectFn]())
	beam.RegisterDoFn(reflect.TypeFor[collectPairFn]())
}
