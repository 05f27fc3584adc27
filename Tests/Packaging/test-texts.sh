# shellcheck shell=bash disable=SC1111,SC2154
# The catalogues are complete and fit, and scripts/texts finds what bypasses or would break them.

check "all texts are in catalogues, which are complete" scripts/texts check

cp -r scripts "$work"
mkdir "$work/Sources"
cp -r Sources/keychainctl "$work/Sources"
(cd "$work" && mkdir po && scripts/texts pot)
command=$work/Sources/keychainctl/Items/DeleteCommand.swift
cp "$command" "$work/command"

# finds NAME WORDS LINE: a line more in the source is found, with these words.
finds() {
    { cat "$work/command" && printf '%s\n' "$3"; } >"$command"
    check "$1 is found" grep -qF "$2" <<<"$("$work/scripts/texts" check 2>&1)"
    cp "$work/command" "$command"
}

# shellcheck disable=SC2016  # Swift's
{
    finds "a sentence in no Text" "(in no Text)" 'let text = "Nothing was \(verb) here"'
    finds "a sentence in a verbatim Text" "words in a verbatim Text" 'let text = Text(verbatim: "no words")'
    finds "a Text that is no literal" "needs a literal" 'let text = Text(sentence)'
    finds "a plural with other names" "the same interpolations" 'let text = Text(n, one: "\(a)", other: "\(n) of \(b)")'
    finds "a new text" "make pot" 'let text = Text("something new")'
}
check_equal "the source as it is has nothing in no Text" "$("$work/scripts/texts" check 2>&1 | grep -c 'in no Text')" 0

# The mistakes in a catalogue of one text with this translation.
catalogue() {
    cat >"$work/po/xx.po" <<END
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"Language: xx\n"

msgid "“%1\$@” is not protected."
msgstr "$1"
END
    "$work/scripts/texts" check 2>&1 | grep '^texts: po/xx.po: ' || true
}

# shellcheck disable=SC2016  # places
for translation in '“%1$@” %2$@' 'x' '“%s”' '“%1$@” %' '“%1$@” “%1$@”'; do
    check "the translation $translation is refused" test -n "$(catalogue "$translation")"
done
# shellcheck disable=SC2016
check "a name without its quotation marks is refused" grep -q 'no quotation marks' <<<"$(catalogue '%1$@ x')"
# shellcheck disable=SC2016
check_equal "a fitting translation is taken" "$(catalogue 'x „%1$@“')" ''
