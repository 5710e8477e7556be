#!/usr/bin/env python3
"""Independent check of a tree.json against the rows it was trained on, by the rule of its classes: without
"classes" in its algorithm the rows of an object count for the object's majority class, with "rows" the impurity and
the end of growth count each row's own class.

    judge.py TREE.json FOLDER_OR_FILES... [--greedy-nodes N] [--ignore a,b] [--metrics METRICS.json]

For a tree trained on every row (--split 100/0/0), un-pruned and without a budget (depth, leaves, ...),
it recomputes from the Parquet rows, with nothing but numpy and pyarrow:
  1 codes, objects, relabelled rows;      4 each inner node's test is the greedy choice, its score to 1e-9;
  2 rows, objects, weights of each node;  5 leaf estimates; expected cost and tests;
  3 why each leaf is a leaf;              6 quantile cuts by the rule; k-means bins never worse than scikit-learn's
                                            (when it is installed).
Exit 0 and a line of figures when all hold; else the first differences and exit 1.
"""
import argparse, glob, json, os, sys
import numpy as np
import pyarrow as pa, pyarrow.parquet as pq

EPS = 1e-12
bad = []


def fail(msg):
    bad.append(msg)
    if len(bad) <= 20: print('DIFF', msg)


def close(a, b, tol=1e-9): return abs(a - b) <= tol * max(1.0, abs(a), abs(b))


def text(v):
    """a categorical value as tree.json spells it"""
    if isinstance(v, (bool, np.bool_)): return 'true' if v else 'false'
    if isinstance(v, (float, np.floating)) and float(v).is_integer(): return str(int(v))
    return str(v)


def with_untested(tree, schema):
    """tree.json may list the features that it tests only; schema.json beside it then has the others, spelled alike"""
    listed = {f['name']: f for f in tree['features']}
    if os.path.exists(schema):
        columns = [c for c in json.load(open(schema)).get('columns', []) if c.get('role') == 'feature' and ('cuts' in c or 'values' in c)]
        if columns: tree['features'] = [listed.get(c['name'], dict({'missing': 0, 'cost': 1}, **c)) for c in columns]
    return tree


def column(t, name):
    """values as python list or float array, and a mask of missing"""
    c = t[name].combine_chunks()
    if pa.types.is_dictionary(c.type): c = c.cast(c.type.value_type)
    miss = np.asarray(c.is_null())
    if pa.types.is_floating(c.type):
        v = c.to_numpy(zero_copy_only=False).astype(float); return v, miss | np.isnan(v)
    if pa.types.is_integer(c.type):
        return c.fill_null(0).to_numpy(zero_copy_only=False), miss
    if pa.types.is_boolean(c.type):
        return np.array(['true' if x else 'false' for x in c.fill_null(False).to_pylist()], dtype=object), miss
    return np.array([text(x) if x is not None else '' for x in c.to_pylist()], dtype=object), miss


def entropy(w):
    t = w.sum(-1, keepdims=True)
    with np.errstate(divide='ignore', invalid='ignore'):
        q = np.where(t > 0, w / t, 0.0); return -(q * np.where(q > 0, np.log2(q), 0)).sum(-1)


def gini(w):
    t = w.sum(-1, keepdims=True)
    with np.errstate(divide='ignore', invalid='ignore'):
        q = np.where(t > 0, w / t, 0.0); return np.where(t[..., 0] > 0, 1 - (q * q).sum(-1), 0.0)


def pairs(n): t = n.sum(-1); return (t * t - (n * n).sum(-1)) / 2


