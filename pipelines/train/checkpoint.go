package train

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"regexp"
	"runtime"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/bylevel"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/memlimit"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

const (
	checkpointFile = "state.json"
	scratchFolder  = "scratch" // in the folder of blocks
	maxCheckpoint  = 1 << 30   // bytes

	checkpointFormat  = "espalier/checkpoint"
	checkpointVersion = 8
)

// checkpoint is state.json: the finished work of a run that grows its trees by levels. The run
// writes it after it has coalesced the rows, after each level and after all small nodes. A write
// replaces the whole file or nothing. The first write, before any work, only names the run's
// folder, so that the next run finds the leftovers of a killed run. Only state.json and the
// folders that it names belong to Espalier; other files in the checkpoint folder do not.
type checkpoint struct {
	checkpointHead
	checkpointSource
	ownedFolders
	checkpointData

	Growth *bylevel.Growth `json:"growth"` // the trees of the grid with their open nodes; nil if RowStats is nil

	seen    objectstore.Object // state.json as it was read
	refused error              // error of a run that writes checkpoints, because the file there is not a checkpoint
}

// checkpointHead identifies the program that wrote state.json. It comes first in the file: see
// checkpointBegin.
type checkpointHead struct {
	Format   string `json:"format"`
	Version  int    `json:"version"`
	Espalier string `json:"espalier"` // version of Espalier
	// Digest is the SHA-256 of the file without this field. It protects the run from damaged counts.
	Digest string `json:"digest,omitempty"`
}

// encode returns state.json, with its digest.
func (c checkpoint) encode() ([]byte, error) {
	c.Digest = ""
	b, err := json.Marshal(&c)
	if err != nil {
		return nil, err
	}
	const next = `,"config":` // the field after the head
	return bytes.Replace(b, []byte(next), []byte(digestField(b)+next), 1), nil
}

// intact reports whether state.json has the digest that it states.
func intact(b []byte, digest string) bool {
	field := `,"digest":"` + digest + `"`
	return field == digestField(bytes.Replace(b, []byte(field), nil, 1))
}

func digestField(b []byte) string { return fmt.Sprintf(`,"digest":"%x"`, sha256.Sum256(b)) }

// newCheckpointHead returns the head of the checkpoints that this version writes.
func newCheckpointHead() checkpointHead {
	return checkpointHead{Format: checkpointFormat, Version: checkpointVersion, Espalier: runfolder.Version()}
}

// checkpointSource has all that the trees depend on. A run is resumed only if all of it is the same.
type checkpointSource struct {
	Config   map[string]any    `json:"config"`
	Costs    string            `json:"costs"` // digest of the costs file
	Inputs   []runfolder.Input `json:"inputs"`
	PerClass map[string]string `json:"per_class,omitempty"` // digests of the files about classes and of cuts, by flag
}

// ownedFolders names the folders in the checkpoint folder that belong to Espalier.
type ownedFolders struct {
	Blocks string   `json:"blocks"`          // folder of this run: object blocks and scratch
	Stale  []string `json:"stale,omitempty"` // folders of earlier runs, which are to be removed
}

// checkpointData has the statistics and features of the rows, and the blocks of their objects.
type checkpointData struct {
	RowStats *jobs.RowStats                  `json:"row_stats"` // nil: the rows are not coalesced yet
	Spec     *jobs.RowSpec                   `json:"spec"`
	Constant []string                        `json:"constant"`         // columns with a single code, which are not features
	Others   []otherText                     `json:"others,omitempty"` // see plan.reread
	Features []byte                          `json:"features"`         // see dataset.EncodeFeatures
	Classes  []string                        `json:"classes"`
	Objects  [dataset.Parts]jobs.ObjectStats `json:"objects"`
}

// checkpointURL returns the URL of a file or folder in the checkpoint folder of a run folder.
func checkpointURL(output string, elem ...string) string {
	return objectstore.Join(output, append([]string{engine.CheckpointFolder}, elem...)...)
}

// leavesCheckpoints reports whether the run writes checkpoints: it does if it grows trees by
// levels, runs on an engine outside this process, or may need more memory than it may take.
func (p *plan) leavesCheckpoints() bool {
	return p.config.MemoryObjects >= 0 || !engine.IsLocal(p.config.Runner) || !p.fits()
}

