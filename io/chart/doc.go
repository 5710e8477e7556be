// Package chart draws the pictures of a run from its documents: its frontier, ROC curves,
// calibration, and the importance of features. A Picture is described once, and written as SVG by
// package svg; its axes are also used by other pictures. Equal documents give equal bytes.
//
// Marks and dashes differ as well as colours, for prints without colours. Names may contain any
// characters. They are shortened, and control characters are written as escapes.
//
// It is not meant for other programs.
package chart
