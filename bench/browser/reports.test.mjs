// Opens reports in Chromium. bench/browser.py makes what it needs:
//
// REPORT_PROGRAM: the binary. REPORT_RUNS: a folder with a run for each of REPORT_SETS and for
// hostile, and with NAME.json, rows and what predict says of them. CHROMIUM: the browser.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import puppeteer from "puppeteer-core";

const { REPORT_PROGRAM: ESPALIER, REPORT_RUNS, REPORT_SETS, CHROMIUM } = process.env;
const names = [...REPORT_SETS.split(",").filter(Boolean), "made-up"];
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const pictures = join(REPORT_RUNS, "pictures");

/** The greatest size of a page, in bytes, and the greatest time to its first paint, in ms. */
const [maxBytes, maxPaint] = [2_000_000, 1000];

let browser;
before(async () => {
  mkdirSync(pictures, { recursive: true });
  browser = await puppeteer.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
});
after(() => browser?.close());

/** Opens a file in a page that notes what must not happen. */
async function opened(file, { width = 1280, dark = false } = {}) {
  const page = await browser.newPage();
  const faults = [];
  page.on("console", (message) => faults.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url() !== page.target().url() && !request.isNavigationRequest()) faults.push(`request: ${request.url()}`);
  });
  await page.setViewport({ width, height: 900 });
  if (dark) await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
  await page.goto(`file://${file}`);
  return { page, faults };
}

/** The report of a run, written anew with flags. */
function report(name, ...flags) {
  const output = join(REPORT_RUNS, `${name}${flags.length ? "-" + flags[0].slice(2) : ""}.html`);
  execFileSync(ESPALIER, ["report", join(REPORT_RUNS, name), "--output", output, "--overwrite", ...flags]);
  return output;
}

