package source

import "github.com/espalier-ml/espalier/transforms/jobs"

// Sample returns a part of the input of at least this many rows, spread evenly over it, and its share of
// the rows. It returns the input itself if the input has no more rows.
func (in *Input) Sample(rows int64) (*Input, float64) {
	list, all := in.stretches()
	if all <= rows {
		return in, 1
	}
	for n := max(1, int(float64(len(list))*float64(rows)/float64(all))); ; n = min(n+1+n/8, len(list)) { // sizes may differ a lot
		s := *in
		s.Tasks = nil
		s.Rows = 0
		for i := range n {
			task := list[(2*i+1)*len(list)/(2*n)]
			s.Tasks = append(s.Tasks, task)
			s.Rows += int64(task.Rows)
		}
		if s.Rows >= rows || n == len(list) {
			return &s, float64(s.Rows) / float64(all)
		}
	}
}

// A sample takes stretches of rows from large row groups. A stretch has at least stretchRows rows, because whole pages are
// decoded for it. The input has at most about mostStretches stretches, because each of them is a task in memory.
const (
	stretchRows   = 1 << 14
	mostStretches = 1 << 12
)

// stretches returns tasks of all rows, each of a stretch of a row group, and the number of rows.
func (in *Input) stretches() (list []jobs.Task, all int64) {
	sizes := in.TaskRows()
	for _, rows := range sizes {
		all += rows
	}
	each := max(stretchRows, int(all/mostStretches))
	for i, rows := range sizes {
		n := max(1, int(rows)/each)
		for k := range n {
			task := in.Tasks[i]
			task.First = k * int(rows) / n
			task.Rows = (k+1)*int(rows)/n - task.First
			list = append(list, task)
		}
	}
	return list, all
}

// TaskRows returns the number of rows of each task.
func (in *Input) TaskRows() []int64 {
	rows := make([]int64, 0, len(in.Tasks))
	for _, file := range in.Files {
		for g := range file.RowGroups() {
			if n := file.RowGroupRows(g); n > 0 {
				rows = append(rows, n)
			}
		}
	}
	return rows
}

// Of returns the input with only the files at the given positions. It still has the columns of all
// files.
func (in *Input) Of(files []int) *Input {
	s := *in
	s.Files, s.ByName, s.Below, s.Paths, s.Tasks, s.Rows = nil, nil, nil, nil, nil, 0
	wanted := make(map[string]bool, len(files))
	for _, i := range files {
		s.Files, s.ByName = append(s.Files, in.Files[i]), append(s.ByName, in.ByName[i])
		s.Below, s.Paths = append(s.Below, in.Below[i]), append(s.Paths, in.Paths[i])
		s.Rows += in.Files[i].Rows
		wanted[in.Files[i].URL] = true
	}
	for _, task := range in.Tasks {
		if wanted[task.File] {
			s.Tasks = append(s.Tasks, task)
		}
	}
	return &s
}
