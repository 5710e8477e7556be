// Tests of score.js: node --test io/report
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import vm from "node:vm";

const here = (file) => new URL(file, import.meta.url);
const script = vm.createContext({});
vm.runInContext(readFileSync(here("score.js"), "utf8"), script);
const trees = JSON.parse(readFileSync(here("testdata/rows.json"), "utf8"));

/** The tree of a case, and the values of a row by feature of the page. */
function prepared(one, row) {
  const tree = script.unpack(one.data, one.data.trees[0]);
  const values = new Map();
  one.data.features.forEach((feature, k) => {
    if (feature.name in row.values) values.set(k, row.values[feature.name]);
  });
  return { tree, values };
}

for (const one of trees) {
  test(`rows reach the leaves of ${one.name} with the same class and probabilities`, () => {
    assert.ok(one.rows.length >= 40);
    for (const row of one.rows) {
      const { tree, values } = prepared(one, row);
      const end = script.walk(one.data, tree, values);
      assert.equal(script.idOf(tree, end.node), row.leaf);
      assert.equal(end.tests, row.tests);
      assert.ok(Math.abs(end.paid - row.paid) < 1e-9);
      const result = script.predict(one.data, tree, end.node, values);
      assert.equal(one.data.classes[result.class], row.class);
      assert.ok(result.whole);
      assert.equal(result.chances.length, row.probabilities.length);
      for (const chance of result.chances) {
        assert.ok(Math.abs(chance.p - row.probabilities[chance.class]) < 1e-9);
      }
    }
  });

  test(`a row of ${one.name} is asked only for what its path needs`, () => {
    for (const row of one.rows) {
      const { tree, values } = prepared(one, row);
      const known = new Map();
      for (let end = script.walk(one.data, tree, known); tree.packed.test[end.node] >= 0; end = script.walk(one.data, tree, known)) {
        const feature = one.data.tests[tree.packed.test[end.node]][0];
        assert.ok(!known.has(feature));
        assert.ok(end.paid + tree.most[end.node] <= tree.most[0] + 1e-9);
        known.set(feature, values.get(feature) ?? null);
      }
      assert.equal(known.size, Object.keys(row.values).length);
    }
  });
}

test("a presence test is no question: its price is that of the question below, and a row without the value pays nothing", () => {
  const { data } = trees.find((one) => one.name === "unordered");
  const tree = script.unpack(data, data.trees[0]);
  const lab = data.features.findIndex((feature) => feature.name === "lab");
  const end = (value) => script.walk(data, tree, new Map(value === undefined ? [] : [[lab, value]]));
  const open = end();
  assert.ok(script.isPresence(data, tree, open.node));
  const asked = script.questionOf(data, tree, open.node);
  assert.ok(!script.isPresence(data, tree, asked));
  assert.equal(script.questionOf(data, tree, asked), asked);
  assert.deepEqual([open.tests, open.paid, script.priceOf(data, tree, asked)], [0, 0, 30]);
  assert.equal(tree.most[0], 30);
  const lacking = end(null);
  assert.equal(tree.packed.test[lacking.node], -1);
  assert.deepEqual([lacking.tests, lacking.paid], [0, 0]);
  assert.deepEqual([1, 2, 3].map((value) => [end(value).tests, end(value).paid]).sort(), [[1, 30], [2, 30], [2, 30]]);
  for (const value of [null, 1, 2, 3]) assert.equal(script.answersOn(data, tree, end(value).node), 1); // of up to three tests
});

test("models and boosters are among the cases", () => {
  const packed = trees.map((one) => one.data.trees[0]);
  assert.ok(packed.some((t) => t.models && !t.boosters));
  assert.ok(packed.some((t) => t.boosters));
  assert.ok(packed.some((t) => t.price));
  for (const kind of ["w", "s"]) assert.ok(trees.some((one) => one.data.tests.some((t) => t[2] === kind)));
});

test("conditions name the feature and both branches", () => {
  const data = {
    features: [{ name: "age", numeric: true, lost: true }, { name: "job", numeric: false }],
    tests: [[0, 1, "t", 30.5, "30.5"], [1, 1, "e", 0, "= none", "!= none"], [0, 1, "b", null, 3, "< 3", ">= 3 or missing"],
      [0, 1, "m", "is missing", "is not missing"], [1, 1, "w", [0, 1], 1, 0, "= a", "= b"], [1, 1, "s", "5", 1, "in {a, c}", "in {b}"]],
  };
  const texts = data.tests.map((_, k) => [...script.conditions(data, k)]);
  assert.deepEqual(texts, [["age >= 30.5", "age < 30.5 or missing"], ["job = none", "job != none"],
    ["age < 3", "age >= 3 or missing"], ["age is missing", "age is not missing"], ["job = a", "job = b"], ["job in {a, c}", "job in {b}"]]);
});

