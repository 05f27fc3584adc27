import KeychaindLanguage
import Testing

@Suite("Catalogues")
struct CatalogueTests {
    private let program = "git"

    private func question(_ item: String = "Bank") -> Text { Text.init("\(program) wants to use “\(item)”.") }
    private func count(_ number: Int) -> Text { Text.init(number, one: "\(number) item", other: "\(number) items") }

    private static let question = "%1$@ wants to use “%2$@”."
    private static let plural = "%1$@ item\0%1$@ items"

    @Test("A translation may change the order of names, and a name with a percent sign stays as it is")
    func translation_otherOrder_isUsed() {
        let small = SmallCatalogue(translations: [Self.question: "„%2$@“ möchte %1$@ verwenden: 100 %%."])
        #expect(small.language().string(question("%1$@ %n")) == "„%1$@ %n“ möchte git verwenden: 100 %.")
        #expect(Language.english.string(question("%1$@")) == "git wants to use “%1$@”.")
    }

    @Test("A context tells apart the same English words")
    func context_tellsWordsApart() {
        let small = SmallCatalogue(translations: ["screen\u{4}locked": "gesperrt", "locked": "verschlossen"])
        #expect(small.language().string(Text.init("locked", context: "screen")) == "gesperrt")
        #expect(small.language().string(Text.init("locked")) == "verschlossen")
        #expect(small.language().string(Text.init("locked", context: "item")) == "locked")
    }

    @Test(
        "A translation with other places, or characters that act on a terminal or a dialog, is not used",
        arguments: [
            "%1$@", "%1$@ %2$@ %3$@", "%1$@ %1$@ %2$@", "%s %2$@", "%1$d %2$@", "%1$@ %2$@ %n", "%1$@ %2$@ %", "%@ %@",
            "%0$@ %1$@ %2$@", "%1$@ %2$@ %18446744073709551616$@", "", "\u{1B}[31m%1$@ %2$@", "%1$@ \u{202E}%2$@",
            "%1$@\u{2068} %2$@", "%1$@ \u{9B}%2$@", "%1$@ %2$", "%1$@\r%2$@",
        ]
    )
    func translation_misfit_isEnglish(text: String) {
        let small = SmallCatalogue(translations: [Self.question: text])
        #expect(small.language().string(question()) == "git wants to use “Bank”.")
    }

    @Test("A text without names cannot get one, or a format, from its translation")
    func translation_withoutNames_isNoFormat() {
        let small = SmallCatalogue(translations: ["Cancel": "%s %n %1$@"])
        #expect(small.language().string(Text.init("Cancel")) == "%s %n %1$@")
    }

    @Test("A translation that is not UTF-8 is not used")
    func translation_otherEncoding_isEnglish() throws {
        var bytes = SmallCatalogue(translations: ["Cancel": "Abbr.chen"]).bytes
        let dot = try #require(bytes.lastIndex(of: UInt8(ascii: ".")))
        bytes[dot] = 0xE4
        let catalogue = try #require(Catalogue(bytes))
        #expect(Language("de", catalogue).string(Text.init("Cancel")) == "Cancel")
    }

    @Test("A number chooses the form, and a form may leave the number out")
    func plural_numbers_chooseForms() {
        var small = SmallCatalogue(translations: [Self.plural: "0\0ein\0zwei\0%1$@ wenige\0%1$@ viele\0%1$@ andere"])
        small.header = """
            Plural-Forms: nplurals=6; plural=n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5;

            """
        let texts = [0, 1, 2, 3, 10, 11, 99, 100, 103, 111].map { small.language("ar").string(count($0)) }
        let wanted = [
            "0", "ein", "zwei", "3 wenige", "10 wenige", "11 viele", "99 viele", "100 andere", "103 wenige",
            "111 viele",
        ]
        #expect(texts == wanted)
        #expect([0, 1, 2].map { count($0).english } == ["0 items", "1 item", "2 items"])
    }

