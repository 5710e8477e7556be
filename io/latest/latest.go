// Package latest reads and moves LATEST.json, the file that names the run in use among the runs of a
// folder. It also returns the URL of a run's tree.json.
package latest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// Name is the file that names the run in use among the runs in the same folder.
const Name = "LATEST.json"

// TreeURL returns the URL of a model's tree.json. A model is a run folder or a tree.json.
func TreeURL(model string) string {
	if strings.HasSuffix(model, ".json") {
		return model
	}
	return strings.TrimRight(model, "/") + treeFile
}

const treeFile = "/tree.json"

const (
	format   = "espalier/latest"
	maxBytes = 1 << 16
	maxTree  = 1 << 30 // bytes
	tries    = 5       // to read the file while another program replaces it
)

// digests matches the digest of a tree.
var digests = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Pointer is LATEST.json. It is replaced as a whole, so that its readers always find a complete run.
type Pointer struct {
	Format   string    `json:"format" jsonschema:"enum=espalier/latest"`
	Version  int       `json:"version" jsonschema:"enum=1"`
	Run      string    `json:"run" jsonschema:"minLength=1"`                    // folder of the run, relative to the file
	Digest   string    `json:"tree_sha256" jsonschema:"pattern=^[0-9a-f]{64}$"` // digest of the run's tree.json, in hex
	Promoted time.Time `json:"promoted"`
	Reason   string    `json:"reason,omitempty"` // why a person has put the run in use
	// Held is the day until which retrain promotes no other run, or forever.
	Held string `json:"held_until,omitempty" jsonschema:"pattern=^(forever|[0-9]{4}-[0-9]{2}-[0-9]{2})$"`

	generation string // generation of the file
}

// Forever is the day of a hold without an end.
const Forever = "forever"

// HeldAt reports whether the run stays in use at a time, whatever retrain finds. p may be nil.
func (p *Pointer) HeldAt(now time.Time) bool {
	return p != nil && (p.Held == Forever || now.UTC().Format(time.DateOnly) < p.Held)
}

// Read reads the LATEST.json of a folder; nil if absent.
func Read(ctx context.Context, s *objectstore.Store, folder string) (p *Pointer, err error) {
	url := objectstore.Join(folder, Name)
	for range tries {
		if p, err = read(ctx, s, url); !errors.Is(err, objectstore.ErrChanged) {
			break
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no run has been promoted yet
	}
	if err == nil {
		_, err = s.Within(folder, p.Run)
	}
	if err != nil {
		return nil, usage.Errorf("%v", err)
	}
	return p, nil
}

func read(ctx context.Context, s *objectstore.Store, url string) (*Pointer, error) {
	seen, err := s.Stat(ctx, url)
	if err != nil {
		return nil, err
	}
	b, err := objectstore.ReadSeen(ctx, s, seen, maxBytes)
	if err != nil {
		return nil, err
	}
	p := &Pointer{generation: seen.Generation}
	if err := json.Unmarshal(b, p); err != nil || p.Format != format || p.Version != 1 {
		return nil, fmt.Errorf("%s is no %s of Espalier: want format %q and version 1; if it is damaged, remove it, and name the run in use: "+
			"espalier retrain use FOLDER RUN", url, Name, format)
	}
	if !digests.MatchString(p.Digest) {
		return nil, fmt.Errorf("%s: tree_sha256 is %q: want the SHA-256 of the tree, 64 hexadecimal digits", url, p.Digest)
	}
	return p, nil
}

// Promote makes the run of next, a folder below folder, the run in use, if LATEST.json is still the one
// that Read returned as before (nil if it was absent). Otherwise it returns ErrOvertaken. A digest of next is the digest
// that its tree must have. Promote sets the format and the digest of next.
func Promote(ctx context.Context, s *objectstore.Store, folder string, next Pointer, before *Pointer) (*Pointer, error) {
	encoded, err := s.ReadAll(ctx, TreeURL(objectstore.Join(folder, next.Run)), maxTree)
	if err != nil {
		return nil, usage.Errorf("%v", err)
	}
	digest := tree.Digest(encoded)
	if next.Digest != "" && next.Digest != digest {
		return nil, usage.Errorf("%s has another tree than it was trained with: its digest is %s, and %s is on record; "+
			"the file is damaged, or was changed: put another run in use, or train again",
			objectstore.Join(folder, next.Run), digest, next.Digest)
	}
	l := &next
	l.Format = format
	l.Version = 1
	l.Digest = digest
	l.Promoted = next.Promoted.UTC()
	b, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return nil, err
	}
	bound := objectstore.WriteOptions{IfAbsent: true}
	if before != nil {
		bound = objectstore.WriteOptions{IfGeneration: before.generation}
	}
	l.generation, err = objectstore.WriteSeen(ctx, s, objectstore.Join(folder, Name), append(b, '\n'), bound)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return nil, ErrOvertaken
	}
	if err != nil {
		return nil, usage.Errorf("%v", err)
	}
	return l, nil
}

