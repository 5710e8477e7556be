package dataset

import (
	"fmt"
	"time"
)

// Zone says what timestamps are: instants, or times on the clock of a place. Numbers of both kinds look
// alike, and a database converts one into the other by the time zone of its session.
type Zone uint8

// The zones.
const (
	NoZone Zone = iota // no timestamps, or the file does not say which kind
	UTC                // instants
	Local              // times on the clock of a place that is not known
)

// String returns the zone as tree.json and schema.json spell it; empty: NoZone.
func (z Zone) String() string {
	switch z {
	case NoZone:
		return ""
	case UTC:
		return "utc"
	case Local:
		return "local"
	default:
		return "unknown"
	}
}

// With returns the zone of a column of two files, whatever their order: UTC if one of them says so.
func (z Zone) With(other Zone) Zone {
	if other == UTC || z == NoZone {
		return other
	}
	return z
}

// In returns the time whose count in UTC is that of t as a timestamp of the zone: if it is local, what the
// clock of t's own place shows.
func (z Zone) In(t time.Time) time.Time {
	if z != Local {
		return t
	}
	_, ahead := t.Zone()
	return t.Add(time.Duration(ahead) * time.Second)
}

// Things returns the plural of what the timestamps are, for messages.
func (z Zone) Things() string {
	if z == UTC {
		return "timestamps in UTC"
	}
	return "local timestamps"
}

// ParseZone reads a zone's name. Only timestamps have one.
func ParseZone(name string, unit Unit) (Zone, error) {
	for _, z := range []Zone{NoZone, UTC, Local} {
		if z.String() == name && (z == NoZone || unit == Timestamp) {
			return z, nil
		}
	}
	return NoZone, fmt.Errorf("zone %q of %s: want utc or local for timestamps, else none", name, unit.Things())
}
