package train_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPhasesShareNothing: work that is handed to Phase or Compute sets no variable from outside
// of it. When the context ends, a phase leaves its work behind: the work would go on to set
// what its caller reads. Elements of slices may be set, as the callers drop those on an error.
func TestPhasesShareNothing(t *testing.T) {
	phases := 0
	for _, folder := range []string{".", "..", "../engine", "../../induce/selection"} {
		names, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
		n, faults := phaseFaults(t, names, nil)
		for _, fault := range faults {
			t.Error(fault)
		}
		phases += n
	}
	if phases < 15 {
		t.Errorf("%d phases found: some are called in a way that this test does not know", phases)
	}
}

// TestPhaseFaults: what TestPhasesShareNothing finds in pieces of code.
func TestPhaseFaults(t *testing.T) {
	const begin = `package p
type steps struct{ Done int }
type driver struct{}
func (driver) Phase(work func(s *steps) error) error { return work(nil) }
func Compute[T any](work func(s *steps) (T, error)) (T, error) { return work(nil) }
type made struct{ list []int; one int }
var global int
func read() (int, error) { return 1, nil }
func f(j driver, out *made) (result int, err error) {
	var sum int
	var list []int
	var one made
	each := func(i int) { list[i] = i }
	add := func(i int) { sum += i }
	_, _, _, _ = one, list, each, add
`
	for _, c := range []struct {
		body string
		want string // words of the fault; empty if there is no fault
	}{
		{`j.Phase(func(s *steps) (err error) { sum, err = read(); return err })`, "sum"},
		{`j.Phase(func(s *steps) error { n, err := read(); n++; _ = n; return err })`, ""},
		{`j.Phase(func(s *steps) error { sum++; return nil })`, "sum"},
		{`j.Phase(func(s *steps) error { for sum = range 3 {}; return nil })`, "sum"},
		{`j.Phase(func(s *steps) error { s.Done++; return nil })`, ""},
		{`j.Phase(func(s *steps) error { list[0] = 1; return nil })`, ""},
		{`j.Phase(func(s *steps) error { list = nil; return nil })`, "list"},
		{`j.Phase(func(s *steps) error { one.one = 1; return nil })`, "one"},
		{`j.Phase(func(s *steps) error { one.list[0] = 1; return nil })`, ""},
		{`j.Phase(func(s *steps) error { (*out).one = 1; return nil })`, "out"},
		{`j.Phase(func(s *steps) error { *out = made{}; return nil })`, "out"},
		{`j.Phase(func(s *steps) error { global = 1; return nil })`, "global"},
		{`j.Phase(func(s *steps) error { func() { sum = 1 }(); return nil })`, "sum"},
		{`j.Phase(func(s *steps) error { each(1); return nil })`, ""},
		{`j.Phase(func(s *steps) error { add(1); return nil })`, "sum"},
		{`work := func(s *steps) error { sum = 1; return nil }; j.Phase(work)`, "sum"},
		{`work := func(s *steps) (int, error) { return read() }; Compute(work)`, ""},
		{`Compute(func(s *steps) (int, error) { result, err = read(); return 0, nil })`, "result"},
		{`Compute[int](func(s *steps) (int, error) { sum = 1; return 0, nil })`, "sum"},
		{`j.Phase(hidden)`, "hidden"},
	} {
		n, faults := phaseFaults(t, []string{"p.go"}, []byte(begin+c.body+"\nreturn }"))
		if n != 1 {
			t.Errorf("%s: %d phases", c.body, n)
		}
		if found := strings.Join(faults, " "); (c.want == "") != (found == "") || !strings.Contains(found, `"`+c.want+`"`) && c.want != "" {
			t.Errorf("%s: found %q, want one of %q", c.body, found, c.want)
		}
	}
}

