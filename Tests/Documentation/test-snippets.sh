# shellcheck shell=bash disable=SC2154
# The code in the documentation compiles.

swift=${SWIFT:-swift}
modules=$("$swift" build --show-bin-path)/Modules
flags=(-swift-version 6 -I "$modules")
for shim in Sources/C*/; do flags+=(-I "$shim"); done
for flag in $(pkg-config --cflags dbus-1); do flags+=(-Xcc "$flag"); done

mapfile -t files < <(
    for catalog in Sources/*/*.docc; do find "$(dirname "$catalog")" -name '*.swift' -o -name '*.md'; done | sort
)
python3 "$scripts/snippets.py" README.md docs/swift.md docs/using.md "${files[@]}" >"$work/snippets.swift"
check_match "the documentation has code" "$(grep -c '^func snippet' "$work/snippets.swift")" '^[1-9]'
check "the code compiles" "$(dirname "$(readlink -f "$(command -v "$swift")")")/swiftc" -typecheck "${flags[@]}" "$work/snippets.swift"
