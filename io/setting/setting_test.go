package setting_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/setting"
)

// inner is embedded in config.
type inner struct {
	ReadAhead int64
	Timeout   float64
}

// config has a field of each kind.
type config struct {
	Input  []string
	Name   string
	Method string
	Codec  string
	Depth  int

	inner

	Rows     int64
	Seed     uint64
	Step     float64
	Noise    float64
	Resume   bool
	AlsoRead []string `json:"-"`
}

func defaults() config {
	return config{
		Method: "c45", Codec: "zstd", Depth: 3, inner: inner{ReadAhead: 64 << 20, Timeout: 30}, Rows: -1,
		Seed: math.MaxUint64, Step: 0.001,
	}
}

func parseMethod(s string) (int, error) {
	if s != "c45" && s != "cart" {
		return 0, fmt.Errorf("algorithm %q: want c45 or cart", s)
	}
	return len(s), nil
}

// settings are declared in another order than the fields.
func (c *config) settings() []setting.Setting {
	return []setting.Setting{
		{Name: "resume", Group: setting.Run, Help: "go on", Value: setting.Switch(&c.Resume), Changeable: true},
		{Name: "input", Group: setting.Run, Help: "files", Value: setting.List(&c.Input), Required: true},
		{Name: "name", Group: setting.Run, Help: "a name", Value: setting.Text(&c.Name), Required: true},
		{Name: "method", Group: setting.Growth, Help: "a score", Value: setting.Text(&c.Method, setting.By(parseMethod))},
		{Name: "codec", Group: setting.Storage, Help: "compression", Value: setting.OneOf(&c.Codec, "snappy", "gzip",
			"zstd")},
		{Name: "max_depth", Group: setting.Growth, Help: "tests", Value: setting.Whole(&c.Depth, setting.Between(0, 64))},
		{Name: "rows", Group: setting.Rows, Help: "rows", Value: setting.Whole(&c.Rows, setting.From(-1))},
		{Name: "seed", Group: setting.Rows, Help: "seed", Value: setting.Whole(&c.Seed, setting.From(0))},
		{Name: "step", Group: setting.Choice, Help: "merit", Value: setting.Number(&c.Step, setting.Between(0, 1e12))},
		{Name: "noise", Group: setting.Case, Help: "share", Value: setting.Share(&c.Noise)},
		{Name: "read_ahead", Group: setting.Storage, Help: "bytes", Value: setting.Size(&c.ReadAhead)},
		{Name: "timeout", Group: setting.Storage, Help: "time", Value: setting.Duration(&c.Timeout, setting.Above(0, 1e9))},
	}
}

