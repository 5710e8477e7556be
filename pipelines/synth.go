package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/synth"
)

// SynthConfig is the configuration of a made-up data set. The JSON names are
// those of the flags and of config files.
type SynthConfig struct {
	synth.Config

	Output       string `json:"output"`         // folder; required
	RowsPerFile  int64  `json:"rows_per_file"`  // in all files but the last
	RowsPerGroup int64  `json:"rows_per_group"` // in all row groups of a file but the last
	Codec        string `json:"codec"`          // see parquetio.ParseCodec
	Overwrite    bool   `json:"overwrite"`      // replace another data set

	StorageTimeout float64 `json:"storage_timeout"` // see StorageConfig
}

// DefaultSynthConfig returns synth.Default in files of a million rows.
func DefaultSynthConfig() SynthConfig {
	return SynthConfig{Config: synth.Default(), RowsPerFile: 1_000_000, RowsPerGroup: 250_000, Codec: "snappy", StorageTimeout: DefaultStorageConfig().StorageTimeout}
}

// SynthResult is what a made-up data set has come to.
type SynthResult struct {
	Files  int // of rows
	Rows   int64
	Bytes  int64    // of the files of rows
	Label  string   // column of the classes
	Input  string   // glob of the files of rows
	Beside []string // files beside them: costs, the hidden tree, the mark of success
}

// The files beside the rows. Their underscores keep them out of input globs.
const (
	synthCosts = "_costs.csv"
	synthTree  = "_tree.json"
	synthParts = "part-*.parquet"
)

const (
	maxSynthFiles = 100_000 // five digits
	maxGroupRows  = 1 << 24 // a worker's memory is some ten bytes a row
)

// Validate returns all faults at once, each with the name of its flag.
func (c *SynthConfig) Validate() error {
	_, err := c.parse()
	return err
}

func (c *SynthConfig) parse() (parquetio.Codec, error) {
	var faults []error
	if err := c.Config.Validate(); err != nil {
		faults = append(faults, err)
	}
	if c.Output == "" {
		faults = append(faults, errors.New("--output is required"))
	}
	if c.RowsPerFile < 1 {
		faults = append(faults, fmt.Errorf("--rows_per_file %d: want at least 1", c.RowsPerFile))
	} else if files := c.files(); files > maxSynthFiles {
		faults = append(faults, fmt.Errorf("--rows_per_file %d: that makes %d files; want at most %d", c.RowsPerFile, files, maxSynthFiles))
	}
	if c.RowsPerGroup < 1 || c.RowsPerGroup > maxGroupRows {
		faults = append(faults, fmt.Errorf("--rows_per_group %d: want a whole number from 1 to %d", c.RowsPerGroup, maxGroupRows))
	}
	storage := c.storage()
	if err := storage.Validate(); err != nil {
		faults = append(faults, err)
	}
	codec, err := parquetio.ParseCodec(c.Codec)
	if err != nil {
		faults = append(faults, fmt.Errorf("--%w", err))
	}
	if len(faults) > 0 {
		return 0, allFaults(faults)
	}
	return codec, nil
}

func (c *SynthConfig) storage() StorageConfig {
	s := DefaultStorageConfig()
	s.StorageTimeout = c.StorageTimeout
	return s
}

func (c *SynthConfig) files() int64 { return (c.Rows-1)/c.RowsPerFile + 1 }

// Synth makes up a data set whose classes follow a hidden tree, and writes it as
// Parquet files, with the costs of its features and the tree beside them. The
// same configuration gives the same values everywhere and the same bytes
// wherever the codec does, which is at least on all processors of a kind. If it
// fails or is interrupted, no file stays.
func Synth(ctx context.Context, c SynthConfig, reporter Reporter) (*SynthResult, error) {
	codec, err := c.parse()
	if err != nil {
		return nil, err
	}
	f := newFiles(c.storage())
	reporter = orSilent(reporter)
	plan, err := synth.New(c.Config)
	if err != nil {
		return nil, usagef("%v", err)
	}
	s := &synthesis{config: &c, codec: codec, plan: plan, store: f.store, counts: make([]int64, plan.CountsLen())}
	s.folder, err = openFolder(ctx, s.store, c.Output, c.Overwrite, synthCosts, synthTree)
	if err != nil {
		return nil, err
	}
	if err := s.clear(ctx); err != nil {
		return nil, err
	}
	result, err := s.write(ctx, reporter)
	if err == nil {
		return result, nil
	}
	s.undo(context.WithoutCancel(ctx))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, err
}

// synthesis is one run of Synth.
type synthesis struct {
	config *SynthConfig
	codec  parquetio.Codec
	plan   *synth.Plan
	store  *objectstore.Store
	folder *folder

	next atomic.Int64 // file that no worker has taken
	rows atomic.Int64 // done

	mu      sync.Mutex
	counts  []int64  // see synth.Group.Count
	bytes   int64    // of finished files
	written []string // finished files
}

