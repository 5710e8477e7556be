package source

// Sample returns an input of evenly spaced row groups with at least this many rows, and their share
// of all rows. It returns all row groups if there are no more rows.
func (in *Input) Sample(rows int64) (*Input, float64) {
	sizes := in.TaskRows()
	all := int64(0)
	for _, n := range sizes {
		all += n
	}
	if all <= rows {
		return in, 1
	}
	for n := max(1, int(float64(len(sizes))*float64(rows)/float64(all))); ; n = min(n+1+n/8, len(sizes)) { // sizes may differ a lot
		s, have := *in, int64(0)
		s.Tasks = nil
		for i := range n {
			at := (2*i + 1) * len(sizes) / (2 * n)
			s.Tasks, have = append(s.Tasks, in.Tasks[at]), have+sizes[at]
		}
		if have >= rows || n == len(sizes) {
			s.Rows = have
			return &s, float64(have) / float64(all)
		}
	}
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