// phaseFaults counts the phases of the files of a package, and tells of those whose work sets
// variables from outside of it. source is the text of a sole file; nil: files are read.
func phaseFaults(t *testing.T, names []string, source []byte) (phases int, faults []string) {
	t.Helper()
	p := phaseCheck{
		places:   token.NewFileSet(),
		info:     types.Info{Defs: make(map[*ast.Ident]types.Object), Uses: make(map[*ast.Ident]types.Object)},
		literals: make(map[types.Object][]*ast.FuncLit),
	}
	var files []*ast.File
	for _, name := range names {
		var text any
		if source != nil {
			text = source
		}
		f, err := parser.ParseFile(p.places, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	c := types.Config{Error: func(error) {}} // what is imported stays unknown: variables are known all the same
	_, _ = c.Check("p", p.places, files, &p.info)
	for _, f := range files {
		ast.Inspect(f, p.keepLiterals)
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isPhase(call) {
				phases++
				p.check(call.Args[len(call.Args)-1])
			}
			return true
		})
	}
	return phases, p.faults
}

type phaseCheck struct {
	places   *token.FileSet
	info     types.Info
	literals map[types.Object][]*ast.FuncLit // by the variable that has the function
	faults   []string
}

// isPhase reports whether a call begins a phase.
func isPhase(call *ast.CallExpr) bool {
	f := call.Fun
	if index, ok := f.(*ast.IndexExpr); ok {
		f = index.X
	}
	name, _ := f.(*ast.Ident)
	if s, ok := f.(*ast.SelectorExpr); ok {
		name = s.Sel
	}
	return name != nil && (name.Name == "Phase" || strings.EqualFold(name.Name, "Compute")) && len(call.Args) > 0
}

// keepLiterals notes the function literals of each variable.
func (p *phaseCheck) keepLiterals(n ast.Node) bool {
	a, ok := n.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != len(a.Rhs) {
		return true
	}
	for i, value := range a.Rhs {
		literal, isLiteral := value.(*ast.FuncLit)
		name, isName := a.Lhs[i].(*ast.Ident)
		if !isLiteral || !isName {
			continue
		}
		if variable := p.info.ObjectOf(name); variable != nil {
			p.literals[variable] = append(p.literals[variable], literal)
		}
	}
	return true
}

// check finds faults in the work of a phase, and in the functions that the work calls by
// variables.
func (p *phaseCheck) check(work ast.Expr) {
	var open []*ast.FuncLit
	switch w := work.(type) {
	case *ast.FuncLit:
		open = append(open, w)
	case *ast.Ident:
		open = slices.Clone(p.literals[p.info.ObjectOf(w)])
	}
	if len(open) == 0 {
		p.faults = append(p.faults, fmt.Sprintf("%v: the work %q of a phase is no function literal of this file",
			p.places.Position(work.Pos()), types.ExprString(work)))
	}
	for i := 0; i < len(open); i++ {
		ast.Inspect(open[i], func(n ast.Node) bool {
			if name, ok := n.(*ast.Ident); ok {
				for _, literal := range p.literals[p.info.Uses[name]] {
					if !slices.Contains(open, literal) {
						open = append(open, literal)
					}
				}
			}
			for _, target := range targets(n) {
				name := root(target)
				if name == nil || name.Name == "_" {
					continue
				}
				if at := p.info.ObjectOf(name); at == nil || !declaredIn(open[:i+1], at.Pos()) {
					p.faults = append(p.faults, fmt.Sprintf("%v: the work of a phase sets %q from outside of it: return the "+
						"result by engine.Compute", p.places.Position(name.Pos()), name.Name))
				}
			}
			return true
		})
	}
}

// targets returns what a statement sets, but for new variables.
func targets(n ast.Node) []ast.Expr {
	switch s := n.(type) {
	case *ast.AssignStmt:
		if s.Tok != token.DEFINE {
			return s.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{s.X}
	case *ast.RangeStmt:
		if s.Tok == token.ASSIGN {
			return slices.DeleteFunc([]ast.Expr{s.Key, s.Value}, func(e ast.Expr) bool { return e == nil })
		}
	}
	return nil
}

// root returns the variable that an assignment sets, or a field of it; nil for elements.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// declaredIn reports whether a place is in one of some function literals.
func declaredIn(literals []*ast.FuncLit, place token.Pos) bool {
	return slices.ContainsFunc(literals, func(l *ast.FuncLit) bool { return l.Pos() <= place && place < l.End() })
}
