// Package openmetrics writes figures of the attempts of a verb in the text format of OpenMetrics, for the
// textfile collector of Prometheus' node exporter. It is not meant for other programs.
package openmetrics

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/pages"
)

// Figures is the figures of an attempt.
type Figures struct {
	verb  string
	lines []string
}

// head is the beginning of a file of figures.
func head(verb string) string { return "# TYPE espalier_" + verb + "_outcome" }

// New returns the figures of an attempt with its outcome.
func New(verb, outcome string, outcomes []string) *Figures {
	f := &Figures{verb: verb}
	name := "espalier_" + verb + "_outcome"
	f.head(name, "1 for the outcome of the last attempt.")
	for _, o := range outcomes {
		value := 0.0
		if o == outcome {
			value = 1
		}
		f.labelled(name, "outcome", o, value)
	}
	return f
}

func (f *Figures) head(name, help string) {
	f.lines = append(f.lines, "# TYPE "+name+" gauge", "# HELP "+name+" "+help)
}

func (f *Figures) labelled(name, label, of string, value float64) {
	of = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(of)
	f.lines = append(f.lines, fmt.Sprintf(`%s{%s="%s"} %s`, name, label, of, spelled(value)))
}

func spelled(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }

// Gauge adds a figure with its help.
func (f *Figures) Gauge(name, help string, value float64) {
	f.head(name, help)
	f.lines = append(f.lines, name+" "+spelled(value))
}

// Optional is Gauge for a figure that may be unknown.
func (f *Figures) Optional(name, help string, value *float64) {
	if value != nil {
		f.Gauge(name, help, *value)
	}
}

// Seconds returns a time in seconds since 1970.
func Seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// Open looks at the file of --open_metrics; optional. Only figures of the verb are replaced.
func Open(ctx context.Context, s *objectstore.Store, url, verb string) (*pages.File, error) {
	kind := pages.Kind{
		Own:     func(first []byte) bool { return bytes.HasPrefix(first, []byte(head(verb))) },
		Is:      "file of figures of " + verb,
		Another: "figures",
	}
	file, err := pages.OpenFile(ctx, s, url, url != "", kind)
	if err != nil {
		return nil, usage.Renamed(err, "output", "open_metrics")
	}
	return file, nil
}

// Write writes the figures to the file url; empty: to no file.
func (f *Figures) Write(ctx context.Context, s *objectstore.Store, url string) error {
	if url == "" {
		return nil
	}
	file, err := Open(ctx, s, url, f.verb)
	if err != nil {
		return err
	}
	text := strings.Join(append(f.lines, "# EOF\n"), "\n")
	return usage.Renamed(file.Write(ctx, []byte(text)), "output", "open_metrics")
}
