package runfolder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxDocument is the most bytes of a document that is checked against its schema. Parsed values take
// many times as much memory as their text.
const maxDocument = 64 << 20

// readers returns the schemas by which documents are checked when they are read. Unlike those that describe
// what is written, they allow members of later versions and settings of earlier ones.
var readers = sync.OnceValue(func() *jsonschema.Compiler { //nolint:gochecknoglobals // compiled once
	c := jsonschema.NewCompiler()
	for name, b := range Schemas() {
		schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err == nil {
			open(schema)
			err = c.AddResource(schemaURL(name), schema)
		}
		if err != nil {
			panic(err) // they are part of the program, and tested
		}
	}
	return c
})

// schemaURL returns the name of a schema for the compiler, which would look for a relative one below the
// working folder of the moment.
func schemaURL(name string) string { return "embed:///" + name + schemaExtension }

// open changes a schema for readers.
func open(schema any) {
	switch v := schema.(type) {
	case map[string]any:
		if v["additionalProperties"] == false {
			delete(v, "additionalProperties")
		}
		if properties, ok := v["properties"].(map[string]any); ok && properties["config"] != nil {
			properties["config"] = map[string]any{"type": "object"}
		}
		for _, inner := range v {
			open(inner)
		}
	case []any:
		for _, inner := range v {
			open(inner)
		}
	}
}

var compiling sync.Mutex //nolint:gochecknoglobals // a compiler is for one goroutine at a time

// validate checks a document against its schema. The error names the first place that is wrong.
func validate(schema string, b []byte) error {
	if len(b) > maxDocument {
		return fmt.Errorf("it has %d bytes, expected at most %d", len(b), maxDocument)
	}
	compiling.Lock()
	s, err := readers().Compile(schemaURL(schema))
	compiling.Unlock()
	if err != nil {
		return err
	}
	var value any // with float64: numbers beyond its range would cost the library much time
	if err := json.Unmarshal(b, &value); err != nil {
		return fmt.Errorf("not as expected: %w", err)
	}
	var invalid *jsonschema.ValidationError
	if err = s.Validate(value); !errors.As(err, &invalid) {
		return err
	}
	for len(invalid.Causes) > 0 {
		invalid = invalid.Causes[0]
	}
	text := invalid.Error() // a line of the schema, and one of the place
	return fmt.Errorf("damaged: %s", strings.TrimPrefix(text[strings.LastIndexByte(text, '\n')+1:], "- "))
}
