package bylevel

import (
	"encoding/binary"
	"errors"

	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/wire"
)

// Counts are the sums of a pass over all objects, in the order of PassCounter.
type Counts struct {
	starts, heavyStarts []int // by node, see Grower.starts and Grower.heavyStarts
	sums                []int64
	heavy               []split.Heavy // by node, theta and code
	inferred            map[int]sums  // by position of the node in the pass
}

// NewCounts returns zero counts of a pass.
func (g *Grower) NewCounts(p *Pass) *Counts {
	c := &Counts{starts: g.starts(p), heavyStarts: g.heavyStarts(p)}
	c.sums = make([]int64, c.starts[len(p.Nodes)])
	c.heavy = make([]split.Heavy, c.heavyStarts[len(p.Nodes)])
	return c
}

// Total returns the sum of the counters of a pass. It reuses the memory of the first counter.
func (g *Grower) Total(p *Pass, counters []*PassCounter) *Counts {
	if len(counters) == 0 {
		return g.NewCounts(p)
	}
	first := counters[0]
	c := &Counts{starts: first.starts, heavyStarts: first.heavyStarts, sums: first.sums, heavy: first.heavy}
	for _, other := range counters[1:] {
		for i, x := range other.sums {
			c.sums[i] += x
		}
		for i := range other.heavy {
			c.heavy[i].Add(&other.heavy[i])
		}
	}
	return c
}

// A piece is a part of the sums of a pass (even keys) or of the sums of its heavy
// objects (odd keys), encoded as
//
//	sums     varints; a run of zeros as a zero and the length of the run, a uvarint
//	heavies  weight, a varint, and two uvarints; runs of zeros as in sums

// maxVarint is the length of the longest varint, in bytes.
const maxVarint = binary.MaxVarintLen64

// pieceLen is the number of sums in a piece.
func (g *Grower) pieceLen() int { return max(1, g.Piece/maxVarint) }

// heavyLen is the number of sums of heavy objects in a piece.
func (g *Grower) heavyLen() int { return max(1, g.Piece/(3*maxVarint)) }

// PieceKeys returns the keys of all pieces of a pass.
func (g *Grower) PieceKeys(p *Pass) []int64 {
	var keys []int64
	for i := range count(g.starts(p)[len(p.Nodes)], g.pieceLen()) {
		keys = append(keys, int64(2*i))
	}
	for i := range count(g.heavyStarts(p)[len(p.Nodes)], g.heavyLen()) {
		keys = append(keys, int64(2*i+1))
	}
	return keys
}

// count returns the number of pieces of n sums.
func count(n, piece int) int { return (n + piece - 1) / piece }

// pieceOf returns the sums of the piece with the given key. piece is the number of sums in a piece.
func pieceOf[T any](sums []T, piece int, key int64) []T {
	from := min(int(key/2)*piece, len(sums))
	return sums[from:min(from+piece, len(sums))]
}

// Pieces calls emit with each encoded piece of the counts and its key.
func (c *PassCounter) Pieces(emit func(key int64, b []byte)) {
	for i := range count(len(c.sums), c.pieceLen()) {
		key := int64(2 * i)
		emit(key, appendSums(nil, pieceOf(c.sums, c.pieceLen(), key)))
	}
	for i := range count(len(c.heavy), c.heavyLen()) {
		key := int64(2*i + 1)
		emit(key, appendHeavies(nil, pieceOf(c.heavy, c.heavyLen(), key)))
	}
}

// MergePieces adds up encoded pieces of one key, and returns the encoded sum. It fails for
// bytes that are not a piece.
func (g *Grower) MergePieces(key int64, pieces [][]byte) ([]byte, error) {
	if len(pieces) == 1 {
		return pieces[0], nil
	}
	if key%2 != 0 {
		sums := make([]split.Heavy, g.heavyLen())
		n := 0
		for _, b := range pieces {
			k, err := addHeavies(sums, b)
			if err != nil {
				return nil, err
			}
			n = max(n, k)
		}
		return appendHeavies(nil, sums[:n]), nil
	}
	sums := make([]int64, g.pieceLen())
	n := 0
	for _, b := range pieces {
		k, err := addSums(sums, b)
		if err != nil {
			return nil, err
		}
		n = max(n, k)
	}
	return appendSums(nil, sums[:n]), nil
}

// AddPiece adds the encoded piece with the given key to the counts of a pass. It fails for bytes
// that are not the piece of this key.
func (g *Grower) AddPiece(c *Counts, key int64, b []byte) error {
	if key < 0 {
		return errPiece
	}
	var want, got int
	var err error
	if key%2 != 0 {
		dst := pieceOf(c.heavy, g.heavyLen(), key)
		want = len(dst)
		got, err = addHeavies(dst, b)
	} else {
		dst := pieceOf(c.sums, g.pieceLen(), key)
		want = len(dst)
		got, err = addSums(dst, b)
	}
	if err == nil && (got != want || want == 0) {
		err = errPiece
	}
	return err
}

var errPiece = errors.New("not a piece of this pass")

func appendSums(b []byte, sums []int64) []byte {
	w := wire.Writer(b)
	for i := 0; i < len(sums); i++ {
		w = w.Varint(sums[i])
		if sums[i] != 0 {
			continue
		}
		from := i
		for i+1 < len(sums) && sums[i+1] == 0 {
			i++
		}
		w = w.Length(i - from + 1)
	}
	return w
}

// addSums adds encoded sums to dst and returns their number.
func addSums(dst []int64, b []byte) (int, error) {
	r := wire.Reader{Rest: b}
	at := 0
	for len(r.Rest) > 0 && at < len(dst) {
		if x := r.Varint(); x != 0 {
			dst[at] += x
			at++
		} else {
			at += int(r.AtMost(uint64(len(dst) - at)))
		}
	}
	return at, pieceFault(&r)
}

// pieceFault returns an error unless all bytes of a piece were read.
func pieceFault(r *wire.Reader) error {
	if r.Bad || len(r.Rest) > 0 {
		return errPiece
	}
	return nil
}

func appendHeavies(b []byte, sums []split.Heavy) []byte {
	w := wire.Writer(b)
	for i := 0; i < len(sums); i++ {
		h := &sums[i]
		w = w.Varint(h.Weight)
		if h.Weight != 0 {
			w = w.Uvarint(h.Hi).Uvarint(h.Lo)
			continue
		}
		from := i
		for i+1 < len(sums) && sums[i+1].Weight == 0 {
			i++
		}
		w = w.Length(i - from + 1)
	}
	return w
}

// addHeavies adds encoded sums of heavy objects to dst and returns their number.
func addHeavies(dst []split.Heavy, b []byte) (int, error) {
	r := wire.Reader{Rest: b}
	at := 0
	for len(r.Rest) > 0 && at < len(dst) {
		if weight := r.Varint(); weight != 0 {
			dst[at].Add(&split.Heavy{Weight: weight, Hi: r.Uvarint(), Lo: r.Uvarint()})
			at++
		} else {
			at += int(r.AtMost(uint64(len(dst) - at)))
		}
	}
	return at, pieceFault(&r)
}
