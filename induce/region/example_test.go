package region_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/region"
)

// Codes 0 to 2 are bins, and 3 is missing: at least the first cut, and then below the second.
func ExampleBoth() {
	above, below := []region.Codes{{From: 1, To: 2}}, []region.Codes{{From: 0, To: 1}, {From: 3, To: 3}}
	set := region.Both(above, below)
	fmt.Println(set, region.Has(set, 3), region.Without(set, 3))
	// Output: [{1 1}] false [{0 0} {2 3}]
}
