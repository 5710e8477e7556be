package textview_test

import (
	"fmt"
	"testing"

	"github.com/espalier-ml/espalier/io/textview"
)

// TestVisible: a list of 12 leaves out none or several, never a single entry.
func TestVisible(t *testing.T) {
	for n := range 40 {
		shown, others := textview.Visible(n, 12)
		want := ""
		if hidden := n - shown; hidden > 0 {
			want = fmt.Sprintf("(%d others)", hidden)
		}
		if others != want || n-shown == 1 || n <= 13 && shown != n || n > 13 && shown != 12 {
			t.Errorf("%d entries: %d shown, %q", n, shown, others)
		}
	}
}
