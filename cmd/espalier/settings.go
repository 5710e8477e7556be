package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// configFlag is the flag that names a config file.
const configFlag = "config"

// configFile is a YAML file of settings. Its keys are the names of flags.
type configFile struct {
	url     string
	entries []configEntry
	lines   map[string]int // line by key
}

// configEntry is a key with its value.
type configEntry struct {
	key   string
	value *yaml.Node
}

// readConfig reads a config file. An empty url gives a file without settings.
func readConfig(ctx context.Context, url string) (*configFile, error) {
	if url == "" {
		return &configFile{}, nil
	}
	b, err := source.ReadConfig(ctx, url)
	if err != nil {
		return nil, err
	}
	return parseConfig(url, b)
}

// parseConfig reads the keys and values of a config file. It does not check the keys: see
// apply.
func parseConfig(url string, b []byte) (*configFile, error) {
	file := &configFile{url: url, lines: make(map[string]int)}
	var document, second yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(&document); errors.Is(err, io.EOF) {
		return file, nil
	} else if err != nil {
		return nil, file.fault(0, "not YAML: %s", oneLine(err))
	}
	if err := d.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, file.fault(second.Line, "a second document: want one")
	}
	root := document.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" { // comments alone
		return file, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, file.fault(root.Line, "want settings such as `label: class`, a key a line")
	}
	return file, file.add(root)
}

// add adds the keys of a mapping.
func (c *configFile) add(mapping *yaml.Node) error {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			return c.fault(key.Line, "a key that is no text: want the name of a flag")
		}
		if line, twice := c.lines[key.Value]; twice {
			return c.fault(key.Line, "the key %q stands in line %d already", key.Value, line)
		}
		c.lines[key.Value] = key.Line
		c.entries = append(c.entries, configEntry{key.Value, value})
	}
	return nil
}

// section returns the settings below a key, which are for another verb than the settings around them.
func (c *configFile) section(name string) (*configFile, error) {
	var keys []string
	for _, e := range c.entries {
		keys = append(keys, e.key)
		if e.key != name {
			continue
		}
		value := resolved(e.value)
		if value.Kind != yaml.MappingNode {
			return nil, c.fault(c.lines[name], "%s: got %s: want settings, a key a line", name, kindOf(value))
		}
		below := &configFile{url: c.url, lines: make(map[string]int)}
		return below, below.add(value)
	}
	return nil, c.fault(0, "no key %q with the settings of %s%s", name, name, setting.Hint(name, keys))
}

// drop leaves out the settings below a key, if it is there. It returns an error if they are none.
func (c *configFile) drop(name string) error {
	if c.lines[name] == 0 {
		return nil
	}
	_, err := c.section(name)
	c.entries = slices.DeleteFunc(c.entries, func(e configEntry) bool { return e.key == name })
	return err
}

// oneLine returns the text of an error of the YAML library, without its name and on a single line.
func oneLine(err error) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(err.Error(), "yaml: ", "")), " ")
}

// fault is a refusal with its place in the file.
func (c *configFile) fault(line int, format string, args ...any) error {
	place := c.url
	if line > 0 {
		place = fmt.Sprintf("%s, line %d", c.url, line)
	}
	return &usage.Error{Problem: fmt.Sprintf("--config %s: %s", place, fmt.Sprintf(format, args...))}
}

// text returns a value as the text that its flag would be given.
func (c *configFile) text(key string) (string, bool) {
	for _, e := range c.entries {
		if e.key == key {
			if v := resolved(e.value); v.Kind == yaml.ScalarNode {
				return v.Value, true
			}
		}
	}
	return "", false
}

// resolved follows an alias to what it stands for.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// apply sets the flags named by the keys, except flags on the command line. Each flag parses its
// value, so the file accepts the same values as the command line. If a flag amends its value, the command line
// takes precedence in what it names.
func (c *configFile) apply(flags *pflag.FlagSet) error {
	if err := c.known(flags); err != nil {
		return err
	}
	for _, e := range c.entries {
		f := flags.Lookup(e.key)
		v, ok := f.Value.(setting.Value)
		amends := f.Changed && ok && setting.Amends(v) && setting.Refused(v) == nil
		if f.Changed && !amends {
			continue
		}
		given := f.Value.String()
		if err := c.set(f, resolved(e.value)); err != nil {
			return err
		}
		if amends && setting.Refused(v) == nil {
			if err := f.Value.Set(given); err != nil {
				return err
			}
		}
	}
	return nil
}

// known refuses a key that is no setting among the flags of a verb.
func (c *configFile) known(flags *pflag.FlagSet) error {
	for _, e := range c.entries {
		if f := flags.Lookup(e.key); f == nil || f.Hidden || f.Name == configFlag {
			return c.unknown(e.key, flags)
		}
	}
	return nil
}