// clear refuses to write beside the files of another data set, or removes them:
// those beyond this one's number would be read as part of it.
func (s *synthesis) clear(ctx context.Context) error {
	c := s.config
	parts, err := s.store.List(ctx, objectstore.Join(c.Output, synthParts))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return usagef("--output: %v", err)
	}
	if len(parts) > 0 && !c.Overwrite {
		return usagef("--output: %s is there already: choose another folder, or replace such files with --overwrite", parts[0].URL)
	}
	if err := s.folder.unmark(ctx); err != nil {
		return err
	}
	for _, o := range parts {
		if err := s.store.Remove(ctx, o.URL); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return usagef("--output: %v", err)
		}
	}
	return nil
}

func (s *synthesis) undo(ctx context.Context) {
	for _, url := range s.written {
		_ = s.store.Remove(ctx, url) // the first error says more
	}
}

func (s *synthesis) write(ctx context.Context, reporter Reporter) (*SynthResult, error) {
	if err := s.writeRows(ctx, reporter); err != nil {
		return nil, usagef("--output: %v", err)
	}
	beside, err := s.folder.commit(ctx, []document{{synthCosts, s.costs()}, {synthTree, s.plan.Tree(s.counts).Tested().Encode()}})
	if err != nil {
		return nil, err
	}
	return &SynthResult{
		Files: len(s.written), Rows: s.config.Rows, Bytes: s.bytes, Label: synth.Label,
		Input: objectstore.Join(s.config.Output, "*.parquet"), Beside: beside,
	}, nil
}

func (s *synthesis) costs() []byte {
	b := []byte("feature,cost\n")
	for i := range s.plan.Columns {
		c := &s.plan.Columns[i]
		b = append(append(b, c.Name...), ',')
		b = append(strconv.AppendFloat(b, c.Cost, 'f', -1, 64), '\n')
	}
	return b
}

// writeRows writes the files, as many at a time as there are processors, and
// reports progress meanwhile.
func (s *synthesis) writeRows(parent context.Context, reporter Reporter) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	reporter.Job("synth", s.config.Rows, "rows")
	var workers sync.WaitGroup
	for range min(int64(runtime.GOMAXPROCS(0)), s.config.files()) {
		workers.Go(func() {
			if err := parallel.Guard(func() error { return s.work(ctx) }); err != nil {
				cancel(err) // the first one counts
			}
		})
	}
	finished := make(chan struct{})
	go func() {
		workers.Wait()
		close(finished)
	}()
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		select {
		case <-finished:
			if err := context.Cause(ctx); err != nil {
				return err
			}
			reporter.Step(s.config.Rows, "")
			return nil
		case <-tick.C:
			if done := s.rows.Load(); done < s.config.Rows { // the last step is told when all files are there
				reporter.Step(done, "")
			}
		}
	}
}

// work writes files until there are none left.
func (s *synthesis) work(ctx context.Context) error {
	group := s.plan.NewGroup()
	fields := make([]parquetio.Field, len(s.plan.Columns), len(s.plan.Columns)+1)
	for i := range s.plan.Columns {
		c := &s.plan.Columns[i]
		fields[i] = parquetio.Field{Name: c.Name, Dictionary: c.Dictionary, Optional: s.config.Nulls > 0}
	}
	fields = append(fields, parquetio.Field{Name: synth.Label, Dictionary: s.plan.Classes})
	for file := s.next.Add(1) - 1; file < s.config.files(); file = s.next.Add(1) - 1 {
		if err := s.writeFile(ctx, file, group, fields); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	group.Count(s.counts)
	return nil
}

func (s *synthesis) writeFile(ctx context.Context, file int64, group *synth.Group, fields []parquetio.Field) error {
	url := objectstore.Join(s.config.Output, fmt.Sprintf("part-%05d.parquet", file))
	w, err := parquetio.NewWriter(ctx, s.store, url, fields, parquetio.WriterOptions{Codec: s.codec, IfAbsent: true})
	if err != nil {
		return err
	}
	defer w.Abort() //nolint:errcheck // after Commit nothing is left to undo
	end := min(s.config.Rows, (file+1)*s.config.RowsPerFile)
	for row := file * s.config.RowsPerFile; row < end; row += s.config.RowsPerGroup {
		n := min(end-row, s.config.RowsPerGroup)
		group.Reset(row, int(n))
		if err := writeGroup(ctx, w, group, fields); err != nil {
			return err
		}
		s.rows.Add(n)
	}
	if err := w.Commit(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes += w.Size()
	s.written = append(s.written, url)
	return nil
}

// Both packages spell a missing value alike.
const _ = uint(parquetio.Null-synth.Null) + uint(synth.Null-parquetio.Null)

func writeGroup(ctx context.Context, w *parquetio.Writer, group *synth.Group, fields []parquetio.Field) error {
	for i := range fields {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		switch {
		case i == len(fields)-1:
			err = w.WriteIndexes(group.Labels())
		case fields[i].Dictionary == nil:
			err = w.WriteNumbers(group.Numbers(i))
		default:
			err = w.WriteIndexes(group.Levels(i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
