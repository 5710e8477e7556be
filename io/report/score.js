"use strict";

// score.js follows rows through the trees of a report. It knows nothing of the page.

/**
 * A feature: see pageFeature in tests.go.
 * @typedef {object} Feature
 * @property {string} name
 * @property {boolean} numeric
 * @property {string} [unit]
 * @property {string[]} [cuts]
 * @property {boolean} [lost]
 * @property {number[]} [codes]
 * @property {string[]} [names]
 * @property {number} [other]
 * @property {number} [missing]
 * @property {boolean} [some]
 */

/**
 * A test: see tests.append in tests.go.
 * @typedef {[number, number, string, ...any[]]} Test
 */

/**
 * A split of a booster: feature, cut or codes, missing values go to yes, yes, no.
 * @typedef {[number, number | number[], boolean, number | number[], number | number[]]} Split
 */

/**
 * The model of a leaf: what it can give, the features that it looks at, and, unless it was left
 * out, its numbers. A term is [feature, knots, values by knot, values of a missing number].
 * @typedef {object} Model
 * @property {[number, number]} range
 * @property {number[]} with
 * @property {number[]} [intercept]
 * @property {[number, number[], number[][], number[]][]} [terms]
 * @property {number} [booster]
 */

/**
 * A tree as the page has it, in lists by node, breadth first: the children of inner nodes follow
 * each other in order. A test below 0: -1 is a leaf, -2 a node whose branches were left out.
 * Scores and prices are lists by inner node.
 * @typedef {object} Packed
 * @property {number[]} test
 * @property {number[]} rows
 * @property {number[]} class
 * @property {(number | number[])[]} p
 * @property {(number | null)[]} [of] rows of the class of interest; null: the weights of the node are not numbers of rows
 * @property {number[]} [share]
 * @property {number[]} [id]
 * @property {number[]} [leaves]
 * @property {number[]} [price]
 * @property {number[][]} [score]
 * @property {[number, number]} [threshold] the class of interest, and its threshold, where models are decided by it
 * @property {Object<string, Model>} [models]
 * @property {Split[][][]} [boosters]
 * @property {(Rival | 0)[]} [rival]
 */

/**
 * The best test of another feature at a node: condition, score, price.
 * @typedef {[string, number, number]} Rival
 */

/**
 * A point of the frontier: see point in payload.go.
 * @typedef {object} Point
 * @property {string} name
 * @property {number} tree
 * @property {number} cost
 * @property {number} most
 * @property {number} tests
 * @property {number} leaves
 * @property {number} depth
 * @property {number} merit
 * @property {number | null} validation
 * @property {number | null} folds
 * @property {number} [low]
 * @property {number} [high]
 * @property {number | null} test
 * @property {number | null} loss
 * @property {number | null} accuracy
 * @property {number | null} errorCost
 * @property {number | null} total
 * @property {boolean} [chosen]
 * @property {string} [marks]
 * @property {[number, number]} spot its place in the picture of the frontier
 */

/**
 * The data of the page: see payload in payload.go.
 * @typedef {object} Data
 * @property {string} label
 * @property {string[]} classes
 * @property {number} [positive] the class of interest
 * @property {string} [unit]
 * @property {boolean} [priced]
 * @property {number[]} [factors]
 * @property {number[][]} [errorCosts]
 * @property {Feature[]} features
 * @property {Test[]} tests
 * @property {Packed[]} trees
 * @property {Point[]} points
 * @property {number[]} [path]
 * @property {{of: number, own: number, start: number, points: Decision[]}} [decisions]
 */

/**
 * An operating point: see decisionLine in payload.go. A share comes with the ends of its interval.
 * @typedef {object} Decision
 * @property {number} threshold
 * @property {(number | null)[]} sensitivity
 * @property {(number | null)[]} specificity
 * @property {(number | null)[]} ppv
 * @property {(number | null)[]} npv
 * @property {[number, number, number, number]} counts
 * @property {number} [errors]
 */

