package objectstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// exchanger is a driver that exchanges two folders in a single step.
type exchanger interface {
	exchange(from, to string, x Exchange) (done bool, err error)
}

// Exchange describes how a folder takes the place of another one.
type Exchange struct {
	Own  map[string]string // names of the files of the earlier folder that go with it, with their generations, if known
	Kept string            // name of a file of the earlier folder that stays, if it exists
}

// Exchange lets the folder from, which is below the folder to, take the place of to in a single step, and removes the
// earlier folder. done is false, and to has not changed, if the store cannot do that (only Linux can, on most of its file
// systems), or if to has a file other than x.Own, or with another generation, or is a link.
func (s *Store) Exchange(ctx context.Context, from, to string, x Exchange) (done bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	source, err := s.locate(from)
	if err != nil {
		return false, err
	}
	target, err := s.locate(to)
	if err != nil {
		return false, err
	}
	d, ok := target.Driver.(exchanger)
	if !ok {
		return false, nil
	}
	done, err = d.exchange(filepath.FromSlash(source.path), filepath.FromSlash(target.path), x)
	return done, target.fail("replace", err)
}

// exchange implements exchanger. The new folder is first moved next to the earlier one, under the name of a temporary
// file: a killed process leaves one of the two there, and a later process removes it.
func (fileDriver) exchange(from, to string, x Exchange) (done bool, err error) {
	sweepOnce(filepath.Dir(to))
	unlock, err := lockFolder(to) // no file is replaced meanwhile, and nobody takes the earlier folder for abandoned
	if err != nil {
		return false, nil // files are replaced one by one instead
	}
	defer unlock()
	info, err := os.Lstat(to)
	below, outside := filepath.Rel(to, from)
	if err != nil || outside != nil || !info.IsDir() || !x.allows(to, below) || !matched(from, to, info) {
		return false, nil // see above
	}
	held, swept := holdTemporary(from)
	if swept {
		return false, fs.ErrNotExist
	}
	defer held.Close() //nolint:errcheck // only a lock
	if x.Kept != "" {
		_ = os.Remove(filepath.Join(from, x.Kept)) // the link of a process that was killed here
		err := os.Link(filepath.Join(to, x.Kept), filepath.Join(from, x.Kept))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a file system without links
			return false, nil
		}
	}
	if err := syncFolder(from); err != nil {
		return false, err
	}
	aside := temporaryName(filepath.Dir(to))
	if os.Rename(from, aside) == nil {
		if done, err := x.swap(aside, to, below); done {
			return true, err
		}
		err = rename(aside, from)
	}
	if x.Kept != "" {
		_ = os.Remove(filepath.Join(from, x.Kept)) // the link
	}
	return false, err
}

// swap exchanges two folders, and removes the earlier one, which is then aside. Others do not know the lock, and may have
// written meanwhile: if so, it exchanges them back.
func (x *Exchange) swap(aside, to, below string) (done bool, err error) {
	if exchangeFolders(aside, to) != nil {
		return false, nil //nolint:nilerr // files are replaced one by one instead
	}
	if x.allows(aside, below) {
		err := syncFolder(filepath.Dir(to))
		_ = os.RemoveAll(aside) // a later process removes what stays
		return true, err
	}
	err = exchangeFolders(aside, to)
	return err != nil, err
}

// allows reports whether the earlier folder has only files that go with it, of the same generations. It may have a folder at
// the path below, and the folders above that.
func (x *Exchange) allows(earlier, below string) bool {
	folders := map[string]bool{".": true}
	add := func(name string) {
		for ; !folders[name]; name = path.Dir(name) {
			folders[name] = true
		}
	}
	for name := range x.Own {
		add(path.Dir(name))
	}
	add(path.Dir(filepath.ToSlash(below)))
	staged := filepath.Join(earlier, below)
	beside := path.Dir(filepath.ToSlash(below)) // where a killed process may have left an empty folder
	var err error
	return filepath.WalkDir(earlier, func(name string, e fs.DirEntry, failed error) error {
		if failed != nil {
			return failed
		}
		if filepath.Clean(name) == staged {
			return fs.SkipDir
		}
		below, _ := filepath.Rel(earlier, name) // both are paths below the same folder
		below = filepath.ToSlash(below)
		if e.IsDir() && (folders[below] || path.Dir(below) == beside) {
			return nil
		}
		generation, own := x.Own[below]
		var info fs.FileInfo
		if info, err = e.Info(); err != nil || !own || !info.Mode().IsRegular() || generation != "" && generation != fileGeneration(info) {
			return fs.ErrExist
		}
		return nil
	}) == nil
}