// unknown is the refusal of a key that is no setting.
func (c *configFile) unknown(key string, flags *pflag.FlagSet) error {
	if key == configFlag {
		return c.fault(c.lines[key], "the key %q: a config file cannot name another one", key)
	}
	if f := flags.Lookup(key); f != nil {
		return c.fault(c.lines[key], "the key %q is a flag of the Beam SDK: it can be given on the command line only", key)
	}
	if now := renamedFlag(key, flags); now != "" {
		return c.fault(c.lines[key], "the key %q is %q now", key, now)
	}
	return c.fault(c.lines[key], "unknown key %q%s", key, nearestFlag(key, flags, `; did you mean "%s"?`))
}

// flagElsewhere returns the flag for what other programs call name; empty if no flag is like it.
func flagElsewhere(name string) string {
	switch name {
	case "budget", "max_budget":
		return "max_expected_cost"
	case "max_depth", "max_leaf_nodes", "num_leaves":
		return "max_leaves"
	case "target", "y", "class", "outcome":
		return "label"
	case "drop", "exclude", "skip":
		return "ignore"
	default:
		return ""
	}
}

// nearestFlag proposes a flag that is named nearly so, or as other programs name it.
func nearestFlag(name string, flags *pflag.FlagSet, format string) string {
	if known := flagElsewhere(name); flags.Lookup(known) != nil {
		return fmt.Sprintf(format, known)
	}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != configFlag {
			names = append(names, f.Name)
		}
	})
	if near := naming.Nearest(name, names); near != "" {
		return fmt.Sprintf(format, near)
	}
	return ""
}

// set sets a flag to a value of the file.
func (c *configFile) set(f *pflag.Flag, value *yaml.Node) error {
	list, many := f.Value.(pflag.SliceValue)
	switch {
	case value.Kind == yaml.SequenceNode && many:
		texts := []string{}
		for _, item := range value.Content {
			item = resolved(item)
			if item.Kind != yaml.ScalarNode || item.Tag == "!!null" {
				return c.fault(item.Line, "%s: a value of the list is %s: want texts or numbers", f.Name, kindOf(item))
			}
			texts = append(texts, item.Value)
		}
		return list.Replace(texts)
	case value.Kind != yaml.ScalarNode || value.Tag == "!!null":
		hint := "want one value"
		if many {
			hint = "want a value or a list of them"
		}
		return c.fault(c.lines[f.Name], "%s: got %s: %s", f.Name, kindOf(value), hint)
	}
	if err := f.Value.Set(value.Value); err != nil {
		return c.fault(c.lines[f.Name], "%s: got %s: %s", f.Name, setting.Word(value.Value), err)
	}
	return nil
}

// refusals returns all texts at once that flags have refused, from the command line or from a config file.
func refusals(flags *pflag.FlagSet) error {
	var faults []error
	flags.VisitAll(func(f *pflag.Flag) {
		if v, ok := f.Value.(setting.Value); ok && setting.Refused(v) != nil {
			faults = append(faults, fmt.Errorf("--%s %w", f.Name, setting.Refused(v)))
		}
	})
	return usage.All(faults)
}

// emptied refuses flags whose value is empty on the command line: mostly a variable of the shell is unset, and the run would
// go without the setting in silence. A flag that the file sets may be emptied, and a list of columns may have none.
func (c *configFile) emptied(flags *pflag.FlagSet) error {
	var empty []string
	flags.Visit(func(f *pflag.Flag) {
		v, ok := f.Value.(setting.Value)
		if f.Value.String() == "" && c.lines[f.Name] == 0 && (!ok || !setting.IsList(v)) {
			empty = append(empty, "--"+f.Name)
		}
	})
	if len(empty) == 0 {
		return nil
	}
	return usage.Errorf("%s: the value is empty (an unset variable of the shell?): give a value, or leave the flag out",
		strings.Join(empty, ", "))
}

// kindOf returns a description of the kind of a value.
func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.MappingNode:
		return "a table of keys"
	case n.Tag == "!!null":
		return "no value"
	default:
		return "an alias of what holds it"
	}
}

// says reports whether the file or a flag sets a setting.
func (c *configFile) says(flags *pflag.FlagSet, name string) bool {
	return c.lines[name] > 0 || flags.Changed(name)
}

// locate adds line numbers to a usage error, for settings that come from the file.
func (c *configFile) locate(err error, flags *pflag.FlagSet) error {
	var invalid *usage.Error
	if !errors.As(err, &invalid) || strings.HasPrefix(invalid.Error(), "--config ") {
		return err
	}
	var places []string
	for _, match := range regexp.MustCompile(`(?:^|[ (])--([a-z_]+)`).FindAllStringSubmatch(invalid.Error(), -1) {
		place := fmt.Sprintf("%s stands in line %d", match[1], c.lines[match[1]])
		if c.lines[match[1]] > 0 && !flags.Changed(match[1]) && !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	if len(places) == 0 {
		return err
	}
	return usage.Reworded(invalid, fmt.Sprintf("%s (%s of %s)", invalid.Error(), strings.Join(places, ", "), c.url))
}
