# shellcheck shell=bash disable=SC2154
# Each interface file is valid and contains the interface that it is named after.

for file in "$project"/dbus/*.xml; do
    name=$(basename "$file" .xml)
    check "$name is valid" xmllint --noout --nonet --dtdvalid /usr/share/xml/dbus-1/introspect.dtd "$file"
    check_equal "$name is the only interface of its file" "$(xmllint --nonet --xpath 'string(/node/interface/@name)' "$file")" "$name"
    check_equal "$name names every argument" "$(xmllint --nonet --xpath 'count(//arg[not(@name)])' "$file")" 0
    check_equal "$name gives each method argument a direction" \
        "$(xmllint --nonet --xpath 'count(//method/arg[not(@direction)])' "$file")" 0
done
