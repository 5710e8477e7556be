package runfolder

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/induce/wire"
)

// Grown is frontier/grown.bin: the candidates among which a run chose its tree. Another tree can be
// chosen from it and measured without the rows.
type Grown struct {
	Label  tree.Label             `json:"label"`
	Scales [dataset.Parts]float64 `json:"scales"` // units in the average weight of a training row, by part
	// Folds are the figures of the folds, by point of frontier.json; nil without folds.
	Folds []*Folds `json:"folds,omitempty"`
	// ErrorCosts are the error costs of a later choice, by actual and then by predicted class; absent: those of Label.
	ErrorCosts [][]float64 `json:"error_costs,omitempty"`
	// FoldShare is the weight of the folds' figures in the merits; 0 without folds.
	FoldShare float64 `json:"fold_share,omitempty"`
	// FigureCount is how many figures each point has in Figures; absent: 1 if there are any.
	FigureCount int `json:"figures,omitempty"`
	// LeafRows is the LeafRows of frontier.Settings by which prunings compete; absent: 0.
	LeafRows int64 `json:"leaf_rows,omitempty"`
	// GroupEffect is the GroupEffect of frontier.Pool; absent if rows have no key.
	GroupEffect float64 `json:"group_effect,omitempty"`
	// WeightEffect is the WeightEffect of frontier.Pool; absent if rows have no weights.
	WeightEffect float64 `json:"weight_effect,omitempty"`
	// SamplePart is the part of the rows from which Sample comes.
	SamplePart string `json:"sample_part"`
	Weighted   bool   `json:"weighted,omitempty"` // whether the objects of Sample have numbers of rows

	Features   []byte `json:"-"` // see dataset.EncodeFeatures
	Candidates []byte `json:"-"` // see frontier.AppendCandidates
	Sample     []byte `json:"-"` // a block of dataset.Objects, on which importance is measured
	// Figures are means on the folds: FigureCount figures for each point of the pool, nil if not
	// defined. Empty without folds.
	Figures []*float64 `json:"-"`
	// FoldTrees are the trees of the folds that belong to the grown trees of the list, for a later choice by other error
	// costs: see crossvalidate.Append. They are compressed by flate. Empty without folds, with leaf models, or where the
	// trees have too many leaves.
	FoldTrees []byte `json:"-"`
}

const (
	grownFormat  = "espalier/grown"
	grownVersion = 2 // 1: without FoldTrees
)

// grownHead is the first line of the file. Five sections follow.
type grownHead struct {
	Format   string `json:"format"`
	Version  int    `json:"version"`
	Sections [5]int `json:"sections"` // bytes of features, candidates, sample, figures and trees of folds
	Digest   string `json:"digest"`   // digest of the sections: SHA-256, in hex

	Grown
}

func grownCodec() codec {
	return text(func(r *Run) **Grown { return &r.Grown }, (*Grown).encode, decodeGrown)
}

func (g *Grown) encode() []byte {
	var figures wire.Writer
	for _, x := range g.Figures {
		figure := math.NaN() // not defined
		if x != nil {
			figure = *x
		}
		figures = figures.Float(figure)
	}
	sections := [][]byte{g.Features, g.Candidates, g.Sample, figures, g.FoldTrees}
	head := grownHead{Format: grownFormat, Version: grownVersion, Grown: *g}
	hash := sha256.New()
	for i, section := range sections {
		head.Sections[i] = len(section)
		_, _ = hash.Write(section) // a hash never fails
	}
	head.Digest = hex.EncodeToString(hash.Sum(nil))
	first, err := json.Marshal(&head)
	if err != nil { // only numbers and texts
		panic(err)
	}
	return bytes.Join([][]byte{append(first, '\n'), bytes.Join(sections, nil)}, nil)
}

var errGrown = errors.New("not the grown trees of a run")

func decodeGrown(b []byte) (*Grown, error) {
	first, rest, _ := bytes.Cut(b, []byte{'\n'})
	var head grownHead
	if err := json.Unmarshal(first, &head); err != nil || head.Format != grownFormat {
		return nil, fmt.Errorf("%w, or damaged", errGrown)
	}
	if head.Version < 1 || head.Version > grownVersion {
		return nil, fmt.Errorf("version %d of %s: this program reads versions up to %d", head.Version, grownFormat, grownVersion)
	}
	sum := sha256.Sum256(rest)
	total := 0
	for _, n := range head.Sections {
		if n < 0 || n > len(rest)-total {
			return nil, fmt.Errorf("%w: cut short", errGrown)
		}
		total += n
	}
	if total != len(rest) || hex.EncodeToString(sum[:]) != head.Digest {
		return nil, fmt.Errorf("%w: damaged", errGrown)
	}
	g := head.Grown
	r := wire.Reader{Rest: rest}
	g.Features, g.Candidates, g.Sample = r.Take(head.Sections[0]), r.Take(head.Sections[1]), r.Take(head.Sections[2])
	figures := wire.Reader{Rest: r.Take(head.Sections[3])}
	g.FoldTrees = r.Take(head.Sections[4])
	for len(figures.Rest) >= 8 {
		x := figures.Float()
		g.Figures = append(g.Figures, nil)
		if !math.IsNaN(x) {
			g.Figures[len(g.Figures)-1] = &x
		}
	}
	if g.FigureCount == 0 && len(g.Figures) > 0 {
		g.FigureCount = 1 // earlier versions only saved areas
	}
	return &g, nil
}
