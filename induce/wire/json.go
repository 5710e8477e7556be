package wire

import "encoding/json"

// JSON encodes a value of texts, numbers and booleans, which cannot fail.
func JSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
