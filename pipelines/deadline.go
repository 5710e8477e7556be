package pipelines

import (
	"context"
	"time"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/levels"
)

// deadline returns when a run that began at a time should be over.
func (c *TrainConfig) deadline(start time.Time) time.Time {
	if c.Deadline == 0 {
		return time.Time{}
	}
	return start.Add(time.Duration(c.Deadline * float64(time.Second)))
}

// levelsAhead is how often the time of the last level must be left for another
// one to begin: for the level itself, for counting what it leaves open, and for
// the evaluation.
const levelsAhead = 3

// late reports whether another level would not be over in time.
func (t *training) late() bool {
	return !t.deadline.IsZero() && time.Now().Add(levelsAhead*t.levelTook).After(t.deadline)
}

// growUntil returns the Unix time in ms at which small nodes must be grown, 0 for
// any. The evaluation takes about as long as a level.
func (t *training) growUntil() int64 {
	if t.deadline.IsZero() {
		return 0
	}
	return t.deadline.Add(-t.levelTook).UnixMilli()
}

// closeLarge makes leaves of the large open nodes, for want of time.
func (t *training) closeLarge(ctx context.Context, g *levels.Growth, grower *levels.Grower) error {
	p := g.Close()
	counts, err := t.count(ctx, g, p, grower, "closing")
	if err != nil {
		return err
	}
	grower.Fill(p, counts)
	return nil
}

// cutLeaves returns the number of leaves that the deadline has made.
func cutLeaves(root *induce.Node) int {
	n := 0
	root.Walk(func(node *induce.Node, _ int) {
		if node.Test == nil && node.Stopped {
			n++
		}
	})
	return n
}
