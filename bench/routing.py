"""The way of rows through a tree.json, in numpy."""

import numpy as np


def holds(when, test, feature, values):
    """Says for each value whether a condition holds for it."""
    missing = np.array([v is None for v in values])
    if feature['type'] == 'categorical':
        listed = feature['values']
        if 'in' in when or 'not_in' in when:
            inside = np.array([v in (when.get('in') or when['not_in']) for v in values])
            return inside if 'in' in when else ~inside & ~missing
        if 'other' in when or 'not_other' in when:
            other = np.array([v is not None and v not in listed for v in values])
            return other if 'other' in when else ~other & ~missing
    else:
        x = np.array([np.nan if v is None else float(v) for v in values])
        with np.errstate(invalid='ignore'):
            if 'not_ge' in when:
                return ~((x >= when['not_ge']) & (x < when['not_lt'])) & ~missing
            if 'ge' in when or 'lt' in when:
                return (x >= when.get('ge', -np.inf)) & (x < when.get('lt', np.inf)) & ~missing
    return missing if 'missing' in when else ~missing


class Tree:
    """A tree.json, with the answers of some rows to all of its tests."""

    def __init__(self, document, columns, rows):
        self.nodes, self.rows = document['nodes'], rows
        self.features = {f['name']: f for f in document['features']}
        self.answers = {}  # by inner node: number of the branch, by row
        for n in self.nodes:
            if 'test' not in n:
                continue
            name = n['test']['feature']
            f, values = self.features[name], columns[name]
            branch = np.full(rows, -1)
            for i, b in enumerate(n['branches']):
                branch[holds(b['when'], n['test'], f, values)] = i
            for i, b in enumerate(n['branches']):  # what no condition takes
                if b.get('missing'):
                    branch[(branch < 0) & np.array([v is None for v in values])] = i
                if b.get('other'):
                    branch[(branch < 0) & np.array([v is not None for v in values])] = i
            assert (branch >= 0).all(), (n['id'], name)
            self.answers[n['id']] = branch

    def leaves(self, moved='', by=0):
        """Sends the rows to leaves. The answers on one feature are rolled by some places."""
        leaf, at = np.zeros(self.rows, int), [(0, np.arange(self.rows))]
        while at:
            node, ids = at.pop()
            n = self.nodes[node]
            if 'test' not in n:
                leaf[ids] = node
                continue
            answers = self.answers[node]
            if n['test']['feature'] == moved:
                answers = np.roll(answers, by)
            for i, b in enumerate(n['branches']):
                there = ids[answers[ids] == i]
                if len(there):
                    at.append((b['child'], there))
        return leaf
