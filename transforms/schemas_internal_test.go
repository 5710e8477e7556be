package transforms

import (
	"reflect"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx/schema"
)

// TestResultSchemas: results have Beam schemas of types that every language has, so that SQL
// and steps in other languages can take them.
func TestResultSchemas(t *testing.T) {
	for _, typ := range []reflect.Type{
		reflect.TypeFor[Prediction](), reflect.TypeFor[WindowTree](), reflect.TypeFor[DeadLetter](),
	} {
		s, err := schema.FromType(typ)
		if err != nil || len(s.GetFields()) != typ.NumField() || strings.Contains(s.String(), "logical_type") {
			t.Errorf("%v: schema %v, error %v: want all %d fields, of portable types", typ, s, err, typ.NumField())
		}
	}
}
