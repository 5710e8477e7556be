package rowtype

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// fieldTag is what the tags of a struct field specify about its column.
type fieldTag struct {
	name  string        // name of the column; empty if no tag has a name
	skip  bool          // whether the field is not a column
	tick  time.Duration // unit of integers; 0: the type of the field decides
	unit  dataset.Unit  // unit of points in time; Plain if the options name no unit
	scale int           // for decimals: digits after the decimal point; 0: not decimals
}

// tagKeys returns the tags that parseTag reads, in order of precedence.
func tagKeys() [5]string { return [5]string{"espalier", "parquet", "beam", "bigquery", "json"} }

// parseTag reads the tags of a field. The first of tagKeys with a name decides the column; the name
// "-" leaves the field out. The tags espalier and parquet may have options on how to read the
// values: the first tag with options decides.
//
// The parquet tag has the form of parquet-go ("age,optional") or of Beam's parquetio ("name=age,
// type=INT64"). In the second form the case of keys, and blanks around them, do not matter.
func parseTag(f *reflect.StructField) fieldTag {
	t := fieldTag{tick: time.Nanosecond}
	var named, described bool
	for _, key := range tagKeys() {
		text, ok := f.Tag.Lookup(key)
		if !ok {
			continue
		}
		name, options := splitTag(key, text)
		if !named && (name != "" || text == "-") {
			t.name = name
			t.skip = text == "-"
			named = true
		}
		if !described && len(options) > 0 && (key == "espalier" || key == "parquet") {
			described = true
			t.describe(options)
		}
	}
	return t
}

// splitTag returns the name and the options of a tag. Options of Beam's parquetio are translated
// into options of parquet-go.
func splitTag(key, text string) (name string, options []string) {
	parts := strings.Split(text, ",")
	if key == "parquet" && strings.Contains(parts[0], "=") {
		return splitPairs(parts)
	}
	if text == "-" {
		return "", nil
	}
	for i := range parts[1:] {
		parts[i+1] = strings.TrimSpace(parts[i+1])
	}
	return parts[0], parts[1:]
}

// splitPairs reads the pairs "key=value" of a tag for Beam's parquetio.
func splitPairs(parts []string) (name string, options []string) {
	pairs := make(map[string]string)
	for _, part := range parts {
		key, value, _ := strings.Cut(part, "=")
		pairs[strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
	}
	units := map[string]string{"MILLIS": "millisecond", "MICROS": "microsecond", "NANOS": "nanosecond"}
	for _, key := range []string{"convertedtype", "logicaltype"} {
		kind, unit, _ := strings.Cut(strings.ToUpper(pairs[key]), "_")
		if unit == "" {
			unit = strings.ToUpper(pairs["logicaltype.unit"])
		}
		scale := pairs["scale"] + pairs["logicaltype.scale"]
		switch kind {
		case "DATE":
			options = append(options, "date")
		case "TIMESTAMP":
			options = append(options, "timestamp("+units[unit]+")")
		case "TIME":
			options = append(options, "time("+units[unit]+")")
		case "DECIMAL":
			options = append(options, "decimal("+scale+":)")
		}
	}
	return pairs["name"], options
}

// describe reads options in the form of parquet-go.
func (t *fieldTag) describe(options []string) {
	for _, option := range options {
		word, argument, _ := strings.Cut(strings.TrimSuffix(option, ")"), "(")
		switch word {
		case "date":
			t.tick = 24 * time.Hour
			t.unit = dataset.Date
		case "timestamp":
			t.tick = tickNamed(argument)
			t.unit = dataset.Timestamp
		case "time":
			if t.tick, t.unit = tickNamed(argument), dataset.Time; argument == "" {
				t.tick = 0 // the type of the field decides
			}
		case "decimal":
			digits, _, _ := strings.Cut(argument, ":")
			t.scale, _ = strconv.Atoi(digits) // 0 without digits
		}
	}
}

// tickNamed returns the duration named by the option timestamp(millisecond). For "timestamp" alone
// it is a millisecond, as in parquet-go.
func tickNamed(unit string) time.Duration {
	unit, _, _ = strings.Cut(unit, ":") // drop the time zone
	switch unit {
	case "microsecond":
		return time.Microsecond
	case "nanosecond":
		return time.Nanosecond
	default:
		return time.Millisecond
	}
}
