package runfolder

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed schemas/*.schema.json
var schemas embed.FS

// schemaExtension ends the file name of a JSON Schema.
const schemaExtension = ".schema.json"

// Schemas returns all JSON Schemas by name: those that Documents names, and "ask", of the
// line that ask --json prints.
func Schemas() map[string][]byte {
	files, err := fs.Glob(schemas, "schemas/*"+schemaExtension)
	if err != nil {
		panic(err) // the pattern is a good one
	}
	all := make(map[string][]byte)
	for _, file := range files {
		b, err := schemas.ReadFile(file)
		if err != nil {
			panic(err) // it was just listed
		}
		all[strings.TrimSuffix(path.Base(file), schemaExtension)] = b
	}
	return all
}
