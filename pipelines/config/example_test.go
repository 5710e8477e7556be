package config_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/pipelines/config"
)

// A preset fills the settings of a training. Validate names what is missing or wrong, before a row is read.
func ExamplePreset() {
	c, err := config.Preset("accurate")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("models in leaves:", c.LeafModel)
	fmt.Println(c.Validate())
	// Output:
	// models in leaves: auto
	// --input, --label and --output are required
}
