package onnx

import "strconv"

// graph collects nodes and initializers. Values between nodes are numbered.
type graph struct {
	nodes, initializers []message
	taken               map[string]bool // names of inputs and outputs
	last                int
}

// fresh returns a name for a value.
func (g *graph) fresh() string {
	for {
		g.last++
		if name := "v" + strconv.Itoa(g.last); !g.taken[name] {
			return name
		}
	}
}

// op adds a node, and returns the name of its output.
func (g *graph) op(operator string, inputs []string, attributes ...message) string {
	return g.opAs(g.fresh(), "", operator, inputs, attributes...)
}

// learned adds a node of ai.onnx.ml.
func (g *graph) learned(operator string, inputs []string, attributes ...message) string {
	return g.opAs(g.fresh(), learnedDomain, operator, inputs, attributes...)
}

// opAs adds a node whose output has a name.
func (g *graph) opAs(output, domain, operator string, inputs []string, attributes ...message) string {
	var m message
	for _, input := range inputs {
		m.text(1, input)
	}
	m.text(2, output)
	m.text(3, "n"+strconv.Itoa(len(g.nodes)))
	m.text(4, operator)
	for _, a := range attributes {
		m.bytes(5, a)
	}
	m.text(7, domain)
	g.nodes = append(g.nodes, m)
	return output
}

// call is op with inputs alone.
func (g *graph) call(operator string, inputs ...string) string { return g.op(operator, inputs) }

func (g *graph) constant(of kind, dims []int, raw []byte, texts []string) string {
	name := g.fresh()
	g.initializers = append(g.initializers, tensor(name, of, dims, raw, texts))
	return name
}

func (g *graph) doubles(list []float64, dims ...int) string {
	return g.constant(double, dims, rawData(list), nil)
}

func (g *graph) wholes(list []int64, dims ...int) string {
	return g.constant(whole, dims, rawData(list), nil)
}

func (g *graph) truths(list []bool, dims ...int) string {
	return g.constant(truth, dims, rawData(list), nil)
}

func (g *graph) texts(list []string) string {
	return g.constant(text, []int{len(list)}, nil, list)
}

// cast converts a value.
func (g *graph) cast(value string, to kind) string {
	return g.op("Cast", []string{value}, numberAttribute("to", int64(to)))
}

// concat joins values along their second dimension.
func (g *graph) concat(values ...string) string {
	if len(values) == 1 {
		return values[0]
	}
	return g.op("Concat", values, numberAttribute("axis", 1))
}

// reshape changes the dimensions; -1 is what is left.
func (g *graph) reshape(value string, dims ...int64) string {
	return g.call("Reshape", value, g.wholes(dims, len(dims)))
}

// flat makes one list of all elements.
func (g *graph) flat(value string) string { return g.reshape(value, -1) }

// gather picks elements of a table by its first dimension.
func (g *graph) gather(table, at string) string { return g.call("Gather", table, at) }

// sum adds along the second dimension, which falls away.
func (g *graph) sum(value string) string {
	return g.op("ReduceSum", []string{value, g.wholes([]int64{1}, 1)}, numberAttribute("keepdims", 0))
}
