package jobs

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/google/uuid"
)

// inlineBytes is the most that a bundle sends through the runner's own shuffle. Larger
// output goes through files: engines hold a bundle's output in memory, and Flink hangs
// beyond a hundred messages of some MiB.
const inlineBytes = 32 << 20

// exchange carries bulk data from the first half of a job to the second. The shuffle has
// either the data or the name of a file with the data. Every file gets a new name, so
// that a repeated bundle leaves files behind that nobody reads.
type exchange struct {
	folder string // folder of the files; empty: all data go through the shuffle
}

// The last byte of a value says what the bytes before are.
const (
	valueInline = iota // the data
	valueFile          // the URL of a file with the data
)

// send returns the value for b, and writes b to a file unless inline is set. The caller
// must not use b afterwards.
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
var ErrValue = errors.New("jobs: not a value of this job")

// receive returns the data of a value of send.
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

// fileValue returns the value for an existing file.
func fileValue(url string) []byte { return append([]byte(url), valueFile) }

// AppendPacket appends a packet to a value. A packet is a block of objects with the
// position of their node.
func AppendPacket(b []byte, node int, block []byte) []byte {
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(node)), uint64(len(block)))
	return append(b, block...)
}

// NextPacket returns the node and the block of the first packet of b, and the rest of b.
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
