package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core"
	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/pipelines"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(c.OutOrStdout(), versionLine())
			return err
		},
	}
}

// versionLine says what this binary is made of.
func versionLine() string {
	return fmt.Sprintf("espalier %s%s, %s %s/%s, Beam %s",
		pipelines.Version, revision(), runtime.Version(), runtime.GOOS, runtime.GOARCH, core.SdkVersion)
}

// revision returns the commit that the binary was built from, if it is known.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	commit, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			commit = " " + s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = " modified"
		}
	}
	if commit == "" {
		return ""
	}
	return " (" + commit[1:] + modified + ")"
}
