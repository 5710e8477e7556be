package transforms_test

import (
	"testing"

	//nolint:staticcheck // the embedded default, see package pipelines
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
)

// TestMain runs the tests on prism, which serialises, unless --runner says otherwise.
func TestMain(m *testing.M) { ptest.MainWithDefault(m, "prism") }