class Data:
    def __init__(self, tree, t):
        self.tree = tree; lab = tree['label']; self.k = len(lab['classes'])
        v, miss = column(t, lab['column'])
        idx = {c: i for i, c in enumerate(map(text, lab['classes']))}
        keep = ~miss; y = np.array([idx.get(text(x), -1) for x in v])
        if (y[keep] < 0).any(): fail('a class of the rows is not in label.classes')
        self.dropped = int(miss.sum()); y = y[keep]
        cols = []; self.codes = []
        for f in tree['features']:
            x, m = column(t, f['name']); x = x[keep]; m = m[keep]
            if f['type'] == 'numeric':
                cuts = np.array(f['cuts'], float)
                if (np.diff(cuts) <= 0).any(): fail(f"{f['name']}: cuts are not increasing")
                code = np.searchsorted(cuts, np.where(m, 0, x).astype(float), side='right'); code[m] = len(cuts) + 1
                n = len(cuts) + 1
            else:
                vals = {text(s): i for i, s in enumerate(f['values'])}; n = len(vals) + 1
                u, inv = np.unique(np.array([text(s) for s in x], dtype=object).astype(str), return_inverse=True)
                code = np.array([vals.get(s, len(vals)) for s in u])[inv] if len(u) else np.zeros(0, int)
                code[m] = n
                other = int(((code == len(vals)) & ~m).sum())
                if other != f.get('other', 0): fail(f"{f['name']}: {other} rows of other values, tree says {f.get('other', 0)}")
            if int(m.sum()) != f.get('missing', 0): fail(f"{f['name']}: {int(m.sum())} missing rows, tree says {f.get('missing', 0)}")
            cols.append(code); self.codes.append((n, int(m.sum())))
        C = np.stack(cols, 1).astype(np.int32) if cols else np.zeros((len(y), 0), np.int32)
        o, inv = np.unique(np.ascontiguousarray(C).view([('', np.int32)] * C.shape[1]).ravel(), return_inverse=True)
        first = np.zeros(len(o), int); first[inv[::-1]] = np.arange(len(y))[::-1]
        self.X = C[first]; raw = np.zeros((len(o), self.k)); np.add.at(raw, (inv, y), 1)
        self.raw = raw; self.w = raw.sum(1); self.y = raw.argmax(1); self.W = self.w.sum()
        self.relabelled = int(self.W - raw[np.arange(len(o)), self.y].sum())
        self.C, self.rowy = C, y

    def tests(self):
        """(feature, kind, code, cost) in tie order; outcome of object codes by `outcome`"""
        fam = self.tree['algorithm']['tests']; out = []
        for j, f in enumerate(self.tree['features']):
            n, miss = self.codes[j]; c = f.get('cost', 1); cat = f['type'] == 'categorical'
            if fam == 'multiway' and cat: out.append((j, 'multiway', -1, c)); continue
            if not cat and fam in ('threshold', 'both', 'multiway'): out += [(j, 'threshold', b, c) for b in range(1, n)]
            if not cat and fam in ('onehot', 'both'): out += [(j, 'bin', b, c) for b in range(n)]
            if cat:
                out += [(j, 'equals', b, c) for b in range(n - 1)]
                if f.get('other', 0): out.append((j, 'other', n - 1, c))
            if miss: out.append((j, 'missing', n if cat else n, c))
        return out

    def outcome(self, test, idx):
        j, kind, b, _ = test; x = self.X[idx, j]; n = self.codes[j][0]
        if kind == 'threshold': return ((x >= b) & (x < n)).astype(int)
        if kind == 'missing': return (x == n if self.tree['features'][j]['type'] == 'categorical' else x == n).astype(int)
        if kind == 'multiway': return x
        return (x == b).astype(int)


def numeric_missing_code(D):
    for j, f in enumerate(D.tree['features']):
        if f['type'] == 'numeric': D.X[:, j] = np.where(D.X[:, j] > D.codes[j][0] - 1, D.codes[j][0], D.X[:, j])


