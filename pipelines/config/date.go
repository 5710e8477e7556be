package config

import (
	"fmt"
	"time"

	"github.com/espalier-ml/espalier/io/setting"
)

// DateFormat is the form of a date.
const DateFormat = "2006-01-02"

// dayOf returns the day of --date; today in UTC if it is empty.
func dayOf(date string, now time.Time) time.Time {
	if day, err := time.Parse(DateFormat, date); err == nil {
		return day
	}
	return now.UTC().Truncate(24 * time.Hour)
}

// faultsOfDate returns an error for a --date that is not a day.
func faultsOfDate(date string) []error {
	if _, err := time.Parse(DateFormat, date); date != "" && err != nil {
		return []error{fmt.Errorf("--date %s: want a day such as 2026-11-23", setting.Word(date))}
	}
	return nil
}
