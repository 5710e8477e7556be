package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/session"
	"github.com/espalier-ml/espalier/pipelines/source"
)

func setup(check error) *session.Setup {
	return &session.Setup{Check: func() error { return check }, Storage: source.DefaultConfig()}
}

// TestRun: a fault of the configuration comes before any work, and the end of the context in place of
// the error that it causes. Scratch data are gone at the end.
func TestRun(t *testing.T) {
	fault, ended := errors.New("fault"), errors.New("ended")
	err := session.Run(t.Context(), setup(fault), engine.Silent{}, func(context.Context, *session.Session) error {
		t.Error("the work begins in spite of a fault")
		return nil
	})
	if !errors.Is(err, fault) {
		t.Errorf("%v, want the fault", err)
	}
	parent, end := context.WithCancelCause(t.Context())
	err = session.Run(parent, setup(nil), engine.Silent{}, func(ctx context.Context, s *session.Session) error {
		url := objectstore.Join(s.Temporary, "part")
		if err := s.Files.Write(ctx, url, []byte("x")); err != nil {
			return err
		}
		store, after := s.Files.Store, context.WithoutCancel(ctx)
		defer func() {
			if _, err := store.Stat(after, url); err != nil {
				t.Errorf("scratch data are gone before the end: %v", err)
			}
		}()
		t.Cleanup(func() {
			if _, err := store.Stat(after, url); err == nil {
				t.Error("scratch data stay")
			}
		})
		end(ended)
		return fault
	})
	if !errors.Is(err, ended) {
		t.Errorf("%v, want the cause of the end", err)
	}
}

// TestInput refuses files without a row.
func TestInput(t *testing.T) {
	folder := t.TempDir()
	write := func(file string, values []float64) string {
		err := parquetio.Write(t.Context(), objectstore.New(), folder+"/"+file,
			[]parquetio.WriteColumn{{Name: "x", Values: values}}, parquetio.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return folder + "/" + file
	}
	none, some := write("none.parquet", nil), write("some.parquet", []float64{1, 2})
	err := session.Run(t.Context(), setup(nil), engine.Silent{}, func(ctx context.Context, s *session.Session) error {
		if _, err := s.Input(ctx, []string{none}); err == nil || !strings.Contains(err.Error(), "no input file has a row") {
			t.Errorf("without rows: %v", err)
		}
		in, err := s.Input(ctx, []string{none, some})
		if err == nil && in.Rows != 2 {
			t.Errorf("%d rows, want 2", in.Rows)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestLocked: the work holds the lock of the folder, and its jobs have the name of the lock's run.
func TestLocked(t *testing.T) {
	folder := t.TempDir()
	err := session.Run(t.Context(), setup(nil), engine.Silent{}, func(ctx context.Context, s *session.Session) error {
		return s.Locked(ctx, folder, func(ctx context.Context) error {
			if _, err := s.Files.Store.Stat(ctx, objectstore.Join(folder, runfolder.LockName)); err != nil || s.RunID == "" {
				t.Errorf("lock: %v, run %q", err, s.RunID)
			}
			return nil
		})
	})
	if _, gone := objectstore.New().Stat(t.Context(), objectstore.Join(folder, runfolder.LockName)); err != nil || gone == nil {
		t.Errorf("%v; the lock stays", err)
	}
}