def score_all(D, idx, tests, alg, lam, theta, rows):
    """scores and parts of every test at a node, straight from the definition in closed form"""
    k = D.k; w = D.w[idx]; y = D.y[idx]; W = D.W; m = theta * W
    nv = np.bincount(y, minlength=k).astype(float); mv = D.raw[idx].sum(0).astype(float) if rows else np.bincount(y, weights=w, minlength=k); wv = w.sum(); pv = pairs(nv[None])[0]; share = lambda p: p / pv if pv > 0 else np.ones_like(p)
    heavy = np.flatnonzero(w > m); light = np.where(w > m, 0.0, w); f = gini if alg in ('cart', 'ecart', 'ccart') else entropy
    S = np.full(len(tests), -np.inf); P = np.zeros((len(tests), 3)); groups = {}
    for q, t in enumerate(tests): groups.setdefault((t[0], t[1]), []).append(q)
    for (j, kind), qs in groups.items():
        B = D.codes[j][0] + 1; n = B - 1; x = D.X[idx, j]; key = x.astype(np.int64) * k + y; qs = np.array(qs); b = np.array([tests[q][2] for q in qs])
        N = np.bincount(key, minlength=B * k).reshape(B, k).astype(float); M = np.stack([np.bincount(x, weights=D.raw[idx, c], minlength=B) for c in range(k)], 1) if rows else np.bincount(key, weights=w, minlength=B * k).reshape(B, k); L = np.bincount(x, weights=light, minlength=B)
        if kind == 'multiway': NN, MM, LL = N[None], M[None], L[None]; out = x[heavy][None]
        else:
            if kind == 'threshold':  # codes b..n-1
                tail = lambda A: np.concatenate([np.cumsum(A[:n][::-1], 0)[::-1], np.zeros_like(A[:1])])
                N1, M1, L1 = tail(N)[b], tail(M)[b], tail(L)[b]; out = ((x[heavy][None] >= b[:, None]) & (x[heavy][None] < n)).astype(int)
            else:
                c = np.full(len(b), n) if kind == 'missing' else b; N1, M1, L1 = N[c], M[c], L[c]; out = (x[heavy][None] == c[:, None]).astype(int)
            NN = np.stack([nv - N1, N1], 1); MM = np.stack([mv - M1, M1], 1); LL = np.stack([light.sum() - L1, L1], 1)
        nx = NN.sum(-1); wx = MM.sum(-1); px = pairs(NN); ok = (nx > 0).sum(1) >= 2; r = np.arange(len(qs))
        bal = (wv - wx[r, nx.argmax(1)]) / W
        eff = (LL * (1 - np.maximum(wx - m, 0) / (wv - m) * share(px))).sum(1) if wv > m else np.zeros(len(qs))
        if len(heavy): h = w[heavy][None]; eff = eff + (h * (1 - np.maximum(wx[r[:, None], out] - h, 0) / np.maximum(wv - h, 1e-300) * share(px[r[:, None], out]))).sum(1)
        eff = eff / W * (pv > 0); dis = np.maximum(wv / W * (f(mv[None])[0] - (wx / wv * f(MM)).sum(1)), 0.0)
        cost = np.array([tests[q][3] for q in qs], float); P[qs] = np.stack([bal, eff, dis], 1)
        if alg in ('c45', 'cart'): v = dis
        elif alg in ('cc45', 'ccart'): v = dis / cost
        elif alg == 'ip': v = pv - px.sum(1)
        elif alg == 'bal': v = (wv - wx.max(1)) / W
        else: v = (bal + eff + (0 if alg == 'asr' else lam) * dis) / cost
        if pv == 0: ok = ok & (dis > EPS)  # only tests that lower the impurity compete
        S[qs] = np.where(ok, v, -np.inf)
    return S, P


def branch_test(D, nd):
    """the test of a node, from its branches: (feature, kind, code), child of each outcome"""
    t = nd['test']; names = [f['name'] for f in D.tree['features']]; j = names.index(t['feature']); f = D.tree['features'][j]
    kind = t['kind']; ch = {}
    for b in nd['branches']:
        wh = b['when']
        if kind == 'threshold': ch[1 if 'ge' in wh else 0] = b['child']; cut = wh.get('ge', wh.get('lt')); code = f['cuts'].index(cut) + 1
        elif kind == 'bin':
            inside = not any(k.startswith('not_') for k in wh); ch[int(inside)] = b['child']
            ge = wh.get('ge', wh.get('not_ge')); lt = wh.get('lt', wh.get('not_lt'))
            code = 0 if ge is None else f['cuts'].index(ge) + 1
            if (lt is None) != (code == len(f['cuts'])) or (lt is not None and f['cuts'][code] != lt): fail(f"node {nd['id']}: bin {ge}..{lt} is no bin of {f['name']}")
        elif kind == 'equals':
            inside = 'in' in wh; ch[int(inside)] = b['child']; vals = wh.get('in', wh.get('not_in')); code = [text(v) for v in f['values']].index(text(vals[0]))
        elif kind in ('missing', 'other'): ch[int(wh.get(kind, False) is True)] = b['child']; code = D.codes[j][0] if kind == 'missing' else D.codes[j][0] - 1
        elif kind == 'multiway':
            code = -1; vals = [text(v) for v in f['values']]
            for v in wh.get('in', []): ch[vals.index(text(v))] = b['child']
            if b.get('other') or wh.get('other'): ch.setdefault(len(vals), b['child'])
            if b.get('missing') or wh.get('missing'): ch.setdefault(len(vals) + 1, b['child'])
        else: fail(f"node {nd['id']}: unknown kind {kind}"); return None, None
    if sum(bool(b.get('missing') or b['when'].get('missing')) for b in nd['branches']) != 1: fail(f"node {nd['id']}: not exactly one branch takes missing values")
    return (j, kind, code, t.get('cost', 1)), ch


