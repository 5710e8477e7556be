package importing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/io/csvio"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
)

// standardInput is the name of standard input in messages.
const standardInput = "standard input"

// input is a CSV file, which is read twice.
type input struct {
	name   string
	object objectstore.Object
	spool  *os.File // copy of standard input; nil if the input is an object
}

// list finds the files, in the order in which they are named; the files of a glob are sorted by
// name. A file that is named twice is read once.
func (im *importing) list(ctx context.Context) error {
	seen := make(map[string]bool)
	again := 0
	for _, pattern := range im.config.Files {
		if pattern == config.StandardInput {
			spool, err := spooled(ctx, im.config.Stdin)
			if err != nil {
				return err
			}
			im.inputs = append(im.inputs, &input{name: standardInput, spool: spool})
			continue
		}
		objects, err := im.store.List(ctx, pattern)
		if err != nil {
			return usage.Errorf("%v", err)
		}
		for _, o := range objects {
			id, err := im.store.Identity(o.URL)
			if err != nil {
				return usage.Errorf("%v", err)
			}
			if seen[id] {
				again++
				continue
			}
			seen[id] = true
			im.inputs = append(im.inputs, &input{name: o.URL, object: o})
		}
	}
	if again > 0 {
		im.reporter.Warn(fmt.Sprintf("files that are named again are read once (%d)", again))
	}
	im.warnOfFolders()
	return nil
}

// warnOfFolders warns of folders such as day=2026-11-01, of which the rows keep nothing.
func (im *importing) warnOfFolders() {
	folders := make(map[string]map[string]bool) // by name
	for _, in := range im.inputs {
		for _, folder := range strings.Split(path.Dir(in.name), "/") {
			if name, _, ok := strings.Cut(folder, "="); ok {
				if folders[name] == nil {
					folders[name] = make(map[string]bool)
				}
				folders[name][folder] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		if len(folders[name]) > 1 {
			im.reporter.Warn(fmt.Sprintf("the rows do not say in which of the folders they were (%s): import each folder into one of the "+
				"same name, which train reads as a column", naming.First(slices.Sorted(maps.Keys(folders[name])), 2)))
		}
	}
}

// spooled copies standard input to a temporary file, because it can only be read once. The copy takes at most half of the
// free space, so that an endless input does not fill the disk.
func spooled(ctx context.Context, from io.Reader) (_ *os.File, err error) {
	if from == nil {
		return nil, errors.New("there is no standard input")
	}
	f, err := os.CreateTemp("", "espalier-import-")
	if err != nil {
		return nil, fmt.Errorf("a copy of standard input: %w", err)
	}
	_ = os.Remove(f.Name()) // an open file needs no name, so that none is left if this process is killed (Windows refuses)
	free, known := space(os.TempDir())
	if !known {
		free = math.MaxInt64
	}
	if err = copied(f, &interruptible{ctx, from}, free/2); err != nil {
		discard(f)
		return nil, fmt.Errorf("a copy of standard input: %w", err)
	}
	return f, nil
}

// copied copies all bytes of from, which are fewer than most.
func copied(to io.Writer, from io.Reader, most int64) error {
	switch n, err := io.CopyN(to, from, most); {
	case n == most:
		return usage.Errorf("%d bytes are half of the free space of %s, and more follow: write them to a file and import that, "+
			"or set TMPDIR to a folder with more space", most, os.TempDir())
	case errors.Is(err, io.EOF):
		return nil
	default:
		return err
	}
}

// discard removes the copy of standard input. An error only leaves a temporary file.
func discard(f *os.File) {
	_ = f.Close()
	_ = os.Remove(f.Name())
}

// interruptible is a reader that ends when its context ends.
type interruptible struct {
	ctx  context.Context //nolint:containedctx // io.Reader has no room for it
	from io.Reader
}

func (r *interruptible) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(b)
}

// end removes copies.
func (im *importing) end() {
	for _, in := range im.inputs {
		if in.spool != nil {
			discard(in.spool)
		}
	}
}

// records calls each for every record of a file.
func (im *importing) records(ctx context.Context, in *input, each func(r *csvio.Reader, fields []string) error) (
	columns []string, err error,
) {
	var from io.Reader
	if in.spool != nil {
		if _, err := in.spool.Seek(0, io.SeekStart); err != nil {
			return nil, fmt.Errorf("the copy of standard input: %w", err)
		}
		from = in.spool
	} else {
		o, err := im.store.OpenObject(ctx, in.object)
		if err != nil {
			return nil, err
		}
		defer o.Close() //nolint:errcheck // nothing is written
		from = io.NewSectionReader(o, 0, in.object.Size)
	}
	r, err := csvio.NewReader(&interruptible{ctx, from}, csvio.Options{
		File: in.name, Delimiter: im.config.DelimiterRune(), Trim: im.config.Trim, Names: im.config.Names,
	})
	if err != nil {
		return nil, err
	}
	if im.header == nil {
		im.remarks = r.Notes()
	}
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return r.Columns(), nil
		}
		if err != nil {
			return nil, err
		}
		if isBlank(fields) {
			im.blank.add(in, r)
			continue
		}
		if err := each(r, fields); err != nil {
			return nil, err
		}
	}
}
