// Command scorers times scorers on the same tree and the same rows, one pass a
// command: see bench/scorers.py, which lays generated code over this folder.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
)

// A pass scores all rows in an order, row by row or at once, and returns the sum of the
// predictions.
type pass = func(rows []float64, order []int32) float64

// others makes the passes of other libraries, by name.
//
//nolint:gochecknoglobals // files that may be left out add to it
var others = map[string]func(folder string, features int) pass{}

// generated are the passes of generated code. Their rows have only the features that the
// tree tests.
//
//nolint:gochecknoglobals // files that may be left out add to it
var generated = map[string]func(rows []float64, order []int32, features int) float64{}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: scorers FOLDER")
		os.Exit(2)
	}
	if err := serve(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(folder string) error {
	c, err := load(folder)
	if err != nil {
		return err
	}
	c.addOurs()
	c.addOthers(folder)
	if err := json.NewEncoder(os.Stdout).Encode(c.names); err != nil {
		return err
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		pass := c.passes[lines.Text()]
		if pass == nil {
			return fmt.Errorf("scorer %q: want one of %q", lines.Text(), c.names)
		}
		pass() // a warm-up: all passes find their rows in the same caches
		start := time.Now()
		sum := pass()
		if _, err := fmt.Fprintln(os.Stdout, float64(time.Since(start).Nanoseconds())/float64(c.count),
			sum); err != nil {
			return err
		}
	}
	return nil
}

// contest is a tree, its rows, and a pass over all rows for each scorer. A pass returns the
// sum of the values of the leaves that the rows reach.
type contest struct {
	scorer *tree.Scorer
	leaves []float64 // value of each node
	rows   []float64 // values of all features, row by row
	width  int       // number of features
	count  int       // number of rows
	order  []int32   // order of the rows, for passes row by row

	numbers []float64 // values of the tested features, row by row

	names  []string
	passes map[string]func() float64
}

func load(folder string) (*contest, error) {
	var faults []error
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(folder, name))
		faults = append(faults, err)
		return b
	}
	model := read("tree.json")
	values := read("values.json")
	rows := read("rows.bin")
	order := read("order.bin")
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	t, err := tree.Decode(model)
	if err != nil {
		return nil, err
	}
	c := &contest{
		scorer: t.Scorer(), width: len(t.Features), rows: make([]float64, len(rows)/8),
		order: make([]int32, len(order)/4), passes: make(map[string]func() float64),
	}
	if err := json.Unmarshal(values, &c.leaves); err != nil {
		return nil, err
	}
	for i := range c.rows {
		c.rows[i] = math.Float64frombits(binary.LittleEndian.Uint64(rows[8*i:]))
	}
	for i := range c.order {
		c.order[i] = int32(binary.LittleEndian.Uint32(order[4*i:]))
	}
	c.count = len(c.rows) / c.width
	return c, nil
}

func (c *contest) add(name string, pass func() float64) {
	c.names = append(c.names, name)
	c.passes[name] = pass
}

// addOurs adds the passes of tree.Scorer.
func (c *contest) addOurs() {
	s := c.scorer
	inputs := len(s.Features())
	values := make([]tree.Value, 0, c.count*inputs)
	columns := make([]dataset.Vector, inputs)
	for r := range c.count {
		for i, in := range s.Features() {
			x := c.rows[r*c.width+in.Feature]
			c.numbers, values = append(c.numbers, x), append(values, tree.Number(x))
			columns[i].Type = dataset.Number
			columns[i].Numbers = append(columns[i].Numbers, x)
		}
	}
	matrix := make([][]float64, 0, c.count)
	for _, r := range c.order {
		matrix = append(matrix, c.numbers[int(r)*inputs:][:inputs])
	}
	predictions := make([]*tree.Prediction, len(matrix))
	c.add("espalier matrix", func() float64 {
		must(s.PredictMatrix(matrix, predictions))
		sum := 0.
		for _, p := range predictions {
			sum += c.leaves[p.Leaf]
		}
		return sum
	})
	c.add("espalier row, values", func() float64 {
		sum := 0.
		for _, r := range c.order {
			p, err := s.Predict(values[int(r)*inputs:][:inputs])
			must(err)
			sum += c.leaves[p.Leaf]
		}
		return sum
	})
	ids := make([]int32, c.count)
	c.add("espalier batch", func() float64 {
		must(s.Leaves(columns, ids))
		sum := 0.
		for _, id := range ids {
			sum += c.leaves[id]
		}
		return sum
	})
}

func (c *contest) addOthers(folder string) {
	for name, prepare := range others {
		pass := prepare(folder, c.width)
		c.add(name, func() float64 { return pass(c.rows, c.order) })
	}
	inputs := len(c.scorer.Features())
	for name, pass := range generated {
		c.add(name, func() float64 { return pass(c.numbers, c.order, inputs) })
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
