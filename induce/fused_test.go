package induce_test

import (
	"bytes"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestNothingFused reads the machine code for arm64. This processor has instructions to
// multiply and add with one rounding in place of two. Code of induce must not use them,
// or the same rows make other bytes there. The test reads machine code and not the
// source, as products meet sums across statements and inlined calls, too.
// ESPALIER_FUSED names more packages. It takes minutes, as all of their imports are
// compiled.
func TestNothingFused(t *testing.T) {
	more := os.Getenv("ESPALIER_FUSED")
	if more == "" {
		t.Skip("waits for ESPALIER_FUSED, as it compiles for another processor: .ci/run sets it")
	}
	packages := append([]string{module + "induce/..."}, strings.Fields(more)...)
	// As archives are built, so that the imports are compiled once for both.
	build := exec.Command("go", append([]string{"build", "-trimpath", "-gcflags=-S"}, packages...)...)
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out[:min(len(out), 2000)])
	}
	instruction := regexp.MustCompile(`\(([^() ]+):(\d+)\)\s+(FN?M(?:ADD|SUB)[SD])\b`)
	seen := 0
	listed := 0 // lines of our files
	for line := range bytes.Lines(out) {
		if bytes.Contains(line, []byte("STEXT")) {
			seen++
		}
		if bytes.Contains(line, []byte("("+module)) {
			listed++
		}
		m := instruction.FindSubmatch(line)
		if m == nil {
			continue
		}
		file, own := strings.CutPrefix(string(m[1]), module) // libraries are also inlined
		if !own || meant(t, file, string(m[2])) {
			continue
		}
		t.Errorf("%s:%s: %s: a product is fused with a sum; round it by itself: float64(a*b) + c", file, m[2], m[3])
	}
	if seen < 500 || listed < 500 {
		t.Errorf("only %d functions and %d lines of ours were listed: the listing is not what it was", seen, listed)
	}
}

// meant reports whether a line asks for the fused operation by name, which is exact
// on every processor.
func meant(t *testing.T, file, line string) bool {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", file))
	if err != nil {
		t.Fatal(err)
	}
	number := 0
	for _, digit := range line {
		number = 10*number + int(digit-'0')
	}
	lines := strings.Split(string(b), "\n")
	return number <= len(lines) && strings.Contains(lines[number-1], "math.FMA(")
}

// processorDependent are functions whose bits differ between processors: some have
// them in assembly, and the compiler fuses their products where it can.
func processorDependent() []string {
	return strings.Fields(`
		math.Log math.Log2 math.Log10 math.Log1p math.Logb math.Exp math.Exp2 math.Expm1 math.Pow math.Cbrt math.Hypot
		math.Sin math.Cos math.Tan math.Sincos math.Asin math.Acos math.Atan math.Atan2
		math.Sinh math.Cosh math.Tanh math.Asinh math.Acosh math.Atanh
		math.Erf math.Erfc math.Erfinv math.Erfcinv math.Gamma math.Lgamma NormFloat64 ExpFloat64`)
}

// TestOwnFunctions: results use the elementary functions of package portable.
func TestOwnFunctions(t *testing.T) {
	forbidden := processorDependent()
	for _, file := range sources(t, "..", 100) {
		ast.Inspect(file.tree, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			name := selector.Sel.Name
			from, _ := selector.X.(*ast.Ident)
			if slices.Contains(forbidden, name) || from != nil && slices.Contains(forbidden, from.Name+"."+name) {
				t.Errorf("%s: %s has other bits on other processors: use induce/portable",
					file.set.Position(n.Pos()), name)
			}
			return true
		})
	}
}