// TestSet: by hand. "!" stands before what is wanted instead of a text.
func TestSet(t *testing.T) {
	const (
		digits   = "!want a whole number such as 250000 or 1e8"
		sixteen  = "!want a whole number of at most 16 digits"
		finite   = "!want a finite number such as 0.5 or 12"
		aShare   = "!want a share from 0 to 1"
		aSize    = "!want a size such as 64MiB or 1.5GB, or a number of bytes"
		seconds  = "!want a duration such as 30s, 5m or 1h30m, or a number of seconds"
		onOrOff  = "!want true or false"
		byCommas = "!want values separated by commas; one with a comma in it stands in double quotes"
	)
	for name, texts := range map[string]map[string]string{
		"name":   {"": "", "a b": "a b", "a,b": "a,b"},
		"method": {"cart": "cart", "other": "other"}, // checked later
		"input": {
			"": "", "a": "a", "a,b": "a,b", `"a,b",c`: `"a,b",c`, `"a`: byCommas, `""`: `""`, ",": ",",
			"a, b": `a," b"`,
		},
		"max_depth": {
			"0": "0", "-1": "-1", "1e3": "1000", "007": "7", "3.5": digits, "": digits, "NaN": digits, "Inf": digits,
			"1_000": "1000", "1e30": sixteen, "1e400": sixteen,
			"9223372036854775807": "9223372036854775807", "9223372036854775808": sixteen,
		},
		"seed": {
			"18446744073709551615": "18446744073709551615", "18446744073709551616": sixteen,
			"-1": "!want a whole number from 0", "1e15": "1000000000000000", "-0": "0",
		},
		"rows": {"-9223372036854775808": "-9223372036854775808", "1e8": "100000000", "2.5e1": "25", "1e17": sixteen},
		"step": {
			"0.1": "0.1", "-2": "-2", "1e-300": "1e-300", "NaN": finite, "inf": finite, "1e400": finite, "": finite,
			"0x1p-2": "0.25",
		},
		"noise": {
			"0": "0", "1": "1", "0.5": "0.5", "1.1": aShare, "-0.1": aShare, "NaN": aShare, "x": aShare,
		},
		"read_ahead": {
			"64MiB": "64MiB", "64 MiB": "64MiB", "1.5GB": "1500MB", "1e8": "100MB", "12": "12", "2kb": "2kB", "0": "0",
			"1500": "1500", "7TiB": "7TiB", "3MB": "3MB", "5KiB": "5KiB",
			"9007199254740993": "9007199254740993", "9223372036854775807": "9223372036854775807",
			"-3": "!want a size from 0", "1,5GB": aSize, "": aSize, "MiB": aSize, "1e30": aSize, "16EiB": aSize,
			"12 apples": aSize, "NaN": aSize, "1.5": aSize,
		},
		"timeout": {
			"30": "30s", "30s": "30s", "5m": "5m", "1h30m": "1h30m", "250ms": "250ms", "0.5": "500ms", "21600": "6h",
			"90": "1m30s", "0": "0", "3601": "1h0m1s", "36h": "36h", "-5s": "-5s",
			"1e-9": "1ns", "0.30000000000000004": "0.30000000000000004", "1e12": "1e+12", "": seconds, "5 minutes": seconds,
			"Inf": seconds, "NaN": seconds,
		},
		"resume": {"true": "true", "false": "false", "1": "true", "yes": onOrOff, "": onOrOff},
	} {
		for text, want := range texts {
			c := defaults()
			all := c.settings()
			v := all[slices.Index(setting.Names(all), name)].Value
			before := v.String()
			err := v.Set(text)
			if problem, refused := strings.CutPrefix(want, "!"); refused {
				if err == nil || err.Error() != problem || v.String() != before {
					t.Errorf("%s %q: %v, and the value is %s, want %s and %s", name, text, err, v, problem, before)
				}
				continue
			}
			if err != nil || v.String() != want {
				t.Errorf("%s %q is spelled %s, want %s (%v)", name, text, v, want, err)
			}
			again := defaults()
			other := again.settings()[slices.Index(setting.Names(all), name)].Value
			if err := other.Set(v.String()); err != nil || other.String() != v.String() {
				t.Errorf("%s %q: %s is read as %s (%v)", name, text, v, other, err)
			}
		}
	}
}

// FuzzSet: what a setting takes it spells so that it is taken again, as the same value.
func FuzzSet(f *testing.F) {
	for _, text := range []string{
		"", "1", "1e3", "64MiB", "30s", "a,b", `"a,b"`, "true", "-1", "0.25", "1e400", "é",
		"\x00", "\r\n", `""`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, second := defaults(), defaults()
		a, b := first.settings(), second.settings()
		for i := range a {
			if a[i].Value.Set(text) != nil {
				continue
			}
			if err := b[i].Value.Set(a[i].Value.String()); err != nil || a[i].Value.String() != b[i].Value.String() {
				t.Errorf("%s %q: %q is read as %q (%v)", a[i].Name, text, a[i].Value, b[i].Value, err)
			}
		}
	})
}

