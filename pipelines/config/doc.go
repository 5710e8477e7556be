// Package config holds the settings of each verb: its fields, their defaults, and one
// declaration for each setting, from which come the flag, the YAML key, the JSON of the manifest,
// the help and the page docs/settings.md.
//
// To add a setting: give it a field in the struct of its group, and a declaration in the
// list of the same group.
package config
