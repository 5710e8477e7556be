package transforms

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/induce/rowtype"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/objectstore"
)

var (
	modelsRead    = beam.NewCounter(elements.CounterNamespace, "models_read")
	modelsRefused = beam.NewCounter(elements.CounterNamespace, "models_refused")
)

// modelSource is where a DoFn gets its model from: see Model.
type modelSource struct {
	JSON  []byte
	URL   string
	Every time.Duration

	bound *scorer
	due   time.Time // when to read the URL again; zero: never
}

// scorer returns the scorer of the model. It reads the URL if that is due. It returns an error if
// the first model cannot be read; later, such an error is logged, and the tree in use stays.
func (m *modelSource) scorer(ctx context.Context, schema *rowtype.Schema) (s *scorer, err error) {
	switch {
	case m.bound != nil && (m.due.IsZero() || time.Now().Before(m.due)):
		return m.bound, nil
	case m.URL == "":
		m.bound, err = newScorer(m.JSON, schema)
		return m.bound, err
	}
	err = m.read(ctx, schema)
	if m.Every > 0 {
		m.due = time.Now().Add(m.Every)
	}
	if err == nil {
		return m.bound, nil
	}
	err = fmt.Errorf("the model %s: %w", m.URL, err)
	if m.bound == nil {
		return nil, err
	}
	log.Errorf(ctx, "transforms.Score goes on with model %s: %v", m.bound.id, err)
	modelsRefused.Inc(ctx, 1)
	return m.bound, nil
}

// read reads the URL, and binds the model if it has changed.
func (m *modelSource) read(ctx context.Context, schema *rowtype.Schema) error {
	b, err := readModel(ctx, m.URL)
	if err != nil || m.bound != nil && m.bound.id == tree.ID(b) {
		return err
	}
	next, err := newScorer(b, schema)
	if err == nil {
		m.bound = next
		modelsRead.Inc(ctx, 1)
	}
	return err
}

// maxModelBytes is the largest size of a tree.json.
const maxModelBytes = 1 << 30

// readModel reads the tree.json of a model, given the URL of a run folder, a tree.json or a
// LATEST.json.
func readModel(ctx context.Context, url string) ([]byte, error) {
	b, err := readFile(ctx, latest.TreeURL(url))
	if err != nil || path.Base(url) != latest.Name {
		return b, err
	}
	var pointer latest.Pointer
	if err := json.Unmarshal(b, &pointer); err != nil || naming.CheckBelow(pointer.Run) != nil {
		return nil, fmt.Errorf("%s names no run next to it", url)
	}
	at := latest.TreeURL(strings.TrimSuffix(url, latest.Name) + pointer.Run)
	b, err = readFile(ctx, at)
	if err == nil && pointer.Digest != "" && tree.Digest(b) != pointer.Digest {
		return nil, fmt.Errorf("%s is not the tree that %s names (tree_sha256)", at, url)
	}
	return b, err
}

// stores reads the files of models, in the stores whose drivers the program imports.
var stores = sync.OnceValue(func() *objectstore.Store { return objectstore.Open(objectstore.Patience{}) }) //nolint:gochecknoglobals // it keeps connections and no content

// readFile reads a file, given a plain path, or a URL whose scheme is known to package objectstore
// or belongs to a file system registered with Beam.
func readFile(ctx context.Context, url string) ([]byte, error) {
	unknown := stores().Check(url)
	if unknown == nil {
		return stores().ReadAll(ctx, url, maxModelBytes)
	}
	fs, err := filesystem.New(ctx, url)
	if err != nil {
		return nil, unknown
	}
	defer fs.Close() //nolint:errcheck // only read
	r, err := fs.OpenRead(ctx, url)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(r, maxModelBytes+1))
	if err == nil && len(b) > maxModelBytes {
		err = fmt.Errorf("more than %d bytes, want a tree.json", maxModelBytes)
	}
	return b, err
}
