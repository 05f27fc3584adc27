import Foundation
import KeychaindLanguage
import KeychaindTestSupport
import Testing

@Suite("Languages")
struct LocaleTests {
    private func names(_ variables: [String: String]) -> [String] {
        LocaleNames { variables[$0] }.names
    }

    @Test("The variables have gettext's order, and LANGUAGE lists languages where there is one")
    func variables_haveGettextsOrder() {
        #expect(names(["LANG": "de_AT.UTF-8@euro"]) == ["de_AT@euro"])
        #expect(names(["LANG": "fr", "LC_MESSAGES": "de", "LC_CTYPE": "ru"]) == ["de"])
        #expect(names(["LANG": "fr", "LC_MESSAGES": "de", "LC_ALL": "ar_EG.utf8"]) == ["ar_EG"])
        #expect(names(["LANG": "de_DE.UTF-8", "LANGUAGE": "sr@latin:de:"]) == ["sr@latin", "de"])
        #expect(names(["LC_ALL": "", "LANG": "de"]) == ["de"])
        for locale in ["C", "POSIX", "C.UTF-8", ""] { #expect(names(["LC_ALL": locale, "LANGUAGE": "de"]) == []) }
    }

    @Test("What is no name of a language is passed over, and a list is not endless")
    func variables_hostile_arePassedOver() {
        #expect(names(["LANG": "../../tmp"]) == [])
        let list = ["../x", "/etc", "de/..", "d", "%n", String(repeating: "x", count: 40), "de_DE", "\u{1B}[m"]
        #expect(names(["LANG": "x.y", "LANGUAGE": list.joined(separator: ":")]) == ["de_DE"])
        #expect(names(["LANG": "de", "LANGUAGE": String(repeating: "de:", count: 1000)]).count <= 8)
    }

    /// A folder with catalogues of these names.
    private func folder(_ languages: String...) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for language in languages {
            let path = try folder.makeFolder("\(language)/LC_MESSAGES") + "/keychaind.mo"
            try Data(SmallCatalogue(translations: ["Cancel": language]).bytes).write(to: URL(fileURLWithPath: path))
        }
        return folder
    }

    private func cancel(_ catalogues: Catalogues, _ variables: [String: String]) -> String? {
        catalogues.language(for: LocaleNames { variables[$0] })?.string(Text.init("Cancel"))
    }

    @Test("A language is served by the closest catalogue, the next of the list, or none")
    func catalogues_closestIsUsed() throws {
        let folder = try folder("de", "pt_BR", "sr@latin")
        let catalogues = Catalogues(folder: folder.path)
        #expect(cancel(catalogues, ["LANG": "de_CH.UTF-8"]) == "de")
        #expect(cancel(catalogues, ["LANG": "pt_PT"]) == nil)
        #expect(cancel(catalogues, ["LANG": "pt_BR.UTF-8"]) == "pt_BR")
        #expect(cancel(catalogues, ["LANG": "sr_RS@latin"]) == "sr@latin")
        #expect(cancel(catalogues, ["LANG": "x", "LANGUAGE": "fr:en_GB:de"]) == "Cancel")
        #expect(cancel(catalogues, ["LANG": "x", "LANGUAGE": "fr:de:en"]) == "de")
        for number in 0..<200 { #expect(cancel(catalogues, ["LANG": "x\(number)"]) == nil) }
        #expect(cancel(catalogues, ["LANG": "de"]) == "de")
    }

    @Test("Where only root's catalogues count, one in a folder of others does not")
    func catalogues_notRoots_areNotUsed() throws {
        let folder = try folder("de")
        #expect(cancel(Catalogues(folder: folder.path, mustBeRoots: true), ["LANG": "de"]) == nil)
    }

    @Test("A folder, a pipe or a huge file in place of a catalogue is none")
    func catalogues_noFile_areNone() throws {
        let folder = try folder("de", "fr", "ru")
        let paths = ["de", "fr", "ru"].map { "\(folder.path)/\($0)/LC_MESSAGES/keychaind.mo" }
        for path in paths { try FileManager.default.removeItem(atPath: path) }
        try FileManager.default.createDirectory(atPath: paths[0], withIntermediateDirectories: false)
        #expect(mkfifo(paths[1], 0o600) == 0)
        #expect(FileManager.default.createFile(atPath: paths[2], contents: nil))
        #expect(truncate(paths[2], 1 << 40) == 0)
        let catalogues = Catalogues(folder: folder.path)
        for language in ["de", "fr", "ru"] { #expect(cancel(catalogues, ["LANG": language]) == nil) }
    }
}
