package runfolder

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/usage"
)

// Run is the content of a folder: a value for each document. A document without a value is
// not in the folder. To add a document, add its value here and its entry to Documents.
type Run struct {
	Tree     *tree.Tree   // of training
	Metrics  *Metrics     // of training; of predictions with labels
	Schema   *tree.Schema // of training
	Frontier *Frontier    // of training with a choice among trees
	Trees    []*tree.Tree // by point of Frontier
	Grown    *Grown       // of training with a choice among trees

	Strata     *tree.Tree  // of training with values that were never ordered: the counting tree, see tree.Strata
	Importance *Importance // of training
	Report     []byte      // of training: report.html
	Card       []byte      // of training: model_card.md

	Distribution *Distribution // of training

	Manifest    *Manifest            // of training
	Predictions *PredictionsManifest // of predictions
	Imported    *ImportManifest      // of import

	Rows []string // names of the Parquet files, which are written before the documents
}

// Document describes a file of a folder, or many files of one form.
type Document struct {
	Name   string // the file below the folder; the first of many files
	Kinds  []Kind // the kinds of folders with this document
	Holds  string // its content, for the documentation
	Schema string // name of its JSON Schema, see Schemas; empty if it has none
	Values Values // values of the rows that it may contain

	optional bool                  // whether there are runs without it
	many     func(r *Run) []string // names of the files, if there may be any number; nil if there is a single file
	pattern  string                // matches the names of many files, including files of other runs; empty if verbs name them
	hidden   bool                  // whether the folder of many files may refuse to be listed, so that taken names are found when writing

	codec // zero if the files are written and read elsewhere
}

// Documents lists all documents, in the order of the list in manifest.json.
func Documents() []Document {
	training := []Kind{Training}
	predictions := []Kind{Predictions}
	documents := []Document{
		{
			Name: "NAME.parquet", Kinds: predictions, many: rowFiles,
			Holds:  "predictions for the input file NAME",
			Values: RowValues,
		},
		{
			Name: TreeName, Kinds: training, Schema: "tree", codec: treeCodec(),
			Holds:  "the model, and the features it tests",
			Values: TestedValues | Ends,
		},
		{
			Name: MetricsName, Kinds: training, Schema: "metrics", codec: metricsCodec(),
			Holds:  "figures by part of the rows",
			Values: SliceValues,
		},
		{
			Name: DataMetricsName, Kinds: predictions, Schema: "metrics", codec: metricsCodec(), optional: true,
			Holds:  "figures, where the rows have a label",
			Values: SliceValues,
		},
		{
			Name: StrataName, Kinds: training, Schema: "tree", optional: true,
			codec:  text(func(r *Run) **tree.Tree { return &r.Strata }, (*tree.Tree).Encode, decodeTree),
			Holds:  "strata for values that nobody ordered",
			Values: TestedValues | AllValues | Ends,
		},
		{
			Name: ImportanceName, Kinds: training, Schema: "importance", optional: true,
			codec: inJSON("importance", func(r *Run) **Importance { return &r.Importance }),
			Holds: "what each feature brings and costs",
		},
		{
			Name: ReportName, Kinds: training, codec: pageCodec(func(r *Run) *[]byte { return &r.Report }), optional: true,
			Holds:  "the tree and its figures, for people",
			Values: FrontierValues | SliceValues,
		},
		{
			Name: CardName, Kinds: training, codec: pageCodec(func(r *Run) *[]byte { return &r.Card }), optional: true,
			Holds: "the model card, if it was asked for",
		},
		{
			Name: SchemaName, Kinds: training, Schema: "schema",
			codec:  text(func(r *Run) **tree.Schema { return &r.Schema }, (*tree.Schema).Encode, tree.DecodeSchema),
			Holds:  "each column's use, cuts, values, cost",
			Values: TestedValues | AllValues | Ends,
		},
		{
			Name: ManifestName, Kinds: training, Schema: "manifest",
			codec: inJSON("manifest", func(r *Run) **Manifest { return &r.Manifest }),
			Holds: "settings, inputs, times, list of files",
		},
		{
			Name: DataManifestName, Kinds: predictions, Schema: "predictions",
			codec:  inJSON("predictions", func(r *Run) **PredictionsManifest { return &r.Predictions }),
			Holds:  "settings, new values, list of files",
			Values: NewValues,
		},
	}
	return slices.Concat(documents, growthDocuments(), importDocuments())
}

