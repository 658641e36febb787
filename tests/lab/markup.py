# SPDX-License-Identifier: Apache-2.0
"""Read a page from standard input, as strictly as XML.  Exit with 0 if each
link leads to a single target, and each drawing stands within WIDE; else say
what is wrong."""
import re
import sys
import xml.etree.ElementTree as tree

WIDE = 460


def positions(node):
    at = [node.get(name, '0') for name in ('x', 'x1', 'x2')]
    return at + re.findall(r'translate\((\S+)', node.get('transform', ''))


def main():
    page = sys.stdin.buffer.read()
    nodes = list(tree.fromstring(page).iter())
    ids = [n.get('id') for n in nodes if n.get('id')]
    links = [n.get('href', '#')[1:] for n in nodes]
    if not page.startswith(b'<!DOCTYPE html>\n'):
        return 'not a page'
    if len(ids) > len(set(ids)) or not set(links) <= {'', *ids}:
        return f'stray: {links} of {ids}'
    for node in nodes:
        if not all(0 <= float(x) <= WIDE for x in positions(node)):
            return f'outside: {node.attrib}'
    return None


sys.exit(main())