// TestLists: a flag that is given twice adds to its list; the default goes with the first.
func TestLists(t *testing.T) {
	list, every := []string{"default"}, []string(nil)
	v, r := setting.List(&list), setting.Repeated(&every)
	for _, text := range []string{"a,b", "c"} {
		if err := errors.Join(v.Set(text), r.Set(text)); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(list, []string{"a", "b", "c"}) || !slices.Equal(every, []string{"a,b", "c"}) {
		t.Errorf("%q and %q", list, every)
	}
	s, ok := v.(interface {
		Append(item string) error
		Replace(items []string) error
		GetSlice() []string
	})
	if !ok {
		t.Fatal("a list has not the methods of a flag of several values")
	}
	if err := errors.Join(s.Replace([]string{"x"}), s.Append("y,z")); err != nil || !slices.Equal(s.GetSlice(),
		[]string{"x", "y,z"}) {
		t.Errorf("%q, %v", s.GetSlice(), err)
	}
}

// TestFlags: package flag lists settings of all kinds with their defaults, for which it spells values without a field. The
// default is left out where it is the zero value, as for other flags.
func TestFlags(t *testing.T) {
	c := defaults()
	var repeated []string
	var list []int
	parse, spell := setting.EachBy("none", parseMethod), setting.SpellEach("none", func(int) string { return "c45" })
	all := append(c.settings(),
		setting.Setting{Name: "repeated", Value: setting.Repeated(&repeated)},
		setting.Setting{Name: "list_of", Value: setting.ListOf(&list, parse, spell)},
		setting.Setting{Name: "choices", Value: setting.Choices(&list, parse, spell)},
		setting.Setting{Name: "table", Value: setting.Table(setting.Text(&c.Name), nil)},
		setting.Setting{Name: "unchecked", Value: setting.Unchecked(setting.Text(&c.Name))},
	)
	var help strings.Builder
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(&help)
	for _, s := range all {
		flags.Var(s.Value, s.Name, s.Help)
	}
	flags.PrintDefaults()
	got := help.String()
	for name, want := range map[string]string{
		"resume": "go on\n", "max_depth": "tests (default 3)\n", "noise": "share\n", "read_ahead": "bytes (default 64MiB)\n",
		"timeout": "time (default 30s)\n", "list_of": "(default none)\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s: want %q in\n%s", name, want, got)
		}
	}
	if strings.Contains(got, "panic") {
		t.Error(got)
	}
}

// TestFaults: all at once, each with its flag, its value and what is wanted.
func TestFaults(t *testing.T) {
	c := defaults()
	c.Input, c.Name = []string{"a"}, "b"
	if faults := setting.Faults(c.settings()); faults != nil {
		t.Errorf("the defaults: %v", faults)
	}
	for want, change := range map[string]func(){
		"--input is required": func() { c.Input = nil },
		"--name is required":  func() { c.Name = "" },
		"--input and --name are required; --max_depth -1: want a whole number from 0 to 64": func() {
			c.Input, c.Name,
				c.Depth = nil, "", -1
		},
		"--method id3: want c45 or cart":                                   func() { c.Method = "id3" },
		"--method is missing: want c45 or cart":                            func() { c.Method = "" },
		"--codec lzo: want snappy, gzip or zstd":                           func() { c.Codec = "lzo" },
		`--codec "a b": want snappy, gzip or zstd`:                         func() { c.Codec = "a b" },
		"--rows -2: want a whole number from -1":                           func() { c.Rows = -2 },
		"--step NaN: want a number from 0 to 1e+12":                        func() { c.Step = math.NaN() },
		"--noise 1.5: want a share from 0 to 1":                            func() { c.Noise = 1.5 },
		"--read_ahead -5: want a number of bytes from 0":                   func() { c.ReadAhead = -5 },
		"--timeout 0: want a number of seconds above 0, at most 1e+09":     func() { c.Timeout = 0 },
		"--timeout 2e+09: want a number of seconds above 0, at most 1e+09": func() { c.Timeout = 2e9 },
		"--max_depth 65: want a whole number from 0 to 64; --noise NaN: want a share from 0 to 1": func() {
			c.Depth,
				c.Noise = 65, math.NaN()
		},
	} {
		c = defaults()
		c.Input, c.Name = []string{"a"}, "b"
		change()
		var texts []string
		for _, err := range setting.Faults(c.settings()) {
			texts = append(texts, err.Error())
		}
		if got := strings.Join(texts, "; "); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

// TestJSON: the keys stand in the order of the fields, and what is written is read back.
func TestJSON(t *testing.T) {
	c := defaults()
	c.Input = []string{"a<b"}
	b, err := setting.Encode(&c, c.settings())
	want := `{"input":["a\u003cb"],"name":"","method":"c45","codec":"zstd","max_depth":3,` +
		`"read_ahead":67108864,"timeout":30,"rows":-1,"seed":18446744073709551615,"step":0.001,"noise":0,"resume":false}`
	if err != nil || string(b) != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, b, want)
	}
	var again config
	if err := setting.Decode(b, again.settings(), nil); err != nil || fmt.Sprint(again) != fmt.Sprint(c) {
		t.Errorf("%v: read as %v, want %v", err, again, c)
	}
	c.Input = nil
	if b, err = setting.Encode(&c, c.settings()); err != nil || !strings.HasPrefix(string(b), `{"input":null,`) {
		t.Errorf("%v: %s", err, b)
	}
}

