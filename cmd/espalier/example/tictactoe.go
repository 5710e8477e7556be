// Package example makes the data sets that the README and the examples of packages train on.
package example

import (
	"context"
	"maps"
	"slices"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
)

//go:generate go run ./generate tic-tac-toe tic-tac-toe.parquet

// A board holds x, o or b (blank) in nine squares, row by row.
type board [9]byte

// lines are the rows, columns and diagonals.
func lines() [8][3]int {
	return [8][3]int{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}}
}

func (b *board) won(player byte) bool {
	for _, l := range lines() {
		if b[l[0]] == player && b[l[1]] == player && b[l[2]] == player {
			return true
		}
	}
	return false
}

// play continues all games from a board and collects the boards at their ends.
func play(b board, moves int, ends map[board]bool) {
	player := byte('x')
	if moves%2 == 1 {
		player = 'o'
	}
	for square, mark := range b {
		if mark != 'b' {
			continue
		}
		next := b
		next[square] = player
		if next.won(player) || moves == 8 {
			ends[next] = true
		} else {
			play(next, moves+1, ends)
		}
	}
}

// TicTacToe returns the distinct boards at the end of a game that x began. There are nine
// columns of squares, and the class: positive if x has won, else negative.
func TicTacToe() []parquetio.WriteColumn {
	ends := make(map[board]bool)
	play(board{'b', 'b', 'b', 'b', 'b', 'b', 'b', 'b', 'b'}, 0, ends)
	boards := slices.SortedFunc(maps.Keys(ends), func(a, b board) int { return slices.Compare(a[:], b[:]) })
	var columns []parquetio.WriteColumn
	for i, row := range []string{"top", "middle", "bottom"} {
		for j, column := range []string{"left", "middle", "right"} {
			values := make([]string, len(boards))
			for k := range boards {
				values[k] = string(boards[k][3*i+j])
			}
			columns = append(columns, parquetio.WriteColumn{Name: row + "_" + column, Values: values})
		}
	}
	class := make([]string, len(boards))
	for k := range boards {
		class[k] = "negative"
		if boards[k].won('x') {
			class[k] = "positive"
		}
	}
	return append(columns, parquetio.WriteColumn{Name: "class", Values: class})
}

// Write writes the data set as a Parquet file.
func Write(ctx context.Context, url string) error {
	return parquetio.Write(ctx, objectstore.New(), url, TicTacToe(), parquetio.WriteOptions{})
}
