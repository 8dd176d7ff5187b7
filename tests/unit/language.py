#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Count idioms per 10,000 words of the documentation, as TAP.  The bounds are the figures of git's
documentation: the 292 texts (*.txt) of Debian's package git-doc 1:2.39.5-0+deb12u3, 454,211 words,
counted by this script (`language.py FILE...`).
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
    paths = [pathlib.Path(name) for name in sys.argv[1:]]
    words, places = count(paths or texts(pathlib.Path(__file__).resolve().parents[2]))
    print(f'1..{len(IDIOMS)}')
    for number, (name, bound, _) in enumerate(IDIOMS, 1):
        rate = round(len(places[name]) * 10000 / words, 1)
        bad = '' if rate <= bound else 'not '
        print(f"{bad}ok {number} - '{name}': {rate} of 10,000 words, {bound} in git's pages")
        for place in places[name] if bad else ():
            print('#', place)


main()
