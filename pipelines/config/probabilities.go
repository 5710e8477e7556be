package config

import (
	"errors"
	"strings"

	"github.com/espalier-ml/espalier/induce/distill"
)

// teacherNone is the value of --teacher without one.
const teacherNone = string(distill.None)

// conflictsOfTeacher returns the faults of settings that do not go with --teacher, and of
// settings of a teacher where there is none.
func (c *Train) conflictsOfTeacher() []error {
	var faults []error
	asked, teacher := distill.Teacher(c.Teacher).Asked(), "--teacher "+c.Teacher
	if asked && len(c.LabelProbabilities) > 0 {
		faults = append(faults, errors.New(teacher+" and --label_probabilities are two teachers: choose one"))
	}
	if asked && len(c.Monotone) > 0 {
		faults = append(faults, errors.New(teacher+" does not keep --monotone: leave out one of the two"))
	}
	if asked && c.Select == SelectFirst {
		faults = append(faults, errors.New(teacher+" makes trees to choose among: --select first chooses nothing; "+
			"name a rule that does, such as --select best"))
	}
	if c.Teacher == teacherNone && c.MadeUpRows >= 0 {
		faults = append(faults, errors.New("--made_up_rows are for a teacher: add --teacher auto"))
	}
	if c.Teacher == teacherNone && len(c.LabelProbabilities) == 0 && c.TeacherWeight != defaultTeacherWeight {
		faults = append(faults, errors.New("--teacher_weight is the share of a teacher: "+
			"name the columns of --label_probabilities, or add --teacher auto"))
	}
	return faults
}

// defaultTeacherWeight is TeacherWeight where there is a label.
const defaultTeacherWeight = 0.5

// Probability names columns of class probabilities.
type Probability struct {
	Prefix, Suffix string // of the columns, around the class; Column is empty
	Class, Column  string // one class and its column
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

// ClassOf returns the class whose probabilities a column has; empty: it has none.
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
