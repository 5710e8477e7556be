package induce

// Teams groups n scanners so that each group can look at the tests of a node together. leads
// reports whether scanner i can scan for scanner j too. The first of each group leads the
// others.
func Teams(n int, leads func(i, j int) bool) [][]int {
	var teams [][]int
scanners:
	for i := range n {
		for at, team := range teams {
			switch {
			case leads(team[0], i):
				teams[at] = append(team, i)
				continue scanners
			case leads(i, team[0]):
				teams[at] = append([]int{i}, team...)
				continue scanners
			}
		}
		teams = append(teams, []int{i})
	}
	return teams
}
