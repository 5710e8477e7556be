package runfolder

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// LockName is the file of the lock, which exists while a run is active in the folder.
const LockName = "_LOCK"

const (
	lockFormat = "espalier/lock"
	maxLock    = 1 << 16

	beatEvery   = 10 * time.Second // between two signs of life
	longestBeat = 60               // greatest number of seconds between two signs of life that a lock may state

	silence = 3 // signs of life that a dead run has missed; a run that could not write this many ends
)

// Lock identifies the run that is active in a folder, and shows that it is alive.
type Lock struct {
	Format string    `json:"format"`
	Run    string    `json:"run"`
	Host   string    `json:"host"`
	PID    int       `json:"pid"`
	Space  string    `json:"space"`   // boot and process namespace of PID; empty if unknown
	Birth  string    `json:"birth"`   // birth of the process, in the system's clock ticks
	Beat   time.Time `json:"beat"`    // last sign of life
	Every  float64   `json:"every_s"` // seconds between two signs of life

	store      *objectstore.Store
	folder     string
	generation string             // generation of the file that this process has seen last
	end        context.CancelFunc // ends the signs of life
	beating    sync.WaitGroup
}

// Acquire takes the lock of a folder. The context locked ends when the lock is lost. The lock of a
// dead run is taken over, and returned as dead. The error is a usage error, or the cause of ctx's
// end.
func Acquire(ctx context.Context, s *objectstore.Store, folder string, warn func(text string)) (
	l *Lock, locked context.Context, dead *Lock, err error,
) {
	l = newLock(s, folder)
	err = l.take(ctx, objectstore.WriteOptions{IfAbsent: true})
	if errors.Is(err, fs.ErrExist) {
		if dead, err = l.await(ctx, warn); err == nil {
			err = l.take(ctx, objectstore.WriteOptions{IfGeneration: dead.generation})
		}
		if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
			err = usage.Later("--output %s: another run has just begun or ended there: try again, or choose another folder",
				folder)
		}
	}
	if err != nil && !errors.As(err, new(*usage.Error)) && ctx.Err() == nil {
		err = usage.Errorf("--output: %v", err)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	locked, cancel := context.WithCancelCause(ctx)
	alive, end := context.WithCancel(context.WithoutCancel(ctx)) // an interrupted run is alive until it releases the lock
	l.end = end
	l.beating.Go(func() { l.beat(alive, cancel) })
	return l, locked, dead, nil
}

func newLock(s *objectstore.Store, folder string) *Lock {
	host, _ := os.Hostname() // for people only
	l := &Lock{
		Format: lockFormat, Run: strings.ToLower(rand.Text()), Host: host,
		PID: os.Getpid(), Space: processSpace(), Birth: processBirth(os.Getpid()),
		Every: beatEvery.Seconds(), store: s, folder: folder,
	}
	return l
}

func (l *Lock) url() string { return objectstore.Join(l.folder, LockName) }

// take writes the lock for the first time, and removes it if an error has come after it was written.
func (l *Lock) take(ctx context.Context, o objectstore.WriteOptions) error {
	err := l.write(ctx, o)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), beatEvery) // a lock that stays is taken over later
		defer cancel()
		l.remove(soon)
	}
	return err
}

// write writes the lock with a new sign of life. An error may come after the lock was written.
func (l *Lock) write(ctx context.Context, o objectstore.WriteOptions) error {
	l.Beat = time.Now().UTC()
	o.Volatile = true
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	generation, err := objectstore.WriteSeen(ctx, l.store, l.url(), b, o)
	if err == nil {
		l.generation = generation
	}
	return err
}

// ours reports whether the lock in the folder is l, and sets the generation if it is. It reads the lock only if an error of a
// write has left the generation in doubt.
func (l *Lock) ours(ctx context.Context) bool {
	if stat, err := l.store.Stat(ctx, l.url()); err == nil && stat.Generation != "" && stat.Generation == l.generation {
		return true
	}
	there, err := l.read(ctx)
	if err != nil || there.Run != l.Run {
		return false
	}
	l.generation = there.generation
	return true
}

