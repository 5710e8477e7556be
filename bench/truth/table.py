"""The table of truth.py: a line for each figure, with what was measured and what is wanted."""

import contextlib, math

# The probability, at most, that chance makes a figure at the end of what is wanted look missed. A figure in the middle has
# less than 0.001 at 20 samples and more.
rare = 0.0025
heads = ('figure', 'kind of rows', 'n', 'measured', 'wanted', '')

fine = True


def head():
    print('|', ' | '.join(heads), '|')
    print('| --- | --- | --: | --: | --- | --- |')


def line(figure, kind, n, measured, wanted, verdict):
    """Prints a line. A verdict of MISSED or VIOLATED makes the script fail."""
    global fine
    fine &= verdict not in ('MISSED', 'VIOLATED')
    print('|', ' | '.join([figure, kind, str(n), measured, wanted, verdict]), '|', flush=True)


@contextlib.contextmanager
def attempt(figure, kind):
    """Judges a kind of rows. A verb that fails there is a MISSED figure."""
    try:
        yield
    except RuntimeError as e:
        line(figure, kind, '', str(e).strip().split('\n')[-1], '', 'MISSED')


def tail(k, n, p):
    """The probability of at most k of n, each with probability p."""
    if p in (0, 1):
        return float(p == 0 or k >= n)
    logs = (math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * math.log(p) + (n - i) * math.log(1 - p)
            for i in range(k + 1))
    return min(1.0, sum(map(math.exp, logs)))


def spelled(low, high):
    if low == high:
        return f'{low:g}'
    return f'at least {low:g}' if high == math.inf else f'at most {high:g}' if low == -math.inf else f'{low:g} to {high:g}'


def verdict(outside, chance):
    return 'MISSED' if outside and not chance else 'by chance' if outside else 'ok'


def share(figure, kind, hits, n, low, high):
    """Judges the share hits/n, where the true share must be in [low, high]."""
    if n == 0:
        return line(figure, kind, n, '', spelled(low, high), 'MISSED')
    got = hits / n
    chance = (got >= low or tail(hits, n, low) > rare) and (got <= high or tail(n - hits, n, 1 - high) > rare)
    low, high = (low or -math.inf), (high if high < 1 else math.inf)
    line(figure, kind, n, f'{got:.3f}', spelled(low, high), verdict(not low <= got <= high, chance))


def mean(figure, kind, values, low, high):
    """Judges the mean of independent values, where the true mean must be in [low, high]."""
    n = len(values)
    got = sum(values) / n
    error = math.sqrt(sum((v - got) ** 2 for v in values) / max(1, n - 1) / n)
    chance = low - 3.3 * error <= got <= high + 3.3 * error
    line(figure, kind, n, f'{got:+.4f} ± {error:.4f}', spelled(low, high), verdict(not low <= got <= high, chance))
