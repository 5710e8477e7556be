package main

import (
	"flag"
	"path"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/espalier-ml/espalier/io/setting"
)

// sectionKey is the annotation that names a flag's section of the help.
const sectionKey = "espalier_section"

// addFlags adds a flag for each setting, in the section of its group.
func addFlags(f *pflag.FlagSet, settings []setting.Setting) {
	f.SortFlags = false
	for _, s := range settings {
		help := s.Help
		if s.Required {
			help += "; required"
		}
		one := f.VarPF(s.Value, s.Name, "", help)
		one.Annotations = map[string][]string{sectionKey: {s.Group.String()}}
		if s.Value.Type() == "bool" {
			one.NoOptDefVal = "true" // value of the flag without an argument
		}
	}
}

// addBeamFlags accepts the SDK's own flags, without listing them in the help. A flag of
// the verb with the same name takes precedence.
func addBeamFlags(flags *pflag.FlagSet) {
	flag.CommandLine.VisitAll(func(f *flag.Flag) {
		if flags.Lookup(f.Name) == nil {
			flags.AddGoFlag(f)
			flags.Lookup(f.Name).Hidden = true
		}
	})
}

// configSetting declares the config file of a verb.
func configSetting(url *string) setting.Setting {
	return setting.Setting{
		Name: configFlag, Group: setting.Run, Value: setting.Text(url), Help: "YAML file of settings, by flag name",
	}
}

// jsonSetting declares --json.
func jsonSetting(asJSON *bool, help string) setting.Setting {
	return setting.Setting{Name: "json", Group: setting.Printed, Value: setting.Switch(asJSON), Help: help}
}

// takeModel makes a verb take its model as an argument, in place of --model.
func takeModel(c *cobra.Command) {
	c.Args = func(c *cobra.Command, args []string) error {
		model := c.Flags().Lookup("model")
		if len(args) > 0 && !model.Changed && !isYAML(args[0]) {
			if err := c.Flags().Set(model.Name, args[0]); err != nil {
				return err
			}
			args = args[1:]
		}
		return noArguments(c, args)
	}
}

// takeConfig makes a YAML file that is the first argument the file of --config, and returns the other arguments. The
// crontabs of version 0.3 name the file in this way.
func takeConfig(c *cobra.Command, args []string) ([]string, error) {
	config := c.Flags().Lookup(configFlag)
	if len(args) == 0 || !isYAML(args[0]) || config == nil || config.Changed {
		return args, nil
	}
	return args[1:], c.Flags().Set(config.Name, args[0])
}

// isYAML reports whether a file is YAML by its name.
func isYAML(name string) bool { return slices.Contains([]string{".yaml", ".yml"}, path.Ext(name)) }
