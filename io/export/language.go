package export

import "fmt"

// tables are the names of the tables in the files, which no constant of a feature may have.
const tables = "STEPS CLASSES FEATURES UNITS SETS LEAVES MODELS BOOSTERS FACTORS ERROR_COSTS"

// language describes how a language expresses what all formats express.
type language struct {
	format string // also the name of its template
	name   string // default name of the package, module or class

	ending   string // suffix of the file's name
	packages bool   // whether the name may begin with a package, and must be the name of the file

	keywords   []string // words that may not be identifiers
	terminated bool     // whether a NUL ends its texts
	moments    bool     // whether dates and times may be texts

	missingText, missingNumber string    // literals in the rows of tests
	specials                   [4]string // NaN, both infinities, the negative zero
	nesting                    int       // greatest nesting of conditions; 0: mostNesting

	field, constant func(words []string) string // return an identifier
	text            func(string) string         // a literal
	number          func(float64) string        // a literal

	indent, open, elseIf, otherwise, end string // of nested conditions
	or                                   string
	leaf                                 string // returns the index of a leaf
	calls                                string // returns the result of another function, given its number
	numberOf, textOf                     string // the value of a feature, given its constant
	comment                              string // begins a comment after a statement

	between, present, missing, same, lacking string // conditions

	// member returns the condition that a text is in a set, given its number and its values; or, if inverse is true, that
	// it is present and not in the set.
	member func(text string, set int, values []string, inverse bool) string
}

func (l *language) call(function int) string { return fmt.Sprintf(l.calls, function) }

// remark returns a comment that follows a statement.
func (l *language) remark(text string) string { return l.comment + text }

// helped returns the conditions of languages whose files define functions for them.
func helped() language {
	return language{
		between: "between(%[1]s, %[2]s, %[3]s)", present: "present(%s)", missing: "missing(%s)", same: "same(%s, %s)",
		lacking: "lacking(%s)",
		member: func(text string, set int, _ []string, inverse bool) string {
			if inverse {
				return fmt.Sprintf("outside(%s, %d)", text, set)
			}
			return fmt.Sprintf("inside(%s, %d)", text, set)
		},
	}
}

// braces returns a language with the syntax of C.
func braces() language {
	l := helped()
	l.indent = "    "
	l.open = "if (%s) {"
	l.elseIf = "} else if (%s) {"
	l.otherwise = "} else {"
	l.end = "}"
	l.or = " || "
	l.leaf = "return %d;"
	l.comment = " // "
	l.number = number
	return l
}

func languages() []language {
	return []language{cLanguage(), javaLanguage(), python(), javaScript()}
}

func cLanguage() language {
	l := braces()
	l.format = "c"
	l.name = "model"
	l.terminated = true
	l.ending = ".c"
	l.missingText = "NULL"
	l.missingNumber = "NAN"
	l.specials = [4]string{l.missingNumber, "INFINITY", "-INFINITY", "-0.0"}
	l.keywords = reserved(`auto break case char const continue default do double else enum extern float for goto if
		inline int long register restrict return short signed sizeof static struct switch typedef union unsigned void
		volatile while bool true false and or not xor class delete new this template typename namespace public private
		protected virtual operator friend catch throw try using nullptr constexpr static_assert thread_local alignas
		alignof typeof asm near far NULL NAN INFINITY`)
	l.field = snake
	l.text = quotedC
	l.constant = func(words []string) string { return "F_" + screaming(words) }
	l.calls = "return walk%d(v);"
	l.numberOf = "number(v, %s)"
	l.textOf = "text(v, %s)"
	return l
}

func javaLanguage() language {
	l := braces()
	l.format = "java"
	l.name = "Model"
	l.packages = true
	l.ending = ".java"
	l.missingText = "null"
	l.missingNumber = "Double.NaN"
	l.specials = [4]string{l.missingNumber, "Double.POSITIVE_INFINITY", "Double.NEGATIVE_INFINITY", "-0.0"}
	l.keywords = reserved(`abstract assert boolean break byte case catch char class const continue default do double
		else enum extends final finally float for goto if implements import instanceof int interface long native new
		package private protected public return short static strictfp super switch synchronized this throw throws
		transient try void volatile while true false null var record yield sealed permits ` + tables + `
		clone finalize getClass hashCode notify notifyAll toString wait List LinkedList Step STEPS Row Prediction Values Leaf LeafModel Term Split
		Arrays Map Set Function ToDoubleFunction String Math Double Integer Object Override`)
	l.field = camel
	l.text = quotedJava
	l.constant = screaming
	l.calls = "return Walk%d.walk(v);"
	l.numberOf = "v.number(%s)"
	l.textOf = "v.text(%s)"
	return l
}

func python() language {
	l := helped()
	l.format = "python"
	l.name = "model"
	l.moments = true
	l.ending = ".py"
	l.missingText = "None"
	l.missingNumber = "None"
	l.specials = [4]string{"nan", "inf", "-inf", "-0.0"}
	l.keywords = reserved(`False None True and as assert async await break class continue def del elif else except
		finally for from global if import in is lambda nonlocal not or pass raise return try while with yield match
		case type self ` + tables)
	l.field = snake
	l.constant = screaming
	l.text = quotedPython
	l.number = number
	l.indent = "    "
	l.open = "if %s:"
	l.elseIf = "elif %s:"
	l.otherwise = "else:"
	l.or = " or "
	l.leaf = "return %d"
	l.calls = "return _walk%d(v)"
	l.comment = "  # "
	l.numberOf = "v.number(%s)"
	l.textOf = "v.text(%s)"
	return l
}

func javaScript() language {
	l := braces()
	l.format = "javascript"
	l.name = "model"
	l.moments = true
	l.ending = ".mjs"
	l.missingText = "null"
	l.missingNumber = "null"
	l.specials = [4]string{"NaN", "Infinity", "-Infinity", "-0"}
	l.keywords = reserved(`await break case catch class const continue debugger default delete do else enum export
		extends false finally for function if implements import in instanceof interface let new null package private
		protected public return static super switch this throw true try typeof var void while with yield arguments eval
		undefined NaN Infinity ` + tables)
	l.indent = "  "
	l.field = camel
	l.text = quotedUTF16
	l.constant = screaming
	l.calls = "return walk%d(v);"
	l.numberOf = "v.number(%s)"
	l.textOf = "v.text(%s)"
	return l
}
