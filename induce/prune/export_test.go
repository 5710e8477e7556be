package prune

// Cut returns the first step at which a node of the un-pruned tree is not an inner
// node; 0 for leaves. The node is a leaf from this step until its parent is cut.
func (s *Sequence) Cut(node int) int { return int(s.cut[node]) }
