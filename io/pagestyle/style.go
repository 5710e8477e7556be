// Package pagestyle is the style that all HTML pages of Espalier share.
//
// It is not meant for other programs.
package pagestyle

import _ "embed" // the style

//go:embed base.css
var base string

// CSS returns the shared style.
func CSS() string { return base }
