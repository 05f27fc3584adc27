# shellcheck shell=bash disable=SC2154
# make docs: no warnings of DocC, every symbol in a group, and complete tables of symbols and result codes.

site=.build/documentation/site
check "make docs" make --no-print-directory docs

for catalog in Sources/*/*.docc; do
    library=$(basename "$catalog" .docc)
    page=$site/documentation/${library,,}/index.html
    check "$library has a page" test -s "$page"
    for article in "$catalog"/*.md; do
        grep -q '^# ``' "$article" && continue
        name=$(basename "$article" .md)
        check "$library has the article $name" test -s "$site/documentation/${library,,}/${name,,}/index.html"
    done
    check "$library: every symbol is in a group" python3 "$scripts/symbols.py" curated "$library"
    if [[ -e $catalog/SupportedSymbols.md ]]; then
        check "$library: the table of symbols is complete" python3 "$scripts/symbols.py" supported "$library"
    fi
    if [[ -e $catalog/ResultCodes.md ]]; then
        check "$library: every returned code is explained" python3 "$scripts/symbols.py" answered "$library"
    fi
done