def main():
    ap = argparse.ArgumentParser(); ap.add_argument('tree'); ap.add_argument('data', nargs='+')
    ap.add_argument('--greedy-nodes', type=int, default=10**9); ap.add_argument('--no-bins', action='store_true'); ap.add_argument('--pruned', action='store_true')
    a = ap.parse_args()
    tree = with_untested(json.load(open(a.tree)), os.path.join(os.path.dirname(a.tree), 'schema.json')); files = []
    for d in a.data: files += sorted(glob.glob(d + '/*.parquet')) if os.path.isdir(d) else [d]
    t = pa.concat_tables([pq.read_table(f) for f in files])
    if (tree.get('format'), tree.get('version')) != ('espalier/tree', 1): fail('format/version')
    D = Data(tree, t); numeric_missing_code(D)
    al = tree['algorithm']; alg = al['name']; lam = al.get('lambda') or 0; theta = al.get('theta', 0.005); rows = al.get('classes') == 'rows'
    tr = tree['training']
    for key, got in (('rows', int(D.W)), ('objects', len(D.w)), ('weight', int(D.W)), ('relabelled_rows', D.relabelled)):
        if tr.get(key) != got: fail(f'training.{key}: {got}, tree says {tr.get(key)}')
    tests = D.tests(); nodes = {n['id']: n for n in tree['nodes']}
    order = [n['id'] for n in tree['nodes']]
    if order != list(range(len(order))): fail('nodes are not numbered 0..n-1 in order')
    cost = ntests = 0.0; checked = 0; leaves = 0; maxdepth = 0; queue = [(0, np.arange(len(D.w)), 0, 0.0, None)]; seen = []; worst = 0.0; maxgap = 0.0
    while queue:
        i, idx, depth, paid, parent = queue.pop(0); nd = nodes[i]; seen.append(i); w = D.w[idx]
        cw = np.bincount(D.y[idx], weights=w, minlength=D.k); rw = D.raw[idx].sum(0)
        for key, got in (('rows', int(w.sum())), ('objects', len(idx)), ('weight', int(w.sum()))):
            if nd.get(key) != got: fail(f'node {i}: {key} {got}, tree says {nd.get(key)}')
        majority = nd.get('majority_class_weights', nd['class_weights'])
        if list(map(float, majority)) != list(cw): fail(f"node {i}: weights by majority class {cw}, tree says {majority}")
        if rows and list(map(float, nd['class_weights'])) != list(rw): fail(f"node {i}: class_weights {rw}, tree says {nd['class_weights']}")
        if list(map(float, nd['raw_class_weights'])) != list(rw): fail(f"node {i}: raw_class_weights {rw}, tree says {nd['raw_class_weights']}")
        le = al.get('leaf_estimate', 'majority')
        est = cw / cw.sum() if le == 'majority' else rw / rw.sum() if le == 'raw' else (rw / rw.sum() if parent is None else (rw + 10 * parent) / (rw.sum() + 10))
        if 'probabilities' in nd and not all(close(p, q) for p, q in zip(nd['probabilities'], est)): fail(f"node {i}: probabilities {est}, tree says {nd['probabilities']}")
        homogeneous = ((rw if rows else np.bincount(D.y[idx], minlength=D.k)) > 0).sum() <= 1; small = w.sum() <= theta * D.W * (1 + 1e-9)
        if 'test' not in nd:
            leaves += 1; maxdepth = max(maxdepth, depth); worst = max(worst, paid)
            if 'probabilities' not in nd or 'class' not in nd: fail(f'leaf {i}: no class or probabilities')
            if not (homogeneous or small or a.pruned):
                S, _ = score_all(D, idx, tests, alg, lam, theta, rows)
                if np.isfinite(S).any(): fail(f'leaf {i}: neither homogeneous nor below theta, and it can be split')
            continue
        if homogeneous or small: fail(f'node {i}: split though homogeneous or below theta')
        try: bt, ch = branch_test(D, nd)
        except (ValueError, KeyError, TypeError) as e: fail(f'node {i}: test or branches cannot be read: {e!r}'); continue
        if bt is None: continue
        cost += bt[3] * w.sum() / D.W; ntests += w.sum() / D.W
        if checked < a.greedy_nodes:
            S, P = score_all(D, idx, tests, alg, lam, theta, rows); checked += 1; top = S.max()
            tied = np.flatnonzero(S >= top - 1e-9 * max(1, abs(top)))  # the strict rule is 1e-12: near ties cannot be judged from outside
            strict = np.flatnonzero(S >= top - EPS * max(1, abs(top)))
            want = tests[min(strict, key=lambda q: (tests[q][3], q))]
            mine = [q for q in range(len(tests)) if tests[q][:3] == bt[:3]]
            if not mine: fail(f'node {i}: its test is not of the family {al["tests"]}'); continue
            if mine[0] not in tied: fail(f"node {i}: {nd['test']['feature']} {bt[1:3]} scores {S[mine[0]]!r}, best is {top!r} by {tests[int(S.argmax())]}")
            elif want[:3] != bt[:3] and len(strict) == len(tied): fail(f'node {i}: tie broken to {bt[:3]}, rule says {want[:3]}')
            sc = nd['test'].get('score', {})
            for part, got in zip(('balance', 'efficiency', 'discrimination'), P[mine[0]]):
                if part in sc and not close(sc[part], got): fail(f'node {i}: {part} {got!r}, tree says {sc[part]!r}')
            if 'total' in sc: maxgap = max(maxgap, abs(sc['total'] - S[mine[0]]) / max(1, abs(top)))
            if 'total' in sc and not close(sc['total'], S[mine[0]]): fail(f"node {i}: total {S[mine[0]]!r}, tree says {sc['total']!r}")
        out = D.outcome(bt, idx)
        to = np.array([ch.get(int(o), -1) for o in range(int(out.max()) + 1)])[out]
        if (to < 0).any(): fail(f'node {i}: outcomes {set(out[to < 0])} have no branch')
        for b in nd['branches']:
            part = idx[to == b['child']]
            if len(part): queue.append((b['child'], part, depth + 1, paid + bt[3], est))
            else: fail(f"node {i}: no row takes the branch to {b['child']}")
    if seen != sorted(seen): fail('nodes are not numbered breadth-first')
    if len(seen) != len(nodes): fail(f'{len(nodes) - len(seen)} nodes are reached by no row')
    cx = tree['complexity']
    for key, got in (('expected_cost', cost), ('expected_tests', ntests), ('nodes', len(nodes)), ('leaves', leaves), ('depth', maxdepth), ('max_cost', worst)):
        if key in cx and not close(cx[key], got): fail(f'complexity.{key}: {got}, tree says {cx[key]}')
    nb = 0
    if not a.no_bins and al.get('binning') == 'quantile':
        for f in tree['features']:
            if f['type'] != 'numeric': continue
            v, m = column(t, f['name']); u, n = np.unique(np.asarray(v[~m], float), return_counts=True); B = al['bins']; nb += 1
            if len(u) <= B: at = np.arange(max(len(u) - 1, 0))
            else:
                cum = np.cumsum(n); at = np.unique(np.searchsorted(cum * B, np.arange(1, B) * cum[-1], side='left')); at = at[at < len(u) - 1]
            c = np.array(f['cuts'], float)
            if len(c) != len(at): fail(f"{f['name']}: {len(c)} cuts, the quantile rule gives {len(at)}")
            elif not ((c > u[at]) & (c <= u[at + 1])).all(): fail(f"{f['name']}: cuts are not where the quantile rule puts them")
    if not a.no_bins and al.get('binning') == 'kmeans':
        try: from sklearn.preprocessing import KBinsDiscretizer
        except ImportError: KBinsDiscretizer = None
        import warnings; warnings.filterwarnings('ignore')
        for j, f in enumerate(tree['features']):
            if f['type'] != 'numeric': continue
            v, m = column(t, f['name']); v = np.asarray(v[~m], float); u = np.unique(v); B = al['bins']
            if len(u) <= B:
                if len(f['cuts']) != max(len(u) - 1, 0): fail(f"{f['name']}: {len(u)} distinct values, {len(f['cuts'])} cuts")
                continue
            if len(f['cuts']) > B - 1: fail(f"{f['name']}: {len(f['cuts'])} cuts for {B} bins")
            if KBinsDiscretizer is None: continue
            def sse(c):
                g = np.searchsorted(c, v, side='right'); n = np.bincount(g, minlength=len(c) + 1).astype(float)
                mu = np.bincount(g, weights=v, minlength=len(c) + 1) / np.maximum(n, 1); return ((v - mu[g]) ** 2).sum()
            e = KBinsDiscretizer(B, encode='ordinal', strategy='kmeans', subsample=None).fit(v[:, None]).bin_edges_[0][1:-1]
            s1, s2 = sse(np.array(f['cuts'])), sse(e); nb += 1
            if s1 > s2 * (1 + 1e-9): fail(f"{f['name']}: k-means bins have sum of squares {s1}, scikit-learn's {s2}")
    print(f'{"FAIL" if bad else "ok"} {len(bad)} differences; rows {int(D.W)} objects {len(D.w)} nodes {len(nodes)} greedy-checked {checked} bins-checked {nb} cost {cost:.6f} largest score gap {maxgap:.2e}')
    sys.exit(1 if bad else 0)


main()