// fits reports whether the memory of this process holds all rows, in blocks and as training objects
// while the trees grow, even if each row makes an object of its own with two bytes for each code.
func (p *plan) fits() bool {
	columns := make([]split.Column, len(p.schema.rows.Columns()))
	for i := range columns {
		columns[i] = split.Column{Codes: assumedCodes, Numeric: true}
	}
	room := memlimit.Room{
		Memory: p.memory, Stride: 2 * len(columns), Columns: columns, Classes: 2, Trees: len(p.parsed.Grid),
		Workers: runtime.GOMAXPROCS(0),
	}
	if classes := len(p.schema.rows.Soft.Columns); classes > 0 {
		room.Soft = true
		room.Classes = classes
	}
	rows := float64(p.input.Rows)
	train := 1.0
	if shares := p.config.Split; p.config.SplitColumn == "" {
		train = float64(shares[dataset.Train]) / float64(shares[dataset.Train]+shares[dataset.Validation]+shares[dataset.Test])
	}
	return room.Fits(int64(train*rows), p.mostBlockBytes())
}

// mostBlockBytes returns the approximate size of all object blocks if each row makes an object of its own with
// two bytes for each code.
func (p *plan) mostBlockBytes() int64 {
	return p.input.Rows * int64(2*len(p.schema.rows.Columns())+blockOverhead)
}

// assumedCodes is the assumed number of codes of a feature whose bins are not known yet.
const assumedCodes = 1 << 9

// blockOverhead is about the number of bytes of an object in a block, without its codes.
const blockOverhead = 4

// readCheckpoint returns the checkpoint of an unfinished run in the run folder, or nil.
// If the file there is not Espalier's, the checkpoint only has the reason why it is refused,
// because a run that writes no checkpoints may ignore the file.
func readCheckpoint(ctx context.Context, f *source.Files, wish *config.Train) (*checkpoint, error) {
	refuse := func(format string, args ...any) (*checkpoint, error) {
		return &checkpoint{refused: usage.Errorf("--output: "+format, args...)}, nil
	}
	folder := objectstore.Join(wish.Output, engine.CheckpointFolder)
	if _, err := f.Store.Stat(ctx, folder); err == nil {
		return refuse("%s is a file, where the run would have a folder: "+
			"nothing is overwritten; choose another folder, or move it away", folder)
	}
	url := objectstore.Join(wish.Output, engine.CheckpointFolder, checkpointFile)
	seen, err := f.Store.Stat(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // a missing checkpoint is not an error
	}
	if err != nil {
		return refuse("%v", err)
	}
	b, err := objectstore.ReadSeen(ctx, f.Store, seen, maxCheckpoint)
	if err != nil {
		return nil, usage.Errorf("--output: %v", err)
	}
	if !bytes.HasPrefix(b, []byte(checkpointBegin)) {
		return refuse("%s is not Espalier's, and is not overwritten: choose another folder, or move it away", url)
	}
	c := &checkpoint{}
	err = json.Unmarshal(b, c)
	if err == nil && (c.Version != checkpointVersion || !c.whole()) {
		err = errors.New("parts are missing or of another version")
	}
	if err == nil && !intact(b, c.Digest) {
		err = errors.New("damaged: its digest does not match its content")
	}
	if err == nil {
		err = c.locate(f.Store, folder)
	}
	if err != nil {
		c = &checkpoint{ownedFolders: c.ownedFolders}
		if !wish.Overwrite {
			return nil, usage.Errorf("--output: %s is no checkpoint of this version of Espalier (%v): "+
				"start again with --overwrite", url, err)
		}
	}
	c.seen = seen
	return c, nil
}

// locate sets the URLs of the objects' blocks. It refuses names that lead out of the checkpoint folder.
func (c *checkpoint) locate(s *objectstore.Store, folder string) error {
	for _, name := range c.folders() {
		if _, err := s.Within(folder, name); err != nil {
			return err
		}
	}
	for part := range c.Objects {
		blocks := c.Objects[part].Blocks
		for i, name := range blocks {
			var err error
			if blocks[i], err = s.Within(objectstore.Join(folder, c.Blocks), name); err != nil {
				return err
			}
		}
	}
	return nil
}

// blockBytes returns the size of the blocks of each part, in bytes. It fails if a block is missing.
func (c *checkpoint) blockBytes(ctx context.Context, s *objectstore.Store) (sizes [dataset.Parts]int64, err error) {
	var blocks []string
	var parts []int
	for part := range c.Objects {
		blocks = append(blocks, c.Objects[part].Blocks...)
		parts = append(parts, slices.Repeat([]int{part}, len(c.Objects[part].Blocks))...)
	}
	ofBlocks := make([]int64, len(blocks))
	err = parallel.AtOnce(len(blocks), func(i int) error {
		b, err := s.Stat(ctx, blocks[i])
		ofBlocks[i] = b.Size
		return err
	})
	for i, size := range ofBlocks {
		sizes[parts[i]] += size
	}
	return sizes, err
}