// maxDepth is how many folders InUse considers between a LATEST.json and its run.
const maxDepth = 4

// InUse returns the URL of the LATEST.json, in a folder above a run, that names the run; empty if
// absent.
func InUse(ctx context.Context, s *objectstore.Store, run string) (url string) {
	at := objectstore.Join(run)
	if !strings.Contains(at, "://") { // a plain path may be relative, or a link
		if resolved, err := filepath.EvalSymlinks(run); err == nil {
			at = resolved
		}
		if absolute, err := filepath.Abs(at); err == nil {
			at = absolute
		}
	}
	folder := at
	for range maxDepth {
		cut := strings.LastIndexByte(folder, '/')
		if cut < 0 || strings.HasSuffix(folder[:cut+1], "://") {
			return ""
		}
		folder = folder[:cut]
		p, err := Read(ctx, s, cmp.Or(folder, "/"))
		if err == nil && p != nil && objectstore.Join(folder, p.Run) == at {
			return objectstore.Join(folder, Name)
		}
	}
	return ""
}

// ErrOvertaken is the error if another program has moved LATEST.json.
var ErrOvertaken error = overtaken{}

type overtaken struct{}

func (overtaken) Error() string { return "another program has moved " + Name + " meanwhile" }

// Nature implements usage.Natured.
func (overtaken) Nature() usage.Nature { return usage.Refused }

// Resolve returns the run folder that a LATEST.json names. Other models are returned as they are.
func Resolve(ctx context.Context, s *objectstore.Store, model string) (string, error) {
	if !Is(model) {
		return model, nil
	}
	_, url, err := Tree(ctx, s, model)
	if err != nil {
		return "", usage.Errorf("%v", err)
	}
	return strings.TrimSuffix(url, treeFile), nil
}

// Tree reads the tree.json of a model: a run folder, a tree.json or a LATEST.json. It also returns the URL of
// the tree.json. It returns an error if the run that a LATEST.json names has another tree than the LATEST.json.
func Tree(ctx context.Context, s *objectstore.Store, model string) (encoded []byte, url string, err error) {
	digest := ""
	if Is(model) {
		l, run, err := Of(ctx, s, model)
		if err != nil {
			return nil, "", err
		}
		model = run
		digest = l.Digest
	}
	url = TreeURL(model)
	if encoded, err = s.ReadAll(ctx, url, maxTree); err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, objectstore.ErrFolder) {
			err = fmt.Errorf("%w; name a run folder, a tree.json or a %s", err, Name)
		}
		return nil, "", fmt.Errorf("%s: %w", model, err)
	}
	if digest != "" && tree.Digest(encoded) != digest {
		return nil, "", usage.Errorf("%s is not the tree that %s names: its digest is %s, and tree_sha256 is %s; restore the file, or "+
			"put another run in use by espalier retrain use", url, Name, tree.Digest(encoded), digest)
	}
	return encoded, url, nil
}

// Is reports whether a model is given by a LATEST.json.
func Is(model string) bool { return path.Base(model) == Name }

// Of reads a LATEST.json by its URL. It also returns the URL of the run.
func Of(ctx context.Context, s *objectstore.Store, url string) (*Pointer, string, error) {
	folder := strings.TrimSuffix(strings.TrimSuffix(url, Name), "/")
	if folder == "" {
		folder = "."
	}
	l, err := Read(ctx, s, folder)
	switch {
	case err != nil:
		return nil, "", err
	case l == nil:
		return nil, "", usage.Errorf("%s does not exist: retrain writes it with the first run that passes its gate",
			url)
	}
	return l, objectstore.Join(folder, l.Run), nil
}
