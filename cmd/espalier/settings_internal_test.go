package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
)

// visible returns the flags in the help of a verb, without --help itself.
func visible(c *cobra.Command) []*pflag.Flag {
	var list []*pflag.Flag
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" && f.Name != "version" {
			list = append(list, f)
		}
	})
	return list
}

// allVerbs returns the verbs and the verbs below them, such as retrain use.
func allVerbs() []*cobra.Command {
	list := newRoot(0).Commands()
	for _, c := range slices.Clone(list) {
		list = append(list, c.Commands()...)
	}
	return list
}

// TestHelpHasSections: every flag of every verb is in a section of the help, once,
// and the help fits a page of 80 characters.
func TestHelpHasSections(t *testing.T) {
	flags := 0
	for _, c := range allVerbs() {
		if slices.Contains([]string{"completion", "help"}, c.Name()) {
			continue
		}
		c.InitDefaultHelpFlag()
		text := c.UsageString()
		for line := range strings.Lines(reflowed(c.Long, pipePage) + "\n" + text) {
			if n := runewidth.StringWidth(strings.TrimSuffix(line, "\n")); n > pipePage {
				t.Errorf("%s --help: %d characters: %s", c.Name(), n, line)
			}
		}
		for _, f := range visible(c) {
			flags++
			if name := f.Annotations[sectionKey]; len(name) != 1 || !slices.Contains(sections(), name[0]) {
				t.Errorf("%s --%s: its section is %q: want one of %q", c.Name(), f.Name, name, sections())
			}
			listed := strings.Replace(text, c.Example, "", 1)
			line := "\n      --" + f.Name + " "
			if slices.Equal(f.Annotations[sectionKey], []string{setting.Engines.String()}) { // TestSettingsPage has its flags
				line = "\nEngines:\n  espalier help engines\n"
			}
			if n := strings.Count(listed, line); n != 1 {
				t.Errorf("%s --%s stands %d times in the help", c.Name(), f.Name, n)
			}
		}
	}
	if flags < 80 { // there are more than 100
		t.Errorf("%d flags were seen", flags)
	}
}

// TestBriefHelp: the help of the program and of each verb fits a screen of 40 lines of 80 characters, and the common
// settings are settings of the verb.
func TestBriefHelp(t *testing.T) {
	const lines = 40
	for _, c := range append(allVerbs(), newRoot(0)) {
		if slices.Contains([]string{"completion", "help", "version"}, c.Name()) {
			continue
		}
		var out strings.Builder
		c.SetOut(&out)
		briefHelp(0)(c, nil)
		if n := strings.Count(out.String(), "\n"); n > lines {
			t.Errorf("%s --help has %d lines", c.Name(), n)
		}
		for line := range strings.Lines(out.String()) {
			if n := runewidth.StringWidth(strings.TrimSuffix(line, "\n")); n > pipePage {
				t.Errorf("%s --help: %d characters: %s", c.Name(), n, line)
			}
		}
		for _, name := range strings.Fields(c.Annotations[commonKey]) {
			if c.LocalFlags().Lookup(name) == nil {
				t.Errorf("%s has no --%s", c.Name(), name)
			}
		}
	}
}

// TestFlagsTakeWhatTheyPrint: values are carried from one set of flags to another as
// text.
func TestFlagsTakeWhatTheyPrint(t *testing.T) {
	for _, c := range allVerbs() {
		for _, f := range visible(c) {
			if _, many := f.Value.(pflag.SliceValue); many {
				continue
			}
			before := f.Value.String()
			if err := f.Value.Set(before); err != nil || f.Value.String() != before {
				t.Errorf("%s --%s: %q becomes %q, %v", c.Name(), f.Name, before, f.Value.String(), err)
			}
		}
	}
}

// verbsWithFiles are new flags of the verbs that read config files.
func verbsWithFiles() map[string]func() *pflag.FlagSet {
	return map[string]func() *pflag.FlagSet{
		"train": func() *pflag.FlagSet {
			f := pflag.NewFlagSet("train", pflag.ContinueOnError)
			addFlags(f, newTrainFlags().Settings())
			return f
		},
	}
}