/** Serious faults of accessibility. */
async function serious(page) {
  await page.evaluate(axe);
  const result = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return result.violations.filter((v) => ["serious", "critical"].includes(v.impact))
    .map((v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120)).join(" | ")}`);
}

const text = (page, selector) => page.$eval(selector, (e) => e.textContent);
// Whether the page of a tree may have fewer digits and no scores: it has room for 10,000 nodes with all of them, and for more
// beside few or small other trees.
const isLarge = async (page) => Number((await text(page, "#shown")).replaceAll(",", "").match(/(\d+) nodes/)[1]) > 10000;

for (const name of names) {
  test(`${name}: the page is small, soon there, silent, and alone`, async () => {
    const file = report(name);
    const { page, faults } = await opened(file);
    assert.ok(statSync(file).size < maxBytes, `${statSync(file).size} bytes`);
    const paint = await page.evaluate(() => new Promise((done) => {
      const known = () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
      const look = () => (known() === undefined ? requestAnimationFrame(look) : done(known()));
      look();
    }));
    console.log(`${name}: ${statSync(file).size} bytes, first paint after ${paint.toFixed(0)} ms`);
    assert.ok(paint < maxPaint, `first paint after ${paint} ms`);
    assert.equal(await page.$$eval("h1", (list) => list.length), 1);
    assert.deepEqual(faults, []);
    await page.close();
  });

  test(`${name}: the tree opens, by mouse and by keys`, async () => {
    const { page, faults } = await opened(report(name));
    const count = () => page.$$eval("#lines [data-node]", (list) => list.length);
    const before = await count();
    const visible = () => page.$$eval("#lines .card", (list) => list.filter((e) => e.checkVisibility()).length);
    const open = () => page.$eval("#lines > li > .card > .asks", (e) => e.getAttribute("aria-expanded"));
    await page.click("#close");
    assert.equal(await open(), "false");
    assert.equal(await visible(), 1);
    await page.focus("#lines > li > .card > .asks");
    await page.keyboard.press("Enter");
    assert.equal(await open(), "true");
    assert.ok(await visible() >= 3);
    await page.click("#open");
    assert.ok(await count() >= before);
    assert.ok(await visible() > 3);
    await page.$eval("#lines .why", (e) => { e.open = true; });
    const why = await text(page, "#lines .why");
    const omitted = /no room for the scores/.test(why) && name !== "made-up" && await isLarge(page);
    if (!omitted) assert.match(why, /balance.*efficiency.*discrimination.*score/);
    assert.deepEqual(faults, []);
    await page.close();
  });

  if (name !== "made-up") test(`${name}: the slider changes the tree, its bill and its figures`, async () => {
    const { page, faults } = await opened(report(name));
    const shown = () => page.evaluate(() => ["#bill", "#shown", "#lines", "#change"].map((id) => document.querySelector(id).textContent));
    const before = await shown();
    await page.focus("#budget");
    await page.keyboard.press("Home");
    const cheapest = await shown();
    for (let k = 0; k < 4; k++) assert.notEqual(cheapest[k], before[k]);
    assert.match(await page.$eval("#budget", (e) => e.getAttribute("aria-valuetext")), /tree 000/);
    await page.keyboard.press("ArrowRight");
    assert.match(await text(page, "#bill"), /tree001/);
    assert.match(await text(page, "#promote"), /--promote 1 --output NEW$/);
    await page.click("#chosen");
    assert.deepEqual(await shown(), before);
    assert.deepEqual(faults, []);
    await page.close();
  });

  if (name !== "made-up") test(`${name}: the mark of a tree is in the picture of the frontier`, async () => {
    const { page, faults } = await opened(report(name));
    const out = await page.evaluate(() => {
      const frame = document.querySelector("#chart svg").dataset;
      const slider = document.querySelector("#budget");
      const out = [];
      for (let k = 0; k <= Number(slider.max); k++) {
        slider.value = k;
        slider.dispatchEvent(new Event("input"));
        const [x, y] = ["cx", "cy"].map((key) => Number(document.querySelector("#chart .now").getAttribute(key)));
        const within = x >= frame.left - 0.1 && x <= Number(frame.right) + 0.1 && y >= frame.top - 0.1 && y <= Number(frame.bottom) + 0.1;
        if (!within || /AUC -/.test(document.querySelector("#change").textContent)) out.push([k, x, y]);
      }
      return out;
    });
    assert.deepEqual(out, []);
    assert.deepEqual(faults, []);
    await page.close();
  });

  test(`${name}: the sentences, and the slider over the thresholds`, async () => {
    const { page, faults } = await opened(report(name));
    const sentences = await page.$$eval("#short .brief li", (list) => list.map((e) => e.textContent));
    assert.ok(sentences.length >= 4 && sentences.length <= 5, sentences.join("\n"));
    for (const s of sentences) assert.match(s, /^\S.*\.$/);
    if (await page.$("#threshold")) {
      const figures = () => page.evaluate(() => {
        const [of, all, found, missed, alarms] = document.querySelector("#decision").textContent
          .match(/of ([\d,]+) rows, ([\d,]+) are .*: ([\d,]+) found, ([\d,]+) missed, ([\d,]+) false/).slice(1).map((n) => Number(n.replaceAll(",", "")));
        return { of, all, found, missed, alarms };
      });
      const [, said] = sentences;
      const own = await figures();
      if (/as the tree decides/.test(await text(page, "#decision")) && !/fewer/.test(said)) {
        assert.deepEqual(said.match(/finds ([\d,]+) of them, misses ([\d,]+) and raises ([\d,]+)/).slice(1).map((n) => Number(n.replaceAll(",", ""))),
          [own.found, own.missed, own.alarms]);
      }
      await page.focus("#threshold");
      await page.keyboard.press("Home");
      let before = await figures();
      for (let k = 0; k < 3; k++) {
        await page.keyboard.press("ArrowRight");
        const now = await figures();
        assert.ok(now.found >= before.found - 1 && now.alarms >= before.alarms - 1 && now.found + now.missed === now.all);
        before = now;
      }
      await page.keyboard.press("End");
      const all = await figures();
      assert.ok(all.missed === 0 && all.found + all.alarms === all.of, "at the lowest threshold all rows are called");
      assert.match(await page.$eval("#threshold", (e) => e.getAttribute("aria-valuetext")), /found/);
    }
    assert.deepEqual(faults, []);
    await page.close();
  });

  test(`${name}: decimal commas are read, and values far from the cuts are said to be so`, async () => {
    const { page, faults } = await opened(report(name));
    const answered = await page.evaluate(() => {
      const by = (id) => document.getElementById(id);
      while (by("value")?.tagName === "SELECT") by("form").requestSubmit();
      if (!by("value")) return null;
      by("value").value = "1,234";
      by("form").requestSubmit();
      const refused = by("fault").textContent;
      by("value").value = "987654321,5";
      by("form").requestSubmit();
      return [refused, by("answered").textContent];
    });
    if (answered) {
      assert.match(answered[0], /thousands or decimals/);
      assert.match(answered[1], /987654321,5, far from the cuts of the tree/);
    }
    assert.deepEqual(faults, []);
    await page.close();
  });

  test(`${name}: the path of a row lights up when the page opens`, async () => {
    const rows = JSON.parse(readFileSync(join(REPORT_RUNS, `${name}.json`), "utf8"));
    const { page, faults } = await opened(report(name, "--row", `${rows.file}:0`));
    const lit = await page.$$eval("#lines .lit", (list) => list.map((e) => Number(e.dataset.node)));
    const way = await page.$$eval("#row tbody tr td:first-child", (list) => list.map((e) => Number(e.textContent)));
    assert.deepEqual(lit.slice(0, -1), way);
    assert.equal(lit.at(-1), rows.rows[0].leaf);
    assert.ok(await page.$$eval("#lines .lit > .card", (list) => list.at(-1).checkVisibility()));
    const colour = (selector) => page.$$eval(selector, (list) => [...new Set(list.map((e) => getComputedStyle(e).borderTopColor))]);
    const [on, off] = [await colour("#lines .lit > .card"), await colour("#lines li:not(.lit) > .card")];
    assert.ok(on.length === 1 && !off.includes(on[0]), "cards beside the path are coloured as those on it");
    assert.deepEqual(await page.$$eval("main > section", (list) => list[0].id), "row");
    assert.deepEqual(faults, []);
    await page.close();
  });

  test(`${name}: the questions lead 200 rows to the leaves of predict`, async () => {
    const { features, rows } = JSON.parse(readFileSync(join(REPORT_RUNS, `${name}.json`), "utf8"));
    assert.ok(rows.length === 200 || rows.length === 150); // iris has no more
    const { page, faults } = await opened(report(name));
    const large = await isLarge(page);
    const wrong = await page.evaluate((asked, list, error) => {
      const by = (id) => document.getElementById(id);
      const wrong = [];
      for (const row of list) {
        for (const b of document.querySelectorAll("#form button")) if (b.textContent === "Start again") b.click();
        let steps = 0;
        for (; by("value"); steps++) {
          const name = document.querySelector("#form label").textContent.slice(0, -1);
          const value = row.values[asked.indexOf(name)];
          if (value === null) {
            [...document.querySelectorAll("#form button")].find((b) => b.textContent === "It is missing").click();
            continue;
          }
          const control = by("value");
          if (control.tagName === "SELECT") {
            const option = [...control.options].find((o) => o.textContent === value) ?? control.options[control.options.length - 1];
            control.value = option.value;
          } else control.value = value;
          by("form").requestSubmit();
          if (steps > 100) break;
        }
        const verdict = by("verdict");
        const chances = JSON.parse(verdict.dataset.chances);
        const far = chances.some((c) => Math.abs(c.p - row.probabilities[c.class]) > error);
        const lit = [...document.querySelectorAll("#lines .lit")].at(-1);
        if (Number(verdict.dataset.leaf) !== row.leaf || Number(verdict.dataset.class) !== row.class || far ||
            Number(lit.dataset.node) !== row.leaf || steps > row.tests) {
          wrong.push({ row, leaf: verdict.dataset.leaf, class: verdict.dataset.class, chances, steps });
        }
      }
      return wrong;
    }, features, large ? rows.slice(0, 50) : rows, large ? 1e-5 : 1e-9);
    assert.deepEqual(wrong.slice(0, 2), [], `${wrong.length} of ${rows.length} rows differ`);
    assert.deepEqual(faults, []);
    await page.close();
  });

  for (const [width, dark, checked] of [[1280, false, true], [768, false, false], [390, true, true]]) {
    test(`${name}: ${width} pixels${dark ? ", dark" : ""}: nothing is cut off, and axe finds no serious fault`, async () => {
      const { page, faults } = await opened(report(name), { width, dark });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `the page is ${wide} pixels wide`);
      await page.$$eval("main > section details", (list) => list.forEach((e) => { e.open = true; }));
      if (checked) assert.deepEqual(await serious(page), []);
      await page.screenshot({ path: join(pictures, `${name}-${width}${dark ? "-dark" : ""}.png`), fullPage: width > 400 });
      assert.deepEqual(faults, []);
      await page.close();
    });
  }
}

test("hostile names do nothing in a report and a drawing", async () => {
  const row = JSON.parse(readFileSync(join(REPORT_RUNS, "hostile.json"), "utf8"));
  const drawing = join(REPORT_RUNS, "hostile-show.svg");
  const files = [report("hostile"), report("hostile", "--row", `${row.file}:0`), drawing];
  execFileSync(ESPALIER, ["show", join(REPORT_RUNS, "hostile"), "--format", "svg", "--output", drawing, "--overwrite",
    "--row", `${row.file}:0`]);
  for (const file of files) {
    const { page, faults } = await opened(file);
    if (await page.$("#open")) await page.click("#open");
    const strange = await page.$$eval("img, iframe, object, embed, link, script[src], [onload], [onerror], [onclick]", (l) => l.length);
    assert.equal(strange, 0, file);
    assert.equal(await page.evaluate(() => globalThis.hit ?? 0), 0);
    assert.deepEqual(faults, [], file);
    assert.ok(statSync(file).size < maxBytes);
    await page.close();
  }
});