/**
 * A tree with what follows from its lists, by node: the first child, the parent, the number among
 * inner nodes, the number of questions and what was paid on the way, and the most and the mean still to be paid.
 * @typedef {object} Tree
 * @property {Packed} packed
 * @property {number[]} first
 * @property {number[]} parent
 * @property {number[]} inner
 * @property {number[]} depth
 * @property {number[]} paid
 * @property {number[]} most
 * @property {number[]} mean
 */

/**
 * A value of a row: a number, the code of a category, or null where there is none.
 * @typedef {number | null} Value
 */

/**
 * The number of branches of a test.
 * @param {Test} test
 * @returns {number}
 */
function branches(test) {
  return test[2] === "w" ? test[3].length : 2;
}

/**
 * The conditions of a test's branches, for reading.
 * @param {Data} data
 * @param {number} number
 * @returns {string[]}
 */
function conditions(data, number) {
  const test = data.tests[number];
  const feature = data.features[test[0]];
  let texts = test.slice({ t: 3, b: 5, m: 3, p: 3, e: 4, s: 5, w: 6 }[test[2]]);
  if (test[2] === "t") {
    texts = [">= " + test[4], "< " + test[4] + (feature.lost ? " or missing" : "")];
  }
  return texts.map((text) => feature.name + " " + text);
}

/**
 * The branch that a value takes.
 * @param {Test} test
 * @param {Value} value
 * @returns {number}
 */
function branchOf(test, value) {
  switch (test[2]) {
    case "t":
      return value !== null && value >= test[3] ? 0 : 1;
    case "b":
      return value !== null && value >= (test[3] ?? -Infinity) && value < (test[4] ?? Infinity) ? 0 : 1;
    case "m":
    case "p":
      return value === null ? 0 : 1;
    case "e":
      return value === test[3] ? 0 : 1;
    case "s":
      if (value === null) return 1;
      return value < 0 ? test[4] : 1 - ((parseInt(test[3][value >> 2], 16) >> (value & 3)) & 1);
    default: {
      const at = test[3].indexOf(value);
      if (at >= 0) return at;
      return value === null ? test[5] : test[4];
    }
  }
}

/**
 * The price that is paid at a node.
 * @param {Data} data
 * @param {Tree} tree
 * @param {number} node
 * @returns {number}
 */
function priceOf(data, tree, node) {
  const list = tree.packed.price;
  return list ? list[tree.inner[node]] : data.tests[tree.packed.test[node]][1];
}

/**
 * Whether a node is a presence test: the free test for missing values above the first question about a feature whose absent
 * values nobody ordered. A presence test is not a question: see tree.Presence.
 * @param {Data} data
 * @param {Tree} tree
 * @param {number} node
 * @returns {boolean}
 */
function isPresence(data, tree, node) {
  const test = tree.packed.test[node];
  return test >= 0 && data.tests[test][2] === "p";
}

/**
 * The node of the question that a node asks: the node below a presence test, otherwise the node itself.
 * @param {Data} data
 * @param {Tree} tree
 * @param {number} node
 * @returns {number}
 */
function questionOf(data, tree, node) {
  return isPresence(data, tree, node) ? tree.first[node] + branchOf(data.tests[tree.packed.test[node]], 0) : node;
}

/**
 * The share of the training rows that reach a node.
 * @param {Tree} tree
 * @param {number} node
 * @returns {number}
 */
function shareOf(tree, node) {
  const { share, rows } = tree.packed;
  if (share) return share[node];
  return rows[0] > 0 ? rows[node] / rows[0] : 0;
}

/**
 * The children of a node.
 * @param {Data} data
 * @param {Tree} tree
 * @param {number} node
 * @returns {number[]}
 */
function childrenOf(data, tree, node) {
  const test = tree.packed.test[node];
  if (test < 0) return [];
  return Array.from({ length: branches(data.tests[test]) }, (_, k) => tree.first[node] + k);
}

/**
 * Unpacks a tree.
 * @param {Data} data
 * @param {Packed} packed
 * @returns {Tree}
 */
