package tables

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// csvOf stores a file and returns its URL.
func csvOf(t *testing.T, content string) string {
	t.Helper()
	url := "mem://csv/" + strings.ReplaceAll(t.Name(), "/", "-") + ".csv"
	if err := source.Process.Store.Put(t.Context(), url, []byte(content), objectstore.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return url
}

// csvReaders read what each flag names, of the classes a and b and the columns x and y.
func csvReaders() map[string]func(ctx context.Context, url string) error {
	classes := []string{"a", "b"}
	perClass := func(weights, priors, errorCosts string) func(context.Context) error {
		return func(ctx context.Context) error {
			s, err := ReadClasses(ctx, source.Process, &config.Train{Tables: config.Tables{
				ClassWeightsFile: weights, PriorsFile: priors, ErrorCostsFile: errorCosts,
			}})
			if err != nil {
				return err
			}
			if _, err = s.PriorsOf(classes); err == nil {
				_, err = s.ErrorCostsOf(classes)
			}
			if err == nil {
				_, err = s.WeightsOf(classes)
				err = s.located(err, classes)
			}
			return err
		}
	}
	return map[string]func(ctx context.Context, url string) error{
		"class_weights": func(ctx context.Context, url string) error { return perClass(url, "", "")(ctx) },
		"priors":        func(ctx context.Context, url string) error { return perClass("", url, "")(ctx) },
		"error_costs":   func(ctx context.Context, url string) error { return perClass("", "", url)(ctx) },
		"costs": func(ctx context.Context, url string) error {
			c, err := ReadCosts(ctx, source.Process, &config.Train{Tables: config.Tables{CostsFile: url}}, []string{"x", "y"})
			if err != nil {
				return err
			}
			all := settings.Default()
			all.Prices = c.Prices
			return errors.Join(all.Faults(settings.FlagName)...)
		},
	}
}

// plainCSV is a file for each flag that has no fault.
func plainCSV() map[string]string {
	return map[string]string{
		"class_weights": "class,weight\na,2\nb,0.5\n", "priors": "class,prior\na,0.1\nb,0.9\n",
		"error_costs": "actual,predicted,cost\na,b,5\nb,a,1\n", "costs": "feature,cost\nx,2\ny,1\n",
	}
}

// TestCSVOfSpreadsheets: files come with a byte-order mark, with the line ends of
// Windows, and without an end of the last line.
func TestCSVOfSpreadsheets(t *testing.T) {
	for flag, content := range plainCSV() {
		for _, written := range []string{
			content, "\ufeff" + content, strings.ReplaceAll(content, "\n", "\r\n"), "\ufeff" + strings.ReplaceAll(content, "\n", "\r\n"),
			strings.TrimSuffix(content, "\n"), strings.ReplaceAll(content, "\n", "\n\n"), strings.ReplaceAll(content, "a,", `"a",`),
		} {
			if err := csvReaders()[flag](t.Context(), csvOf(t, written)); err != nil {
				t.Errorf("--%s of %q: %v", flag, written, err)
			}
		}
		lines := strings.SplitAfter(content, "\n")
		for written, want := range map[string]string{
			"": "there is no header: want ", strings.ReplaceAll(content, ",", ";"): "want fields separated by commas",
			"\xff\xfef\x00": "UTF-16", "\xfe\xff\x00f": "UTF-16", content + "a\n": ", line 4: want ", content + "\"a\n": ", line 4: ",
			lines[0] + strings.TrimSuffix(lines[1], "\n") + ",1,2,3,4\n": ", line 2: want ",
		} {
			err := csvReaders()[flag](t.Context(), csvOf(t, written))
			if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "--"+flag+" mem://") {
				t.Errorf("--%s of %q: %v, want %q", flag, written, err, want)
			}
		}
	}
}

// FuzzCSV: no file that a flag names makes a panic, and every refusal is a usage
// error that names the flag.
func FuzzCSV(f *testing.F) {
	for _, content := range plainCSV() {
		f.Add(content)
		f.Add("\ufeff" + strings.ReplaceAll(content, "\n", "\r\n"))
	}
	for _, content := range []string{
		"", "\n", ",\n", "feature,cost,group,group_cost\nx,1,lab,5\ny,2,lab,5\n", "feature,value,cost\nx,u,1e-310\n", "feature,cost\nx,NaN\n", "feature,cost\nx,1e308\n",
		"feature,cost,group,group_cost\nx,1,,5\n", "class,weight\na,-1\n", "class,weight\nc,1\n", "class,prior\na,0\n", "class,prior\na,1e6\na,1\n",
		"actual,predicted,cost\na,a,1e400\n", "class,weight\n\"a\nb\",1\n", "class,weight\r\na,0x1p2\r\n", "class,prior\na,1_0\nb,+1\n",
	} {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content string) {
		for flag, read := range csvReaders() {
			err := read(t.Context(), csvOf(t, content))
			var refused *usage.Error
			if err != nil && (!errors.As(err, &refused) || !strings.HasPrefix(err.Error(), "--"+flag)) {
				t.Errorf("--%s of %q: %v", flag, content, err)
			}
		}
	})
}

// FuzzPriors: what stands behind --priors itself.
func FuzzPriors(f *testing.F) {
	for _, text := range []string{"a=0.1,b=0.9", "a=1", "=1,b=1", "a=b=1,b=2", "a=1,a=2", "a=,b=1", "a=1e400,b=1", "a=NaN", ",", "a=1/2", "mem://nowhere.csv"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, "/\\.:") && !strings.Contains(text, "=") { // a file of this machine
			return
		}
		s, err := ReadClasses(t.Context(), source.Process, &config.Train{Tables: config.Tables{PriorsFile: text}})
		if err == nil {
			_, err = s.PriorsOf([]string{"a", "b"})
		}
		var refused *usage.Error
		if err != nil && (!errors.As(err, &refused) || !strings.HasPrefix(err.Error(), "--priors")) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
