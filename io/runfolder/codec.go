package runfolder

import (
	"encoding/json"

	"github.com/espalier-ml/espalier/induce/tree"
)

// codec writes and reads the files of a document.
type codec struct {
	has    func(r *Run) bool                  // the run has a value
	encode func(r *Run) ([]File, error)       // one for each file, without its name
	decode func(r *Run, content []byte) error // adds the value of a file
}

// inJSON writes a value of the run as indented JSON. A file that is read has to follow the schema.
func inJSON[T any](schema string, field func(r *Run) **T) codec {
	return single(field, encodeJSON[T], func(b []byte) (*T, error) { return decodeJSON[T](schema, b) })
}

// checker is a document with rules that its schema cannot express.
type checker interface{ check() error }

// decodeJSON decodes a document that follows a schema.
func decodeJSON[T any](schema string, b []byte) (*T, error) {
	value := new(T)
	err := validate(schema, b)
	if err == nil {
		err = json.Unmarshal(b, value)
	}
	if c, ok := any(value).(checker); ok && err == nil {
		err = c.check()
	}
	if err != nil {
		return nil, err
	}
	return value, nil
}

func encodeJSON[T any](value *T) ([]byte, error) {
	b, err := json.MarshalIndent(value, "", "  ")
	return append(b, '\n'), err
}

// text writes a value of the run in a form of its own.
func text[T any](field func(r *Run) **T, encode func(*T) []byte, decode func([]byte) (*T, error)) codec {
	return single(field, func(value *T) ([]byte, error) { return encode(value), nil }, decode)
}

// single writes a value of the run to one file.
func single[T any](field func(r *Run) **T, encode func(*T) ([]byte, error), decode func([]byte) (*T, error)) codec {
	return codec{
		has: func(r *Run) bool { return *field(r) != nil },
		encode: func(r *Run) ([]File, error) {
			b, err := encode(*field(r))
			return []File{{Content: b}}, err
		},
		decode: func(r *Run, content []byte) error {
			value, err := decode(content)
			if err == nil {
				*field(r) = value
			}
			return err
		},
	}
}

func treeCodec() codec {
	return text(func(r *Run) **tree.Tree { return &r.Tree }, (*tree.Tree).Encode, decodeTree)
}

func metricsCodec() codec { return inJSON("metrics", func(r *Run) **Metrics { return &r.Metrics }) }

// pageCodec writes a page as it is.
func pageCodec(page func(r *Run) *[]byte) codec {
	return codec{
		has:    func(r *Run) bool { return len(*page(r)) > 0 },
		encode: func(r *Run) ([]File, error) { return []File{{Content: *page(r)}}, nil },
		decode: func(r *Run, content []byte) error {
			*page(r) = content
			return nil
		},
	}
}

// treesCodec writes each tree of the frontier to a file.
func treesCodec() codec {
	return codec{
		has: func(r *Run) bool { return len(r.Trees) > 0 },
		encode: func(r *Run) ([]File, error) {
			files := make([]File, len(r.Trees))
			for i, t := range r.Trees {
				files[i].append = t.AppendJSON
			}
			return files, nil
		},
		decode: func(r *Run, content []byte) error {
			t, err := decodeTree(content)
			if err == nil {
				r.Trees = append(r.Trees, t)
			}
			return err
		},
	}
}
