package main

import (
	"fmt"
	"runtime"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core"
	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/io/runfolder"
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

// versionLine names Espalier, the compiler, the platform and Beam.
func versionLine() string {
	return fmt.Sprintf("espalier %s, %s %s/%s, Beam %s",
		runfolder.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, core.SdkVersion)
}
