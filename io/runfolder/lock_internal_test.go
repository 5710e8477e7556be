package runfolder

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/gcsstore"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest"
	"github.com/espalier-ml/espalier/io/usage"
)

// ignore drops warnings.
func ignore(string) {}

// put writes a lock as another run would have.
func (l *Lock) put(t *testing.T) {
	t.Helper()
	b, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(l.folder, LockName), b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestLock: a folder is locked once, by whoever is alive.
func TestLock(t *testing.T) {
	ctx, s := t.Context(), objectstore.New()
	folder := t.TempDir()
	first, _, dead, err := Acquire(ctx, s, folder, ignore)
	if err != nil || dead != nil {
		t.Fatal(dead, err)
	}
	var refused *usage.Error
	if _, _, _, err := Acquire(ctx, s, folder, ignore); !errors.As(err, &refused) || !strings.Contains(err.Error(), "another run") {
		t.Errorf("a second lock: error %v", err)
	}
	first.Release(ctx)
	if _, err := os.Stat(filepath.Join(folder, LockName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock stays: %v", err)
	}
	second, _, _, err := Acquire(ctx, s, folder, ignore)
	if err != nil {
		t.Fatal(err)
	}
	second.Release(ctx)
}

// TestLockOfTheDead: the lock of a process that has ended is taken over at once,
// also when its number has been given to another.
func TestLockOfTheDead(t *testing.T) {
	if processSpace() == "" {
		t.Skip("waits for a system that tells which processes there are, under /proc")
	}
	ctx, s := t.Context(), objectstore.New()
	child := exec.CommandContext(ctx, "sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	there := newLock(s, t.TempDir())
	there.PID, there.Birth, there.Beat = child.Process.Pid, processBirth(child.Process.Pid), time.Now()
	there.put(t)
	if _, _, _, err := Acquire(ctx, s, there.folder, ignore); err == nil {
		t.Fatal("the lock of a living process was taken")
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for processBirth(there.PID) != "" { // it is left unreaped: nobody waits for the child of a killed run
		time.Sleep(time.Millisecond)
	}
	l, _, dead, err := Acquire(ctx, s, there.folder, ignore)
	if err != nil || dead == nil || dead.Run != there.Run {
		t.Fatalf("taken over from %v, error %v", dead, err)
	}
	l.Release(ctx)
	_ = child.Wait() // was killed
	there.PID, there.Birth = os.Getpid(), "1"
	there.put(t)
	if l, _, _, err = Acquire(ctx, s, there.folder, ignore); err != nil {
		t.Fatalf("the number of the process is another's now: %v", err)
	}
	l.Release(ctx)
}

// TestLockElsewhere: only signs of life show that a run on another machine is alive.
func TestLockElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it waits for seconds
		ctx, s := t.Context(), objectstore.New()
		there := newLock(s, t.TempDir())
		there.Space, there.Host, there.Every = "elsewhere", "elsewhere", 1
		there.Beat = time.Now()
		there.put(t)
		if _, _, _, err := Acquire(ctx, s, there.folder, ignore); err == nil || !strings.Contains(err.Error(), "elsewhere") {
			t.Errorf("a fresh sign of life: error %v", err)
		}
		there.Beat = time.Now().Add(time.Hour) // the clocks differ
		there.put(t)
		var warnings []string
		warn := func(text string) { warnings = append(warnings, text) }
		l, _, dead, err := Acquire(ctx, s, there.folder, warn)
		if err != nil || dead == nil {
			t.Fatalf("a silent run: taken over from %v, error %v", dead, err)
		}
		if len(warnings) != 1 {
			t.Errorf("warnings %q, want one on the wait", warnings)
		}
		l.Release(ctx)
		there.put(t)
		go func() {
			time.Sleep(1500 * time.Millisecond)
			there.Beat = time.Now()
			there.put(t)
		}()
		if _, _, _, err := Acquire(ctx, s, there.folder, warn); err == nil || !strings.Contains(err.Error(), "at work") {
			t.Errorf("a sign of life while waiting: error %v", err)
		}
	})
}

// TestDamagedLock: a lock that states no time between signs of life that a run would keep is refused at once, and stays.
func TestDamagedLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, s := t.Context(), objectstore.New()
		there := newLock(s, t.TempDir())
		there.Space, there.Beat = "elsewhere", time.Now().Add(-time.Hour)
		for _, every := range []float64{-1, 0, longestBeat + 1, 1 << 31, 1e308} {
			there.Every = every
			there.put(t)
			begun := time.Now()
			_, _, _, err := Acquire(ctx, s, there.folder, func(text string) { t.Errorf("every %v: warning %q", every, text) })
			if usage.NatureOf(err) != usage.Usage || !strings.Contains(err.Error(), "_LOCK there is damaged") || !strings.Contains(err.Error(), "remove it") {
				t.Errorf("every %v: error %v", every, err)
			}
			if now := time.Now(); !now.Equal(begun) {
				t.Errorf("every %v: refused at %v, asked at %v", every, now, begun)
			}
			if _, err := os.Stat(filepath.Join(there.folder, LockName)); err != nil {
				t.Errorf("every %v: %v", every, err)
			}
		}
	})
}

