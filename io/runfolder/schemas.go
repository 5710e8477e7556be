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

// Schemas returns the JSON Schemas of all documents by Document.Schema. The schema "ask"
// describes the line of ask --json.
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