// TestFilesAndFlagsAgree: whatever stands behind a flag means the same behind its
// key, or is refused in both.
func TestFilesAndFlagsAgree(t *testing.T) {
	texts := []string{
		"", "0", "1", "007", "-1", "3.5", "1e3", "1e50", "1_000", "0x10", "NaN", ".inf", "inf", "true", "yes", "null", "~",
		"none", "auto", "a,b", `"a,b",c`, `"a`,
		"70/10/20", "64MiB", "1.5GB", "30s", "5m", "2024-01-01", "x: y", "# no", "é 東京", "a\tb", "*a", "[a", "{a", "'",
		"0.25",
	}
	for verb, flags := range verbsWithFiles() {
		seen := 0
		for _, name := range names(flags()) {
			for _, text := range texts {
				direct, filed := flags(), flags()
				given := direct.Set(name, text)
				file, err := parseConfig("x.yaml", fmt.Appendf(nil, "%s: %s\n", name, quotedYAML(text)))
				if err != nil {
					t.Fatalf("%s: %q: %v", name, text, err)
				}
				err = file.apply(filed)
				if (given == nil) != (err == nil) {
					t.Errorf("%s --%s %q: by flag %v, by file %v", verb, name, text, given, err)
					continue
				}
				if a, b := direct.Lookup(name).Value.String(), filed.Lookup(name).Value.String(); err == nil && a != b {
					t.Errorf("%s --%s %q: by flag %s, by file %s", verb, name, text, a, b)
				}
				if err != nil && (!strings.Contains(err.Error(), "--config x.yaml, line 1: "+name+": got ") ||
					strings.Contains(err.Error(), "strconv")) {
					t.Errorf("%s --%s %q: %v", verb, name, text, err)
				}
				seen++
			}
		}
		if seen < 500 {
			t.Errorf("%s: %d pairs were seen", verb, seen)
		}
	}
}

// names returns the flags that a config file may set.
func names(flags *pflag.FlagSet) []string {
	var list []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != configFlag {
			list = append(list, f.Name)
		}
	})
	return list
}

// quotedYAML spells a text in double quotes.
func quotedYAML(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`).Replace(s) + `"`
}

// settled reads a config file as train does.
func settled(t *testing.T, content string, args ...string) (*trainFlags, error) {
	t.Helper()
	flags := newTrainFlags()
	set := pflag.NewFlagSet("train", pflag.ContinueOnError)
	addFlags(set, flags.Settings())
	addBeamFlags(set)
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	file, err := parseConfig("t.yaml", []byte(content))
	if err != nil {
		return nil, err
	}
	if err = file.settle(set, &flags.Train, flags.preset); err == nil {
		err = flags.Validate()
	}
	return flags, file.locate(err, set)
}

// TestSplitNamesColumn: --split may name the column of --split_column, as in earlier versions, on the command line and
// in a config file.
func TestSplitNamesColumn(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		args []string
	}{
		"flag": {"", []string{"--split", "fold"}}, "file": {"split: fold\n", nil},
		"flag over file": {"split: 80/0/20\n", []string{"--split", "fold"}},
		"new flag":       {"", []string{"--split_column", "fold"}},
	} {
		final, err := settled(t, "input: a\nlabel: a\noutput: b\n"+c.file, c.args...)
		if err != nil || final.SplitColumn != "fold" || (len(final.Deprecated()) == 0) != (name == "new flag") {
			t.Errorf("%s: column %q, notes %q, error %v", name, final.SplitColumn, final.Deprecated(), err)
		}
	}
}

// TestConfigFile: what is plain YAML is read as people mean it.
func TestConfigFile(t *testing.T) {
	final, err := settled(t, "\ufeff# a file of Windows\r\ninput: [\"a,b.parquet\", c.parquet]\r\nlabel: "+
		"007\r\noutput: 2024-01-01\r\nlambda: [1, 2.5]\r\ntheta: &t 0.01\r\n"+
		"split: 80/0/20\r\nignore: x,y\r\nread_ahead: 1MiB\r\ndeadline: 5m\r\nshow: true\r\nseed: 1e3\r\nfrontier_step: "+
		"*t\r\n", "--theta", "0.5,0.25", "--seed", "7")
	if err != nil {
		t.Fatal(err)
	}
	for what, pair := range map[string][2]any{
		"input":  {strings.Join(final.Input, ";"), "a,b.parquet;c.parquet"},
		"label":  {final.Label, "007"},
		"output": {final.Output, "2024-01-01"},
		"lambda": {fmt.Sprint(final.Lambda), "[1 2.5]"},
		"theta":  {fmt.Sprint(final.Theta), "[0.5 0.25]"},
		"ignore": {strings.Join(final.Ignore, ";"), "x;y"}, "read_ahead": {final.ReadAhead, int64(1 << 20)},
		"deadline": {final.Deadline, 300.0},
		"show":     {final.show, true}, "seed": {final.Seed, uint64(7)}, "frontier_step": {final.FrontierStep, 0.01},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
		}
	}
}

