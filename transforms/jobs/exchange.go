package jobs

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/google/uuid"
)

// inlineBytes is what a bundle sends through the runner's own shuffle; more goes
// by way of files. Engines hold a bundle's output in memory, Flink at most a
// hundred messages of some MiB, and hang beyond it.
const inlineBytes = 32 << 20

// exchange is the way of bulk data from the first half of a job to the second:
// as values of the shuffle, or as files whose names are. Names are new ones, so
// that what a bundle has left that was run again is never looked at.
type exchange struct {
	folder string // of files; empty: all is sent inline
}

// The last byte of a value says what the others are.
const (
	valueInline = iota
	valueFile
)

// send returns the value that stands for b, which it keeps.
func (x exchange) send(ctx context.Context, b []byte, inline bool) ([]byte, error) {
	progressOf(ctx).Exchanged.Add(int64(len(b)))
	if inline || x.folder == "" {
		return append(b, valueInline), nil
	}
	s, err := OpenStorage(ctx)
	if err != nil {
		return nil, err
	}
	url := x.folder + "/exchange-" + uuid.NewString()
	progressOf(ctx).Written.Add(int64(len(b)))
	return append([]byte(url), valueFile), s.Write(ctx, url, b)
}

// ErrValue says that a value was not sent by a DoFn of the same job.
var ErrValue = errors.New("transforms: not a value of this job")

// receive returns what a value stands for.
func receive(ctx context.Context, value []byte) ([]byte, error) {
	if len(value) == 0 {
		return nil, ErrValue
	}
	n := len(value) - 1
	switch value[n] {
	case valueInline:
		return value[:n:n], nil
	case valueFile:
		s, err := OpenStorage(ctx)
		if err != nil {
			return nil, err
		}
		return s.Read(ctx, string(value[:n]))
	default:
		return nil, ErrValue
	}
}

// fileValue returns the value that stands for a file that there is already.
func fileValue(url string) []byte { return append([]byte(url), valueFile) }

// A packet is a block with the position of the open node that it belongs to.

// AppendPacket appends the objects of a node, as a block, to a value.
func AppendPacket(b []byte, node int, block []byte) []byte {
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(node)), uint64(len(block)))
	return append(b, block...)
}

// NextPacket returns the first packet of b, and what follows it.
func NextPacket(b []byte) (node int, block, rest []byte, err error) {
	id, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, nil, ErrValue
	}
	size, m := binary.Uvarint(b[n:])
	if m <= 0 || size > uint64(len(b)-n-m) {
		return 0, nil, nil, ErrValue
	}
	b = b[n+m:]
	return int(id), b[:size:size], b[size:], nil
}
