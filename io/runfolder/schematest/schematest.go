// Package schematest generates JSON Schemas from the Go types of documents. A field's type, json tag, jsonschema tag and
// comment are all that describes it. Only tests import the package, so that no program links the generator.
package schematest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
)

// Document is a document with a JSON Schema.
type Document struct {
	Name  string       // the schema is NAME.schema.json
	Type  reflect.Type // the struct that the document is written from, or read into
	Title string       // empty: the format and the versions of the document
}

// Set is a group of schemas.
type Set struct {
	Documents []Document
	Hooks     Hooks
	Elsewhere map[reflect.Type]string       // structs that are described in other schemas, with the reference to them
	Forms     map[reflect.Type]reflect.Type // types that are written in the form of another type
}

// Hooks complete the schemas of structs with rules that tags cannot express.
type Hooks map[reflect.Type]func(s *jsonschema.Schema)

// Test checks the schemas in io/runfolder/schemas against the types of the documents, given the root of the repository.
// With the flag -update it writes the schemas.
func Test(t *testing.T, root string, s Set) {
	t.Helper()
	used := make(map[reflect.Type]bool)
	for _, d := range s.Documents {
		g := &generator{
			Set: s, comments: comments{root: root, texts: make(map[string]string)}, root: d.Type,
			types: make(map[string]reflect.Type), used: used,
		}
		want, err := g.generate(d.Title)
		if err != nil {
			t.Errorf("%s: %v", d.Name, err)
			continue
		}
		file := filepath.Join(root, "io", "runfolder", "schemas", d.Name+extension)
		if flag.Lookup("update").Value.String() == "true" {
			if err := os.WriteFile(file, want, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if diff := gocmp.Diff(string(want), string(got)); err != nil || diff != "" {
			t.Errorf("%s is not up to date, the flag -update writes it (-types +file): %v\n%s", file, err, diff)
		}
	}
	for of := range s.Hooks {
		if !used[of] {
			t.Errorf("a hook completes the schema of %s, which no document has", of)
		}
	}
}

const extension = ".schema.json"

// generator generates the schema of a document.
type generator struct {
	Set

	comments comments
	root     reflect.Type            // the type of the document
	used     map[reflect.Type]bool   // types whose hooks were called
	types    map[string]reflect.Type // by the name of their definition
	fault    error                   // two types with the same name, or a wrong tag
}

// generate returns the schema as a file.
func (g *generator) generate(title string) ([]byte, error) {
	r := jsonschema.Reflector{
		Anonymous: true, ExpandedStruct: true, Namer: g.name, LookupComment: g.comments.of,
		AdditionalFields: g.formed,
		Mapper: func(of reflect.Type) *jsonschema.Schema {
			if g.Forms[of] != nil {
				return new(jsonschema.Schema) // formed replaces it
			}
			return nil
		},
	}
	r.Lookup = func(of reflect.Type) jsonschema.ID {
		if of == g.root {
			return jsonschema.EmptyID
		}
		return jsonschema.ID(g.Elsewhere[of])
	}
	s := r.ReflectFromType(g.root)
	definitions := s.Definitions
	s.Definitions = nil
	g.complete(g.root, s)
	for name, definition := range definitions {
		g.complete(g.types[name], definition)
	}
	if err := cmp.Or(g.fault, g.comments.err); err != nil {
		return nil, err
	}
	head := &jsonschema.Schema{Version: s.Version, Title: title, Description: s.Description}
	if title == "" {
		head.Title = titleOf(s)
	}
	s.Version = ""
	s.Description = ""
	return join(head, s, &jsonschema.Schema{Definitions: definitions})
}

// titleOf returns the format of a document with its versions.
func titleOf(s *jsonschema.Schema) string {
	versions := Property(s, "version").Enum
	title := fmt.Sprintf("%v version %v", Property(s, "format").Enum[0], versions[0])
	if last := len(versions) - 1; last > 0 {
		title += fmt.Sprintf(" to %v", versions[last])
	}
	return title
}

// join returns a schema file with the keywords of all parts, in their order.
func join(parts ...*jsonschema.Schema) ([]byte, error) {
	var keywords [][]byte
	for _, part := range parts {
		b, err := json.Marshal(part)
		if err != nil {
			return nil, err
		}
		if inner := bytes.Trim(b, "{}"); bytes.HasPrefix(b, []byte("{")) && len(inner) > 0 { // an empty schema is true
			keywords = append(keywords, b[1:len(b)-1])
		}
	}
	var file bytes.Buffer
	err := json.Indent(&file, slices.Concat([]byte("{"), bytes.Join(keywords, []byte(",")), []byte("}\n")), "", "  ")
	plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(file.String())
	return []byte(plain), err
}

// name returns the name of the definition of a type.
func (g *generator) name(of reflect.Type) string {
	switch {
	case of == g.root: // it has no definition, and no name that may be taken
		return "document"
	case of.Name() == "" || of.Kind() != reflect.Struct:
		return ""
	}
	name := jsonschema.ToSnakeCase(strings.TrimPrefix(of.Name(), "file"))
	if other, ok := g.types[name]; ok && other != of {
		g.fault = fmt.Errorf("%s and %s have the same name", other, of)
	}
	g.types[name] = of
	return name
}

// formed returns the fields of a struct that are written in the form of another type, with this type.
func (g *generator) formed(of reflect.Type) (list []reflect.StructField) {
	for i := range of.NumField() {
		f := of.Field(i)
		if form, ok := g.Forms[f.Type]; ok {
			f.Type = form
			list = append(list, f)
		}
	}
	return list
}

// complete adds to the schema of a struct what the library leaves out.
func (g *generator) complete(of reflect.Type, s *jsonschema.Schema) {
	for _, field := range reflect.VisibleFields(of) {
		g.checkTag(of, field)
		key, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		p, ok := s.Properties.Get(key)
		if !ok {
			continue
		}
		omitted := strings.Contains(options, "omitempty")
		if field.Type.Kind() == reflect.Bool && omitted {
			p.Const = true
		}
		if len(p.OneOf) == 2 && p.OneOf[1].Type == "null" {
			nullable(p)
		}
	}
	if hook := g.Hooks[of]; hook != nil {
		hook(s)
		g.used[of] = true
	}
}

// checkTag notes a keyword that the library would ignore.
func (g *generator) checkTag(of reflect.Type, field reflect.StructField) {
	tag, ok := field.Tag.Lookup("jsonschema")
	for part := range strings.SplitSeq(tag, ",") {
		keyword, _, _ := strings.Cut(part, "=")
		if ok && !slices.Contains(keywords(), keyword) {
			g.fault = fmt.Errorf("%s.%s: the tag has %q, want one of %q", of, field.Name, keyword, keywords())
		}
	}
}

// keywords lists the keywords of tags.
func keywords() []string {
	return []string{
		"-", "nullable", "enum", "minimum", "maximum", "exclusiveMinimum", "minLength", "pattern", "format", "minItems",
		"maxItems", "uniqueItems",
	}
}

// nullable shortens the alternative of a schema and null.
func nullable(p *jsonschema.Schema) {
	value := p.OneOf[0]
	if value.Type == "" {
		p.Description = value.Description
		value.Description = ""
		return
	}
	*p = *value
	Types(p, value.Type, "null")
}

// Types sets the types of a value.
func Types(s *jsonschema.Schema, types ...string) {
	s.Type = ""
	s.Extras = map[string]any{"type": types}
}

// Property returns the schema of a property. It panics if the struct has no such field.
func Property(s *jsonschema.Schema, key string) *jsonschema.Schema {
	p, ok := s.Properties.Get(key)
	if !ok {
		panic("no property " + key)
	}
	return p
}

// Optional marks properties that documents of earlier versions lack, although today's documents always have them.
func Optional(s *jsonschema.Schema, keys ...string) {
	s.Required = slices.DeleteFunc(s.Required, func(key string) bool { return slices.Contains(keys, key) })
}

// Enum lists the values of a property, or of its elements.
func Enum[T any](s *jsonschema.Schema, key string, values ...T) {
	p := Property(s, key)
	p.Enum = nil
	for _, v := range values {
		p.Enum = append(p.Enum, v)
	}
}

// Names lists the names of an enumeration of the numbers 1, 2, .. as they are in documents.
func Names[E interface {
	~int | ~uint8
	fmt.Stringer
}]() (list []string) {
	for e := E(1); !strings.HasPrefix(e.String(), "unknown"); e++ {
		list = append(list, e.String())
	}
	return list
}

// Variant returns the schema of a struct without some of its properties.
func Variant(s *jsonschema.Schema, without ...string) *jsonschema.Schema {
	v := *s
	v.Description = ""
	v.OneOf = nil
	v.Properties = jsonschema.NewProperties()
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		if !slices.Contains(without, p.Key) {
			v.Properties.Set(p.Key, p.Value)
		}
	}
	v.Required = slices.DeleteFunc(slices.Clone(s.Required), func(key string) bool { return slices.Contains(without, key) })
	return &v
}

// OneOf makes the schema of a struct one of its variants.
func OneOf(s *jsonschema.Schema, variants ...*jsonschema.Schema) {
	*s = jsonschema.Schema{Version: s.Version, Description: s.Description, OneOf: variants}
}

// Object returns the schema of an object with a property.
func Object(key string, value *jsonschema.Schema) *jsonschema.Schema {
	s := &jsonschema.Schema{Properties: jsonschema.NewProperties()}
	s.Properties.Set(key, value)
	return s
}
