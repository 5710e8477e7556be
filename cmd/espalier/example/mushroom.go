package example

import (
	"context"
	"fmt"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
)

//go:generate go run ./generate mushroom ../../../bench/data/mushroom/part-00000-of-00001.parquet mushroom.parquet

// Mushrooms writes the Mushroom data set (UCI Machine Learning Repository; J. Schlimmer, 1987) with words in
// place of its letters, in names that need no quotes. from is the file of the data set in bench/data.
func Mushrooms(ctx context.Context, from, to string) error {
	store := objectstore.New()
	f, err := parquetio.Open(ctx, store, from)
	if err != nil {
		return err
	}
	var letters []string
	for _, c := range f.Columns() {
		letters = append(letters, c.Name)
	}
	fields := make([]parquetio.Field, len(letters))
	codes := make([]map[string]uint16, len(letters))
	for i, column := range letters {
		fields[i] = parquetio.Field{Name: strings.ReplaceAll(column, "-", "_"), Optional: true}
		codes[i] = make(map[string]uint16)
		var dictionary []string
		for code, value := range strings.Fields(words(column)) {
			word, letter, _ := strings.Cut(value, "=")
			dictionary = append(dictionary, word)
			codes[i][letter] = uint16(code)
		}
		fields[i].Dictionary = dictionary
	}
	w, err := parquetio.NewWriter(ctx, store, to, fields, parquetio.WriterOptions{})
	if err != nil {
		return err
	}
	defer w.Abort() //nolint:errcheck // after Commit it does nothing
	g, err := f.RowGroup(ctx, 0, letters)
	if err != nil {
		return err
	}
	defer g.Close() //nolint:errcheck // reading only
	for i := range letters {
		if err := spell(w, g, i, codes[i]); err != nil {
			return fmt.Errorf("%s: %w", letters[i], err)
		}
	}
	return w.Commit()
}

// spell writes a column of letters as the codes of their words.
func spell(w *parquetio.Writer, g dataset.RowGroup, column int, codes map[string]uint16) error {
	var v dataset.Vector
	if err := g.ReadColumn(column, &v); err != nil {
		return err
	}
	indexes := make([]uint16, v.Rows())
	for row := range indexes {
		code, known := codes[v.Spell(row)]
		switch {
		case v.Missing(row):
			code = parquetio.Null
		case !known:
			return fmt.Errorf("row %d: the letter %q has no word", row, v.Spell(row))
		}
		indexes[row] = code
	}
	return w.WriteIndexes(indexes)
}

// words lists the values of a column with their letters, as the data set's description (agaricus-lepiota.names)
// gives them.
func words(column string) string {
	const (
		colors   = "brown=n buff=b cinnamon=c gray=g orange=o pink=p red=e white=w yellow=y"
		surfaces = "fibrous=f scaly=y silky=k smooth=s"
	)
	return map[string]string{
		"class":                    "edible=e poisonous=p",
		"cap-shape":                "bell=b conical=c convex=x flat=f knobbed=k sunken=s",
		"cap-surface":              "fibrous=f grooved=g scaly=y smooth=s",
		"cap-color":                "brown=n buff=b cinnamon=c gray=g green=r pink=p purple=u red=e white=w yellow=y",
		"bruises":                  "yes=t no=f",
		"odor":                     "almond=a anise=l creosote=c fishy=y foul=f musty=m none=n pungent=p spicy=s",
		"gill-attachment":          "attached=a descending=d free=f notched=n",
		"gill-spacing":             "close=c crowded=w distant=d",
		"gill-size":                "broad=b narrow=n",
		"gill-color":               "black=k brown=n buff=b chocolate=h gray=g green=r orange=o pink=p purple=u red=e white=w yellow=y",
		"stalk-shape":              "enlarging=e tapering=t",
		"stalk-root":               "bulbous=b club=c cup=u equal=e rhizomorphs=z rooted=r unknown=?",
		"stalk-surface-above-ring": surfaces, "stalk-surface-below-ring": surfaces,
		"stalk-color-above-ring": colors, "stalk-color-below-ring": colors,
		"veil-type":         "partial=p universal=u",
		"veil-color":        "brown=n orange=o white=w yellow=y",
		"ring-number":       "none=n one=o two=t",
		"ring-type":         "cobwebby=c evanescent=e flaring=f large=l none=n pendant=p sheathing=s zone=z",
		"spore-print-color": "black=k brown=n buff=b chocolate=h green=r orange=o purple=u white=w yellow=y",
		"population":        "abundant=a clustered=c numerous=n scattered=s several=v solitary=y",
		"habitat":           "grasses=g leaves=l meadows=m paths=p urban=u waste=w woods=d",
	}[column]
}