// TestLockLost: a run whose folder another one has taken ends.
func TestLockLost(t *testing.T) {
	s := objectstore.New()
	folder := t.TempDir()
	l, ctx, _, err := Acquire(t.Context(), s, folder, ignore)
	if err != nil {
		t.Fatal(err)
	}
	other := newLock(s, folder)
	other.put(t)
	if err := l.write(ctx, objectstore.WriteOptions{IfGeneration: l.generation}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a sign of life over another's lock: error %v", err)
	}
	l.Release(context.Background())
	if _, err := os.Stat(filepath.Join(folder, LockName)); err != nil {
		t.Errorf("the other's lock is gone: %v", err)
	}
}

// TestLockWithoutSigns: the lock of a living process whose run shows no sign of life is taken over after a wait. An
// interrupted run shows signs of life until it releases its lock.
func TestLockWithoutSigns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, folder := objectstore.New(), t.TempDir()
		ctx, interrupt := context.WithCancel(t.Context())
		l, _, _, err := Acquire(ctx, s, folder, ignore)
		if err != nil {
			t.Fatal(err)
		}
		interrupt()
		time.Sleep(time.Hour)
		warn := func(text string) { t.Errorf("a run with signs of life: warning %q", text) }
		if _, _, _, err := Acquire(t.Context(), s, folder, warn); usage.NatureOf(err) != usage.TryAgain {
			t.Errorf("the lock of an interrupted run that is at work: error %v", err)
		}
		l.Release(ctx)
		left := newLock(s, folder) // by this process, which is alive
		left.Beat = time.Now().Add(-time.Hour)
		left.put(t)
		begun := time.Now()
		l, _, dead, err := Acquire(t.Context(), s, folder, ignore)
		if err != nil || dead == nil || dead.Run != left.Run {
			t.Fatalf("taken over from %v, error %v", dead, err)
		}
		if took := time.Since(begun); took < silence*beatEvery {
			t.Errorf("taken over after %v, want a wait of %v", took, silence*beatEvery)
		}
		l.Release(t.Context())
	})
}

// TestLockWrittenWithError: a lock that was written by a request after which an error came is removed by the run that has
// written it, or renewed, and the lock of another run stays.
func TestLockWrittenWithError(t *testing.T) {
	faults := objectstoretest.NewFaults(t, objectstoretest.StartGCS(t, "bucket"))
	objectstoretest.UseGCS(t, faults.URL)
	s := objectstore.New()
	s.Register("gs", gcsstore.New(httpstore.Options{}))
	const folder = "gs://bucket/folder"
	failing := func(effect objectstoretest.Effect) { // the request behind the write
		faults.Inject(objectstoretest.Fault{Kinds: []objectstoretest.Kind{objectstoretest.Stat}, Times: 1, Effect: effect})
	}
	there := func() (run string) {
		l, err := newLock(s, folder).read(t.Context())
		if errors.Is(err, fs.ErrNotExist) {
			return ""
		}
		if err != nil {
			t.Fatal(err)
		}
		return l.Run
	}
	failing(objectstoretest.Status(http.StatusForbidden))
	if _, _, _, err := Acquire(t.Context(), s, folder, ignore); err == nil || there() != "" {
		t.Errorf("Acquire without rights has left the lock of %q: error %v", there(), err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	failing(func(http.ResponseWriter, *http.Request, http.Handler, <-chan struct{}) {
		interrupt()
		panic(http.ErrAbortHandler)
	})
	if _, _, _, err := Acquire(ctx, s, folder, ignore); !errors.Is(err, context.Canceled) || there() != "" {
		t.Errorf("an interrupted Acquire has left the lock of %q: error %v", there(), err)
	}
	acquired := func() *Lock {
		l, _, _, err := Acquire(t.Context(), s, folder, ignore)
		if err != nil {
			t.Fatal(err)
		}
		failing(objectstoretest.Status(http.StatusForbidden))
		if err := l.renew(t.Context()); err == nil {
			t.Fatal("no error of a sign of life without rights")
		}
		return l
	}
	l := acquired()
	if err := l.renew(t.Context()); err != nil {
		t.Errorf("a sign of life after one with an error: %v", err)
	}
	l.Release(t.Context())
	l = acquired()
	l.Release(t.Context())
	if run := there(); run != "" {
		t.Errorf("Release after an error has left the lock of %q, want none", run)
	}
	l = acquired()
	other := newLock(s, folder)
	if err := other.write(t.Context(), objectstore.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := l.renew(t.Context()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a sign of life over another's lock: error %v", err)
	}
	l.Release(t.Context())
	if run := there(); run != other.Run {
		t.Errorf("the lock is of the run %q, want the other's, %q", run, other.Run)
	}
}
