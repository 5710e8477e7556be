package frontier

// What tests of the scores look at.
var (
	SetScores = setScores
	AreaError = areaError
)
