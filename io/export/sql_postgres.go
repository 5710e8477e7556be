package export

import (
	"fmt"
	"strings"
)

// Parts of files for PostgreSQL in addition to the query.

const (
	withZone    = "timestamp with time zone"
	withoutZone = "timestamp without time zone"
)

// postgresColumns returns the columns of a prediction with their types.
func postgresColumns(s *sqlText) []string {
	var columns []string
	for i, c := range s.results(func(name string) string { return name }) {
		kind := "double precision"
		switch {
		case i == 0 || c.name == s.path:
			kind = "text"
		case c.name == s.leaf || c.name == s.tests:
			kind = "integer"
		}
		columns = append(columns, c.name+" "+kind)
	}
	return columns
}

// postgresBefore begins a transaction, and drops the view and the functions of an earlier file that
// the statements below would not replace: a view with other columns, and functions with other
// arguments, which would remain in addition to the new function.
func postgresBefore(s *sqlText) []string {
	literal := s.language.text
	ours := func(text string) string {
		return fmt.Sprintf("position(%s IN lower(%s)) > 0", literal(strings.ToLower(s.Name)+"_leaves"), text)
	}
	name := strings.ToLower(s.Name)
	columns := func(of string) string {
		return fmt.Sprintf("ARRAY(SELECT attname || ' ' || format_type(atttypid, atttypmod) FROM pg_attribute\n"+
			"      WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped ORDER BY attnum)", of)
	}
	return []string{
		"BEGIN;", "",
		"-- Makes room: drops what an earlier file made with other columns or arguments, with its rights.",
		"DO $earlier$",
		"DECLARE",
		"  own text[] := " + columns(fmt.Sprintf("to_regclass(%s)", literal(s.table()))) + " || ARRAY[" +
			each(postgresColumns(s), literal) + "];",
		"  earlier record;",
		"BEGIN",
		"  FOR earlier IN SELECT oid::regclass AS name, " + columns("c.oid") + " AS columns FROM pg_class AS c",
		fmt.Sprintf("    WHERE relkind = 'v' AND relname = %s AND relnamespace IN (pg_my_temp_schema(), current_schema()::regnamespace)",
			literal(name)),
		"      AND " + ours("pg_get_viewdef(oid)"),
		"  LOOP",
		"    IF earlier.columns <> own[:cardinality(earlier.columns)] THEN",
		"      EXECUTE 'DROP VIEW ' || earlier.name;",
		"    END IF;",
		"  END LOOP;",
		"  FOR earlier IN SELECT oid::regprocedure AS name FROM pg_proc",
		fmt.Sprintf("    WHERE proname = %s AND pronamespace = current_schema()::regnamespace AND (%s OR %s)", literal(name+"_row"),
			ours("prosrc"), strings.Replace(ours("prosrc"), "_leaves", "_row", 1)),
		"      AND pg_get_function_arguments(oid) || ' ' || pg_get_function_result(oid) <> ALL (ARRAY[" +
			each(postgresVariants(s), func(of map[string]string) string {
				return literal(s.arguments(of) + " TABLE(" + strings.Join(postgresColumns(s), ", ") + ")")
			}) + "]::text[])",
		"  LOOP",
		"    EXECUTE 'DROP FUNCTION ' || earlier.name;",
		"  END LOOP;",
		"END $earlier$;",
	}
}

// zoned lists the constants of the features whose arguments are timestamps with a time zone.
func (s *sqlText) zoned() []string {
	var list []string
	for _, f := range s.Features {
		if m, _ := s.moment(f); m.typed == withZone {
			list = append(list, f.Const)
		}
	}
	return list
}

// postgresVariants returns by constant the types of the arguments in which the variants of the
// function differ, starting with the function itself. For a timestamp without a time zone
// PostgreSQL would otherwise call a function of timestamps with a time zone, and convert the value
// by the time zone of the session.
func postgresVariants(s *sqlText) []map[string]string {
	if !s.callable() {
		return nil
	}
	var all []map[string]string
	zoned := s.zoned()
	for set := range 1 << len(zoned) {
		types := make(map[string]string)
		for i, name := range zoned {
			if set>>i&1 == 1 {
				types[name] = withoutZone
			}
		}
		all = append(all, types)
	}
	return all
}

func postgresFunction(s *sqlText) []string {
	body := s.query(s.row(), false)
	tag := "$model$"
	for i := 0; strings.Contains(body, tag); i++ {
		tag = fmt.Sprintf("$model%d$", i)
	}
	var lines []string
	for i, types := range postgresVariants(s) {
		if i > 0 {
			var arguments []string
			for k, f := range s.Features {
				argument := argumentName(k, f)
				if types[f.Const] == withoutZone {
					argument += " AT TIME ZONE 'UTC'"
				}
				arguments = append(arguments, argument)
			}
			body = fmt.Sprintf("SELECT * FROM %s_row(%s)", s.Name, strings.Join(arguments, ", "))
			lines = append(lines, "", "-- Timestamps without a time zone are in UTC.")
		}
		lines = append(lines, fmt.Sprintf("CREATE OR REPLACE FUNCTION %s_row(%s)", s.Name, s.arguments(types)),
			"RETURNS TABLE ("+strings.Join(postgresColumns(s), ", ")+")", "LANGUAGE sql STABLE AS "+tag, body, tag+";")
	}
	return lines
}
