"""symbols.py curated|supported|answered LIBRARY: compares documentation and declarations, after `make docs`."""

import glob
import json
import re
import sys

BUILT = '.build/documentation'


def declared(library):
    """Returns the paths of public symbols, such as `SecItemAdd(_:_:)` and `SecAccessControlCreateFlags/or`."""
    with open(f'{BUILT}/graphs/{library}/{library}.symbols.json', encoding='utf-8') as file:
        return {'/'.join(symbol['pathComponents']) for symbol in json.load(file)['symbols']}


def curated(library):
    """The symbols in groups that DocC generated on the library's page."""
    with open(f'{BUILT}/site/data/documentation/{library.lower()}.json', encoding='utf-8') as file:
        sections = json.load(file)['topicSections']
    for section in sections:
        if section.get('generated'):
            yield from section['identifiers']


def supported(library):
    """Symbols without a row in the table, rows without a symbol, and rows without a valid status."""
    with open(f'Sources/{library}/{library}.docc/SupportedSymbols.md', encoding='utf-8') as file:
        rows = re.findall(r'^\| (``.*?) \| (.*) \|$', file.read(), re.MULTILINE)
    if not rows:
        yield 'the table is empty'
    names = [name for symbols, _ in rows for name in re.findall(r'``(.*?)``', symbols)]
    symbols = declared(library)
    # A type's row covers its members, except Apple's options, codes and settings.
    types = 'SecAccessControlCreateFlags|LAContext|LAError/Code|LAPolicy|LABiometryType'
    members = {name for name in symbols if re.match(rf'({types})/(?!init\()\w+(\(.*\))?$', name)}
    top = {name for name in symbols if '/' not in name and not re.match(r'errSec\w+$', name)}
    wanted = top | members - {'SecAccessControlCreateFlags/rawValue', 'LABiometryType/rawValue',
        'LAError/Code/rawValue', 'LAError/Code/allCases'}
    yield from (f'no row: {name}' for name in sorted(wanted - set(names)))
    yield from (f'no symbol: {name}' for name in names if name not in symbols)
    yield from (f'twice: {name}' for name in sorted(set(names)) if names.count(name) > 1)
    for symbols, status in rows:
        if not re.match(r'supported\b|ignored: .|errSecUnimplemented\b', status):
            yield f'no status: {symbols}'


def answered(library):
    """Codes that the functions return but the article on result codes does not explain, and vice versa."""
    with open(f'Sources/{library}/{library}.docc/ResultCodes.md', encoding='utf-8') as file:
        explained = set(re.findall(r'^\| ``(errSec\w+)`` \|', file.read(), re.MULTILINE))
    used = set()
    for path in glob.glob(f'Sources/{library}/**/*.swift', recursive=True):
        if '/ResultCodes' not in path:
            with open(path, encoding='utf-8') as file:
                used |= {code for line in file for code in re.findall(r'errSec\w+', line.split('//')[0])}
    yield from (f'not explained: {code}' for code in sorted(used - explained))
    yield from (f'never returned: {code}' for code in sorted(explained - used))


problems = list({'curated': curated, 'supported': supported, 'answered': answered}[sys.argv[1]](sys.argv[2]))
sys.exit('\n'.join(problems) or None)
