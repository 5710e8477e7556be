// Package openmetrics writes figures of the attempts of a verb in the text format of OpenMetrics, for the
// textfile collector of Prometheus' node exporter. It is not meant for other programs.
package openmetrics

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/output"
)

// Figures is the figures of an attempt.
type Figures struct {
	verb  string
	lines []string
}

// head is the beginning of a file of figures.
func head(verb string) string { return "# TYPE espalier_" + verb + "_outcome" }

// Attempt is what all verbs tell of an attempt.
type Attempt struct {
	Verb, Outcome string
	Outcomes      []string // all outcomes
	Success       bool     // whether the attempt has ended with exit code 0
	Started       time.Time
	Seconds       float64
}

// Figures returns the figures of an attempt.
func (a *Attempt) Figures() *Figures {
	f := &Figures{verb: a.Verb}
	prefix := "espalier_" + a.Verb
	f.Labelled(prefix+"_outcome", "1 for the outcome of the last attempt.", "outcome", a.Outcomes, func(i int) float64 {
		return OneIf(a.Outcomes[i] == a.Outcome)
	})
	f.Gauge(prefix+"_success", "1 if the last attempt has ended with exit code 0; 0 while it runs, and if it was killed.", OneIf(a.Success))
	f.Gauge(prefix+"_started_timestamp_seconds", "When the last attempt began.", Seconds(a.Started))
	f.Gauge(prefix+"_duration_seconds", "Time that the last attempt took.", a.Seconds)
	return f
}

// OneIf returns the value of a figure that is 1 or 0.
func OneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func (f *Figures) add(lines ...string) { f.lines = append(f.lines, lines...) }

func (f *Figures) head(name, help string) { f.add("# TYPE "+name+" gauge", "# HELP "+name+" "+help) }

// Labelled adds a figure for each value of a label.
func (f *Figures) Labelled(name, help, label string, values []string, of func(i int) float64) {
	f.head(name, help)
	for i, value := range values {
		value = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value)
		f.add(fmt.Sprintf(`%s{%s="%s"} %s`, name, label, value, spelled(of(i))))
	}
}

func spelled(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }

// Gauge adds a figure with its help.
func (f *Figures) Gauge(name, help string, value float64) {
	f.head(name, help)
	f.add(name + " " + spelled(value))
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
func Open(ctx context.Context, s *objectstore.Store, url, verb string) (*output.File, error) {
	kind := output.Kind{
		Own:     func(first []byte) bool { return bytes.HasPrefix(first, []byte(head(verb))) },
		Is:      "file of figures of " + verb,
		Another: "figures",
	}
	file, err := output.Open(ctx, s, url, url != "", kind)
	if err != nil {
		renamed := usage.Renamed(err, "output", "open_metrics")
		if errors.As(err, new(*output.ForeignError)) {
			renamed = &output.ForeignError{Err: renamed}
		}
		return nil, renamed
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
