package contract

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// Decode reads a contract. Its errors name the line, or the column at fault.
func Decode(b []byte) (*Contract, error) {
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	c := &Contract{OtherColumns: OthersIgnored}
	if err := d.Decode(c); errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty")
	} else if err != nil {
		return nil, errors.New(inWords(err))
	}
	if faults := c.Faults(); len(faults) > 0 {
		return nil, errors.New(strings.Join(faults, "; "))
	}
	return c, nil
}

// Encode writes a contract as YAML, with its notes and the given lines as comments.
func (c *Contract) Encode(head []string) ([]byte, error) {
	columns := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range c.Columns {
		columns.Content = append(columns.Content, c.Columns[i].node())
	}
	m := &mapping{}
	m.text("format", c.Format)
	m.plain("version", strconv.Itoa(c.Version))
	if c.MinRows > 0 {
		m.plain("min_rows", strconv.FormatInt(c.MinRows, 10))
	}
	m.text("other_columns", c.OtherColumns)
	m.add("columns", columns)
	comments := make([]string, len(head))
	for i := range head {
		comments[i] = oneLine(head[i])
	}
	m.node.Content[0].HeadComment = strings.Join(comments, "\n")
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(&m.node); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}

// unfit matches a fault of a value in the words of the decoder: its line, kind and value, and the Go type that it should have.
var unfit = regexp.MustCompile("cannot unmarshal (!!\\w+)(?: `([^`]*)`)? into (\\S+)")

// inWords returns an error of the decoder in the words of YAML, on one line.
func inWords(err error) string {
	text := strings.ReplaceAll(strings.ReplaceAll(err.Error(), "yaml: ", ""), "unmarshal errors:", "")
	text = unfit.ReplaceAllStringFunc(text, func(fault string) string {
		parts := unfit.FindStringSubmatch(fault)
		got := map[string]string{"!!seq": "a list", "!!map": "a table of keys", "!!null": "no value"}[parts[1]]
		if parts[2] != "" {
			got = strconv.Quote(parts[2])
		}
		return "got " + cmp.Or(got, "another value") + ", want " + wantedBy(parts[3])
	})
	text = unknownField.ReplaceAllString(text, "unknown key ${1}")
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

// unknownField matches an unknown key in the words of the decoder.
var unknownField = regexp.MustCompile(`field (\S+) not found in type \S+`)

// wantedBy describes the values of a Go type.
func wantedBy(goType string) string {
	switch kind := strings.TrimLeft(goType, "*"); {
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		return "a whole number"
	case strings.HasPrefix(kind, "float"):
		return "a number"
	case kind == "bool":
		return "true or false"
	case kind == "string":
		return "a text"
	case kind == "[]string":
		return "a list of texts"
	case strings.HasPrefix(kind, "[]"):
		return "a list of columns"
	default:
		return "a table of keys"
	}
}

// node returns the column as a mapping, in the order of the fields.
func (c *Column) node() *yaml.Node {
	m := &mapping{}
	m.text("name", c.Name).LineComment = oneLine(c.Note)
	m.text("type", c.Type)
	m.text("role", c.Role)
	if c.Categorical {
		m.plain("categorical", "true")
	}
	m.number("max_missing", c.MaxMissing)
	m.bound("min", c.Min)
	m.bound("max", c.Max)
	m.number("min_mean", c.MinMean)
	m.number("max_mean", c.MaxMean)
	if c.Values != nil {
		list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, value := range c.Values {
			list.Content = append(list.Content, textNode(value))
		}
		m.add("values", list)
	}
	if c.Ordered {
		m.plain("ordered", "true")
	}
	m.number("max_unlisted", c.MaxUnlisted)
	return &m.node
}

// oneLine keeps a comment in its line.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) { // controls, line ends, marks of direction
			return ' '
		}
		return r
	}, text)
}

// mapping is a mapping under construction.
type mapping struct{ node yaml.Node }

func (m *mapping) add(key string, value *yaml.Node) *yaml.Node {
	m.node.Kind = yaml.MappingNode
	m.node.Content = append(m.node.Content, textNode(key), value)
	return value
}

func (m *mapping) text(key, value string) *yaml.Node { return m.add(key, textNode(value)) }

// plain adds a value that is no text: it has no quotes.
func (m *mapping) plain(key, value string) {
	m.add(key, &yaml.Node{Kind: yaml.ScalarNode, Value: value})
}

func (m *mapping) number(key string, x *float64) {
	if x != nil {
		m.plain(key, strconv.FormatFloat(*x, 'g', -1, 64))
	}
}

func (m *mapping) bound(key, text string) {
	if text != "" {
		m.plain(key, text)
	}
}

// textNode returns a text, with quotes if it would be read as something else.
func textNode(s string) *yaml.Node {
	n := new(yaml.Node)
	n.SetString(s)
	// Booleans of YAML 1.1, which other readers interpret.
	words := []string{"y", "n", "yes", "no", "on", "off"}
	if strings.ContainsAny(s, "\n\r") || slices.Contains(words, strings.ToLower(s)) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
