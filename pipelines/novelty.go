package pipelines

import (
	"fmt"

	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/engine"
)

// unseenTold is one in how many rows may have a value that training did not have
// before that is told.
const unseenTold = 10

// warnOfNovelty names the columns of which more than a tenth of the rows have a
// value that training did not have: a category that is not listed, or a number out
// of the range. Whatever the tree says of such rows is a guess.
func warnOfNovelty(reporter engine.Reporter, columns []runfolder.ColumnNovelty, rows int64) {
	for _, c := range columns {
		fresh := c.Unseen + c.Outside
		if fresh*unseenTold <= rows {
			continue
		}
		what := "that is none of those of training (another spelling, blanks, another type?)"
		if c.Outside > 0 {
			what = "outside of the range of training (another unit, another time?)"
		}
		reporter.Warn(fmt.Sprintf("column %q: %.4g %% of the rows have a value %s", c.Column, 100*float64(fresh)/float64(rows), what))
	}
}
