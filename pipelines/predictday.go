package pipelines

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/contracts"
	"github.com/espalier-ml/espalier/pipelines/session"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// predictedDay is the day of a scoring.
type predictedDay struct {
	*source.Window

	date   string
	digest string // digest of the tree, the input files and the settings
}

// openDay replaces the templates of dates in the settings of a scoring, and lists the files of its day; nil
// if the scoring has no day.
func openDay(ctx context.Context, s *session.Session, c *config.Predict, now time.Time) (*predictedDay, error) {
	if !c.Daily() {
		return nil, nil //nolint:nilnil // a scoring of files without a day
	}
	day := c.Day(now)
	output, err := source.ExpandDates(c.Output, day)
	if err != nil {
		return nil, usage.Renamed(err, "input", "output")
	}
	if len(output) > 1 {
		return nil, usage.Errorf("--output %s: a range of days: want one day, such as {date}", c.Output)
	}
	in := source.Days{Patterns: c.Input, MaxLag: c.MaxLag}
	w, err := in.Open(ctx, s.Files, day)
	if err != nil {
		return nil, err
	}
	if len(w.Missing) > 0 {
		s.Reporter.Warn("days without rows: " + strings.Join(w.Missing, ", "))
	}
	c.Input = w.Patterns
	c.Output = output[0].Pattern
	return &predictedDay{Window: w, date: day.Format(time.DateOnly)}, nil
}

// settle computes the digest of what the predictions of the day follow from.
func (d *predictedDay) settle(ctx context.Context, c *config.Predict, stamps []runfolder.Stamp) error {
	obeyed, err := contracts.Read(ctx, &c.Contract)
	if err != nil {
		return err
	}
	digests := make([]string, len(stamps))
	for i := range stamps {
		digests[i] = stamps[i].Digest
	}
	from := []any{digests, d.Files, c.Copied, c.Measured, c.Explain, c.MaxUnseen, c.MaxRejects, obeyed}
	if c.Threshold != nil { // without one the digest is that of earlier versions
		from = append(from, c.Decided)
	}
	b, err := json.Marshal(from)
	sum := sha256.Sum256(b)
	d.digest = hex.EncodeToString(sum[:8])
	return err
}

// published returns the earlier predictions of the day if they follow from the same tree, files and settings;
// nil if absent, or if they are to be replaced.
func (p *prediction) published(ctx context.Context) (*PredictResult, error) {
	m, err := p.output.Published(ctx)
	if m == nil || err != nil {
		return nil, err
	}
	switch {
	case m.InputsDigest == p.day.digest:
		r := &PredictResult{
			Tree: p.tree, Run: runfolder.FolderOf(p.model), Rows: m.Rows, Columns: m.Columns, Scores: m.Scores,
			Folder: p.config.Output, Date: p.day.date, Repeated: true,
		}
		for _, name := range m.Outputs {
			r.Files = append(r.Files, p.output.File(name))
		}
		return r, nil
	case p.config.Overwrite:
		return nil, nil //nolint:nilnil // replaced
	case m.Digest != p.stamps[0].Digest:
		return nil, usage.Errorf("--output %s has predictions by another tree, %s: replace them with --overwrite", p.config.Output, m.Tree)
	default:
		return nil, usage.Errorf("--output %s has predictions from other files, or with other settings: replace them with --overwrite",
			p.config.Output)
	}
}