test("a value that the page does not list takes the branch of others", () => {
  const set = [0, 1, "s", "51", 0, "in {a, c, e}", "in {b, d}"];
  assert.deepEqual([0, 1, 2, 3, 4, 5, -1, null].map((value) => script.branchOf(set, value)), [0, 1, 0, 1, 0, 1, 0, 1]);
});

test("numbers and points in time are read as the program reads them", () => {
  const cases = [
    [undefined, "12.5", 12.5], [undefined, " -1e3 ", -1000], [undefined, "x", undefined], [undefined, "", undefined],
    [undefined, "1e999", undefined], [undefined, "2026-11-21", undefined], ["date", "2026-11-21", 20778],
    ["date", "1969-12-31", -1], ["date", "2026-02-30", undefined], ["date", "20778", 20778], ["time", "09:30", 34200e6],
    ["time", "24:00", undefined], ["time", "23:59:59.9999999", 86400e6 - 1], ["timestamp", "2026-11-21", 1795219200e6],
    ["timestamp", "2026-11-21 09:30", 1795253400e6], ["timestamp", "2026-11-21T10:30:00+01:00", 1795253400e6],
    ["timestamp", "2026-11-21T04:30:00-05", 1795253400e6], ["timestamp", "T09:30", undefined],
    [undefined, "12,5", 12.5], [undefined, "-0,125", -0.125], [undefined, ",5", 0.5], [undefined, "1234,5", 1234.5],
    [undefined, "1,234", undefined], [undefined, "1,234.5", undefined], [undefined, "1.234,5", undefined], [undefined, "1,2,3", undefined],
  ];
  for (const [unit, text, want] of cases) {
    assert.equal(script.parseNumber({ name: "f", numeric: true, unit }, text), want, `${unit} ${text}`);
  }
});

test("a comma before three digits is decimal only where the reader writes decimal commas", () => {
  const feature = { name: "f", numeric: true };
  assert.equal(script.parseNumber(feature, "1,234", true), 1.234);
  assert.ok(script.ambiguous("-12,345") && !script.ambiguous("0,345") && !script.ambiguous("1234,567") && !script.ambiguous("1,23"));
});

test("values far from the cuts are said to be so", () => {
  const feature = { name: "f", numeric: true, cuts: ["-1", "4"] };
  const far = (value) => script.apart(feature, value);
  assert.ok([-1, 0, 4, null, -1.5, 4.1, 9, -6].every((value) => !far(value)));
  assert.ok([9.1, -6.1, 1e9].every(far));
  assert.ok(script.apart({ name: "day", numeric: true, unit: "date", cuts: ["2026-01-01", "2026-12-31"] }, 30000));
  assert.ok(!script.apart({ name: "f", numeric: true }, 7) && !script.apart({ name: "c", numeric: false, codes: [0] }, 7));
});

test("priors and error costs change what a model's scores mean", () => {
  const data = { classes: ["a", "b"], factors: [2, 0.5] };
  const p = script.probabilitiesOf(data, [0]);
  assert.ok(Math.abs(p[0] - 0.8) < 1e-12 && Math.abs(p[1] - 0.2) < 1e-12);
  assert.equal(script.decide({ classes: ["a", "b"] }, undefined, [0.5, 0.5]), 0);
  assert.equal(script.decide({ classes: ["a", "b"], errorCosts: [[0, 1], [10, 0]] }, undefined, [0.8, 0.2]), 1);
});

test("a threshold decides, whatever errors cost", () => {
  const data = { classes: ["a", "b", "c"], errorCosts: [[0, 0, 0], [0, 0, 0], [0, 0, 0]] };
  for (const [threshold, p, want] of [
    [[1, 0.25], [0.7, 0.25, 0.05], 1], [[1, 0.26], [0.7, 0.25, 0.05], 0], [[0, 0.9], [0.8, 0.05, 0.15], 2],
  ]) {
    assert.equal(script.decide(data, threshold, p), want, `${threshold} ${p}`);
  }
});