    @Test("The English singular may be without its number, where a translation has it")
    func plural_englishWithoutNumber() {
        let time = Text.init(1, one: "one second", other: "\(1) seconds")
        let small = SmallCatalogue(translations: ["one second\0%1$@ seconds": "%1$@ Sekunde\0%1$@ Sekunden"])
        #expect(small.language().string(time) == "1 Sekunde")
        #expect(time.english == "one second")
    }

    @Test("A name is no number: no form may leave it out")
    func plural_withoutName_isEnglish() {
        let text = Text.init(1, one: "\(1) item of \("Login")", other: "\(1) items of \("Login")")
        let small = SmallCatalogue(translations: ["%1$@ item of %2$@\0%1$@ items of %2$@": "ein Eintrag\0%1$@ Einträge"]
        )
        #expect(small.language().string(text) == "1 item of Login")
    }

    @Test(
        "A rule for plurals that is wrong leaves them in English",
        arguments: [
            "nplurals=2; plural=n/0;", "nplurals=2; plural=n%(n-n);", "nplurals=2; plural=7;",
            "nplurals=2; plural=n-1;",
            "nplurals=0; plural=0;", "nplurals=99999999999999999999; plural=0;", "nplurals=2; plural=;",
            "nplurals=2; plural=n ? 1;", "nplurals=2; plural=system(1);", "nplurals=3; plural=n>1;", "plural=n;", "",
            "nplurals=2; plural=" + String(repeating: "(", count: 200) + "n" + String(repeating: ")", count: 200) + ";",
            "nplurals=2; plural=" + String(repeating: "!", count: 400) + "n;",
            "nplurals=2; plural=n" + String(repeating: "+1", count: 100_000) + ";",
        ]
    )
    func plural_wrongRule_isEnglish(rule: String) {
        var small = SmallCatalogue(translations: [Self.plural: "%1$@ Eintrag\0%1$@ Einträge", "Cancel": "Abbrechen"])
        small.header = "Plural-Forms: \(rule)\n"
        #expect(small.language().string(count(0)) == "0 items")
        #expect(small.language().string(Text.init("Cancel")) == "Abbrechen")
    }

    @Test("A catalogue that is cut off or changed anywhere gives the English text or a whole translation")
    func catalogue_damaged_isEnglish() {
        let small = SmallCatalogue(translations: [
            Self.question: "%1$@ möchte „%2$@“ verwenden.", Self.plural: "%1$@ Eintrag\0%1$@ Einträge",
        ])
        let bytes = small.bytes
        func check(_ damaged: [UInt8]) {
            guard let catalogue = Catalogue(damaged) else { return }
            let language = Language("de", catalogue)
            let text = language.string(question())
            #expect(text.contains("git") && text.contains("Bank"), "\(text)")
            #expect(!language.string(count(3)).isEmpty)
        }
        for length in 0..<bytes.count { check(Array(bytes[..<length])) }
        for index in bytes.indices {
            for value: UInt8 in [0, 0x7F, 0x80, 0xFF, bytes[index] &+ 1, bytes[index] ^ 0x20] {
                var damaged = bytes
                damaged[index] = value
                // A letter of a translation may well be another one; its places may not.
                check(damaged)
            }
        }
        #expect(Catalogue(Array(repeating: 0, count: Catalogue.limit + 1)) == nil)
    }

    @Test("In a language from right to left, a dialog sets names apart; nobody's name can do so")
    func names_rightToLeft_areIsolated() {
        let small = SmallCatalogue(translations: [Self.question: "يريد %1$@ استخدام “%2$@”."])
        let text = small.language("ar").string(question("a\u{2069}b"), isolating: true)
        #expect(text == "يريد \u{2068}git\u{2069} استخدام “\u{2068}a b\u{2069}”.")
        #expect(small.language("ar").string(question()) == "يريد git استخدام “Bank”.")
        #expect(small.language("de").string(question(), isolating: true) == "يريد git استخدام “Bank”.")
        let cut = Text.init("\(program) wants to use “\("Bank")”.").cut(bytes: 20)
        #expect(small.language("ar").string(cut, isolating: true) == "يريد \u{2068}git…\u{2069}")
    }
}