function unpack(data, packed) {
  const count = packed.test.length;
  const zeros = () => new Array(count).fill(0);
  /** @type {Tree} */
  const tree = {
    packed, first: zeros(), parent: zeros(), inner: zeros(), depth: zeros(), paid: zeros(), most: zeros(), mean: zeros(),
  };
  tree.parent[0] = -1;
  let next = 1;
  let inner = 0;
  for (let node = 0; node < count; node++) {
    if (packed.test[node] < 0) continue;
    tree.first[node] = next;
    tree.inner[node] = inner++;
    const price = priceOf(data, tree, node);
    for (const child of childrenOf(data, tree, node)) {
      tree.parent[child] = node;
      tree.depth[child] = tree.depth[node] + (isPresence(data, tree, node) ? 0 : 1);
      tree.paid[child] = tree.paid[node] + price;
      next++;
    }
  }
  for (let node = count - 1; node >= 0; node--) {
    const children = childrenOf(data, tree, node);
    if (children.length === 0) continue;
    const price = priceOf(data, tree, node);
    const all = children.reduce((sum, child) => sum + shareOf(tree, child), 0);
    for (const child of children) {
      const part = all > 0 ? shareOf(tree, child) / all : 1 / children.length;
      tree.most[node] = Math.max(tree.most[node], tree.most[child]);
      tree.mean[node] += part * tree.mean[child];
    }
    tree.most[node] += price;
    tree.mean[node] += price;
  }
  return tree;
}

/**
 * The number of a node in tree.json.
 * @param {Tree} tree
 * @param {number} node
 * @returns {number}
 */
function idOf(tree, node) {
  return tree.packed.id ? tree.packed.id[node] : node;
}

/**
 * The nodes from the root to a node.
 * @param {Tree} tree
 * @param {number} node
 * @returns {number[]}
 */
function wayTo(tree, node) {
  const way = [];
  for (let at = node; at >= 0; at = tree.parent[at]) way.unshift(at);
  return way;
}

/**
 * How far a row comes with the values that are known: the node reached, the number of tests
 * and what they cost. The node is a leaf, or asks for a feature that is not known.
 * @param {Data} data
 * @param {Tree} tree
 * @param {Map<number, Value>} values by feature
 * @returns {{node: number, tests: number, paid: number}}
 */
function walk(data, tree, values) {
  let node = 0;
  while (tree.packed.test[node] >= 0) {
    const test = data.tests[tree.packed.test[node]];
    const value = values.get(test[0]);
    if (value === undefined) break;
    node = tree.first[node] + branchOf(test, codeOf(data.features[test[0]], value));
  }
  return { node, tests: tree.depth[node], paid: tree.paid[node] };
}

/**
 * The number of values that the tests on the way to a node ask for. Several tests may ask for the same value.
 * @param {Data} data
 * @param {Tree} tree
 * @param {number} node
 * @returns {number}
 */
function answersOn(data, tree, node) {
  const tests = wayTo(tree, node).filter((at) => at !== node).map((at) => data.tests[tree.packed.test[at]]);
  return new Set(tests.map((test) => test[0])).size;
}

/**
 * The value by which tests decide: the code of a missing category is null.
 * @param {Feature} feature
 * @param {Value} value
 * @returns {Value}
 */
function codeOf(feature, value) {
  return !feature.numeric && value === feature.missing ? null : value;
}

/**
 * A class with its probability.
 * @typedef {{class: number, p: number}} Chance
 */

/**
 * The probabilities of a node without its model, the greatest first: of two classes and of up to
 * twelve all of them, of more the greatest ones of a leaf. Inner nodes of more than two classes
 * have that of their class alone.
 * @param {Data} data
 * @param {Tree} tree
 * @param {number} node
 * @returns {Chance[]}
 */
function chancesOf(data, tree, node) {
  const p = tree.packed.p[node];
  if (typeof p === "number") {
    if (data.classes.length === 2) return sorted([1 - p, p]);
    return [{ class: tree.packed.class[node], p }];
  }
  if (p.length === data.classes.length) return sorted(p);
  const list = [];
  for (let k = 0; k < p.length; k += 2) list.push({ class: p[k], p: p[k + 1] });
  return list;
}

