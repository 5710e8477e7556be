package parquetio

import "strings"

// writer is the program that wrote a file, if it makes a difference.
type writer uint8

const (
	anyWriter writer = iota
	parquetMR
	impala
	oldParquetCPP // before Arrow 3.0: pages of version 2 are compressed although their headers deny it
)

// writerOf returns the writer named in a footer.
func writerOf(createdBy string) writer {
	switch {
	case strings.HasPrefix(createdBy, "parquet-mr"):
		return parquetMR
	case strings.HasPrefix(createdBy, "impala"):
		return impala
	case strings.HasPrefix(createdBy, "parquet-cpp version 1."):
		return oldParquetCPP
	default:
		return anyWriter
	}
}

// longestGap is the greatest number of bytes that parquet-mr before 1.2.9 omitted from the size of
// a chunk: the header of its dictionary.
const longestGap = 100

// mendSizes adds a gap of a few bytes between a chunk and the next chunk, or the footer, to the
// chunk, whose size may not include a header.
func (f *File) mendSizes() {
	next := f.Size - f.FooterBytes
	for g := len(f.rowGroups) - 1; g >= 0; g-- {
		columns := f.rowGroups[g].Columns
		for i := len(columns) - 1; i >= 0; i-- {
			m := &columns[i].Meta.V
			if !columns[i].Meta.Valid || m.TotalCompressedSize < 0 || m.TotalCompressedSize > f.Size {
				continue
			}
			if gap := next - m.start() - m.TotalCompressedSize; 0 < gap && gap <= longestGap {
				m.TotalCompressedSize += gap
			}
			next = m.start()
		}
	}
}
