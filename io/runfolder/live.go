package runfolder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// Live is the measurement of predictions by labels that came later. The history of a destination has
// a document for each measured tree.
type Live struct {
	Format   string     `json:"format"`
	Version  int        `json:"version"`
	Espalier string     `json:"espalier"` // version of the program
	Measured time.Time  `json:"measured"`
	Key      []string   `json:"key"` // columns by which predictions and labels were joined
	Label    string     `json:"label"`
	Weight   string     `json:"weight,omitempty"`          // column of the labels' weights; absent: each row weighs 1
	Alone    int64      `json:"labels_without_prediction"` // labels of no prediction that was read
	Missing  []string   `json:"missing"`                   // days without predictions
	Trees    []LiveTree `json:"trees"`
}

// LiveTree holds the live figures of a tree.
type LiveTree struct {
	Run    string    `json:"run"` // name of its run folder
	Digest string    `json:"tree_sha256"`
	All    LiveDay   `json:"all"`  // all days of the last measurement; Day has the first and the last one
	Days   []LiveDay `json:"days"` // ascending
}

// LiveDay holds the figures of the predictions of a day.
type LiveDay struct {
	Day         string `json:"day"` // date; or the name of a folder without a date
	Predictions int64  `json:"predictions"`
	Shadow      int64  `json:"shadow"`      // predictions as another tree of predict, by --also
	Labelled    int64  `json:"labelled"`    // predictions whose row has a label by now
	OtherClass  int64  `json:"other_class"` // of these, rows of a class that the tree does not have
	// Metrics are the metrics of the other labelled rows, without ROC curves. Costs are billed costs.
	// It is nil if there are no such rows.
	Metrics *metric.Metrics `json:"metrics"`
}

// MeanAUC returns the mean of the AUC of all recorded days, weighted by rows, and the days that have an
// AUC; nil if no day has an AUC.
func (t *LiveTree) MeanAUC() (mean *float64, days []string) {
	sum, rows := 0.0, 0.0
	for i := range t.Days {
		if m := t.Days[i].Metrics; m != nil && m.AUCOvRMacro != nil {
			sum += float64(*m.AUCOvRMacro * float64(m.Rows))
			rows += float64(m.Rows)
			days = append(days, t.Days[i].Day)
		}
	}
	if len(days) == 0 {
		return nil, nil
	}
	sum /= rows
	return &sum, days
}

// liveFormat identifies live figures.
const liveFormat = "espalier/live"

// NewLive returns a document without figures.
func NewLive() *Live {
	return &Live{Format: liveFormat, Version: 1, Espalier: Version(), Measured: time.Now().UTC(), Missing: []string{}}
}

// Encode returns the figures in their written form.
func (l *Live) Encode() ([]byte, error) { return encodeJSON(l) }

// IsLive reports whether the first bytes of a file show that it has live figures.
func IsLive(head []byte) bool {
	return bytes.HasPrefix(head, []byte("{\n  \"format\": \""+liveFormat+"\""))
}

// liveURL returns the document of a run's live figures in the history of a destination.
func liveURL(destination, run string) string {
	return objectstore.Join(destination, "history", "live", path.Base(run)+".json")
}

// DestinationOf returns the destination of a run folder; empty if the folder is not in runs/ of a
// destination.
func DestinationOf(run string) string {
	runs := objectstore.Join(run, "..")
	if path.Base(runs) != "runs" {
		return ""
	}
	return objectstore.Join(runs, "..")
}

// ReadLive reads the live figures of a run of a destination; nil if absent.
func ReadLive(ctx context.Context, s *objectstore.Store, destination, run string) (*Live, error) {
	l, _, err := readLive(ctx, s, liveURL(destination, run))
	return l, err
}

// readLive also returns the condition under which the document can be replaced.
func readLive(ctx context.Context, s *objectstore.Store, url string) (*Live, objectstore.WriteOptions, error) {
	bound := objectstore.WriteOptions{IfAbsent: true}
	seen, err := s.Stat(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, bound, nil
	}
	l := new(Live)
	var b []byte
	if err == nil {
		bound = objectstore.WriteOptions{IfGeneration: seen.Generation}
		b, err = objectstore.ReadSeen(ctx, s, seen, MaxModel)
	}
	if err == nil {
		err = json.Unmarshal(b, l)
	}
	if err == nil && (l.Format != liveFormat || l.Version != 1 || len(l.Trees) != 1) {
		err = fmt.Errorf("want format %q and version 1, of one tree", liveFormat)
	}
	if err != nil {
		return nil, bound, usage.Errorf("%s is not a document of live figures: %v", url, err)
	}
	return l, bound, l.check()
}

// check implements checker.
func (l *Live) check() error {
	for i := range l.Trees {
		for _, day := range append(slices.Clone(l.Trees[i].Days), l.Trees[i].All) {
			if day.Metrics == nil {
				continue
			}
			if err := day.Metrics.Check(); err != nil {
				return fmt.Errorf("%s, %s: %w", l.Trees[i].Run, day.Day, err)
			}
		}
	}
	return nil
}

// RecordLive writes the figures of a tree into the history of a destination. Days that were measured
// earlier stay, unless they are measured again.
func RecordLive(ctx context.Context, s *objectstore.Store, destination string, l *Live, tree *LiveTree) error {
	url := liveURL(destination, tree.Run)
	before, bound, err := readLive(ctx, s, url)
	if err != nil {
		return err
	}
	one, t := *l, *tree
	one.Trees = []LiveTree{t}
	if before != nil && before.Trees[0].Digest == t.Digest {
		one.Trees[0].Days = mergeDays(before.Trees[0].Days, t.Days)
	}
	b, err := one.Encode()
	if err != nil {
		return err
	}
	if _, err = objectstore.WriteSeen(ctx, s, url, b, bound); err != nil {
		return usage.Errorf("--destination: the live figures: %v", err)
	}
	return nil
}

// mergeDays returns all days in order. If a day was measured twice, the newer measurement stays.
func mergeDays(before, now []LiveDay) []LiveDay {
	days := slices.Concat(now, before)
	slices.SortStableFunc(days, func(a, b LiveDay) int { return strings.Compare(a.Day, b.Day) })
	return slices.CompactFunc(days, func(a, b LiveDay) bool { return a.Day == b.Day })
}
