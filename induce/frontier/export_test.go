package frontier

// SetScores is what tests of the scores look at.
var SetScores = setScores