/**
 * Probabilities by class, the greatest first.
 * @param {number[]} probabilities
 * @returns {Chance[]}
 */
function sorted(probabilities) {
  return probabilities.map((p, k) => ({ class: k, p })).sort((a, b) => b.p - a.p || a.class - b.class);
}

/**
 * Adds the values of a term at x to the scores.
 * @param {number[]} scores
 * @param {[number, number[], number[][], number[]]} term
 * @param {Value} x
 */
function addTerm(scores, term, x) {
  const [, at, values, missing] = term;
  const last = at.length - 1;
  for (let k = 0; k < scores.length; k++) {
    if (x === null) scores[k] += missing[k];
    else if (x <= at[0]) scores[k] += values[0][k];
    else if (x >= at[last]) scores[k] += values[last][k];
    else {
      let next = 1;
      while (at[next] <= x) next++;
      const share = (x - at[next - 1]) / (at[next] - at[next - 1]);
      scores[k] += values[next - 1][k] + (values[next][k] - values[next - 1][k]) * share;
    }
  }
}

/**
 * Adds the numbers of a row's end in a tree of a booster to the scores.
 * @param {Data} data
 * @param {number[]} scores
 * @param {Split[]} splits
 * @param {(feature: number) => Value} valueOf
 */
function addSplits(data, scores, splits, valueOf) {
  let at = 0;
  for (;;) {
    const [feature, cut, missing, yes, no] = splits[at];
    const value = valueOf(feature);
    const is = value === null ? missing : typeof cut === "number" ? value >= cut : cut.includes(value);
    const side = is ? yes : no;
    if (typeof side !== "number") {
      for (let k = 0; k < scores.length; k++) scores[k] += side[k];
      return;
    }
    at = side;
  }
}

/**
 * The probabilities of the classes from the scores of a model.
 * @param {Data} data
 * @param {number[]} scores
 * @returns {number[]}
 */
function probabilitiesOf(data, scores) {
  const all = data.classes.length === 2 ? [0, scores[0]] : scores;
  const top = Math.max(...all);
  const weights = all.map((z) => Math.exp(z - top));
  const sum = weights.reduce((a, b) => a + b, 0);
  const list = weights.map((w) => w / sum);
  if (!data.factors) return list;
  const scaled = list.map((p, k) => p * (data.factors ?? [])[k]);
  const total = scaled.reduce((a, b) => a + b, 0);
  return total > 0 ? scaled.map((p) => p / total) : scaled;
}

/**
 * The class to predict: with a threshold, its class if the probability is at least the threshold,
 * otherwise the most probable other class; without one, the most probable class or, with error costs,
 * the one of least expected cost; ties: the first.
 * @param {Data} data
 * @param {[number, number] | undefined} threshold
 * @param {number[]} probabilities
 * @returns {number}
 */
function decide(data, threshold, probabilities) {
  if (threshold) {
    const [positive, least] = threshold;
    if (probabilities[positive] >= least) return positive;
    const others = probabilities.map((p, k) => (k === positive ? -1 : p));
    return others.indexOf(Math.max(...others));
  }
  const costs = data.errorCosts;
  if (!costs) return probabilities.indexOf(Math.max(...probabilities));
  const expected = probabilities.map((_, k) => probabilities.reduce((sum, p, actual) => sum + p * costs[actual][k], 0));
  const limit = Math.min(...expected) + 1e-12 * Math.max(...expected);
  return Math.max(0, expected.findIndex((x) => x <= limit));
}

/**
 * The model of a node; undefined: there is none.
 * @param {Tree} tree
 * @param {number} node
 * @returns {Model | undefined}
 */
function modelOf(tree, node) {
  return tree.packed.models?.[String(node)];
}

/**
 * The prediction at a leaf for the values of a row. whole says that the model of the leaf, if it
 * has one, was taken into account.
 * @param {Data} data
 * @param {Tree} tree
 * @param {number} leaf
 * @param {Map<number, Value>} values by feature
 * @returns {{class: number, chances: Chance[], whole: boolean}}
 */
