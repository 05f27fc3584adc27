"""snippets.py FILE...: prints the Swift code in documents and doc comments as one Swift file.

Each block becomes a function with a scope of its own; imports move to the top. Blocks that begin with a comment and a file
name are parts of that file, and are left out.
"""

import re
import sys


def lines_of(path):
    """The lines of a document; in Swift files, other lines than doc comments are empty."""
    with open(path, encoding='utf-8') as file:
        for line in file.read().splitlines():
            if path.endswith('.swift'):
                comment = re.match(r'\s*/// ?(.*)', line)
                yield comment.group(1) if comment else ''
            else:
                yield line


def blocks_of(path):
    """The number of the first line, and the lines, of each block."""
    first, block = 0, None
    for number, line in enumerate(lines_of(path), 1):
        if block is None and line.strip() == '```swift':
            first, block = number + 1, []
        elif block is not None and line.strip() == '```':
            yield first, block
            block = None
        elif block is not None:
            block.append(line)


imports, functions = set(), []
for path in sys.argv[1:]:
    for first, block in blocks_of(path):
        if re.match(r'// \S+\.swift$', block[0]):
            continue
        imports.update(line for line in block if line.startswith('import '))
        functions += [f'func snippet{len(functions)}() async throws {{', f'#sourceLocation(file: "{path}", line: {first})']
        functions += ['' if line.startswith('import ') else line for line in block]
        functions += ['#sourceLocation()', '}']
print('\n'.join([*sorted(imports), *functions]))
