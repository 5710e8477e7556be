package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/pipelines/config"
)

// pageHead opens the page of settings. Single quotes stand for backquotes.
const pageHead = `# Settings: the flags of each verb

Each setting is a flag: '--max_depth 3'. Settings of 'train' and 'retrain' are also keys of the YAML file
that '--config' names: 'max_depth: 3'. A flag overrides the key, and a key overrides the
default. Names that do not exist are refused, and the nearest name is proposed.

- A size is a number of bytes, or has a unit: '64MiB', '1.5GB'.
- A duration is a number of seconds, or has units: '30s', '5m', '1h30m'.
- A whole number may be written as '1e8'.
- Texts of a list are separated by commas. A text with a comma in it stands in double quotes.
- A flag that is true or false may stand alone: '--resume' is '--resume=true'.

The same declarations make this page, the flags and the help.
`

// enginesLink stands in place of the flags of engines, which docs/engines.md lists once.
const enginesLink = "The [flags of engines](engines.md#flags).\n"

// settingsPage returns docs/settings.md.
func settingsPage() string {
	b := &strings.Builder{}
	b.WriteString(strings.ReplaceAll(pageHead, "'", "`"))
	for _, verb := range []struct {
		name     string
		settings []setting.Setting
	}{
		{"train", newTrainFlags().Settings()},
		{"evaluate", newEvaluateFlags().Settings()},
		{"drift", newDriftFlags().Settings()},
		{"retrain", newRetrainFlags().Settings()},
		{"retrain use", newUseFlags().Settings()},
		{"predict", newPredictFlags().Settings()},
		{"show", newShowOptions().Settings()},
		{"report", reportSettings()},
		{"export", new(config.Export).Settings()},
		{"frontier", newFrontierFlags().Settings()},
		{"ask", new(askOptions).Settings()},
		{"import", newImportFlags().Settings()},
		{"contract", newContractFlags().Settings()},
	} {
		fmt.Fprintf(b, "\n## espalier %s\n", verb.name)
		var changeable []string
		for _, s := range verb.settings {
			if s.Changeable {
				changeable = append(changeable, "`--"+s.Name+"`")
			}
		}
		if slices.Contains(setting.Names(verb.settings), "resume") {
			text := "The tree does not depend on these settings, which may differ when a run is resumed: "
			b.WriteString("\n" + textview.Wrapped(text+strings.Join(changeable, ", ")+".", 100, "") + "\n")
		}
		for _, group := range setting.Groups() {
			items := pageItems(verb.settings, group)
			if group == setting.Engines && items != "" {
				items = enginesLink
			}
			if items != "" {
				b.WriteString("\n### " + group.String() + "\n\n" + items)
			}
		}
	}
	return b.String()
}

func reportSettings() []setting.Setting {
	c := config.DefaultReport()
	return c.Settings()
}

// pageItems returns the items of the settings in a group.
func pageItems(settings []setting.Setting, group setting.Group) string {
	var items strings.Builder
	for _, s := range settings {
		if s.Group == group {
			items.WriteString(pageItem(s))
		}
	}
	return items.String()
}

// pageItem returns the item of a setting: its flag, its values, its default and its help.
func pageItem(s setting.Setting) string {
	wants := s.Value.Wants()
	if strings.Contains(s.Help, wants) { // the help lists the names
		wants = "text"
	}
	facts := []string{wants}
	value := s.Value.String()
	switch {
	case s.Required:
		facts = append(facts, "required")
	case value != "" && value != "false":
		facts = append(facts, "default `"+value+"`")
	}
	item := fmt.Sprintf("- `--%s` (%s): %s.", s.Name, strings.Join(facts, "; "), strings.TrimSuffix(s.Help, "."))
	return textview.Wrapped(item, 100, "  ") + "\n"
}

// TestSettingsPage compares docs/settings.md, and the flags of docs/engines.md, with the declarations. With the flag
// -update it writes the pages.
func TestSettingsPage(t *testing.T) {
	want := settingsPage()
	comparePage(t, "settings.md", "", want)
	engines := pageItems(newTrainFlags().Settings(), setting.Engines)
	comparePage(t, "engines.md", "They are also keys of YAML files.\n\n", engines)
	sections := strings.Split(want, "\n## espalier ")[1:]
	for _, c := range allVerbs() {
		at := slices.IndexFunc(sections, func(s string) bool {
			return strings.HasPrefix(s, strings.TrimPrefix(c.CommandPath(), "espalier ")+"\n")
		})
		text := ""
		if at >= 0 {
			text = strings.Replace(sections[at], enginesLink, engines, 1)
		}
		for _, f := range visible(c) {
			if strings.Count(text, "\n- `--"+f.Name+"` (") != 1 {
				t.Errorf("docs/settings.md does not list --%s of %s once", f.Name, c.Name())
			}
		}
	}
}

// comparePage compares what stands below head in a page with want. With the flag -update it writes the page. An empty
// head stands for the whole page.
func comparePage(t *testing.T, name, head, want string) {
	t.Helper()
	file := filepath.Join("..", "..", "docs", name)
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, _, ok := strings.Cut(string(got), head)
	if !ok {
		t.Fatalf("docs/%s has no line %q", name, head)
	}
	want = before + head + want
	if flag.Lookup("update").Value.String() == "true" { // it is in
		if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(got) != want {
		t.Errorf("docs/%s is not what the settings declare: "+
			"go test ./cmd/espalier -run TestSettingsPage -update writes it", name)
	}
}
