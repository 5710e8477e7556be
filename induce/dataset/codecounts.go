package dataset

import (
	"encoding/base64"
	"errors"

	"github.com/espalier-ml/espalier/induce/wire"
)

// CodeCounts has numbers of rows by feature and code. Its text is the base64 form of binary numbers: the
// counts of thousands of features take more time to read as JSON numbers than the objects themselves.
type CodeCounts [][]int64

// MarshalText implements encoding.TextMarshaler.
func (c CodeCounts) MarshalText() ([]byte, error) {
	w := wire.Writer(nil).Length(len(c))
	for _, counts := range c {
		w = w.Length(len(counts))
		for _, n := range counts {
			w = w.Count(n)
		}
	}
	return base64.StdEncoding.AppendEncode(nil, w), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *CodeCounts) UnmarshalText(text []byte) error {
	b, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return err
	}
	r := wire.Reader{Rest: b}
	list := make(CodeCounts, r.Length(1))
	for i := range list {
		list[i] = make([]int64, r.Length(1))
		for k := range list[i] {
			list[i][k] = int64(r.Uvarint())
		}
	}
	if r.Bad || len(r.Rest) > 0 {
		return errors.New("not numbers of rows by feature and code")
	}
	*c = list
	return nil
}
