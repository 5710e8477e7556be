package train_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/pages"
)

// TestCard: the card stands in the run folder as one of its documents, with the facts of the run
// and the notes. It is replaced only with --overwrite, and so is a card elsewhere; what is no card
// never is. A promotion, which has another tree, has no card.
func TestCard(t *testing.T) {
	c := ticTacToe(t)
	c.Slice = []string{"top_left"}
	trained(t, c)
	notes := filepath.Join(t.TempDir(), "notes.md")
	if err := os.WriteFile(notes, []byte("## Intended use\nGames between *friends*.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	write := func(edit func(c *config.Report)) error {
		r := config.DefaultReport()
		r.Run, r.Format, r.Notes = c.Output, config.ReportMarkdown, notes
		if edit != nil {
			edit(&r)
		}
		_, err := pages.Report(context.Background(), r, &noted{})
		return err
	}
	if err := write(nil); err != nil {
		t.Fatal(err)
	}
	card := string(content(t, c.Output, "model_card.md"))
	for _, want := range []string{
		"# Model card: a classification tree for class\n", "\nGames between *friends*.\n", "### Slices, test rows",
		"| top_left = b |", "*To be filled in: whom wrong predictions harm", "| top_left |", "chosen |",
	} {
		if !strings.Contains(card, want) {
			t.Errorf("the card lacks %q:\n%s", want, card)
		}
	}
	if !strings.Contains(string(content(t, c.Output, "manifest.json")), `"model_card.md"`) {
		t.Error("manifest.json does not list the card")
	}
	elsewhere := filepath.Join(t.TempDir(), "card.md")
	for i, r := range []struct {
		edit func(c *config.Report)
		want string
	}{
		{nil, "--overwrite"},
		{func(c *config.Report) { c.Overwrite, c.Notes = true, "" }, ""},
		{func(c *config.Report) { c.Output = elsewhere }, ""},
		{func(c *config.Report) { c.Output = elsewhere }, "--overwrite"},
		{func(c *config.Report) { c.Output, c.Overwrite = elsewhere, true }, ""},
		{func(c *config.Report) { c.Output, c.Overwrite = notes, true }, "no model card"},
		{func(c *config.Report) { c.Notes, c.Overwrite = elsewhere+"x", true }, "--notes"},
		{func(c *config.Report) { c.Format = config.ReportHTML }, "--notes is for --format markdown"},
		{func(c *config.Report) { c.Row = "x.parquet:1" }, "--row"},
	} {
		if err := write(r.edit); r.want == "" && err != nil || r.want != "" && (err == nil || !strings.Contains(err.Error(), r.want)) {
			t.Errorf("%d: %v, want %q", i, err, r.want)
		}
	}
	p := promoteTo(t, c.Output, 2, nil)
	if _, err := os.Stat(filepath.Join(p.Output, runfolder.CardName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a promotion has a card: %v", err)
	}
}