// TestDecode: settings that are not named stay, units and earlier names may be written, and what cannot be
// read is told with its key.
func TestDecode(t *testing.T) {
	c := defaults()
	if err := setting.Decode([]byte(`{"read_ahead": "1.5GB", "wait": "5m", "input": "a,b", "gone": {}}`),
		c.settings(), map[string]string{"wait": "timeout", "gone": ""}); err != nil {
		t.Fatal(err)
	}
	if c.ReadAhead != 1_500_000_000 || c.Timeout != 300 || !slices.Equal(c.Input, []string{"a", "b"}) || c.Depth != 3 {
		t.Errorf("%v", c)
	}
	for text, want := range map[string]string{
		`{"max_depht": 3}`:             `unknown key "max_depht"; did you mean "max_depth"?`,
		`{"Rows": 3}`:                  `unknown key "Rows"; did you mean "rows"?`,
		`{"qqq": 3}`:                   `unknown key "qqq"`,
		`{"max_depth": [3]}`:           "max_depth: got [3]: want a whole number from 0 to 64",
		`{"max_depth": "three"}`:       `max_depth: got "three": want a whole number such as 250000 or 1e8`,
		`{"noise": 1.5, "resume": 1}`:  "resume: got 1: want true or false",
		`{"codec": 3}`:                 "codec: got 3: want snappy, gzip or zstd",
		`{"input": {}}`:                "input: got {}: want texts",
		`{"timeout": true}`:            "timeout: got true: want a duration such as 30s or 1h30m",
		`{"read_ahead": 0.5, "x": 1}`:  "read_ahead: got 0.5: want a size such as 64MiB or 1.5GB\n" + `unknown key "x"`,
		`[]`:                           "json: cannot unmarshal array into Go value of type map[string]json.RawMessage",
		`{"name": "` + "\xff" + `", "`: "unexpected end of JSON input",
	} {
		if err := setting.Decode([]byte(text), c.settings(), nil); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestEncodeRefuses: a config whose fields and settings do not go together.
func TestEncodeRefuses(t *testing.T) {
	c := defaults()
	all := c.settings()
	for want, settings := range map[string][]setting.Setting{
		"the field Input of setting_test.config has no setting": slices.Delete(c.settings(), 1, 2),
		"the settings resume and resume set the same field":     append(c.settings(), all[0]),
		"1 settings set no field": append(c.settings(), setting.Setting{
			Name:  "other",
			Value: setting.Switch(new(bool)),
		}),
	} {
		if _, err := setting.Encode(&c, settings); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	c.Step = math.Inf(1)
	if _, err := setting.Encode(&c, c.settings()); !errors.As(err, new(*json.UnsupportedValueError)) {
		t.Errorf("%v, want that infinity is no JSON", err)
	}
}

// TestGroups: each has a title of its own.
func TestGroups(t *testing.T) {
	seen := make(map[string]bool)
	for i, g := range setting.Groups() {
		if int(g) != i || g.String() == "" || seen[g.String()] {
			t.Errorf("group %d is the %dth and is called %q", int(g), i, g)
		}
		seen[g.String()] = true
	}
	n := setting.Group(len(setting.Groups()))
	if n.String() != fmt.Sprintf("Group(%d)", int(n)) || setting.Group(-1).String() != "Group(-1)" {
		t.Errorf("a group without a title is called %s", n)
	}
}

// TestHint: the nearest name, else the names that there are.
func TestHint(t *testing.T) {
	many := []string{"a1", "b2", "c3", "d4", "e5", "f6", "g7", "h8", "i9", "j10"}
	for _, c := range []struct {
		name  string
		names []string
		want  string
	}{
		{"lamda", []string{"theta", "lambda"}, `; did you mean "lambda"?`},
		{"something", []string{"theta", "x"}, `; there are "theta", "x"`},
		{"something", nil, ""},
		{"gro\u0308\u00dfe", []string{"gr\u00f6\u00dfe"}, `; did you mean "größe"? It is spelled "gr\u00f6\u00dfe", not "gro\u0308\u00dfe": write ` +
			`both in one form of Unicode, NFC or NFD`},
		{"something", many, `; there are "a1", "b2", "c3", "d4", "e5", "f6", "g7", "h8", 2 more`},
	} {
		if got := setting.Hint(c.name, c.names); got != c.want {
			t.Errorf("%s of %q: %s, want %s", c.name, c.names, got, c.want)
		}
	}
}

// TestWords: how the help and the page of settings name the values.
func TestWords(t *testing.T) {
	var text string
	var list []string
	var whole int64
	var number float64
	var on bool
	for _, c := range []struct {
		value     setting.Value
		kind, say string
	}{
		{setting.Text(&text), "string", "text"},
		{setting.OneOf(&text, "a"), "string", "a"},
		{setting.OneOf(&text, "a", "b"), "string", "a or b"},
		{setting.OneOf(&text, "a", "b", "c"), "string", "a, b or c"},
		{setting.List(&list), "strings", "texts"},
		{setting.Repeated(&list), "stringArray", "texts"},
		{setting.Whole(&whole, setting.From(0)), "count", "a whole number from 0"},
		{setting.Number(&number, setting.Above(0, 2.5)), "number", "a number above 0, at most 2.5"},
		{setting.Number(&number, setting.Between(1, 4294967295)), "number", "a number from 1 to 4294967295"},
		{setting.Number(&number, setting.Between(-1e9, 1e15)), "number", "a number from -1e+09 to 1e+15"},
		{setting.Share(&number), "share", "a share from 0 to 1"},
		{setting.Size(&whole), "size", "a size such as 64MiB or 1.5GB"},
		{setting.Duration(&number, setting.From(0)), "duration", "a duration such as 30s or 1h30m"},
		{setting.Switch(&on), "bool", "true or false"},
	} {
		if c.value.Type() != c.kind || c.value.Wants() != c.say {
			t.Errorf("%s: %s, want %s: %s", c.value.Type(), c.value.Wants(), c.kind, c.say)
		}
		required := []setting.Setting{{Name: "x", Value: c.value, Required: true}}
		_, hasTexts := c.value.(interface{ GetSlice() []string })
		empty := c.kind == "string" || hasTexts // a number has no empty value
		if missing := fmt.Sprint(setting.Faults(required)) == "[--x is required]"; missing != empty {
			t.Errorf("%s: %v, want that it is required: %v", c.say, setting.Faults(required), empty)
		}
	}
}
