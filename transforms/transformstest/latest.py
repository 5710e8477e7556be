"""Finds the tree that must score each event, from the events alone.

Reads from the standard input a JSON object with the size of the windows in ms, the least number of
rows of a tree, whether there is a gate, and the events: id, time in ms, x and class. Writes an
object: for each id the end of the window whose tree scores the event, or null if no window with a
tree ended before it. The gate must accept the trees of windows in which most classes follow the
rule, that large x leave and small x stay, and must refuse the trees of other windows.
"""

import json
import sys


def main():
    given = json.load(sys.stdin)
    size, least = given["size"], given["min_rows"]
    rows, follows, opposes = {}, {}, {}
    for event in given["events"]:
        start = event["millis"] // size * size
        rows[start + size] = rows.get(start + size, 0) + 1
        if event["class"] != "gone":
            side = follows if (event["x"] > 0.5) == (event["class"] == "leave") else opposes
            side[start + size] = side.get(start + size, 0) + 1
    ends = [end for end in rows if rows[end] >= least]
    if given["gate"]:
        ends = [end for end in ends if follows.get(end, 0) > 2 * opposes.get(end, 0)]
    found = {}
    for event in given["events"] + given["scored"]:
        before = [end for end in ends if end <= event["millis"]]
        found[event["id"]] = max(before) if before else None
    json.dump(found, sys.stdout)


main()
