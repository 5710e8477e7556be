package worker

import (
	"encoding/json"
	"strings"

	"github.com/espalier-ml/espalier/io/setting"
)

// template is the metadata.json of a flex template of Dataflow.
type template struct {
	Name        string      `json:"name"`
	Description string      `json:"description,omitempty"`
	Parameters  []parameter `json:"parameters"`
}

// parameter is a parameter of a template: the launcher passes its value as the flag of its name.
type parameter struct {
	Name         string   `json:"name"`
	Label        string   `json:"label"`
	HelpText     string   `json:"helpText"`
	IsOptional   bool     `json:"isOptional,omitempty"`
	DefaultValue string   `json:"defaultValue,omitempty"`
	Regexes      []string `json:"regexes,omitempty"`
	ParamType    string   `json:"paramType"`
}

// TemplateMetadata returns the metadata.json of a flex template of Dataflow whose program has these settings as flags.
// Dataflow checks the form of numbers; the program checks all values when the template is launched.
func TemplateMetadata(name, description string, settings []setting.Setting) ([]byte, error) {
	t := template{Name: name, Description: description, Parameters: []parameter{}}
	for _, s := range settings {
		p := parameter{
			Name: s.Name, Label: label(s.Name), HelpText: s.Help, IsOptional: !s.Required,
			DefaultValue: s.Value.String(), ParamType: "TEXT",
		}
		switch s.Value.Type() {
		case "bool":
			p.ParamType, p.Regexes = "BOOLEAN", []string{"^(true|false)$"}
		case "count":
			p.ParamType, p.Regexes = "NUMBER", []string{`^-?[0-9]+(e[0-9]+)?$`}
		case "number", "share":
			p.ParamType, p.Regexes = "NUMBER", []string{`^-?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?$`}
		}
		t.Parameters = append(t.Parameters, p)
	}
	b, err := json.MarshalIndent(&t, "", "  ")
	return append(b, '\n'), err
}

// label returns the name of a setting as words.
func label(name string) string {
	words := strings.ReplaceAll(name, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}
