package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
)

// reopened is the training of a run that reads its rows again when they are needed.
type reopened struct {
	*promotion

	stage  stage
	fitted *fitted
}

// because returns an error that names the use of the training rows, the cause, and how to do without them.
func (p *reopened) because(what string, err error) error {
	remedy := "--input names their new place"
	switch what {
	case certificateOf:
		remedy += ", --without_rows leaves out the certificate"
	case slicesOf:
		remedy += ", --without_rows leaves out the slices"
	}
	return usage.Errorf("%s takes the training rows: %v; %s", what, err, remedy)
}

// Uses of the training rows, for messages.
const (
	certificateOf = "the certificate of this tree"
	figuresOf     = "measuring this tree"
	slicesOf      = "measuring this tree by --slice"
	demandOf      = "a demand on rows that depend on each other"
)

// fit reads the rows as training did, and fits the features to them.
func (p *reopened) fit(ctx context.Context, what string) error {
	if p.fitted != nil {
		return nil
	}
	in, err := p.OpenInput(ctx, p.config.Input)
	if err != nil {
		return p.because(what, err)
	}
	if err := unchanged(p.manifest.Inputs, in.Manifest()); err != nil {
		return p.because(what, err)
	}
	config := *p.config
	for i := range p.features { // a run of version 0.3 read all texts as categories, and had features of keys
		switch f := &p.features[i]; {
		case f.Kind == dataset.Numeric && f.Type == dataset.Number && f.Unit == dataset.Plain:
			config.Numeric = append(slices.Clone(config.Numeric), f.Name)
		case f.Kind == dataset.Categorical && f.Type == dataset.Text && !f.Ordered:
			config.Categorical = append(slices.Clone(config.Categorical), f.Name)
		}
	}
	parsed, err := config.Parse()
	if err != nil {
		return err
	}
	plan, err := newPlan(ctx, p.Files, &config, parsed, in)
	if err != nil {
		return p.because(what, err)
	}
	p.stage = stage{plan, p.Driver, p.Files, placeInMemory(p.Temporary)}
	if err := p.stage.check(ctx); err != nil {
		return p.because(what, err)
	}
	if len(p.manifest.CopiesBy) > 0 {
		p.stage.dealTogether(p.manifest.CopiesBy)
	}
	p.fitted, err = (&fitter{p.stage}).fit(ctx)
	return err
}

// unchanged returns an error if the files of the input are not the files of training. Their folder may
// differ.
func unchanged(before, now []runfolder.Input) error {
	if len(before) != len(now) {
		return fmt.Errorf("there are %d files now, and training read %d", len(now), len(before))
	}
	for i := range now {
		if now[i].FooterDigest != before[i].FooterDigest || now[i].Size != before[i].Size {
			return fmt.Errorf("%s has changed since training", now[i].URL)
		}
	}
	return nil
}

// count counts the predictions of a tree whose counts are not in grown.bin.
func (p *reopened) count(ctx context.Context, t *tree.Tree) (measuring, error) {
	if p.wish.WithoutRows {
		return nil, usage.Errorf("--without_rows: this tree takes the training rows to be measured, as its leaves have " +
			"models or an earlier version has trained it")
	}
	if err := p.fit(ctx, figuresOf); err != nil {
		return nil, err
	}
	return (&scorer{p.stage}).countModels(ctx, &objects{fitted: p.fitted}, t)
}

// slice measures a tree by the --slice of the run.
func (p *reopened) slice(ctx context.Context, t *tree.Tree, m *runfolder.Metrics) error {
	if len(p.config.Slice) == 0 {
		return nil
	}
	if p.wish.WithoutRows {
		p.Reporter.Note("--without_rows: metrics.json has no slices of this tree")
		return nil
	}
	if err := p.fit(ctx, slicesOf); err != nil {
		return err
	}
	slicer, err := p.stage.slicer(ctx, p.fitted)
	if err != nil {
		return err
	}
	return slicer.Measure(ctx, t, &p.fitted.spec, m)
}

// objects returns the objects of the rows.
func (p *reopened) objects(ctx context.Context, what string) (*objects, error) {
	if err := p.fit(ctx, what); err != nil {
		return nil, err
	}
	o, err := (&coalescer{p.stage}).coalesce(ctx, p.fitted)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(dataset.EncodeFeatures(o.features), p.grown.Features) {
		return nil, p.because(what, errors.New("they have other features than in training"))
	}
	return o, nil
}

// groups returns the counts of the validation rows by their groups, which the run does not keep, for trees of the run.
func (p *reopened) groups(ctx context.Context) (func(t *tree.Tree) *tree.GroupCounts, error) {
	o, err := p.objects(ctx, demandOf)
	if err != nil {
		return nil, err
	}
	all, err := o.grouped(ctx, dataset.Validation)
	if err != nil {
		return nil, err
	}
	grouping := selection.Grouping{Keyed: o.spec.Dependent(), WeightEffect: o.spec.WeightEffect()}
	return func(t *tree.Tree) *tree.GroupCounts { return grouping.Counts(t, all) }, nil
}

// certify returns the certificate of a candidate: a lower bound on the cost of trees that separate the
// training objects as well.
func (p *reopened) certify(ctx context.Context, c *frontier.Candidate) (*tree.Certificate, error) {
	o, err := p.objects(ctx, certificateOf)
	if err != nil {
		return nil, err
	}
	all, err := o.training(ctx, p.stage.parsed.Selection.Seed)
	if err != nil {
		return nil, err
	}
	chooser := p.stage.chooser(o)
	chooser.Settings = &p.parsed.Selection
	chooser.Objects = func(context.Context) (*dataset.Objects, error) { return all, nil }
	return chooser.Certify(ctx, c, int64(p.frontier.Grown*(1+p.frontier.Folds)))
}
