package dataset

import (
	"fmt"
	"time"

	"github.com/espalier-ml/espalier/induce/naming"
)

// Zone is the kind of a timestamp: an instant, or a local time without a time zone. The numbers of
// both kinds look the same, and databases convert one kind into the other by the time zone of the
// session.
type Zone uint8

// The zones.
const (
	NoZone Zone = iota // not a timestamp, or the file does not specify the kind
	UTC                // instants
	Local              // local times of an unknown time zone
)

// String returns the zone as in tree.json and schema.json; empty for NoZone.
func (z Zone) String() string { return naming.Of(z, NoZone, []string{"", "utc", "local"}) }

// With returns the zone of a column that occurs in two files, in either order: UTC if one of them
// is UTC.
func (z Zone) With(other Zone) Zone {
	if other == UTC || z == NoZone {
		return other
	}
	return z
}

// In returns the time whose count in UTC is the value of t as a timestamp of the zone. For a local
// timestamp it is what a clock at the location of t shows.
func (z Zone) In(t time.Time) time.Time {
	if z != Local {
		return t
	}
	_, ahead := t.Zone()
	return t.Add(time.Duration(ahead) * time.Second)
}

// Things returns the name of such timestamps in messages, in the plural.
func (z Zone) Things() string {
	if z == UTC {
		return "timestamps in UTC"
	}
	return "local timestamps"
}

// ParseZone reads the name of a zone. Only timestamps have a zone.
func ParseZone(name string, unit Unit) (Zone, error) {
	for _, z := range []Zone{NoZone, UTC, Local} {
		if z.String() == name && (z == NoZone || unit == Timestamp) {
			return z, nil
		}
	}
	return NoZone, fmt.Errorf("zone %q of %s: want utc or local for timestamps, else none", name, unit.Things())
}
