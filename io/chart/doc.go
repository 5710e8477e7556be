// Package chart draws the pictures of a run from its documents: its frontier, ROC curves, calibration, and
// what the features bring. A Picture is described once, and written as SVG by package svg; its axes serve
// other pictures, too. Equal documents give equal bytes.
//
// Marks and dashes differ as well as colours, for prints without colours. Names may have any characters.
// They are shortened, and characters that steer a text are written as escapes.
//
// It is not meant for other programs.
package chart
