package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/io/setting"
)

// Scheduled has the settings of verbs that a scheduler runs for a day.
type Scheduled struct {
	Date        string // day, 2006-01-02; empty: today in UTC
	MaxLag      int    // days by which the newest day of the input may be late
	OpenMetrics string // file; optional
	Notices     string // file; optional
}

// Settings declares the settings of scheduled verbs.
func (c *Scheduled) Settings() []setting.Setting {
	return setting.In(setting.Run, []setting.Setting{
		{
			Name: "date", Value: setting.Text(&c.Date), Changeable: true,
			Help: "day that {date} stands for in names of files, such as 2026-11-23 (default: today in UTC)",
		},
		{
			Name: "max_lag", Value: setting.Whole(&c.MaxLag, setting.Between(0, 3650)), Changeable: true,
			Help: "days by which the newest files of a range such as {date-29..date} may be late",
		},
		{
			Name: "open_metrics", Value: setting.Text(&c.OpenMetrics), Changeable: true, Conceal: concealInURL,
			Help: "file for figures of the attempt in the text format of OpenMetrics; it is replaced each time",
		},
		{
			Name: "notices", Value: setting.Text(&c.Notices), Changeable: true,
			Help: "file of this machine to which each attempt appends its outcome, as a line of JSON",
		},
	})
}

// concealInURL conceals passwords in a URL.
func concealInURL(value any) any {
	text, _ := value.(string)
	return naming.WithoutSecrets(text)
}

// Day returns the day of the attempt.
func (c *Scheduled) Day(now time.Time) time.Time { return dayOf(c.Date, now) }

// faults returns the faults of the settings.
func (c *Scheduled) faults() []error {
	faults := faultsOfDate(c.Date)
	if strings.Contains(c.Notices, "://") {
		faults = append(faults, fmt.Errorf("--notices %s: want a file of this machine", setting.Word(c.Notices)))
	}
	return faults
}

// dayOf returns the day of --date; today in UTC if it is empty.
func dayOf(date string, now time.Time) time.Time {
	if day, err := time.Parse(time.DateOnly, date); err == nil {
		return day
	}
	return now.UTC().Truncate(24 * time.Hour)
}

// faultsOfDate returns an error for a --date that is not a day.
func faultsOfDate(date string) []error {
	if _, err := time.Parse(time.DateOnly, date); date != "" && err != nil {
		return []error{fmt.Errorf("--date %s: want a day such as 2026-11-23", setting.Word(date))}
	}
	return nil
}
