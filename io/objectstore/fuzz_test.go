package objectstore_test

import (
	"context"
	"io/fs"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// fixed is a driver with the same few objects in every folder.
type fixed struct{ objectstore.Driver }

func (fixed) List(_ context.Context, folder string, _ int) ([]objectstore.Object, error) {
	var list []objectstore.Object
	for _, name := range []string{"x.parquet", "d/y", "_z", "[1]/x"} {
		list = append(list, objectstore.Object{URL: strings.TrimSuffix(folder, "/") + "/" + name, Generation: "1"})
	}
	return list, nil
}

func (fixed) Stat(_ context.Context, path string) (objectstore.Object, error) {
	if strings.HasSuffix(path, "x") {
		return objectstore.Object{URL: path, Generation: "1"}, nil
	}
	return objectstore.Object{}, fs.ErrNotExist
}

func (fixed) Open(context.Context, objectstore.Object) (objectstore.Reader, error) {
	return nil, fs.ErrNotExist
}

func (fixed) Create(context.Context, string, objectstore.WriteOptions) (objectstore.Writer, error) {
	return nil, fs.ErrPermission
}

func (fixed) Remove(context.Context, string) error    { return nil }
func (fixed) RemoveAll(context.Context, string) error { return nil }

// urlSeeds are URLs, paths and common misspellings.
func urlSeeds() []string {
	return []string{
		"", ".", "/", "//", "x", "./x", "../x", "a/b/*.parquet", "**", "a/**/b", "[", "[a-]", "a[", "\\", "x\x00y",
		"*?[",
		"gs://", "gs:///", "gs://b", "gs://b/", "gs://b/*", "gs://b*/x", "gs://b/a//b", "gs://b/../x", "gs:/b/x",
		"gs:b", "gs//b/x", "GS://b/x",
		"s3://b/[", "s3://b/**/x", "mem://", "mem://x/?", "file://x", "file:///x", "file:/x", "hdfs://x", "hdfs:/x",
		"C:/x", "a:b", "A0:", "://", ":", "é://x", "gs://\xff",
	}
}

// FuzzURL: no URL causes a panic, each refusal names the URL in one line, and joining to a
// valid URL gives a valid URL.
func FuzzURL(f *testing.F) {
	for _, seed := range urlSeeds() {
		f.Add(seed)
	}
	s := objectstore.New()
	for _, scheme := range []string{"", "file", "gs", "s3", "mem"} {
		s.Register(scheme, fixed{})
	}
	f.Fuzz(func(t *testing.T, url string) {
		check := s.Check(url)
		_, listErr := s.List(t.Context(), url)
		_, belowErr := s.Below(t.Context(), url, 1)
		_, statErr := s.Stat(t.Context(), url)
		_, openErr := s.Open(t.Context(), url)
		_, createErr := s.Create(t.Context(), url, objectstore.WriteOptions{})
		_, identityErr := s.Identity(url)
		for _, err := range []error{
			check, listErr, belowErr, statErr, openErr, createErr, identityErr, s.Remove(t.Context(), url),
			s.RemoveAll(t.Context(), url),
			s.RemoveEmpty(url), s.Sweep(t.Context(), url), s.RemoveSeen(t.Context(), objectstore.Object{URL: url}),
		} {
			if err != nil && !strings.Contains(err.Error(), url) {
				t.Errorf("%q: %v does not name it", url, err)
			}
			if check != nil && err == nil {
				t.Errorf("%q: an operation went through, although %v", url, check)
			}
		}
		_ = objectstore.Folder(url)
		joined := objectstore.Join(url, "x")
		if again := objectstore.Join(objectstore.Join(url), "x"); check == nil && again != joined {
			t.Errorf("%q: joined %q, joined twice %q", url, joined, again)
		}
		if err := s.Check(joined); check == nil && err != nil {
			t.Errorf("%q: joined %q: %v", url, joined, err)
		}
	})
}
