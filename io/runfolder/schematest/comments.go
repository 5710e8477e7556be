package schematest

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
)

const module = "github.com/espalier-ml/espalier/"

// comments holds the comments of structs and of their fields. The library reads the comments of exported structs only.
type comments struct {
	root  string            // folder of the module
	texts map[string]string // by package, struct and field: "path.Struct.Field"; by package alone: the package is read
	err   error             // the first fault of a file
}

// of returns the text about a field, or about the struct if the field is empty: the description in a schema.
func (c *comments) of(t reflect.Type, field string) string {
	folder, ours := strings.CutPrefix(t.PkgPath(), module)
	if !ours {
		return ""
	}
	folder = strings.TrimSuffix(folder, "_test") // an external test is in the folder of its package
	if _, ok := c.texts[folder]; !ok {
		c.read(folder)
	}
	if field == "" {
		return described(t.Name(), new(doc.Package).Synopsis(c.texts[folder+"."+t.Name()]), t, "null")
	}
	f, _ := t.FieldByName(field)
	absent := "null"
	if strings.Contains(f.Tag.Get("json"), ",omit") {
		absent = "absent"
	}
	return described(field, c.texts[folder+"."+t.Name()+"."+field], t, absent)
}

// read reads the comments of a package.
func (c *comments) read(folder string) {
	c.texts[folder] = ""
	files, err := filepath.Glob(filepath.Join(c.root, filepath.FromSlash(folder), "*.go"))
	for _, file := range files {
		parsed, problem := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if problem != nil {
			err = problem
			break
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if d, ok := n.(*ast.GenDecl); ok && len(d.Specs) == 1 {
				c.add(folder, d.Specs[0], d.Doc)
			}
			return true
		})
	}
	if err != nil && c.err == nil {
		c.err = err
	}
}

// add adds the comments of a struct.
func (c *comments) add(folder string, spec ast.Spec, about *ast.CommentGroup) {
	declared, _ := spec.(*ast.TypeSpec)
	if declared == nil {
		return
	}
	list, _ := declared.Type.(*ast.StructType)
	if list == nil {
		return
	}
	name := folder + "." + declared.Name.Name
	c.texts[name] = about.Text()
	for _, field := range list.Fields.List {
		text := field.Doc.Text()
		if text == "" {
			text = field.Comment.Text()
		}
		for _, key := range field.Names {
			c.texts[name+"."+key.Name] = text
		}
	}
}

var (
	// subject matches the beginning of a comment on a name.
	subject = regexp.MustCompile(`^(\w+) (is|are|holds|describes|counts|measures|summarises) `)
	// pointer matches a pointer to Go code, such as ": see Leaf" or ", see package judging".
	pointer = regexp.MustCompile(`(^|[:,;] )see (package \w+|(\w+\.)*[A-Z]\w*)`)
	// goName matches a name with capitals inside, such as MaxCost or AUCLost.
	goName = regexp.MustCompile(`\b[A-Z]\w*([a-z0-9]\w*[A-Z]|[A-Z][a-z])\w*`)
	goNil  = regexp.MustCompile(`\bnil\b`)
)

// described returns the comment on a name in the words of documents: with keys instead of the fields of the struct, with
// absent instead of nil, without the name as the subject, and without pointers to Go code.
func described(name, text string, of reflect.Type, absent string) string {
	text = strings.Join(strings.Fields(text), " ")
	if m := subject.FindStringSubmatch(text); m != nil && m[1] == name {
		text = text[len(m[0]):]
	}
	text = goName.ReplaceAllStringFunc(pointer.ReplaceAllString(text, ""), func(name string) string {
		if sibling, ok := of.FieldByName(name); ok {
			return Key(sibling)
		}
		return name
	})
	return strings.TrimSuffix(goNil.ReplaceAllString(text, absent), ".")
}

// Key returns the key of a field in a document.
func Key(f reflect.StructField) string {
	key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return key
}
