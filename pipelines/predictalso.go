package pipelines

import (
	"context"
	"slices"

	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// maxPredictedLeaves is the number of leaves that two bytes can distinguish, if null takes one value.
const maxPredictedLeaves = 1<<16 - 1

// modelFlag returns the flag that names the n-th tree of a scoring.
func modelFlag(n int) string {
	if n == 0 {
		return "model"
	}
	return "also"
}

// openTrees reads the tree of --model and the trees of --also.
func (p *prediction) openTrees(ctx context.Context) error {
	for n, model := range append([]string{p.config.Model}, p.config.Also...) {
		t, url, err := runfolder.ReadModel(ctx, p.Files.Store, model)
		if err != nil {
			return usage.Errorf("--%s %s", modelFlag(n), err)
		}
		if leaves := t.CountLeaves(); leaves > maxPredictedLeaves {
			return usage.Errorf("--%s %s: a tree of %d leaves; predictions are written of at most %d", modelFlag(n), model, leaves,
				maxPredictedLeaves)
		}
		stamp := runfolder.StampOf(t, url)
		if slices.ContainsFunc(p.stamps, func(s runfolder.Stamp) bool { return s.Digest == stamp.Digest }) {
			return usage.Errorf("--also %s: the rows are scored by this tree already: leave it out", model)
		}
		p.stamps = append(p.stamps, stamp)
		if n == 0 {
			if t, err = p.config.Of(t); err != nil {
				return err
			}
			p.trees.Decision = t.Label.Decision
		}
		if p.config.Explain {
			p.paths = append(p.paths, textview.Paths(t))
		}
		p.trees.Decoded = append(p.trees.Decoded, t)
		p.trees.URLs = append(p.trees.URLs, url)
	}
	p.tree = p.trees.Decoded[0]
	p.model = p.trees.URLs[0]
	return nil
}

// metadata names the trees in the footers of the predictions.
func (p *prediction) metadata() map[string]string {
	metadata := make(map[string]string)
	for n, stamp := range p.stamps {
		for key, value := range stamp.Metadata() {
			metadata[jobs.AlsoKey(n, key)] = value
		}
	}
	return metadata
}

// alsoScored describes the trees of --also, and what was new to them.
func (p *prediction) alsoScored(counted []*jobs.Predicted) []runfolder.AlsoScored {
	var list []runfolder.AlsoScored
	for n, t := range p.trees.Decoded[1:] {
		n++
		c := counted[n]
		also := runfolder.AlsoScored{
			Digest: p.stamps[n].Digest, Tree: p.trees.URLs[n], Prefix: jobs.AlsoPrefix(n),
			Columns: source.Novelties(t, c.Novelty, c.Rows), Scores: predictedScores(t, c),
		}
		source.WarnOfNovelty(func(text string) { p.Reporter.Warn(text + " (--also " + p.config.Also[n-1] + ")") }, t, also.Columns, c.Rows)
		list = append(list, also)
	}
	return list
}
