#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Count idioms per 10,000 words of the documentation, as TAP.  The bounds are the figures of git's
documentation: the 292 texts (*.txt) of Debian's package git-doc 1:2.39.5-0+deb12u3, 454,211 words,
counted by this script (`language.py FILE...`).  Also bounds the length of the documentation without
man pages.
"""
import pathlib
import re
import sys

# name, bound, pattern: "stand" for "be located", nobody and nothing, "what" or "who" that begins a
# clause or is the subject of a following verb, except in questions.
IDIOMS = (
    ('stand', 0.0, r'\b(?:stands?|stood|standing)\b(?! (?:for|out|alone)\b)'),
    ('nothing', 2.4, r'\b(?:nobody|nothing|nought)\b'),
    ('what', 2.9, r'[.:;,!] (?:what|who|whoever)\b(?=[^.?]*\.)|'
                  r'\bwhat (?:is|was|are|were|has|had|can|cannot|could|will|would|must|may|does)\b'
                  r'(?=[^.?]*\.)'),
)

# Words of all pages in Markdown.
MOST = 10000
NOT_OURS = ('build', 'build-aux', '.git')


def pages(top):
    return sorted(path for path in top.rglob('*.md')
                  if not path.relative_to(top).parts[0].startswith(NOT_OURS))


def length(path):
    """Words, numbers and blocks of commands excluded; of a table, cells that are not code alone."""
    found = 0
    for line in re.sub(r'^```.*?^```$', '', path.read_text(), flags=re.M | re.S).split('\n'):
        cells = line.split('|') if line.startswith('|') else [] if line.startswith('    ') else [line]
        if len(cells) > 1:
            cells = [cell for cell in cells if re.search('[A-Za-z]', re.sub('`[^`]*`', '', cell))]
        found += sum(bool(re.search('[A-Za-z]', word)) for cell in cells for word in cell.split())
    return found


def texts(top):
    pages = ('README.md', 'CONTRIBUTING.md', 'NEWS.md', 'kernel/README.md', 'Documentation/**/*.md',
             'Documentation/**/*.rst')
    return sorted(path for page in pages for path in top.glob(page))


def count(paths):
    """Words, and the places of each idiom."""
    words, places = 0, {name: [] for name, _, _ in IDIOMS}
    for path in paths:
        text = ' '.join(path.read_text(errors='replace').split())
        words += len(re.findall('[A-Za-z]+', text))
        for name, _, pattern in IDIOMS:
            places[name] += [f'{path}: …{text[max(0, match.start() - 30):match.end() + 20]}…'
                             for match in re.finditer(pattern, text, re.IGNORECASE)]
    return words, places


def main():
    top = pathlib.Path(__file__).resolve().parents[2]
    words, places = count([pathlib.Path(name) for name in sys.argv[1:]] or texts(top))
    print(f'1..{len(IDIOMS) + 1}')
    for number, (name, bound, _) in enumerate(IDIOMS, 1):
        rate = round(len(places[name]) * 10000 / words, 1)
        bad = '' if rate <= bound else 'not '
        print(f"{bad}ok {number} - '{name}': {rate} of 10,000 words, {bound} in git's pages")
        for place in places[name] if bad else ():
            print('#', place)
    lengths = {path: length(path) for path in pages(top)}
    total = sum(lengths.values())
    bad = 'not ' if total > MOST or not total else ''
    print(f'{bad}ok {len(IDIOMS) + 1} - documentation without man pages: {total} words, at most {MOST}')
    for path in lengths:
        print(f'# {lengths[path]:5} {path.relative_to(top)}')


main()
