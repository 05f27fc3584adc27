# shellcheck shell=bash disable=SC2154
# The manual page renders, names every option, and no document links to a file that is not there.

check_equal "keychaind.1 renders without a warning" \
    "$(man --warnings --encoding=utf8 --local-file docs/man/keychaind.1 2>&1 >/dev/null)" ''

options() { grep -oE -- '--[a-z][a-z-]+' | sort -u | tr '\n' ' '; }
manual=$(MANWIDTH=120 man --encoding=ascii --local-file docs/man/keychaind.1 | sed -n '/^OPTIONS/,/^[A-Z]* STATUS/p' | col -b)
check_equal "the manual has the options of --help" "$(options <<<"$manual")" "$("$KEYCHAIND" --help 2>&1 | options)"

while IFS= read -r document; do
    while IFS= read -r link; do
        check "$document links to $link" test -e "$(dirname "$document")/$link"
    done < <(grep -oE '\]\([^)#]+' "$document" | sed 's/^](//' | grep -vE '^[a-z]+:' || true)
done < <(git ls-files '*.md')
