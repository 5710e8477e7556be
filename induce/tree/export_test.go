package tree

// SetMost sets the greatest number of distinct probabilities.
func (c *ScoreCounts) SetMost(n int) { c.table.most = n }
