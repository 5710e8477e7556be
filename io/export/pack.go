package export

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/io/usage"
)

// packed returns name and version of the package that a file is named as; no name: of none.
func (l *language) packed(file string) (name, version string, err error) {
	switch {
	case strings.HasSuffix(file, ".whl"):
		name, version, ok := strings.Cut(strings.TrimSuffix(file, "-py3-none-any.whl"), "-")
		if l.format != "python" || !ok || !isIdentifier(name) || slices.Contains(l.keywords, name) ||
			!isVersion(version) || !strings.HasSuffix(file, "-py3-none-any.whl") {
			return "", "", usage.Errorf("--output %s: a wheel is for python, and named NAME-VERSION-py3-none-any.whl, as in "+
				"model-1.0-py3-none-any.whl", file)
		}
		return name, version, nil
	case strings.HasSuffix(file, ".tgz"):
		base := strings.TrimSuffix(file, ".tgz")
		at := strings.LastIndexByte(base, '-')
		if l.format != "javascript" || at < 1 || !isNpmName(base[:at]) || !isVersion(base[at+1:]) ||
			strings.Count(base[at+1:], ".") != 2 {
			return "", "", usage.Errorf("--output %s: a package is for javascript, and named NAME-VERSION.tgz in lower case, "+
				"as in model-1.0.0.tgz", file)
		}
		return base[:at], base[at+1:], nil
	default:
		return "", "", nil
	}
}

// isVersion reports whether a text is numbers with points between them.
func isVersion(s string) bool {
	for number := range strings.SplitSeq(s, ".") {
		if number == "" || strings.Trim(number, "0123456789") != "" || len(number) > 1 && number[0] == '0' {
			return false
		}
	}
	return true
}

func isNpmName(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_") == "" && s[0] != '-' && s[0] != '_'
}

// packedFile is a file of a package.
type packedFile struct {
	name    string
	content []byte
}

// texts executes the templates of a package. The files are named after the templates.
func (p *program) texts(version string, named ...string) ([]packedFile, error) {
	var list []packedFile
	for i := 0; i < len(named); i += 2 {
		content, err := filled(files, "templates/package/"+named[i], struct {
			*program

			Version string
		}{p, version})
		if err != nil {
			return nil, err
		}
		list = append(list, packedFile{named[i+1], content})
	}
	return list, nil
}

// wheel returns a package that pip installs: the module and a classifier for scikit-learn.
func wheel(p *program, source []byte, version string) ([]byte, error) {
	folder, info := p.Module+"/", p.Module+"-"+version+".dist-info/"
	list, err := p.texts(version, "init.py.tmpl", folder+"__init__.py", "classifier.py.tmpl", folder+"_classifier.py",
		"METADATA.tmpl", info+"METADATA")
	if err != nil {
		return nil, err
	}
	list = slices.Insert(list, 1, packedFile{folder + "_tree.py", source}, packedFile{folder + "py.typed", nil})
	list = append(list, packedFile{
		info + "WHEEL", []byte("Wheel-Version: 1.0\nGenerator: espalier\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
	})
	var record strings.Builder
	for _, f := range list {
		sum := sha256.Sum256(f.content)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.content))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	list = append(list, packedFile{info + "RECORD", []byte(record.String())})
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i, f := range list {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: packedTime()}
		if i == 0 {
			h.Method = zip.Store // its first line must be readable in the head of the wheel
		}
		h.SetMode(0o644)
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write(f.content)
		}
		if err != nil {
			return nil, fmt.Errorf("wheel: %w", err)
		}
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("wheel: %w", err)
	}
	return b.Bytes(), nil
}

// packedTime is the time of all files in packages, so that a tree always has the same bytes.
func packedTime() time.Time { return time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC) }

// npmPackage returns a package that npm installs: the module and its types.
func npmPackage(p *program, source []byte, version string) ([]byte, error) {
	list, err := p.texts(version, "index.d.ts.tmpl", "index.d.ts", "README.md.tmpl", "README.md")
	if err != nil {
		return nil, err
	}
	about, err := json.MarshalIndent(npmAbout{
		Name: p.Module, Version: version, Description: "A decision tree that Espalier has trained", Type: "module",
		Main: "index.js", Types: "index.d.ts",
		Exports: map[string]map[string]string{".": {"types": "./index.d.ts", "default": "./index.js"}},
		Engines: map[string]string{"node": ">=14"},
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("package.json: %w", err)
	}
	list = append(list, packedFile{"package.json", append(about, '\n')}, packedFile{"index.js", source})
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Comment = strings.Join(p.Head()[:2], " ") // the digest, and the run if it is known
	w := tar.NewWriter(z)
	for _, f := range list {
		h := &tar.Header{
			Name: "package/" + f.name, Mode: 0o644, Size: int64(len(f.content)), ModTime: packedTime(), Format: tar.FormatUSTAR,
		}
		err := w.WriteHeader(h)
		if err == nil {
			_, err = w.Write(f.content)
		}
		if err != nil {
			return nil, fmt.Errorf("npm package: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("npm package: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("npm package: %w", err)
	}
	return b.Bytes(), nil
}

type npmAbout struct {
	Name        string                       `json:"name"`
	Version     string                       `json:"version"`
	Description string                       `json:"description"`
	Type        string                       `json:"type"`
	Main        string                       `json:"main"`
	Types       string                       `json:"types"`
	Exports     map[string]map[string]string `json:"exports"`
	Engines     map[string]string            `json:"engines"`
}