function predict(data, tree, leaf, values) {
  const model = modelOf(tree, leaf);
  if (!model?.intercept) {
    return { class: tree.packed.class[leaf], chances: chancesOf(data, tree, leaf), whole: !model };
  }
  /** @param {number} feature @returns {Value} */
  const valueOf = (feature) => codeOf(data.features[feature], values.get(feature) ?? null);
  const scores = model.intercept.slice();
  for (const term of model.terms ?? []) addTerm(scores, term, valueOf(term[0]));
  if (model.booster !== undefined) {
    for (const splits of (tree.packed.boosters ?? [])[model.booster]) addSplits(data, scores, splits, valueOf);
  }
  const probabilities = probabilitiesOf(data, scores);
  return { class: decide(data, tree.packed.threshold, probabilities), chances: sorted(probabilities), whole: true };
}

/**
 * A text as a number of a feature: a plain number, with a decimal point or a decimal comma, or a point in time in ISO 8601.
 * undefined: it is none, or its comma may stand between thousands.
 * @param {Feature} feature
 * @param {string} text
 * @param {boolean} [comma] commas are known to be decimal
 * @returns {number | undefined}
 */
function parseNumber(feature, text, comma) {
  const trimmed = text.trim();
  if (/^[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?$/i.test(trimmed)) {
    if (!comma && ambiguous(trimmed)) return undefined;
    const x = Number(trimmed.replace(",", "."));
    return Number.isFinite(x) ? x : undefined;
  }
  switch (feature.unit) {
    case "date":
      return days(trimmed);
    case "time":
      return clock(trimmed);
    case "timestamp":
      return moment(trimmed);
    default:
      return undefined;
  }
}

/**
 * Whether the comma of a text may stand between thousands.
 * @param {string} text
 * @returns {boolean}
 */
function ambiguous(text) {
  return /^[+-]?[1-9]\d{0,2},\d{3}$/.test(text.trim());
}

/**
 * Whether a value is further from the cuts of a feature than the first cut is from the last.
 * @param {Feature} feature
 * @param {Value} value
 * @returns {boolean}
 */
function apart(feature, value) {
  if (!feature.numeric || value === null || feature.cuts?.length !== 2) return false;
  const [low, high] = feature.cuts.map((text) => parseNumber(feature, text) ?? NaN);
  return Math.max(low - value, value - high) > high - low;
}

/**
 * The days of a date since 1970.
 * @param {string} text
 * @returns {number | undefined}
 */
function days(text) {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (!parts) return undefined;
  const time = new Date(0).setUTCFullYear(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]));
  return new Date(time).toISOString().slice(0, 10) === text ? time / 86_400_000 : undefined;
}

/**
 * The microseconds of a time of day.
 * @param {string} text
 * @returns {number | undefined}
 */
function clock(text) {
  const parts = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?$/.exec(text);
  if (!parts || Number(parts[1]) > 23 || Number(parts[2]) > 59 || Number(parts[3] ?? 0) > 59) return undefined;
  const seconds = (Number(parts[1]) * 60 + Number(parts[2])) * 60 + Number(parts[3] ?? 0);
  return seconds * 1e6 + Number(((parts[4] ?? "") + "000000").slice(0, 6));
}

/**
 * The microseconds of a timestamp since 1970, in UTC unless it has a zone.
 * @param {string} text
 * @returns {number | undefined}
 */
function moment(text) {
  const parts = /^(\d{4}-\d\d-\d\d)(?:[T ]([\d:.]+)(Z|[+-]\d\d(?::\d\d)?)?)?$/.exec(text);
  const day = parts ? days(parts[1]) : undefined;
  const time = parts?.[2] === undefined ? 0 : clock(parts[2]);
  if (!parts || day === undefined || time === undefined) return undefined;
  const zone = parts[3];
  let offset = 0;
  if (zone && zone !== "Z") {
    const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4) || 0);
    offset = (zone[0] === "-" ? -minutes : minutes) * 6e7;
  }
  return day * 86_400e6 + time - offset;
}
