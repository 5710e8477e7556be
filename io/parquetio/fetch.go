package parquetio

import (
	"cmp"
	"context"
	"slices"

	"github.com/espalier-ml/espalier/induce/parallel"
)

// maxGap is the greatest share of unneeded bytes in the requests. Reading small gaps joins
// neighbouring chunks into one request.
const maxGap = 1.0 / 128

// span is a range of bytes of a file.
type span struct{ start, end int64 }

// fetch is a span read by one request.
type fetch struct {
	span

	done  chan struct{} // closed once bytes and err are set
	bytes []byte
	err   error
}

// plan joins the needed spans into requests. It joins spans that touch, and spans with the
// smallest gaps between them, as long as the sum of the gaps is within maxGap.
func plan(wanted []span) []span {
	slices.SortFunc(wanted, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	var runs []span
	var bytes int64
	for _, w := range wanted {
		if n := len(runs); n > 0 && w.start <= runs[n-1].end {
			runs[n-1].end = max(runs[n-1].end, w.end)
		} else {
			runs = append(runs, w)
		}
	}
	gaps := make([]int, 0, len(runs)) // positions of the runs with a gap before them
	for i, r := range runs {
		bytes += r.end - r.start
		if i > 0 {
			gaps = append(gaps, i)
		}
	}
	gap := func(i int) int64 { return runs[i].start - runs[i-1].end }
	slices.SortStableFunc(gaps, func(a, b int) int { return cmp.Compare(gap(a), gap(b)) })
	join := make([]bool, len(runs))
	room := int64(float64(bytes) * maxGap)
	for _, i := range gaps {
		if room -= gap(i); room < 0 {
			break
		}
		join[i] = true
	}
	joined := runs[:0]
	for i, r := range runs {
		if n := len(joined); join[i] {
			joined[n-1].end = r.end
		} else {
			joined = append(joined, r)
		}
	}
	return joined
}

// fetchAhead starts to fetch the row group's chunks that the source does not keep. It waits
// until the source has room for them.
func (g *rowGroup) fetchAhead(ctx context.Context) error {
	var wanted []span
	for _, column := range g.columns {
		m, err := g.file.chunkRange(g.number, column)
		if err != nil {
			continue // ReadColumn returns the error
		}
		c := m.span()
		if c.start < c.end && g.file.source.chunk(g.key(c)) == nil {
			wanted = append(wanted, c)
		}
	}
	var bytes int64
	runs := plan(wanted)
	for _, r := range runs {
		bytes += r.end - r.start
	}
	if bytes == 0 {
		return nil
	}
	bytes = min(bytes, g.file.source.options.ReadAhead)
	if err := g.file.source.ahead.Acquire(ctx, bytes); err != nil {
		return err
	}
	g.held = bytes
	for _, r := range runs {
		f := &fetch{span: r, done: make(chan struct{})}
		g.fetches = append(g.fetches, f)
		go func() {
			defer close(f.done)
			f.bytes = make([]byte, r.end-r.start)
			f.err = parallel.Guard(func() error { return readFull(g.reader, f.bytes, r.start) })
		}()
	}
	return nil
}

func (g *rowGroup) key(c span) chunkKey { return chunkKey{g.file.URL, g.file.Generation, c.start} }

// fetched returns the bytes of a chunk, from the source's kept chunks or from a fetch.
func (g *rowGroup) fetched(c span) ([]byte, error) {
	if b := g.file.source.chunk(g.key(c)); b != nil {
		return b, nil
	}
	for _, f := range g.fetches {
		if f.start > c.start || c.end > f.end {
			continue
		}
		select {
		case <-f.done:
		case <-g.ctx.Done():
			return nil, g.ctx.Err()
		}
		if f.err != nil {
			return nil, g.file.readFault(f.err)
		}
		return f.bytes[c.start-f.start : c.end-f.start : c.end-f.start], nil
	}
	return g.read(c) // the source has dropped it since the row group was opened
}

// read reads a chunk by a separate request.
func (g *rowGroup) read(c span) ([]byte, error) {
	b := make([]byte, c.end-c.start)
	if err := readFull(g.reader, b, c.start); err != nil {
		return nil, g.file.readFault(err)
	}
	return b, nil
}
