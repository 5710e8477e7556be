package pipelines

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/synth"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/session"
)

// SynthResult describes the data set that Synth has written.
type SynthResult struct {
	Files  int // number of files of rows
	Rows   int64
	Bytes  int64    // size of the files of rows
	Label  string   // column of the classes
	Input  string   // glob of the files of rows
	Beside []string // other files: costs, the hidden tree, the manifest, the mark of success
}

// Synth makes up a data set whose classes follow a hidden tree. It writes the rows as
// Parquet files, and the costs of the features and the tree to the same folder. The
// same configuration gives the same values everywhere, and the same bytes wherever
// the codec gives the same bytes: at least on all processors of one architecture.
// If Synth fails or is interrupted, it leaves no file behind.
func Synth(ctx context.Context, c SynthConfig, reporter engine.Reporter) (result *SynthResult, err error) {
	setup := session.Setup{Check: c.Validate, Storage: c.Storage()}
	err = session.Run(ctx, &setup, reporter, func(ctx context.Context, of *session.Session) error {
		codec, err := parquetio.ParseCodec(c.Codec)
		if err != nil {
			return usage.Errorf("--%v", err)
		}
		plan, err := synth.New(c.Config)
		if err != nil {
			return usage.Errorf("%v", err)
		}
		s := &synthesis{config: &c, codec: codec, plan: plan, store: of.Files.Store, counts: make([]int64, plan.CountsLen())}
		if err := s.clear(ctx); err != nil {
			return err
		}
		if result, err = s.write(ctx, of.Reporter); err != nil {
			s.folder.Undo(context.WithoutCancel(ctx), s.written)
		}
		return err
	})
	return result, err
}

// synthesis is one run of Synth.
type synthesis struct {
	config *SynthConfig
	codec  parquetio.Codec
	plan   *synth.Plan
	store  *objectstore.Store
	folder *runfolder.Folder

	next atomic.Int64 // index of the next file to write
	rows atomic.Int64 // number of rows written

	mu      sync.Mutex
	counts  []int64  // see synth.Group.Count
	bytes   int64    // size of the finished files
	written []string // finished files
}

// clear opens the folder, removes a data set that is to be replaced, and claims the names
// of the new files.
func (s *synthesis) clear(ctx context.Context) error {
	c := s.config
	var err error
	if s.folder, err = runfolder.Open(ctx, s.store, c.Output, runfolder.Synth, c.Overwrite); err != nil {
		return err
	}
	var reads []runfolder.Reading
	for _, url := range c.AlsoRead {
		reads = append(reads, runfolder.Reading{Flag: "config", URL: url})
	}
	if err := s.folder.ProtectInputs(reads); err != nil {
		return err
	}
	if err := s.folder.RemoveEarlier(ctx); err != nil {
		return err
	}
	return s.folder.Claim(ctx, time.Now(), runfolder.PartNames(s.config.Files()))
}

func (s *synthesis) write(ctx context.Context, reporter engine.Reporter) (*SynthResult, error) {
	if err := s.writeRows(ctx, reporter); err != nil {
		return nil, usage.Errorf("--output: %v", err)
	}
	config := *s.config
	config.Output, config.Overwrite = "", false // the same data set elsewhere has the same manifest
	beside, err := s.folder.Write(ctx, &runfolder.Run{
		Rows: runfolder.PartNames(s.config.Files()), Costs: s.costs(), Tree: s.plan.Tree(s.counts).Tested(), Synth: &runfolder.SynthManifest{
			Format: runfolder.SynthFormat, Version: 1, Espalier: runfolder.Version(), Config: &config,
		},
	})
	if err != nil {
		return nil, err
	}
	return &SynthResult{
		Files: len(s.written), Rows: s.config.Rows, Bytes: s.bytes, Label: synth.Label,
		Input: objectstore.Join(s.config.Output, "*.parquet"), Beside: beside,
	}, nil
}

func (s *synthesis) costs() *runfolder.Costs {
	costs := new(runfolder.Costs)
	for i := range s.plan.Columns {
		c := &s.plan.Columns[i]
		costs.Features = append(costs.Features, runfolder.FeatureCost{Feature: c.Name, Cost: c.Cost})
	}
	return costs
}

// writeRows writes the files, one per processor at a time, and reports the progress.
func (s *synthesis) writeRows(parent context.Context, reporter engine.Reporter) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	reporter.Job("synth", s.config.Rows, "rows")
	var workers sync.WaitGroup
	for range min(int64(runtime.GOMAXPROCS(0)), s.config.Files()) {
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
	tick := time.NewTicker(engine.ReportEvery)
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
			if done := s.rows.Load(); done < s.config.Rows { // the last step is reported when all files are complete
				reporter.Step(done, "")
			}
		}
	}
}

// work writes files until all are written or being written.
func (s *synthesis) work(ctx context.Context) error {
	group := s.plan.NewGroup()
	fields := make([]parquetio.Field, len(s.plan.Columns), len(s.plan.Columns)+1)
	for i := range s.plan.Columns {
		c := &s.plan.Columns[i]
		fields[i] = parquetio.Field{Name: c.Name, Dictionary: c.Dictionary, Optional: s.config.Nulls > 0}
	}
	fields = append(fields, parquetio.Field{Name: synth.Label, Dictionary: s.plan.Classes})
	for file := s.next.Add(1) - 1; file < s.config.Files(); file = s.next.Add(1) - 1 {
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
	url := s.folder.File(runfolder.PartName(file))
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

// Both packages have the same code for a missing value. If not, this does not compile.
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
