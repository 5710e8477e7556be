package runfolder

import (
	"cmp"
	"runtime/debug"
)

// modulePath is the path by which other modules require this one.
const modulePath = "github.com/espalier-ml/espalier"

// unversioned is the version of a build without a release and a commit, such as `go run`.
const unversioned = "devel"

// Version returns the version of Espalier in this program, from the build information: a release
// (v0.2.0), otherwise a commit, otherwise "devel". Manifests and checkpoints name it.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unversioned
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	if info.Main.Path == modulePath {
		return cmp.Or(released(&info.Main), commit(info), unversioned)
	}
	for _, module := range info.Deps {
		if module.Path == modulePath {
			if module.Replace != nil {
				module = module.Replace
			}
			return cmp.Or(released(module), unversioned)
		}
	}
	return unversioned
}

// released returns the version of a module; empty for a working copy.
func released(module *debug.Module) string {
	if module.Version == "(devel)" {
		return ""
	}
	return module.Version
}

// commitDigits is the number of digits of a commit in go.mod.
const commitDigits = 12

// commit returns the commit of the main module, marked if files had changed since; empty if the
// build does not record it.
func commit(info *debug.BuildInfo) string {
	var revision, mark string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(commitDigits, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			mark = "+dirty"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + mark
}
