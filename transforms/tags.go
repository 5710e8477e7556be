package transforms

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// fieldTag is what the tags of a struct field say of its column.
type fieldTag struct {
	name  string        // empty: no tag gives one
	skip  bool          // the field is no column
	tick  time.Duration // 0: that of the field's type
	unit  dataset.Unit  // of points in time; Plain where the options say of none
	scale int           // decimals: digits of the whole number that stand behind the point
}

// tagKeys are the tags that are looked at, the first one before the others.
func tagKeys() [4]string { return [4]string{"espalier", "parquet", "beam", "json"} }

// parseTag reads the tags of a field. The first of tagKeys that gives a name, or
// the name "-", decides on the column. The tags espalier and
// parquet may have options for reading the column's values; the first tag with options
// decides.
//
// The parquet tag is written as for parquet-go ("age,optional") or as for Beam's
// parquetio ("name=age, type=INT64"): its keys are not case-sensitive, and there
// may be blanks around them.
func parseTag(f *reflect.StructField) fieldTag {
	t := fieldTag{tick: time.Nanosecond}
	named, told := false, false
	for _, key := range tagKeys() {
		text, ok := f.Tag.Lookup(key)
		if !ok {
			continue
		}
		name, options := splitTag(key, text)
		if !named && (name != "" || text == "-") {
			t.name, t.skip, named = name, text == "-", true
		}
		if !told && len(options) > 0 && (key == "espalier" || key == "parquet") {
			told = true
			t.describe(options)
		}
	}
	return t
}

// splitTag returns the name in a tag and its options, those of Beam's parquetio in
// the words of parquet-go.
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

// splitPairs reads a tag of pairs "key=value".
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

// describe reads options as parquet-go writes them.
func (t *fieldTag) describe(options []string) {
	for _, option := range options {
		word, argument, _ := strings.Cut(strings.TrimSuffix(option, ")"), "(")
		switch word {
		case "date":
			t.tick, t.unit = 24*time.Hour, dataset.Date
		case "timestamp":
			t.tick, t.unit = tickNamed(argument), dataset.Timestamp
		case "time":
			if t.tick, t.unit = tickNamed(argument), dataset.Time; argument == "" {
				t.tick = 0 // that of the field's type
			}
		case "decimal":
			digits, _, _ := strings.Cut(argument, ":")
			t.scale, _ = strconv.Atoi(digits) // none: 0
		}
	}
}

// tickNamed returns the unit of a timestamp, as the option timestamp(millisecond)
// has it; "timestamp" alone counts milliseconds, as parquet-go writes it.
func tickNamed(unit string) time.Duration {
	unit, _, _ = strings.Cut(unit, ":") // the zone follows
	switch unit {
	case "microsecond":
		return time.Microsecond
	case "nanosecond":
		return time.Nanosecond
	default:
		return time.Millisecond
	}
}
