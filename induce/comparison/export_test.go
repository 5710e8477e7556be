package comparison

// Bound lowers the limit of distinct pairs of predictions to most. Call it before any row is counted.
func (c *Counts) Bound(most int) { c.table.Bound(most) }
