package setting_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/io/setting"
)

// cache is a configuration of two settings.
type cache struct {
	Memory   int64   // bytes
	Patience float64 // seconds
}

// settings declares what the fields mean.
func (c *cache) settings() []setting.Setting {
	return setting.In(setting.Storage, []setting.Setting{
		{Name: "memory", Value: setting.Size(&c.Memory), Help: "what is kept"},
		{Name: "patience", Value: setting.Duration(&c.Patience, setting.Between(1, 3600)), Help: "time that a read has"},
	})
}

// A configuration declares its fields once. Text, JSON and the check of values follow.
func Example() {
	c := cache{Memory: 64 << 20, Patience: 30} // the defaults
	for _, s := range c.settings() {
		fmt.Printf("--%s %s: %s (default %s)\n", s.Name, s.Value.Type(), s.Help, s.Value)
	}
	if err := setting.Decode([]byte(`{"memory": "1.5GB", "patience": 7200}`), c.settings(), nil); err != nil {
		fmt.Println(err)
	}
	b, err := setting.Encode(&c, c.settings())
	fmt.Println(string(b), err)
	fmt.Println(setting.Faults(c.settings()))
	fmt.Println(setting.Decode([]byte(`{"memroy": 3}`), c.settings(), nil))
	// Output:
	// --memory size: what is kept (default 64MiB)
	// --patience duration: time that a read has (default 30s)
	// {"memory":1500000000,"patience":7200} <nil>
	// [--patience 7200: want a number of seconds from 1 to 3600]
	// unknown key "memroy"; did you mean "memory"?
}