// growthDocuments lists the documents of training from which other verbs continue.
func growthDocuments() []Document {
	training := []Kind{Training}
	return []Document{
		{
			Name: DistributionName, Kinds: training, Schema: "distribution", optional: true,
			codec: text(func(r *Run) **Distribution { return &r.Distribution }, (*Distribution).encode,
				func(b []byte) (*Distribution, error) { return decodeJSON[Distribution]("distribution", b) }),
			Holds:  "training rows by bin of each feature",
			Values: TestedValues | AllValues,
		},
		{
			Name: FrontierName, Kinds: training, Schema: "frontier", optional: true,
			codec: inJSON("frontier", func(r *Run) **Frontier { return &r.Frontier }),
			Holds: "the best tree at each expected cost",
		},
		{
			Name: FrontierTree(0), Kinds: training, Schema: "tree", codec: treesCodec(),
			many: treeFiles, pattern: frontierFolder + "/[0-9][0-9][0-9]*.json", hidden: true,
			Holds:  "the trees of frontier.json",
			Values: TestedValues | Ends,
		},
		{
			Name: GrownName, Kinds: training, codec: grownCodec(), optional: true,
			Holds:  "all grown trees, for other choices",
			Values: TestedValues | AllValues | Ends,
		},
	}
}

// importDocuments lists the documents of import.
func importDocuments() []Document {
	return []Document{
		{
			Name: DataManifestName, Kinds: []Kind{Imported}, Schema: "import",
			codec: inJSON("import", func(r *Run) **ImportManifest { return &r.Imported }),
			Holds: "settings, columns, list of files",
		},
		{
			Name: PartName(0), Kinds: []Kind{Imported}, many: rowFiles, pattern: "part-*.parquet",
			Holds:  "the rows; `part-*` is import's alone",
			Values: RowValues,
		},
	}
}

// Names that other documents or verbs need.
const (
	TreeName     = "tree.json"
	MetricsName  = "metrics.json"
	ManifestName = "manifest.json"
	FrontierName = "frontier.json"
	GrownName    = frontierFolder + "/grown.bin"
	ReportName   = "report.html"
	CardName     = "model_card.md"
	SchemaName   = "schema.json"
	StrataName   = "strata.json"

	ImportanceName = "importance.json"

	// Names in folders of data. Other programs take every file for data unless its name begins with
	// _.
	DataManifestName = "_manifest.json"
	DataMetricsName  = "_metrics.json"

	frontierFolder = "frontier"
)

func rowFiles(r *Run) []string { return r.Rows }

func treeFiles(r *Run) []string {
	names := make([]string, len(r.Trees))
	for i := range names {
		names[i] = r.Frontier.Points[i].Tree
	}
	return names
}

// FrontierTree returns the file of the tree of a point of the frontier.
func FrontierTree(point int) string { return fmt.Sprintf("%s/%03d.json", frontierFolder, point) }

// PointNumber returns the number in the name of the file of a tree of the frontier.
func PointNumber(file string) (int, error) {
	name := strings.TrimSuffix(strings.TrimPrefix(file, frontierFolder+"/"), ".json")
	n, err := strconv.Atoi(name)
	if err != nil || n < 0 || FrontierTree(n) != file {
		return 0, usage.Errorf("%s lists the tree %q, which no run writes", FrontierName, file)
	}
	return n, nil
}

// Folders lists the folders, below the run folder, that contain documents.
func Folders() []string {
	var names []string
	for _, d := range Documents() {
		names = append(names, d.Name)
	}
	return foldersOf(names)
}

// PartName returns the name of a Parquet file of import.
func PartName(file int64) string { return fmt.Sprintf("part-%05d.parquet", file) }

// PartNames returns the names of the first n Parquet files.
func PartNames(n int64) []string {
	names := make([]string, 0, n)
	for file := range n {
		names = append(names, PartName(file))
	}
	return names
}

// names lists the document's files.
func (d *Document) names(r *Run) []string {
	switch {
	case d.many != nil:
		return d.many(r)
	case d.optional && !d.has(r):
		return nil
	default:
		return []string{d.Name}
	}
}

// files encodes the document's files; empty if they are written elsewhere.
func (d *Document) files(r *Run) ([]File, error) {
	names := d.names(r)
	if d.encode == nil || len(names) == 0 {
		return nil, nil
	}
	if !d.has(r) {
		return nil, fmt.Errorf("%s: the run has no value for it", d.Name)
	}
	files, err := d.encode(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Name, err)
	}
	for i, name := range names {
		files[i].Name = name
	}
	return files, nil
}

//go:embed schemas/*.schema.json
var schemas embed.FS

// schemaExtension is the suffix of the file name of a JSON Schema.
const schemaExtension = ".schema.json"

// Schemas returns the JSON Schemas of all documents by Document.Schema, and of the outputs of verbs that belong
// to no run, such as a line of ask --json. The title of a schema says what it describes.
func Schemas() map[string][]byte {
	files, err := fs.Glob(schemas, "schemas/*"+schemaExtension)
	if err != nil {
		panic(err) // the pattern is valid
	}
	all := make(map[string][]byte)
	for _, file := range files {
		b, err := schemas.ReadFile(file)
		if err != nil {
			panic(err) // it was just listed
		}
		all[strings.TrimSuffix(path.Base(file), schemaExtension)] = b
	}
	return all
}
