package transforms

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// TestKeptTrees: trees come in any order, late panes replace earlier ones, and the trees before the latest tree of a
// time are forgotten.
func TestKeptTrees(t *testing.T) {
	var k keptTrees
	names := make(map[treeID]string)
	for _, tree := range []struct {
		end, pane int64
		json      string
	}{{20, 1, "b1"}, {-10, 0, "a"}, {40, 0, "d"}, {20, 0, "b0"}, {30, 0, "c"}, {30, 1, "c1"}} {
		got, stored, err := readTree(appendTree(tree.end, tree.pane, identified([]byte(tree.json))))
		if _, encoded, _ := identity(stored); err != nil || got.End != tree.end || string(encoded) != tree.json {
			t.Fatalf("%s: %d, %q, %v", tree.json, got.End, encoded, err)
		}
		names[got.ID] = tree.json
		k.add(got)
	}
	found := func() string {
		var list []string
		for _, at := range []int64{-11, -10, 19, 20, 30, 39, 50} {
			name := "-"
			if n := k.before(at); n > 0 {
				name = names[k.id(n-1)]
			}
			list = append(list, name)
		}
		return strings.Join(list, " ")
	}
	if got, want := found(), "- a a b1 c1 c1 d"; got != want {
		t.Errorf("found %q, want %q", got, want)
	}
	for _, c := range []struct {
		at   int64
		want string
	}{
		{-20, "- a a b1 c1 c1 d false"}, {19, "- a a b1 c1 c1 d false"}, {30, "- - - - c1 c1 d true"}, {90, "- - - - - - d true"},
	} {
		var read keptTrees
		k.Reached = c.at
		if !read.decode(k.encode()) {
			t.Fatal("the state is not read")
		}
		for _, at := range []int64{-11, 20, 35} {
			if n := k.before(at); read.before(at) != n || n > 0 && read.id(n-1) != k.id(n-1) {
				t.Errorf("%+v finds other trees than %+v", read, k)
			}
		}
		if read.load(); !reflect.DeepEqual(read, keptTrees{Trees: k.Trees, Stored: k.Stored, Forgot: k.Forgot, Reached: c.at}) {
			t.Errorf("%+v is read as %+v", k, read)
		}
		if k.forget(c.at); fmt.Sprint(found(), " ", k.Forgot) != c.want {
			t.Errorf("forgotten up to %d: %q, want %q", c.at, fmt.Sprint(found(), " ", k.Forgot), c.want)
		}
	}
}

// TestForm: fields that are swapped, added or of another type make another form; the name of the type does not.
func TestForm(t *testing.T) {
	type before struct {
		X, Y  float64
		Class string
	}
	type renamed struct {
		X, Y  float64
		Class string
	}
	form := func(row any) string { return string(formOf([]beam.EncodedType{{T: reflect.TypeOf(row)}})) }
	want := form(before{})
	if form(renamed{}) != want || form(&renamed{}) == want {
		t.Error("a type of another name has another form, or a pointer the same")
	}
	for name, row := range map[string]any{
		"swapped": struct {
			Y, X  float64
			Class string
		}{},
		"more": struct {
			X, Y, Z float64
			Class   string
		}{},
		"text": struct {
			X     float64
			Y     string
			Class string
		}{},
		"list": struct {
			X     []float64
			Y     float64
			Class string
		}{},
	} {
		if form(row) == want {
			t.Errorf("%s: the same form", name)
		}
	}
	if form(map[string]any{}) == form(map[string]float64{}) || form([]float32{}) == form([]float64{}) {
		t.Error("elements of other types have the same form")
	}
	if new(keptTrees).decode([]byte(`{"Trees":null}`)) {
		t.Error("a state of another version is read")
	}
}

// BenchmarkKeptTrees reads from its state which tree scores a pack, with 1, 24 and 168 kept trees.
func BenchmarkKeptTrees(b *testing.B) {
	for _, trees := range []int64{1, 24, 168} {
		b.Run(fmt.Sprint("trees=", trees), func(b *testing.B) {
			var kept keptTrees
			for at := range trees {
				kept.add(windowEnd{End: at * 3_600_000})
			}
			encoded := kept.encode()
			for b.Loop() {
				var k keptTrees
				if !k.decode(encoded) || k.before(1<<40) != int(trees) {
					b.Fatal("the state is damaged")
				}
			}
		})
	}
}

// TestPacksOfAnotherType: a pack on its way to its tree is dropped if the type of the rows has changed, and is as it was
// otherwise.
func TestPacksOfAnotherType(t *testing.T) {
	var packs [][]byte
	pack := &packFn{packing: packing{Types: []beam.EncodedType{{T: reflect.TypeFor[plainRow]()}}}, Stretch: 10}
	pack.Setup()
	emit := func(_ beam.EventTime, b []byte) { packs = append(packs, b) }
	pack.StartBundle(emit)
	for i := range 3 {
		if err := pack.ProcessElement(beam.EventTime(20+i), plainRow{B: i}, emit); err != nil {
			t.Fatal(err)
		}
	}
	pack.FinishBundle(emit)
	if len(packs) != 1 || rowsOfPack(packs[0]) != 3 {
		t.Fatalf("%d packs, want one of 3 rows", len(packs))
	}
	form := formOf(pack.Types)
	_, value := (&shardPacksFn{Shards: 1, Form: form}).ProcessElement(packs[0])
	for _, c := range []struct {
		form []byte
		want string
	}{{form, string(packs[0])}, {formOf([]beam.EncodedType{{T: reflect.TypeFor[benchmarkRow]()}}), ""}} {
		f := &findTreesStreamFn{stretched: stretched{Length: 10, Form: c.form}}
		got := ""
		_, err := f.take(t.Context(), nil, &keptTrees{Reached: 20}, value, func(at beam.EventTime, _, b []byte) {
			got += string(b)
			if at != 20 {
				t.Errorf("a pack at %v, want 20", at)
			}
		})
		if err != nil || got != c.want {
			t.Errorf("form %x: %q, %v, want %q", c.form, got, err, c.want)
		}
	}
}

// TestTreeCache: trees in use stay, however many have come and gone, and those that are not used are forgotten.
func TestTreeCache(t *testing.T) {
	var r treeCache[int]
	const size = treeCacheBytes / 4
	r.put(treeID{}, 7, size)
	for i := range 100 {
		if got, found := r.get(treeID{}); !found || got != 7 {
			t.Fatalf("the tree in use is %d, %t after %d others", got, found, i)
		}
		r.put(treeID{1, byte(i)}, i, size)
	}
	kept := 0
	for i := range 100 {
		if _, found := r.get(treeID{1, byte(i)}); found {
			kept++
		}
	}
	if _, found := r.get(treeID{1, 99}); !found || kept > 2*treeCacheBytes/size || len(r.recent)+len(r.before) > 2*treeCacheBytes/size {
		t.Errorf("%d of 100 trees are kept, of them the last one: %t", kept, found)
	}
}
