import math


def predict(tree, row):
    """Returns class, probabilities, leaf, tests and cost of a row.

    A row is a mapping from names to values; None and NaN are missing.
    """
    known = {k: x for k, x in row.items() if x is not None and x == x}
    values = {f["name"]: f.get("values") for f in tree["features"]}
    node = tree["nodes"][0]
    while "test" in node:
        name, test = node["feature"], node["test"]
        x = known.get(name)
        if x is None:
            to = node["missing"]
        elif test == "switch":
            to = node["cases"].get(x, node["other"])
        elif test == "at_least":
            to = node["yes"] if x >= node["value"] else node["no"]
        elif test == "between":
            low, high = node.get("from", -math.inf), node.get("below")
            yes = low <= x and (high is None or x < high)
            to = node["yes"] if yes else node["no"]
        elif test == "is":
            to = node["yes"] if x == node["value"] else node["no"]
        elif test == "in":
            to = node["yes"] if x in node["value"] else node["no"]
        elif test == "unlisted":
            to = node["yes"] if x not in values[name] else node["no"]
        else:  # missing
            to = node["no"]
        node = tree["nodes"][to]
    name, p = node["class"], node["probabilities"]
    if "model" in node:
        name, p = modelled(tree, tree["models"][node["model"]], known)
    return name, p, node["id"], node["tests"], node["cost"]


def modelled(tree, model, known):
    """Returns class and probabilities of a leaf with a model."""
    scores = model["intercept"]
    for term in model["terms"]:
        added = line(term, known.get(term["feature"]))
        scores = [s + a for s, a in zip(scores, added)]
    booster = model.get("booster")
    for splits in [] if booster is None else tree["boosters"][booster]:
        split, side = splits[0], {}
        while "add" not in side:
            split = splits[side.get("split", 0)]
            x = known.get(split["feature"])
            if x is None:
                side = split[split["missing"]]
            else:
                value, test = split["value"], split["test"]
                if test == "at_least":
                    yes = x >= value
                else:
                    yes = x in value if test == "in" else x == value
                side = split["yes" if yes else "no"]
        scores = [s + a for s, a in zip(scores, side["add"])]
    if len(tree["classes"]) == 2:  # one score
        e = math.exp(-abs(scores[0]))
        p = [e / (1 + e), 1 / (1 + e)]  # of a score of 0 or more
        p = p[::-1] if scores[0] < 0 else p
    else:
        p = shares([math.exp(s - max(scores)) for s in scores])
    if "prior_factors" in tree:
        p = shares([x * f for x, f in zip(p, tree["prior_factors"])])
    best = p.index(max(p))
    decision = tree.get("decision", {})
    if "threshold" in decision:
        at = tree["classes"].index(decision["positive"])
        enough = p[at] >= decision["threshold"]
        order = [x if k != at else 2 if enough else -1 for k, x in enumerate(p)]
        best = order.index(max(order))
    elif "error_costs" in tree:
        costs = []
        for column in zip(*tree["error_costs"]):
            costs.append(sum(x * c for x, c in zip(p, column)))
        most = min(costs) + 1e-12 * max(costs)
        best = next(k for k, x in enumerate(costs) if x <= most)
    return tree["classes"][best], p


def line(term, x):
    """Returns what a term adds: linear between knots, constant outside."""
    at, values = term["at"], term["values"]
    if x is None:
        return term["missing"]
    if x <= at[0] or x >= at[-1]:
        return values[0] if x <= at[0] else values[-1]
    i = next(k for k, knot in enumerate(at) if knot > x)
    share = (x - at[i - 1]) / (at[i] - at[i - 1])
    return [a + (b - a) * share for a, b in zip(values[i - 1], values[i])]


def shares(numbers):
    total = sum(numbers)
    return [x / total for x in numbers] if total > 0 else numbers
