package parquetio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

var errLength = errors.New("a page does not decompress to the length it claims")

// decompress decompresses src to size bytes, in the page buffer. No codec writes more than
// size bytes, while parquet-go's codecs grow their output until the input ends.
func (s *scratch) decompress(codec format.CompressionCodec, src []byte, size int) ([]byte, error) {
	if codec == format.Uncompressed {
		return src, nil
	}
	s.page = grow(s.page, size)
	if size == 0 {
		return s.page, nil
	}
	var n int
	var err error
	switch codec {
	case format.Snappy:
		if n, err = snappy.DecodedLen(src); err == nil && n == size {
			_, err = snappy.Decode(s.page, src)
		}
	case format.Gzip:
		n, err = s.gunzip(src)
	case format.Brotli:
		n, err = readExactly(brotli.NewReader(bytes.NewReader(src)), s.page)
	case format.Zstd:
		n, err = unzstd(src, s.page)
	case format.Lz4Raw:
		n, err = lz4.UncompressBlock(src, s.page)
	default:
		return nil, fault(fmt.Sprintf("the column is compressed with %s", codec),
			"write the file with snappy, gzip, brotli, zstd, lz4_raw or no compression")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", codec, err)
	}
	if n != size {
		return nil, errLength
	}
	return s.page, nil
}

func (s *scratch) gunzip(src []byte) (int, error) {
	if s.gzip == nil {
		s.gzip = new(gzip.Reader)
	}
	if err := s.gzip.Reset(bytes.NewReader(src)); err != nil {
		return 0, err
	}
	return readExactly(s.gzip, s.page)
}

// readExactly fills b from r. r must end after b.
func readExactly(r io.Reader, b []byte) (int, error) {
	if n, err := io.ReadFull(r, b); err != nil {
		return n, err
	}
	var more [1]byte
	switch n, err := r.Read(more[:]); {
	case n > 0:
		return 0, errLength
	case err != nil && !errors.Is(err, io.EOF):
		return 0, err
	}
	return len(b), nil
}

// zstdDecoder never writes beyond the capacity of its output. It is expensive to make, and
// safe for concurrent use.
var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) { //nolint:gochecknoglobals // made once
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
})

func unzstd(src, dst []byte) (int, error) {
	d, err := zstdDecoder()
	if err != nil {
		return 0, err
	}
	b, err := d.DecodeAll(src, dst[:0:len(dst)])
	return len(b), err
}
