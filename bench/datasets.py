#!/usr/bin/env python3
"""The data sets of scripts and tests: the folder data has the free ones, and this program adds the others.

    bench/datasets.py [--from PLACE] [SET ...]

data/MANIFEST.tsv lists the sets with their public sources and licences, data/SHA256SUMS the digest of each file. The
program copies the files that are missing from PLACE, a folder or an https URL that has a folder for each set. It ends
with 1 if a file has another digest. Without --from it checks the files that are there.
"""

import argparse, csv, glob, hashlib, os, shutil, sys, urllib.request

here = os.path.dirname(os.path.abspath(__file__))
folder = os.path.join(here, 'data')
published = os.path.join(here, 'published.csv')  # figures of the paper


def files(name):
    """The files of a data set, none if the set is not in the folder."""
    return sorted(glob.glob(os.path.join(folder, name, '*.parquet')))


def manifest(place=folder):
    """The rows of MANIFEST.tsv by the names of the sets. Categorical columns are separated by commas."""
    with open(os.path.join(place, 'MANIFEST.tsv')) as f:
        rows = {row['name']: row for row in csv.DictReader(f, delimiter='\t')}
    for row in rows.values():
        row['categorical'] = row['categorical'].removeprefix('-')
    return rows


def digest(path):
    with open(path, 'rb') as f:
        return hashlib.file_digest(f, 'sha256').hexdigest()


def fetch(place, name, path):
    """Copies a file, which appears under its name when it is whole."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    url = place.startswith('https://')
    with urllib.request.urlopen(f'{place}/{name}') if url else open(os.path.join(place, name), 'rb') as source:
        with open(path + '.part', 'wb') as target:
            shutil.copyfileobj(source, target)
    os.rename(path + '.part', path)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--from', dest='place', help='folder or https URL with a folder for each set')
    ap.add_argument('sets', nargs='*', metavar='SET', help='default: all')
    options = ap.parse_args()
    if unknown := set(options.sets) - set(manifest()):
        sys.exit(f'not in MANIFEST.tsv: {" ".join(sorted(unknown))}')
    differ = []
    with open(os.path.join(folder, 'SHA256SUMS')) as f:
        listed = [line.split() for line in f]
    for want, name in listed:
        if options.sets and name.split('/')[0] not in options.sets:
            continue
        path = os.path.join(folder, name)
        if options.place and not os.path.exists(path):
            fetch(options.place, name, path)
        if os.path.exists(path) and digest(path) != want:
            differ.append(name)
    if differ:
        sys.exit('not as SHA256SUMS lists them: ' + ' '.join(differ))


if __name__ == '__main__':
    main()
