package runfolder

import (
	"bytes"
	"path"
	"time"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/io/objectstore"
)

// Live is the measurement of predictions by labels that came later.
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
	All    LiveDay   `json:"all"`  // all days; Day has the first and the last one
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

// DestinationOf returns the destination of a run folder; empty if the folder is not in runs/ of a
// destination.
func DestinationOf(run string) string {
	runs := objectstore.Join(run, "..")
	if path.Base(runs) != "runs" {
		return ""
	}
	return objectstore.Join(runs, "..")
}
