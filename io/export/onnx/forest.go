package onnx

// forest is the trees of a TreeEnsembleRegressor. Each tree finds a whole number, which is its
// target's: so the trees give a row as many numbers as there are trees.
type forest struct {
	trees   int
	nodes   []forestNode
	targets []target
}

// forestNode asks whether a column is at least a number; without branches it is a leaf.
type forestNode struct {
	tree, id int
	column   int // number of the column, see columns
	atLeast  float64
	missing  bool // rows without a value go to yes
	yes, no  int
	inner    bool
}

// target is what a leaf gives.
type target struct {
	tree, id int
	value    int
}

// grower adds the nodes of a single tree. Nodes are numbered within it.
type grower struct {
	*forest

	tree, nodes int
}

// grow begins a tree.
func (f *forest) grow() *grower {
	f.trees++
	return &grower{f, f.trees - 1, 0}
}

// leaf adds a leaf, and returns its number.
func (g *grower) leaf(value int) int {
	id := g.nodes
	g.nodes++
	g.forest.nodes = append(g.forest.nodes, forestNode{tree: g.tree, id: id})
	g.targets = append(g.targets, target{g.tree, id, value})
	return id
}

// ask adds a node with what yes and no add, and returns its number.
func (g *grower) ask(column int, atLeast float64, missing bool, yes, no func() int) int {
	id := g.nodes
	at := len(g.forest.nodes)
	g.nodes++
	g.forest.nodes = append(g.forest.nodes, forestNode{
		tree: g.tree, id: id, column: column, atLeast: atLeast, missing: missing, inner: true,
	})
	y := yes()
	n := no()
	g.forest.nodes[at].yes, g.forest.nodes[at].no = y, n
	return id
}

// search adds nodes that find the place of a number: as many bounds as there are, ascending, are
// at most the number.
func (g *grower) search(column int, bounds []float64, found func(place int) int) int {
	return g.searchIn(column, bounds, 0, len(bounds), found)
}

// searchIn searches the places from..to.
func (g *grower) searchIn(column int, bounds []float64, from, to int, found func(place int) int) int {
	if from == to {
		return found(from)
	}
	middle := (from + to + 1) / 2
	return g.ask(column, bounds[middle-1], false,
		func() int { return g.searchIn(column, bounds, middle, to, found) },
		func() int { return g.searchIn(column, bounds, from, middle-1, found) })
}

// counted returns the bounds of the whole numbers 0..n-1.
func counted(n int) []float64 {
	var bounds []float64
	for i := 1; i < n; i++ {
		bounds = append(bounds, float64(i))
	}
	return bounds
}

// add adds the operator, and returns its output: a float for each row and tree.
func (f *forest) add(g *graph, matrix string, position func(column int) int) string {
	n := len(f.nodes)
	trees := make([]int64, n)
	ids := make([]int64, n)
	features := make([]int64, n)
	yes := make([]int64, n)
	no := make([]int64, n)
	missing := make([]int64, n)
	modes := make([]string, n)
	values := make([]float64, n)
	for i := range f.nodes {
		of := &f.nodes[i]
		trees[i] = int64(of.tree)
		ids[i] = int64(of.id)
		modes[i] = "LEAF"
		if !of.inner {
			continue
		}
		modes[i], values[i], features[i] = "BRANCH_GTE", of.atLeast, int64(position(of.column))
		yes[i] = int64(of.yes)
		no[i] = int64(of.no)
		if of.missing {
			missing[i] = 1
		}
	}
	var targetTrees, targetNodes, targetIDs []int64
	var weights []float64
	for _, t := range f.targets {
		targetTrees = append(targetTrees, int64(t.tree))
		targetNodes = append(targetNodes, int64(t.id))
		targetIDs = append(targetIDs, int64(t.tree))
		weights = append(weights, float64(t.value))
	}
	return g.learned(
		"TreeEnsembleRegressor", []string{matrix},
		textAttribute("aggregate_function", "SUM"), textAttribute("post_transform", "NONE"),
		numberAttribute("n_targets", int64(f.trees)),
		numbersAttribute("nodes_treeids", trees), numbersAttribute("nodes_nodeids", ids),
		numbersAttribute("nodes_featureids", features), textsAttribute("nodes_modes", modes),
		tensorAttribute("nodes_values_as_tensor", tensor("", double, []int{n}, rawData(values), nil)),
		numbersAttribute("nodes_truenodeids", yes), numbersAttribute("nodes_falsenodeids", no),
		numbersAttribute("nodes_missing_value_tracks_true", missing),
		numbersAttribute("target_treeids", targetTrees), numbersAttribute("target_nodeids", targetNodes),
		numbersAttribute("target_ids", targetIDs),
		tensorAttribute("target_weights_as_tensor", tensor("", double, []int{len(weights)}, rawData(weights), nil)),
	)
}
