
// page.js shows the report: the tree, the slider over the frontier, the questions.

/** The number of levels of a tree that are open at first. */
const openLevels = 3;

/** The number of colours of classes: the last one is that of all other classes. */
const colours = 8;

/** The greatest number of nodes that one click opens. */
const mostOpened = 600;

/**
 * A new element with attributes and children. Texts are never read as HTML.
 * @param {string} name
 * @param {Object<string, string>} attributes
 * @param {...(Node | string)} children
 * @returns {HTMLElement}
 */
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/**
 * A new element of an SVG drawing.
 * @param {string} name
 * @param {Object<string, string | number>} attributes
 * @param {...(Node | string)} children
 * @returns {SVGElement}
 */
function drawn(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

/**
 * The element of an id; undefined where the page lacks it.
 * @param {string} id
 * @returns {HTMLElement | undefined}
 */
function byId(id) {
  return document.getElementById(id) ?? undefined;
}

/**
 * A number with at most six significant digits.
 * @param {number} x
 * @returns {string}
 */
function number(x) {
  return String(Number(x.toPrecision(6)));
}

/**
 * A number with three digits behind the point or fewer.
 * @param {number} x
 * @returns {string}
 */
function rounded(x) {
  return String(Number(x.toFixed(3)));
}

/**
 * A share of a whole, 1 or 100. A share that is neither 0 nor 1 is never written as one of these: it gets more
 * digits, as report.Percent writes it.
 * @param {number} share
 * @param {number} whole
 * @param {number} digits
 * @returns {string}
 */
function spell(share, whole, digits) {
  for (let k = digits; k <= digits + 5; k++) {
    const text = (whole * share).toFixed(k);
    if ((Number(text) > 0 || share <= 0) && (Number(text) < whole || share >= 1)) return text;
  }
  const step = 10 ** -(digits + 5);
  return share < 0.5 ? `<${step.toFixed(digits + 5)}` : `>${(whole - step).toFixed(digits + 5)}`;
}

/**
 * A count of things.
 * @param {number} count
 * @param {string} thing
 * @returns {string}
 */
function plural(count, thing) {
  return count + " " + thing + (count === 1 ? "" : "s");
}

/**
 * The name of a class for a command that people copy: a placeholder where a shell would read it as more than a word.
 * @param {string} name
 * @returns {string}
 */
function word(name) {
  return /^\w[\w.-]*$/.test(name) ? name : "CLASS";
}

/**
 * A whole number with commas between thousands.
 * @param {number} count
 * @returns {string}
 */
function grouped(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/**
 * A condition with the signs of mathematics.
 * @param {string} text
 * @returns {string}
 */
function signs(text) {
  return text.replace(" >= ", " \u2265 ").replace(" != ", " \u2260 ");
}

/**
 * A difference with its sign.
 * @param {number | null} now
 * @param {number | null} before
 * @param {number} digits
 * @returns {string}
 */
function signed(now, before, digits) {
  if (now === null || before === null || now === before) return "";
  const change = (now - before).toFixed(digits);
  return " (" + (now > before ? "+" : "") + change + ")";
}

/** The page: what is shown, and what the reader has answered. */
class Page {
  /** @param {Data} data */
  constructor(data) {
    this.data = data;
    /** @type {(Tree | undefined)[]} */
    this.trees = [];
    this.at = Math.max(0, data.points.findIndex((point) => point.chosen));
    /** @type {Map<number, HTMLElement>} by node */
    this.lines = new Map();
    /** @type {Map<number, Value>} by feature, in the order of the answers */
    this.answers = new Map();
    const all = data.classes.map((_, k) => k);
    /** The classes, that of interest first. */
    this.order = data.positive === undefined ? all : [data.positive, ...all.filter((k) => k !== data.positive)];
    /**
     * The classes at each node of the tree mixed, from those of the leaves below: see mixOf.
     * @type {(number[] | undefined)[]}
     */
    this.mixes = [];
    /** @type {Tree | undefined} */
    this.mixed = undefined;
    /** Whether the reader writes numbers with a decimal comma. */
    this.comma = false;
    /** @type {Tree | undefined} */
    this.tree = this.treeOf(this.at);
  }

  /** Shows everything. */
  start() {
    for (const part of document.querySelectorAll(".live")) part.removeAttribute("hidden");
    this.prepareMark();
    this.listen();
    this.showLegend();
    this.prepareDecisions();
    this.showPoint();
    this.showTree();
    const path = this.data.path ?? [];
    if (path.length > 0) this.light(path[path.length - 1], path);
    this.ask(false);
  }

  /** @returns {string} the unit of costs behind a number */
  unit() {
    return this.data.unit ? " " + this.data.unit : "";
  }

  /**
   * The tree of a point; undefined: the page has no room for it.
   * @param {number} at
   * @returns {Tree | undefined}
   */
  treeOf(at) {
    const number = this.data.points.length > 0 ? this.data.points[at].tree : 0;
    const packed = this.data.trees[number];
    if (number < 0 || !packed) return undefined;
    return (this.trees[number] ??= unpack(this.data, packed));
  }

  /** Reacts to the controls. */
  listen() {
    const budget = /** @type {HTMLInputElement | undefined} */ (byId("budget"));
    if (budget) {
      budget.max = String(this.data.points.length - 1);
      budget.value = String(this.at);
      budget.addEventListener("input", () => this.move(Number(budget.value)));
      byId("chosen")?.addEventListener("click", () => this.choose(this.data.points.findIndex((point) => point.chosen)));
    }
    byId("open")?.addEventListener("click", () => this.openAll());
    byId("close")?.addEventListener("click", () => {
      for (const node of this.lines.keys()) this.toggle(node, false);
    });
    byId("form")?.addEventListener("submit", (event) => {
      event.preventDefault();
      this.answer();
    });
  }

  /**
   * Moves the slider to a point.
   * @param {number} at
   */
  choose(at) {
    const budget = /** @type {HTMLInputElement | undefined} */ (byId("budget"));
    if (budget) budget.value = String(at);
    this.move(at);
  }

  /**
   * Shows the tree of another point.
   * @param {number} at
   */
  move(at) {
    this.at = at;
    this.tree = this.treeOf(at);
    this.showPoint();
    this.showTree();
    this.ask(false);
  }

  // The frontier.

  /** Prepares the mark of the tree shown in the picture of the frontier. */
  prepareMark() {
    const svg = document.querySelector("#chart svg");
    if (!svg) return;
    this.mark = drawn("circle", { class: "now", r: 6 });
    svg.append(this.mark);
    svg.addEventListener("click", (event) => {
      const group = event.target instanceof Element ? event.target.closest("[data-point]") : null;
      if (group) this.choose(Number(group.getAttribute("data-point")));
    });
  }

  /** Shows the bill and the figures of the point. */
  showPoint() {
    const { points } = this.data;
    const bill = byId("bill");
    if (!bill || points.length === 0) return;
    const point = points[this.at];
    const run = points.find((p) => p.chosen) ?? point;
    const interval = point.low === undefined ? "" : `, 95 %: ${point.low.toFixed(3)} to ${(point.high ?? 1).toFixed(3)}`;
    /** @type {[string, string][]} */
    const lines = [
      ["tree", point.name + (point.marks ? ", " + point.marks.replace("* ", "") : "")],
      ["cost of a row", rounded(point.cost) + this.unit() + signed(point.cost, run.cost, 3)],
      ["questions", rounded(point.tests) + signed(point.tests, run.tests, 3)],
      ["maximum cost", number(point.most) + this.unit() + signed(point.most, run.most, 2)],
      ["leaves, levels", `${point.leaves}, ${point.depth}`],
    ];
    const judged = point.validation === null ? "folds" : "validation";
    /** @type {[string, number | null, number | null, string][]} */
    const figures = [
      ["AUC, validation", point.validation, run.validation, interval], ["AUC, folds", point.folds, run.folds, ""],
      ["AUC, test", point.test, run.test, ""], ["accuracy, " + judged, point.accuracy, run.accuracy, ""],
      ["log loss, " + judged, point.loss, run.loss, ""],
    ];
    for (const [name, now, before, more] of figures) {
      if (now !== null) lines.push([name, figure(now) + signed(now, before, 4) + more]);
    }
    if (point.total !== null) {
      lines.push(["cost of errors", figure(point.errorCost) + this.unit() + signed(point.errorCost, run.errorCost, 4)],
        ["tests and errors", figure(point.total) + this.unit() + signed(point.total, run.total, 4)]);
    }
    bill.replaceChildren(...lines.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
    const auc = figure(point.validation ?? point.folds ?? point.test);
    byId("change")?.replaceChildren(`Shown: tree ${point.name}, cost ${rounded(point.cost)}, AUC ${auc}.`);
    byId("promote")?.replaceChildren(...(point.chosen ? ["This is the run's tree."]
      : ["To take it: ", element("code", {}, `espalier frontier RUN --promote ${Number(point.name)} --output NEW`)]));
    const budget = byId("budget");
    budget?.setAttribute("aria-valuetext", `${rounded(point.cost)}: tree ${point.name}, AUC ${auc}`);
    this.mark?.setAttribute("cx", String(point.spot[0]));
    this.mark?.setAttribute("cy", String(point.spot[1]));
  }

  // Thresholds.

  /** Prepares the slider over the thresholds. */
  prepareDecisions() {
    const { decisions } = this.data;
    const slider = /** @type {HTMLInputElement | undefined} */ (byId("threshold"));
    if (!slider) return;
    if (!decisions) {
      byId("decide")?.remove();
      return;
    }
    slider.max = String(decisions.points.length - 1);
    slider.value = String(decisions.start);
    slider.addEventListener("input", () => this.showDecision(Number(slider.value)));
    this.showDecision(Number(slider.value));
  }

  /**
   * Shows what a threshold finds and misses.
   * @param {number} at
   */
  showDecision(at) {
    const { decisions, positive } = this.data;
    const slider = byId("threshold");
    if (!decisions || !slider || positive === undefined) return;
    const point = decisions.points[at];
    const [found, missed, alarms, rest] = point.counts;
    const name = className(this.data, positive);
    const own = at === decisions.own;
    const from = `saying ${name} from a probability of ${spell(point.threshold, 100, 1)} % on`;
    const said = `of ${grouped(decisions.of)} rows, ${grouped(found + missed)} are ${name}: ${grouped(found)} found, ` +
      `${grouped(missed)} missed, ${grouped(alarms)} false ${alarms === 1 ? "alarm" : "alarms"}`;
    byId("decision")?.replaceChildren(`S${from.slice(1)}${own ? ", as the tree decides" : ""}: ${said}.`);
    slider.setAttribute("aria-valuetext", `${from}: ${said}`);
    /** @type {[string, number, string][]} */
    const kinds = [["k0", found, "found"], ["miss", missed, "missed"], ["alarm", alarms, "false alarms"], ["k1", rest, "rightly let go"]];
    byId("counts")?.replaceChildren(...kinds.filter(([, count]) => count > 0).map(([kind, count]) => {
      const part = element("i", { class: kind });
      part.style.flexGrow = String(count);
      return part;
    }));
    /** @type {[string, (number | null)[], string][]} */
    const rates = [
      ["sensitivity", point.sensitivity, `of the rows that are ${name}, found`],
      ["specificity", point.specificity, "of the other rows, let go"],
      ["PPV", point.ppv, `of the rows called ${name}, right`], ["NPV", point.npv, "of the rows let go, right"],
    ];
    /** @type {[Node | string, string][]} */
    const lines = kinds.map(([kind, count, text]) => [element("span", { class: "key" }, element("i", { class: kind, "aria-hidden": "true" }), text),
      `${grouped(count)} of ${grouped(decisions.of)}`]);
    for (const [rate, [value, low, high], means] of rates) {
      const interval = low === null || high === null ? "" : ` (95 %: ${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)})`;
      lines.push([rate, value === null ? "-" : `${spell(value, 100, 1)} %${interval} ${means}`]);
    }
    if (point.errors !== undefined) lines.push(["cost of errors", `${rounded(point.errors)}${this.unit()} per row`]);
    byId("rates")?.replaceChildren(...lines.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
    byId("apply")?.replaceChildren(...(own ? ["This is how the tree decides."]
      : ["To decide so: ", element("code", {}, `espalier predict --model RUN --positive ${word(name)} --threshold ${point.threshold}`)]));
  }

  // The tree.

  /** Shows the first levels of the tree. */
  showTree() {
    const lines = byId("lines");
    if (!lines) return;
    this.lines.clear();
    /** @type {number[]} */
    this.lit = [];
    const point = this.data.points[this.at];
    const name = point ? `tree ${point.name}${point.chosen ? ", the run's tree" : ""}` : "the run's tree";
    if (!this.tree) {
      lines.replaceChildren(element("li", {}, element("p", {}, `The page has no room for ${name}: `,
        element("code", {}, `espalier show RUN/frontier/${point?.name}.json`))));
      byId("shown")?.replaceChildren("");
      return;
    }
    const count = this.tree.packed.test.length;
    byId("shown")?.replaceChildren(name + (this.tree.packed.id
      ? `: the page has room for its ${count} nodes with the most rows; espalier show has all`
      : `, ${count} nodes`));
    lines.replaceChildren(this.line(0, "all rows"));
    this.openTo(0, window.innerWidth < 960 ? openLevels - 1 : openLevels);
  }

  /** Names the colours of the classes. */
  showLegend() {
    const order = this.order.slice(0, colours - 1);
    const names = order.map((k) => element("span", {}, element("i", { class: this.colour(k) }), className(this.data, k)));
    if (order.length < this.data.classes.length) names.push(element("span", {}, element("i", { class: "rest" }), "other classes"));
    byId("legend")?.replaceChildren(...names);
  }

  /**
   * The CSS class of the colour of a class.
   * @param {number} k
   * @returns {string}
   */
  colour(k) {
    const at = this.order.indexOf(k);
    return at < colours - 1 ? `k${at}` : "rest";
  }

  /**
   * Opens levels below a node.
   * @param {number} node
   * @param {number} levels
   */
  openTo(node, levels) {
    if (levels === 0 || !this.tree || this.tree.packed.test[node] < 0) return;
    this.toggle(node, true);
    for (const child of childrenOf(this.data, this.tree, node)) this.openTo(child, levels - 1);
  }

  /** Opens the nodes, those of the first levels first. */
  openAll() {
    const tree = this.tree;
    if (!tree) return;
    for (let node = 0; node < Math.min(tree.packed.test.length, mostOpened); node++) {
      if (tree.packed.test[node] >= 0) this.toggle(node, true);
    }
  }

  /**
   * Shows or hides what stands below a node. What is shown for the first time is made then.
   * @param {number} node an inner node
   * @param {boolean} open
   */
  toggle(node, open) {
    const tree = this.tree;
    const line = this.lines.get(node);
    if (!tree || !line) return;
    let below = /** @type {HTMLElement | null} */ (line.querySelector(":scope > ul"));
    if (!below) {
      if (!open) return;
      const texts = conditions(this.data, tree.packed.test[node]);
      below = element("ul", { role: "list" }, ...childrenOf(this.data, tree, node).map((child, k) => this.line(child, texts[k])));
      line.append(below);
    }
    below.hidden = !open;
    line.querySelector(":scope > .card > .asks")?.setAttribute("aria-expanded", String(open));
  }

  /**
   * A node of the drawn tree: its condition, its classes as a bar, its rows, and its question with the price or its class.
   * @param {number} node
   * @param {string} condition
   * @returns {HTMLElement}
   */
  line(node, condition) {
    const tree = /** @type {Tree} */ (this.tree);
    const { packed } = tree;
    const test = packed.test[node];
    const chances = chancesOf(this.data, tree, node);
    const rows = grouped(packed.rows[node]);
    const of = packed.of?.[node] ?? null;
    const count = of !== null ? `${grouped(of)} of ${rows}` : `${rows} ${packed.rows[node] === 1 ? "row" : "rows"}`;
    const card = element("div", { class: "card" }, element("span", { class: "if" }, signs(condition)), this.bar(this.mixOf(node) ?? chances),
      element("span", { class: "of" }, element("b", {}, this.chance(packed.class[node], chances)),
        element("span", { class: "soft" }, count)));
    const line = element("li", { "data-node": String(idOf(tree, node)) }, card);
    line.style.setProperty("--w", `${(1.5 + 4.5 * Math.sqrt(shareOf(tree, node))).toFixed(1)}px`);
    this.lines.set(node, line);
    if (test >= 0) {
      const feature = this.data.tests[test][0];
      const again = wayTo(tree, node).some((above) => above !== node && !isPresence(this.data, tree, above) &&
        this.data.tests[packed.test[above]][0] === feature);
      const asked = questionOf(this.data, tree, node);
      const price = priceOf(this.data, tree, asked);
      const offered = node > 0 && isPresence(this.data, tree, tree.parent[node]); // the card above has the question and its price
      const name = this.data.features[feature].name;
      const button = element("button", { type: "button", class: "asks", "aria-expanded": "false" },
        element("span", {}, offered ? `tests the value of ${name}` : `asks ${name}${again ? " again" : ""}`),
        element("span", { class: "price" }, !this.data.priced || offered ? "" : price === 0 ? "free" : number(price) + this.unit()));
      button.addEventListener("click", () => this.toggle(node, button.getAttribute("aria-expanded") !== "true"));
      card.append(button, ...(offered ? [] : [this.why(asked)]));
      return line;
    }
    const paid = this.data.priced ? `, paid ${number(tree.paid[node])}${this.unit()}` : `, after ${plural(tree.depth[node], "question")}`;
    if (packed.leaves && test === -2) {
      card.append(element("span", { class: "then" }, `${packed.leaves[node]} leaves left out below${paid}`));
      return line;
    }
    card.append(element("span", { class: "then" }, element("i", { class: this.colour(packed.class[node]), "aria-hidden": "true" }),
      element("b", {}, className(this.data, packed.class[node])), element("span", { class: "soft" }, paid)));
    const model = modelOf(tree, node);
    if (model) card.append(element("span", { class: "soft" }, this.range(model)), this.explain(model));
    return line;
  }

  /**
   * The classes at an inner node of several classes, of which the page has the most probable one alone: those of the leaves
   * below, by their rows. undefined: they are known, or not even the leaves have all.
   * @param {number} node
   * @returns {Chance[] | undefined}
   */
  mixOf(node) {
    const tree = /** @type {Tree} */ (this.tree);
    const classes = this.data.classes.length;
    if (classes === 2 || tree.packed.test[node] < 0) return undefined;
    if (this.mixed !== tree) {
      this.mixed = tree;
      this.mixes = [];
      for (let at = tree.packed.test.length - 1; at >= 0; at--) {
        const p = tree.packed.p[at];
        const below = childrenOf(this.data, tree, at);
        const parts = below.map((child) => this.mixes[child]);
        const all = below.reduce((sum, child) => sum + shareOf(tree, child), 0);
        if (typeof p !== "number") this.mixes[at] = p.length === classes ? p : undefined;
        else if (all > 0 && parts.every((part) => part)) {
          this.mixes[at] = Array.from({ length: classes }, (_, k) =>
            below.reduce((sum, child, i) => sum + (shareOf(tree, child) / all) * (parts[i] ?? [])[k], 0));
        }
      }
    }
    const mix = this.mixes[node];
    return mix && sorted(mix);
  }

  /**
   * The classes at a node as a bar.
   * @param {Chance[]} chances
   * @returns {HTMLElement}
   */
  bar(chances) {
    const bar = element("span", { class: "bar", "aria-hidden": "true" });
    const known = this.order.map((k) => chances.find((c) => c.class === k));
    for (const chance of known) {
      if (!chance) continue;
      const part = element("i", { class: this.colour(chance.class) });
      part.style.width = `${(100 * chance.p).toFixed(2)}%`;
      bar.append(part);
    }
    return bar;
  }

  /**
   * The probability that describes a node: of the class of interest or, without one, of the node's class.
   * @param {number} predicted
   * @param {Chance[]} chances
   * @returns {string}
   */
  chance(predicted, chances) {
    const of = chances.find((c) => c.class === this.data.positive) ?? chances.find((c) => c.class === predicted);
    return of ? `${className(this.data, of.class)} ${spell(of.p, 100, 1)}\u00a0%` : className(this.data, predicted);
  }

  /**
   * What the model of a leaf can give, in words.
   * @param {Model} model
   * @returns {string}
   */
  range(model) {
    const names = model.with.map((f) => this.data.features[f].name).join(", ");
    return `a model of ${names || "no feature"} gives it ${model.range[0]} to ${model.range[1]}`;
  }

  /**
   * Why a node asks its question.
   * @param {number} node no presence test: see questionOf
   * @returns {HTMLElement}
   */
  why(node) {
    const tree = /** @type {Tree} */ (this.tree);
    const price = priceOf(this.data, tree, node);
    const score = tree.packed.score?.[tree.inner[node]];
    const partly = node > 0 && isPresence(this.data, tree, tree.parent[node]); // some rows lack the value
    /** @type {[string, number | undefined, string][]} */
    const rows = [
      ["balance", score?.[0], "share of all rows that comes here and does not go to the largest side"],
      ["efficiency", score?.[1], "how far it tells rows of different classes apart"],
      ["discrimination", score?.[2], "by how much it lowers the uncertainty about the class" + (partly
        ? ": on the rows that have the value, times the share of these rows" : "")],
      ["score", score?.[3], `all of it for the price ${number(price)}${this.unit()}`],
    ];
    const list = element("dl", {}, ...rows.flatMap(([name, value, means]) => [
      element("dt", {}, `${name} ${value === undefined ? "-" : value}`), element("dd", {}, means)]));
    const details = element("details", { class: "why" }, element("summary", {}, "why?"),
      score ? list : element("p", {}, "The page has no room for the scores of this tree."));
    const rival = tree.packed.rival?.[tree.inner[node]];
    if (rival && score) {
      const behind = score[3] > 0 ? `, ${(100 * (1 - rival[1] / score[3])).toFixed(1)} % less` : "";
      details.append(element("p", {}, `The best question about another feature: ${rival[0]}, with the score ${rival[1]}${behind}, ` +
        `for the price ${number(rival[2])}${this.unit()}.`));
    }
    return details;
  }

  /**
   * A leaf's model in words.
   * @param {Model} model
   * @returns {HTMLElement}
   */
  explain(model) {
    const list = element("ul", {});
    const two = this.data.classes.length === 2;
    const of = two ? className(this.data, 1) : "each class";
    for (const [feature, at, values, missing] of model.terms ?? []) {
      const f = this.data.features[feature];
      const knots = at.length > 6 ? [0, 1, 2, 3, 4].map((k) => Math.round((k * (at.length - 1)) / 4)) : at.map((_, k) => k);
      const parts = knots.map((k) => `${effect(values[k])} at ${number(at[k])}`);
      if (f.lost) parts.push(`${effect(missing)} where it is missing`);
      list.append(element("li", {}, `${f.name} multiplies the odds of ${of} by ${parts.join(", ")}`));
    }
    if (model.booster !== undefined) {
      const trees = this.tree?.packed.boosters?.[model.booster] ?? [];
      list.append(element("li", {}, `${plural(trees.length, "small tree")} over the values already asked for ` +
        `${trees.length === 1 ? "corrects" : "correct"} the odds further`));
    }
    const text = model.intercept ? `The rows of this leaf do not all get the same probability of ${of}: `
      : "The page has no room for the numbers of this model. ";
    return element("details", { class: "why" }, element("summary", {}, "the model of this leaf"), element("p", {}, text), list);
  }

  /**
   * Lights up the way to a node, and opens it.
   * @param {number} node
   * @param {number[]} [ids] the numbers of the nodes in tree.json, where only they are known
   */
  light(node, ids) {
    const tree = this.tree;
    for (const at of this.lit ?? []) this.lines.get(at)?.classList.remove("lit");
    if (!tree) return;
    let at = node;
    if (ids) at = tree.packed.id ? lastOf(tree.packed.id, ids) : node;
    this.lit = wayTo(tree, at);
    for (const step of this.lit) {
      if (step !== at) this.toggle(step, true);
      this.lines.get(step)?.classList.add("lit");
    }
  }

  // The questions.

  /**
   * Asks the next question, or tells the prediction.
   * @param {boolean} focus the reader has just answered
   */
  ask(focus) {
    const form = byId("form");
    const standing = byId("standing");
    const tree = this.tree;
    if (!form || !standing) return;
    if (!tree) {
      form.replaceChildren("The page has no room for this tree: choose another one.");
      standing.replaceChildren("");
      return;
    }
    const { node, paid } = walk(this.data, tree, this.answers);
    if (this.answers.size > 0) this.light(node);
    this.tell(node);
    const test = tree.packed.test[node];
    const back = element("button", { type: "button" }, "Back");
    back.addEventListener("click", () => this.back(false));
    const again = element("button", { type: "button" }, "Start again");
    again.addEventListener("click", () => this.back(true));
    const spent = `paid ${number(paid)}${this.unit()} for ${plural(answersOn(this.data, tree, node), "answer")}`;
    if (test < 0) {
      form.replaceChildren(element("p", {}, ...(this.answers.size > 0 ? [back, again] : [])));
      form.prepend(this.verdict(node));
      standing.replaceChildren(this.summary(node) + `; ${spent}.`);
      if (focus) again.focus();
      return;
    }
    const feature = this.data.features[this.data.tests[test][0]];
    const price = priceOf(this.data, tree, questionOf(this.data, tree, node));
    const input = this.input(feature);
    const submit = element("button", { type: "submit" }, "Answer");
    const missing = element("button", { type: "button" }, "It is missing");
    missing.addEventListener("click", () => this.give(feature.numeric ? null : feature.missing ?? null));
    form.replaceChildren(
      element("p", {}, element("label", { for: "value" }, `${feature.name}?`), this.hint(feature, price)),
      element("p", {}, input, submit, missing, ...(this.answers.size > 0 ? [back, again] : [])),
      element("p", { id: "fault", class: "fault", role: "alert" }),
    );
    standing.replaceChildren(`So far ${spent}; still to come: ${rounded(tree.mean[node])} on average, ` +
      `at most ${number(tree.most[node])}.`);
    if (focus) input.focus();
  }

  /**
   * Numbers with the decimal sign of the reader.
   * @param {string} text
   * @returns {string}
   */
  local(text) {
    return this.comma ? text.replaceAll(".", ",") : text;
  }

  /**
   * What a value of a feature looks like.
   * @param {Feature} feature
   * @param {number} price
   * @returns {HTMLElement}
   */
  hint(feature, price) {
    const form = feature.numeric ? (feature.unit ? `a ${feature.unit}` : "a number") : "one of the values";
    const range = feature.cuts?.length === 2 ? `, cuts from ${this.local(cutsOf(feature))}` : "";
    return element("span", { class: "soft", id: "hint" }, `${form}${range}; price ${this.local(number(price))}${this.unit()}`);
  }

  /**
   * The control that takes a value of a feature.
   * @param {Feature} feature
   * @returns {HTMLElement}
   */
  input(feature) {
    const attributes = { id: "value", "aria-describedby": "hint" };
    if (feature.numeric) {
      return element("input", { ...attributes, type: "text", size: "20", ...(feature.unit ? {} : { inputmode: "decimal" }) });
    }
    const select = element("select", attributes);
    (feature.codes ?? []).forEach((code, k) => {
      select.append(element("option", { value: String(code) }, (feature.names ?? [])[k]));
    });
    if (feature.some) select.append(element("option", { value: "-1" }, "(another value of the training rows)"));
    select.append(element("option", { value: String(feature.other) }, "(a value that training did not know)"));
    return select;
  }

  /** Takes the value of the control. */
  answer() {
    const tree = this.tree;
    const control = /** @type {HTMLInputElement | HTMLSelectElement | undefined} */ (byId("value"));
    if (!tree || !control) return;
    const { node } = walk(this.data, tree, this.answers);
    const feature = this.data.features[this.data.tests[tree.packed.test[node]][0]];
    const value = feature.numeric ? parseNumber(feature, control.value, this.comma) : Number(control.value);
    if (feature.numeric && value !== undefined && control.value.includes(",")) this.comma = true;
    if (value === undefined) {
      const why = ambiguous(control.value) ? "may have thousands or decimals behind its comma: write a point, or no comma"
        : `is no ${feature.unit ?? "number"}: give one, or say that it is missing`;
      byId("fault")?.replaceChildren(`"${control.value}" ${why}.`);
      control.setAttribute("aria-invalid", "true");
      control.focus();
      return;
    }
    this.give(value);
  }

  /**
   * Answers the open question.
   * @param {Value} value
   */
  give(value) {
    const tree = this.tree;
    if (!tree) return;
    const { node } = walk(this.data, tree, this.answers);
    this.answers.set(this.data.tests[tree.packed.test[node]][0], value);
    this.ask(true);
  }

  /**
   * Takes back the last answer, or all of them.
   * @param {boolean} all
   */
  back(all) {
    const last = [...this.answers.keys()].pop();
    if (all) this.answers.clear();
    else if (last !== undefined) this.answers.delete(last);
    if (this.answers.size === 0) this.light(0);
    this.ask(true);
  }

  /**
   * Lists the answers on the way to a node.
   * @param {number} node
   */
  tell(node) {
    const tree = /** @type {Tree} */ (this.tree);
    const way = wayTo(tree, node);
    const items = way.slice(1).flatMap((child, k) => {
      if (child === questionOf(this.data, tree, way[k])) return []; // the value is known, and the next step is the question
      const test = tree.packed.test[way[k]];
      const feature = this.data.features[this.data.tests[test][0]];
      const value = this.answers.get(this.data.tests[test][0]) ?? null;
      const far = apart(feature, value);
      const so = conditions(this.data, test)[child - tree.first[way[k]]];
      const known = value === null && so === `${feature.name} is missing`; // the condition says no more than the value
      return element("li", {}, `${feature.name} is ${this.local(spelled(feature, value))}`,
        ...(far ? [element("b", { class: "fault" }, `, far from the cuts of the tree (${this.local(cutsOf(feature))})`)] : []),
        `${known ? "" : `, so ${signs(so)}`}: ` +
        `paid ${this.local(number(priceOf(this.data, tree, way[k])))}${this.unit()}`);
    });
    byId("answered")?.replaceChildren(...items);
  }

  /**
   * A class with its probability or, if the page has it, with the probability of the class of interest.
   * @param {number} predicted
   * @param {Chance[]} chances
   * @param {string} between text before the probability
   * @param {number} digits
   * @returns {string}
   */
  named(predicted, chances, between, digits) {
    const chance = chances.find((c) => c.class === this.data.positive);
    if (chance) {
      return `${className(this.data, predicted)} (${className(this.data, chance.class)}${between}${spell(chance.p, 1, digits)})`;
    }
    const p = chances.find((c) => c.class === predicted)?.p ?? 0;
    return `${className(this.data, predicted)}${between}${spell(p, 1, digits)}`;
  }

  /**
   * The prediction at a node in one sentence.
   * @param {number} node
   * @returns {string}
   */
  summary(node) {
    const tree = /** @type {Tree} */ (this.tree);
    const result = predict(this.data, tree, node, this.answers);
    const place = tree.packed.test[node] === -1 ? `leaf ${idOf(tree, node)}`
      : `node ${idOf(tree, node)}, below which the page has no more of the tree (espalier ask has)`;
    return `${this.data.label} = ${this.named(result.class, result.chances, " with probability ", 4)}, at ${place}${result.whole ? "" : ", without the leaf's model"}`;
  }

  /**
   * A table of the probabilities at a node.
   * @param {number} node
   * @returns {HTMLElement}
   */
  verdict(node) {
    const tree = /** @type {Tree} */ (this.tree);
    const result = predict(this.data, tree, node, this.answers);
    const body = element("tbody", {});
    for (const chance of result.chances.slice(0, 8)) {
      body.append(element("tr", {}, element("th", { scope: "row" }, className(this.data, chance.class)),
        element("td", { class: "n" }, spell(chance.p, 1, 4))));
    }
    const head = element("tr", {}, element("th", { scope: "col" }, this.data.label),
      element("th", { scope: "col", class: "n" }, "probability"));
    const table = element("table", {
      id: "verdict", "data-leaf": String(idOf(tree, node)), "data-class": String(result.class),
      "data-chances": JSON.stringify(result.chances),
    }, element("thead", {}, head), body);
    return table;
  }
}

/**
 * The last node of the page that is on a way, given the nodes' numbers in tree.json.
 * @param {number[]} ids by node of the page
 * @param {number[]} way numbers of nodes
 * @returns {number}
 */
function lastOf(ids, way) {
  for (const id of [...way].reverse()) {
    const at = ids.indexOf(id);
    if (at >= 0) return at;
  }
  return 0;
}

/**
 * The name of a class. Of very many classes the page has only the names that its tree predicts.
 * @param {Data} data
 * @param {number} at
 * @returns {string}
 */
function className(data, at) {
  return data.classes[at] || `class number ${at}`;
}

/**
 * The factor of the odds that a value of a term is, in words.
 * @param {number[]} values
 * @returns {string}
 */
function effect(values) {
  if (values.length === 1) return String(Number(Math.exp(values[0]).toPrecision(2)));
  return "(" + values.map((v) => String(Number(Math.exp(v).toPrecision(2)))).join("; ") + ")";
}

/**
 * The first and the last cut of a feature.
 * @param {Feature} feature
 * @returns {string}
 */
function cutsOf(feature) {
  return (feature.cuts ?? []).join(" to ");
}

/**
 * A value for reading.
 * @param {Feature} feature
 * @param {Value} value
 * @returns {string}
 */
function spelled(feature, value) {
  if (value === null || (!feature.numeric && value === feature.missing)) return "missing";
  if (feature.numeric) return feature.unit ? `the ${feature.unit} ${value}` : String(value);
  const at = (feature.codes ?? []).indexOf(value);
  return at >= 0 ? (feature.names ?? [])[at] : "another value";
}

/**
 * A figure with four digits.
 * @param {number | null} x
 * @returns {string}
 */
function figure(x) {
  return x === null ? "-" : x.toFixed(4);
}

if (typeof document !== "undefined") {
  new Page(JSON.parse(byId("data")?.textContent ?? "{}")).start();
}
