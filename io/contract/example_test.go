package contract_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/io/contract"
)

// A contract that a person has written is read, and says which rows may be.
func ExampleDecode() {
	c, err := contract.Decode([]byte(`
format: espalier/contract
version: 1
columns:
  - {name: age, type: number, role: feature, min: 0, max: 130}
  - {name: member_since, type: date, role: feature, min: 1990-01-01}
  - {name: churned, type: text, role: label, values: ["no", "yes"], max_unlisted: 0}
`))
	if err != nil {
		panic(err)
	}
	since, err := c.Columns[1].Bound(c.Columns[1].Min)
	fmt.Println(c.With(contract.RoleLabel), c.OtherColumns, *since, err)
	_, err = contract.Decode([]byte("format: espalier/contract\nversion: 1\ncolumns: [{name: age, type: nmber, role: feature}]"))
	fmt.Println(err)
	// Output:
	// [churned] ignored 7305 <nil>
	// column "age": type "nmber": want number, text, date, time or timestamp
}
