// Package setting declares the settings of a configuration. A declaration gives a
// setting's name, its group, its help, the field that it sets and the values that the
// field may have. Command-line flags, the keys of config files, the JSON of manifests,
// the check of a configuration and the page docs/settings.md are made from these
// declarations. The defaults are the values of the fields when they are declared.
//
// It is not meant for other programs.
package setting
