"""Pictures of the docs: SVG with the same bytes for the same figures."""

import matplotlib

matplotlib.use('svg')
import matplotlib.pyplot as plt

matplotlib.rcParams.update({'svg.hashsalt': 'espalier', 'svg.fonttype': 'none', 'font.family': 'sans-serif'})


def picture():
    """A figure and its axes."""
    figure, axes = plt.subplots(figsize=(6.4, 3.6), layout='constrained')
    axes.spines[['top', 'right']].set_visible(False)
    return figure, axes


def write(figure, file):
    figure.savefig(file, metadata={'Date': None, 'Creator': None})
