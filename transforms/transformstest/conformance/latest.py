"""Finds the tree that must score each event, from the events alone.

Reads from the standard input a JSON object with the size of the windows in ms, the least number of
rows of a tree, and the events: id and time in ms. Writes an object: for each id the end of the window
whose tree scores the event, or null if no window with a tree ended before it.
"""

import json
import sys


def main():
    given = json.load(sys.stdin)
    size, least = given["size"], given["min_rows"]
    rows = {}
    for event in given["events"]:
        start = event["millis"] // size * size
        rows[start + size] = rows.get(start + size, 0) + 1
    ends = [end for end in rows if rows[end] >= least]
    found = {}
    for event in given["events"] + given["scored"]:
        before = [end for end in ends if end <= event["millis"]]
        found[event["id"]] = max(before) if before else None
    json.dump(found, sys.stdout)


main()
