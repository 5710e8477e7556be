#!/usr/bin/env python3
"""Checks the words of texts that people read: pages, the README, help, messages and comments.

    bench/words.py [--list]

Each rule is a habit that makes sentences hard to read at first sight, with what to write instead. The script reads
README.md, docs/*.md, and the string literals and comments of Go without tests, prints each place, and fails if there
is one. --list prints the rules.
"""

import argparse, collections, pathlib, re, sys

# Rules: a name, a pattern, and what to write. Patterns see text without code, in lower case.
rules = [
    ('noun left out', r'\b(?:those|that) (?:of|that|whose|with|where|in|on|by|from|to) (?:the|a|an|all|each|every|its|their|his|any|one|two|rows|other|another|training)\b(?<!that of (?:the ))', 'repeat the noun'),
    ('the others', r'\b(?:the|all) others\b|(?<!against )\bthe rest\b(?! of)', 'name them'),
    ('in the mean', r'\bin the mean\b', 'on average'),
    ('dear', r'\bdear(?:er|est)?\b', 'expensive, most expensive, maximum'),
    ('beside', r'\bbeside\b', 'next to, in addition to'),
    ('so many', r'\bso (?:many|few)\b', 'name the number'),
    ('there is none', r'\bthere (?:is|are) none\b', 'absent, nil'),
    ('no multiple', r'(?<!there )\bis no (?:multiple|number|file|folder|tree|run|document|run folder|terminal|feature)\b', 'is not a ..'),
    ('trailing too', r', too[.;:)]|, too$', 'also'),
    ('by itself', r'\b(?:by|for|in) itself\b', 'alone, independently'),
    ('anew, alike', r'\b(?:anew|alike(?! (?:reports|returns|names)))\b|\bas ever\b|\bat that\b(?! (?:time|point|moment|place|node|level|cost))', 'again, equally'),
    ('speaking documents', r'\b(?:files?|documents?|trees?|budgets?|json|page|manifest) (?:knows?|tells?|says?)\b', 'contains, lists, describes'),
    ('fronted of', r'(?:^|[.;:] )(?:of|beside) (?:the|a|an|all|each|every|its|many|several|few|those|\d)\b', 'the subject first'),
    ('stands for a place', r'\b(?:files?|folders?|trees?|runs?|columns?|rows?|documents?|figures?|json|names?) (?:stands?|lies|lie)\b', 'is'),
    ('as far as', r'\bas far as\b', 'if, up to'),
    ('no more than X is', r'\bwhat (?:a|an|the) \w+ (?:has|have|is|are)\b', 'name it'),
]


def prose(markdown):
    """The lines of a page without code, tables' bars and links' targets."""
    lines, fenced = [], False
    for line in markdown.split('\n'):
        if line.startswith('```'):
            fenced = not fenced
            line = ''
        lines.append('' if fenced else re.sub(r'\]\([^)]*\)', ']', re.sub(r'`[^`]*`', 'X', line)))
    return lines


def literals(go):
    """The string literals with several words of a Go file, by line; comments are left out."""
    found = collections.defaultdict(list)
    for m in re.finditer(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"|`[^`]*`', go):
        text = m.group()
        if text.startswith('//') or len(text.split()) < 3:
            continue
        for k, part in enumerate(text[1:-1].split('\n')):
            found[go.count('\n', 0, m.start()) + k].append(part)
    lines = [''] * (go.count('\n') + 1)
    for at, parts in found.items():
        lines[at] = ' '.join(parts)
    return lines


def comments(go):
    """The comments of a Go file, by the line where they begin: lines that follow each other are one comment."""
    lines, first = [''] * (go.count('\n') + 1), -1
    for at, line in enumerate(go.split('\n')):
        m = re.search(r'(?:^|\s)// ?(.*)', line)
        if m and first >= 0 and line.lstrip().startswith('//'):
            lines[first] += ' ' + m.group(1).strip()
            continue
        first = at if line.lstrip().startswith('//') else -1
        lines[at] = m.group(1) if m else ''
    return lines


def look(path, lines, places, wrapped=True):
    """Adds the places of habits. In wrapped lines a sentence may go on from the line before."""
    before = ''
    for number, line in enumerate(lines, 1):
        for name, pattern, instead in rules:
            for m in re.finditer(pattern, line.lower().strip()):
                if wrapped and name == 'fronted of' and m.start() == 0 and before and before[-1] not in '.:;':
                    continue
                text = line.strip()[max(0, m.start() - 70):m.end() + 70]
                places.append((name, instead, f'{path}:{number}', text))
        before = line.strip()


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--list', action='store_true')
    options = ap.parse_args()
    if options.list:
        for name, pattern, instead in rules:
            print(f'{name}: {instead}')
        return
    root = pathlib.Path(__file__).resolve().parent.parent
    places = []
    for page in [root / 'README.md', *sorted((root / 'docs').glob('*.md'))]:
        look(page.relative_to(root), prose(page.read_text()), places)
    for file in sorted(root.rglob('*.go')):
        name = str(file.relative_to(root))
        if name.endswith('_test.go') or name.startswith('bench/') or 'testdata' in name:
            continue
        look(name, literals(file.read_text()), places)
        look(name, comments(file.read_text()), places, wrapped=False)
    for name, instead, place, line in places:
        print(f'{place}: {name} (write: {instead}): {line}')
    if places:
        print(len(places), dict(collections.Counter(p[0] for p in places).most_common()))
    sys.exit(int(bool(places)))


main()
