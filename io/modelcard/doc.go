// Package modelcard writes a model card of a training run: a page in Markdown under the usual
// headings. Facts come from the documents of the run; what only people can say comes from their
// notes, or stays to be filled in. It is not meant for other programs.
package modelcard