// remove removes the lock if it is still l. The next run finds that the run of a remaining lock is dead.
func (l *Lock) remove(ctx context.Context) {
	if l.ours(ctx) {
		_ = l.store.Remove(ctx, l.url())
	}
}

// read returns the lock in the folder.
func (l *Lock) read(ctx context.Context) (*Lock, error) {
	stat, err := l.store.Stat(ctx, l.url())
	if err != nil {
		return nil, err
	}
	b, err := l.store.ReadAll(ctx, l.url(), maxLock)
	if err != nil {
		return nil, err
	}
	there := &Lock{generation: stat.Generation}
	if err := json.Unmarshal(b, there); err != nil || there.Format != lockFormat || there.Run == "" ||
		there.Every <= 0 || there.Every > longestBeat {
		return nil, usage.Errorf("--output %s: %s there is damaged or not Espalier's, and is not overwritten: choose another "+
			"folder; if a crash of the machine has left it, remove it", l.folder, LockName)
	}
	return there, nil
}

// await returns the lock of a dead run, or an error if the run is alive. A run is dead if its process
// has ended. The run of another machine is dead if no sign of life comes for a while by the clock of this
// process, because clocks of machines may differ. So is the run of a living process, such as a service
// that could not remove its lock.
func (l *Lock) await(ctx context.Context, warn func(text string)) (*Lock, error) {
	there, err := l.read(ctx)
	if err != nil {
		return nil, err
	}
	if there.Space != "" && there.Space == l.Space && (there.Birth == "" || processBirth(there.PID) != there.Birth) {
		return there, nil
	}
	patience := time.Duration(silence * max(there.Every, 1) * float64(time.Second))
	if age := time.Since(there.Beat); age >= 0 && age < patience {
		return nil, l.taken(there)
	}
	warn(fmt.Sprintf("%s is held by the process %d on %s: waiting up to %v for a sign of life",
		l.url(), there.PID, there.Host, patience))
	for end := time.Now().Add(patience); time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(min(time.Second, patience)):
		}
		now, err := l.read(ctx)
		if err != nil {
			return nil, err
		}
		if now.generation != there.generation {
			return nil, l.taken(now)
		}
	}
	return there, nil
}

// taken returns an error for a folder in which another run is active.
func (l *Lock) taken(by *Lock) error {
	return usage.Later("--output %s: another run, process %d on %s, is at work there (last sign of life %v ago): "+
		"wait for it, or choose another folder",
		l.folder, by.PID, by.Host, time.Since(by.Beat).Round(time.Second))
}

// beat writes signs of life until the lock is released. It ends the run when another run has taken
// the lock, and when it could not write for so long that another run may take it.
func (l *Lock) beat(ctx context.Context, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			cancel(nil)
			return
		case <-tick.C:
		}
		err := l.renew(ctx)
		switch {
		case err == nil:
			last = time.Now()
		case errors.Is(err, fs.ErrExist):
			cancel(usage.Later("--output %s: another run has taken the folder over", l.folder))
		case time.Since(last) > (silence-1)*beatEvery:
			cancel(usage.Later("--output %s: %s could not be renewed: %v", l.folder, LockName, err))
		}
	}
}

// renew writes a sign of life, unless another run has taken the lock.
func (l *Lock) renew(ctx context.Context) error {
	err := l.write(ctx, objectstore.WriteOptions{IfGeneration: l.generation})
	if errors.Is(err, fs.ErrExist) && l.ours(ctx) { // an earlier write has returned an error, but has taken effect
		err = l.write(ctx, objectstore.WriteOptions{IfGeneration: l.generation})
	}
	return err
}

// Release releases the lock.
func (l *Lock) Release(ctx context.Context) {
	l.end()
	l.beating.Wait()
	l.remove(context.WithoutCancel(ctx))
}

// processSpace returns the boot and process namespace of this process; empty if the system does not
// provide it.
func processSpace() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + space
}

// processBirth returns when a process began, in the system's clock ticks; empty if there is no such
// process, or if it has ended and waits for its parent.
func processBirth(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	const state, birth = 0, 19
	list := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:])) // the name before it may contain anything
	if len(list) <= birth || list[state] == "Z" || list[state] == "X" {
		return ""
	}
	return list[birth]
}
