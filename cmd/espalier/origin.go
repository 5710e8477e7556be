package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/provenance"
)

// printOrigin prints an origin for people.
func printOrigin(w io.Writer, o *provenance.Origin) error {
	width := pageWidth(w)
	b := bufio.NewWriter(w) // keeps the first error for Flush
	line := func(head, format string, args ...any) {
		text := fmt.Sprintf("%-10s", head) + fmt.Sprintf(format, args...)
		_, _ = fmt.Fprintln(b, textview.Wrapped(text, width, strings.Repeat(" ", 10)))
	}
	line("file", "%s", o.File)
	if p := o.Predictions; p != nil {
		rows, of := p.Rows, p.Inputs
		if o.Input != nil {
			rows = o.Input.Rows
			of = []runfolder.Input{*o.Input}
		}
		line("holds", "predictions of %s, made %s by Espalier %s", rowsOf(rows, of), at(p.Started), o.Espalier)
	} else if o.Espalier != "" {
		line("by", "Espalier %s", o.Espalier)
	}
	line("tree", "%s", o.Digest)
	switch {
	case o.Removed:
		line("run", "%s, which was removed: its manifest is in the register", o.Folder)
	case o.Folder != "" && o.Training != nil:
		line("run", "%s", o.Folder)
	case o.Run != "":
		line("run", "%s", o.Run)
	}
	for _, also := range o.Also {
		line("also", "%s of %s, in columns %s...", also.Digest, cmp.Or(also.Run, "an unknown run"), also.Prefix)
	}
	if m := o.Training; m != nil {
		rows := int64(0)
		for _, in := range m.Inputs {
			rows += in.Rows
		}
		line("trained", "%s by Espalier %s on %s", at(m.Started), m.Espalier, rowsOf(rows, m.Inputs))
		line("settings", "%s", settingsOf(m))
	} else {
		line("trained", "unknown here: name the destination of retrain with --destination")
	}
	if o.AUC != nil {
		line("figures", "%s", tested(o.AUC, o.Cost))
	}
	if len(o.Used) > 0 {
		line("in use", "%s", usesText(o))
	}
	for _, note := range o.Notes {
		line("note", "%s", note)
	}
	return b.Flush()
}

// rowsOf describes rows and their files.
func rowsOf(rows int64, files []runfolder.Input) string {
	switch n := len(files); n {
	case 0:
		return fmt.Sprintf("%d rows", rows)
	case 1:
		return fmt.Sprintf("%d rows of %s", rows, files[0].URL)
	default:
		return fmt.Sprintf("%d rows of %d files, %s to %s", rows, n, files[0].URL, files[n-1].URL)
	}
}

// at returns a time as text.
func at(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// usesText describes when a tree was in use.
func usesText(o *provenance.Origin) string {
	var texts []string
	for _, u := range o.Used {
		text := "since " + at(u.From)
		if u.Until != nil {
			text = at(u.From) + " to " + at(*u.Until)
		}
		if u.Reason != "" {
			text += " (" + u.Reason + ")"
		}
		texts = append(texts, text)
	}
	return firstOf(texts, "; ")
}

// mostListed is how many periods or settings are printed: the first screen has room for them.
const mostListed = 10

// firstOf joins the first texts of a list.
func firstOf(texts []string, by string) string {
	if shown, others := textview.Visible(len(texts), mostListed); others != "" {
		texts = append(texts[:shown], others)
	}
	return strings.Join(texts, by)
}

// settingsOf lists the settings on which a tree depends and that are not the defaults, without the files.
func settingsOf(m *runfolder.Manifest) string {
	defaults := config.DefaultTrain()
	usual := make(map[string]any)
	if b, err := json.Marshal(defaults); err != nil || json.Unmarshal(b, &usual) != nil {
		return ""
	}
	final, _ := m.Config.(map[string]any) // of another form: no settings
	var texts []string
	for _, s := range defaults.Settings() {
		value, ok := final[s.Name]
		if ok && !s.Changeable && s.Name != "input" && s.Name != "output" && !reflect.DeepEqual(value, usual[s.Name]) {
			b, _ := json.Marshal(value) // a value from JSON
			texts = append(texts, s.Name+" "+strings.Trim(string(b), `"`))
		}
	}
	return firstOf(texts, ", ")
}