// TestConfigLimits: the command line changes the limits in the currencies that it names; the limits in other currencies come from the file.
func TestConfigLimits(t *testing.T) {
	for flag, want := range map[string]string{
		"minutes=30": "20 map[minutes:30]", "10": "10 map[minutes:45]", "0,minutes=30": "0 map[minutes:30]", "visits=2": "20 map[minutes:45 visits:2]",
	} {
		final, err := settled(t, "input: a\nlabel: b\noutput: c\nmax_cost: [20, minutes=45]\n", "--max_cost", flag)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(final.MaxCost, final.MaxFurther); got != want {
			t.Errorf("--max_cost %s: %s, want %s", flag, got, want)
		}
	}
	_, err := settled(t, "max_cost: [20, minutes=45, minutes=50]\n", "--max_cost", "10")
	if err == nil || !strings.Contains(err.Error(), "--max_cost minutes=50: a second limit in minutes") {
		t.Errorf("a currency that is named twice: %v", err)
	}
}

// TestConfigRefusals: each names the file, the line and the key.
func TestConfigRefusals(t *testing.T) {
	for content, want := range map[string]string{
		"a: 1\nlamda: 3\n":             `--config t.yaml, line 1: unknown key "a"`,
		"lamda: 3\n":                   `--config t.yaml, line 1: unknown key "lamda"; did you mean "lambda"?`,
		"max-depth: 3\n":               `unknown key "max-depth"; did you mean "max_depth"?`,
		"config: x.yaml\n":             `--config t.yaml, line 1: the key "config": a config file cannot name another one`,
		"label: a\nworker_binary: b\n": `--config t.yaml, line 2: the key "worker_binary" is a flag of the Beam SDK`,
		"label: a\n\nlabel: b\n":       `--config t.yaml, line 3: the key "label" stands in line 1 already`,
		"label:\n":                     `--config t.yaml, line 1: label: got no value: want one value`,
		"label: [a]\n":                 `label: got a list: want one value`,
		"label: {a: b}\n":              `label: got a table of keys: want one value`,
		"ignore: {a: b}\n":             `ignore: got a table of keys: want a value or a list of them`,
		"ignore: [a, ~]\n":             `ignore: a value of the list is no value: want texts or numbers`,
		"ignore:\n- a\n- [b]\n":        `--config t.yaml, line 3: ignore: a value of the list is a list`,
		"max_depth: three\n": `--config t.yaml, line 1: max_depth: got three: ` +
			`want a whole number such as 250000 or 1e8`,
		"show: 3\n":                 `show: got 3: want true or false`,
		"max_cost: .inf\n":          `--max_cost .inf: want a number from 0 to 1e+12, or CURRENCY=NUMBER (max_cost stands in line 1`,
		"read_ahead: much\n":        `read_ahead: got much: want a size such as 64MiB`,
		"deadline: soon\n":          `deadline: got soon: want a duration such as 30s`,
		"- label\n":                 `--config t.yaml, line 1: want settings such as`,
		"label: a\n---\nlabel: b\n": `a second document: want one`,
		"label: [a\n":               `--config t.yaml: not YAML: `,
		"[a]: b\n":                  `a key that is no text`,
		"preset: papers\n":          `--preset papers: want default, accurate or paper (preset stands in line 1 of t.yaml)`,
		"label: a\nlambda: -3\n":    `--lambda -3: want a number from 0 to 1e+12`,
		"input: a\nlabel: a\noutput: b\ntests: [one]\n": `(tests stands in line 4 of t.yaml)`,
		"max_depth: *a\n":      `not YAML`,
		"ignore: &a [b, *a]\n": `ignore: a value of the list is a list`,
	} {
		_, err := settled(t, content)
		var invalid *usage.Error
		if !errors.As(err, &invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
}

// FuzzConfig: no config file makes a panic, and every refusal is a usage error that
// names the file or a flag.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		"", "# nothing\n", "input: a\nlabel: b\noutput: c\n", "lambda: [1, 2]\npreset: paper\n", "a: &a [*a]\n",
		"<<: {label: a}\n", "label: !!binary aGk=\n", "? [a]\n: b\n",
		"label: |\n  a\n  b\n", "\ufefflabel: a\n", "%YAML 1.1\n---\nlabel: yes\n", "max_depth: 1e400\n", "seed: -1\n",
		"split: 1/2/3/4\n", "bins: [2, 2]\n",
		"monotone: [a=+1, a=-1]\n", "priors: a=1\n", "read_ahead: 99999999999999EiB\n", "deadline: 9999999999h\n",
		"label: \"\\0\"\n", "parallelism: x\n", "endpoint: [a]\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		_, err := settled(t, content)
		var invalid *usage.Error
		if err != nil &&
			(!errors.As(err, &invalid) || !strings.Contains(err.Error(), "--") && !strings.Contains(err.Error(), "t.yaml")) {
			t.Errorf("%q: %v", content, err)
		}
	})
}