// check fails if the checkpoint has more objects than its blocks have bytes: memory is allocated for objects before their
// blocks are read.
func (c *checkpoint) check(sizes [dataset.Parts]int64) error {
	for part := range c.Objects {
		if err := c.Objects[part].Check(len(c.Classes), sizes[part]); err != nil {
			return err
		}
	}
	return c.Growth.Check(c.Objects[dataset.Train].Objects)
}

// readsFile calls a function that works on the contents of a file of an earlier run. It returns a panic of
// the function, or of a job that it has run, as an error in the file: the counts and codes of a changed file may not fit
// together. The hint says what to do.
func readsFile(url, hint string, f func() error) error {
	err := parallel.Guard(f)
	var panicked *parallel.PanicError
	var failed *engine.RunnerError
	var what any
	switch {
	case errors.As(err, &failed) && failed.Panicked():
		what = failed
	case errors.As(err, &panicked):
		what = panicked.Value
	default:
		return err
	}
	return &dataset.DataError{
		File: url, Problem: fmt.Sprintf("the file is damaged, or does not belong to the run (%v)", what), Hint: hint,
	}
}

// checkpointBegin is the beginning of state.json.
const checkpointBegin = `{"format":"` + checkpointFormat + `",`

// resumable reports whether the checkpoint has objects that a run can continue from.
func (c *checkpoint) resumable() bool { return c.RowStats != nil }

// remove removes a checkpoint and the folders that it names.
func (c *checkpoint) remove(ctx context.Context, s *objectstore.Store, output string) error {
	all := checkpoint{ownedFolders: ownedFolders{Stale: c.folders()}}
	err := all.removeStale(ctx, s, output)
	if err == nil {
		err = s.RemoveSeen(ctx, c.seen)
	}
	if err == nil {
		err = s.RemoveEmpty(objectstore.Join(output, engine.CheckpointFolder))
	}
	return runfolder.OutputError(err)
}

// folders lists the folders that a checkpoint names.
func (c *checkpoint) folders() []string { return append(slices.Clone(c.Stale), c.Blocks) }

// folderName matches the names of runs' folders: texts from crypto/rand, or UUIDs before version 0.3.
var folderName = regexp.MustCompile(`^([A-Z2-7]{26,}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)

// removeStale removes the folders of earlier runs.
func (c *checkpoint) removeStale(ctx context.Context, s *objectstore.Store, output string) error {
	for _, name := range c.Stale {
		url, err := s.Within(checkpointURL(output), name)
		if err != nil || !folderName.MatchString(name) { // not the folder of a run
			continue
		}
		if err := s.RemoveAll(ctx, url); err != nil {
			return usage.Errorf("--output: %v", err)
		}
	}
	return nil
}

// whole reports whether a checkpoint has what restore needs.
func (c *checkpoint) whole() bool {
	if c.RowStats == nil { // nothing to restore yet
		return c.Blocks != ""
	}
	return c.Spec != nil && c.Growth != nil && c.Growth.Classes == len(c.Classes)
}

// digests returns the digests of the files about classes, and of the file of cuts, by flag; nil if there are no files.
func (p *plan) digests() map[string]string {
	digests := p.tables.Digests()
	if p.ownCuts == "" {
		return digests
	}
	if digests == nil {
		digests = make(map[string]string)
	}
	digests["cuts"] = p.ownCuts
	return digests
}

// refuseOther returns an error if the checkpoint has another version, input or configuration. The error
// names the difference.
func (p *plan) refuseOther(c *checkpoint) error {
	changed := func(what string) error {
		return usage.Errorf("--resume: %s since the run in %s began: undo that, or start again with --overwrite",
			what, p.config.Output)
	}
	if c.Espalier != runfolder.Version() {
		return changed(fmt.Sprintf("Espalier has become version %s instead of %s", runfolder.Version(), c.Espalier))
	}
	settings, err := p.config.Fixed()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if !reflect.DeepEqual(settings[name], c.Config[name]) {
			return changed(fmt.Sprintf("--%s has become %v instead of %v", name, settings[name], c.Config[name]))
		}
	}
	if p.costs.Digest != c.Costs {
		return changed("the costs file has changed")
	}
	digests := p.digests()
	for _, flag := range slices.Sorted(maps.Keys(digests)) {
		if digests[flag] != c.PerClass[flag] {
			return changed(fmt.Sprintf("the file of --%s has changed", flag))
		}
	}
	inputs := p.input.Manifest()
	for i := range max(len(inputs), len(c.Inputs)) {
		switch {
		case i >= len(inputs):
			return changed("the input file " + c.Inputs[i].URL + " is gone")
		case i >= len(c.Inputs):
			return changed("the input file " + inputs[i].URL + " was added")
		case inputs[i] != c.Inputs[i]:
			return changed("the input file " + inputs[i].URL + " was added or has changed")
		}
	}
	return nil
}
