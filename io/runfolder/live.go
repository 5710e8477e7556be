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
	Format   string     `json:"format" jsonschema:"enum=espalier/live"`
	Version  int        `json:"version" jsonschema:"enum=1"`
	Espalier string     `json:"espalier"` // version of the program
	Measured time.Time  `json:"measured"`
	Key      []string   `json:"key" jsonschema:"minItems=1"`                      // columns by which predictions and labels were joined
	Label    string     `json:"label"`                                            // column of the true classes
	Weight   string     `json:"weight,omitempty"`                                 // column of the labels' weights; absent: each row weighs 1
	Alone    int64      `json:"labels_without_prediction" jsonschema:"minimum=0"` // labels of no prediction that was read
	Missing  []string   `json:"missing"`                                          // days of --predictions without files
	Trees    []LiveTree `json:"trees" jsonschema:"minItems=0"`
}

// LiveTree holds the live figures of a tree.
type LiveTree struct {
	Run    string    `json:"run"` // name of its run folder
	Digest string    `json:"tree_sha256" jsonschema:"pattern=^[0-9a-f]{64}$"`
	All    LiveDay   `json:"all"`                          // all days of the last measurement; Day has the first and the last one
	Days   []LiveDay `json:"days" jsonschema:"minItems=1"` // ascending; in the history also days that were measured earlier
}

// LiveDay holds the figures of the predictions of a day.
type LiveDay struct {
	Day         string `json:"day"` // date, or the name of a folder without a date; for all days, the first and the last day
	Predictions int64  `json:"predictions" jsonschema:"minimum=0"`
	Shadow      int64  `json:"shadow" jsonschema:"minimum=0"`   // predictions as another tree of predict, by --also
	Labelled    int64  `json:"labelled" jsonschema:"minimum=0"` // predictions whose row has a label by now
	// OtherClass are the labels that are not among the tree's classes; they are left out of the metrics.
	OtherClass int64 `json:"other_class" jsonschema:"minimum=0"`
	// Metrics are as in metrics.json, without ROC curves; nil: no row has a label of the tree's classes.
	Metrics *metric.Metrics `json:"metrics" jsonschema:"nullable"`
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
