package runfolder

import (
	"runtime/debug"
	"testing"
)

// TestVersionOf: by hand, the forms that go build, go install and go run give.
func TestVersionOf(t *testing.T) {
	here := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: modulePath, Version: version}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}
	modified := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	elsewhere := func(m *debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{
			Main: debug.Module{Path: "example.org/other", Version: "v9.0.0"},
			Deps: []*debug.Module{{Path: "example.org/more", Version: "v8.0.0"}, m},
		}
	}
	for name, c := range map[string]struct {
		info *debug.BuildInfo
		want string
	}{
		"go install @v0.2.0":      {here("v0.2.0"), "v0.2.0"},
		"go build in a checkout":  {here("v0.2.1-0.20261122080000-0123456789ab+dirty", revision), "v0.2.1-0.20261122080000-0123456789ab+dirty"},
		"older go, clean":         {here("(devel)", revision), "0123456789ab"},
		"older go, changed files": {here("(devel)", revision, modified), "0123456789ab+dirty"},
		"go run":                  {here("(devel)"), "devel"},
		"no module":               {&debug.BuildInfo{}, "devel"},
		"required":                {elsewhere(&debug.Module{Path: modulePath, Version: "v0.2.0"}), "v0.2.0"},
		"replaced by a fork":      {elsewhere(&debug.Module{Path: modulePath, Version: "v0.2.0", Replace: &debug.Module{Path: "example.org/fork", Version: "v0.2.1"}}), "v0.2.1"},
		"replaced by a folder":    {elsewhere(&debug.Module{Path: modulePath, Version: "v0.2.0", Replace: &debug.Module{Path: "../espalier"}}), "devel"},
	} {
		if got := versionOf(c.info); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
