package config

import (
	"errors"
	"strings"
)

// Probability names columns of class probabilities.
type Probability struct {
	Prefix, Suffix string // parts of the columns' names around the class; then Column is empty
	Class, Column  string // a class and its column
}

// ParseProbability reads a pattern such as p_*, or CLASS=COLUMN.
func ParseProbability(text string) (Probability, error) {
	prefix, suffix, found := strings.Cut(text, "*")
	switch class, column, one := strings.Cut(text, "="); {
	case found && !strings.Contains(suffix, "*"):
		return Probability{Prefix: prefix, Suffix: suffix}, nil
	case !found && one && class != "" && column != "":
		return Probability{Class: class, Column: column}, nil
	default:
		return Probability{}, errors.New("want a pattern with one * for the class, such as p_*, or CLASS=COLUMN")
	}
}

// ClassOf returns the class whose probabilities a column has; empty if none.
func (p *Probability) ClassOf(column string) string {
	if p.Column != "" {
		if column == p.Column {
			return p.Class
		}
		return ""
	}
	rest, ok := strings.CutPrefix(column, p.Prefix)
	class, ok2 := strings.CutSuffix(rest, p.Suffix)
	if !ok || !ok2 {
		return ""
	}
	return class
}
