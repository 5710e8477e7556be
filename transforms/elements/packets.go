package elements

import (
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/wire"
)

// AppendPacket appends a packet to a value. A packet is a block of objects with the
// position of their node.
func AppendPacket(b []byte, node int, block []byte) []byte {
	return wire.Writer(b).Length(node).Bytes(block)
}

// NextPacket returns the node and the block of the first packet of b, and the rest of b.
func NextPacket(b []byte) (node int, block, rest []byte, err error) {
	r := wire.Reader{Rest: b}
	node, block = int(r.Uvarint()), r.Bytes()
	if r.Bad {
		return 0, nil, nil, ErrValue
	}
	return node, block, r.Rest, nil
}

// BlockBytes is the approximate size of a block of objects.
const BlockBytes = 4 << 20

// Blocks encodes the objects of a table in blocks of about 4 MiB. stride is the number of bytes of
// an object's codes.
func Blocks(t *dataset.Table, stride int) [][]byte {
	var list [][]byte
	step := blockObjects(stride)
	for from := 0; from < t.Len(); from += step {
		to := min(from+step, t.Len())
		list = append(list, t.AppendBlock(make([]byte, 0, (to-from)*(stride+4)+16), from, to))
	}
	return list
}

// blockObjects returns how many objects a block has.
func blockObjects(stride int) int { return max(1, BlockBytes/(stride+4)) }
