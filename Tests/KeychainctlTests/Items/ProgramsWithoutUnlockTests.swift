import KeychaindLanguage
import SecretServiceClient
import Testing
import keychainctl

/// What `keychainctl protect` says of programs that do not unlock items.
struct ProgramsWithoutUnlockTests {
    private static let item = "/login/1"

    private static func record(
        _ caller: String,
        _ evidence: String,
        kind: String,
        of item: String = Self.item
    ) -> AuditRecord {
        AuditRecord(time: 1, kind: kind, caller: caller, evidence: evidence, item: item, outcome: "success")
    }

    private static let records = [
        record("“/usr/bin/seahorse” (process 7)", "system-program", kind: "denial"),
        record("“/opt/google/chrome/chrome” (process 8)", "system-program", kind: "release"),
        record("“/opt/google/chrome/chrome” (process 9)", "system-program", kind: "release"),
        record("“/usr/bin/git” (process 10)", "system-program", kind: "release"),
        record("“/usr/bin/emacs-gtk” (process 11)", "system-program", kind: "denial", of: "/login/4"),
        record("“/usr/lib/protonmail/bridge/bridge” (process 12)", "system-program", kind: "denial", of: "/login/4"),
        record("“/usr/bin/gh” (process 13)", "system-program", kind: "denial", of: "/login/4"),
        record("Flatpak org.chromium.Chromium", "sandbox-file", kind: "release", of: "/login/2"),
        record("“/usr/bin/msedge” (process 7)", "system-program", kind: "authentication"),
    ]

    private func words(_ settings: [String]?, for path: String = Self.item) -> String {
        AuditedUses(Self.records, ProgramsWithoutUnlock(settings: settings)).words(for: path).english
    }

    @Test("Programs that read an item and do not unlock it are named, with the setting that helps")
    func known_areNamed() {
        let words = words(["access.ask-at-read = []"])
        #expect(words.contains("chrome, seahorse may read it without unlocking it first"))
        #expect(words.contains("“ask-at-read = [\"chrome\", \"seahorse\"]”"))
        #expect(self.words(nil, for: "/login/2").contains("[\"org.chromium.Chromium\"]"))
        #expect(self.words(nil, for: "/login/4").contains("[\"bridge\", \"emacs-gtk\", \"gh\"]"))
        #expect(!self.words(nil, for: "/login/3").contains("ask-at-read"))
    }

    @Test("Those that the setting names already are not named, and stay in it")
    func listed_stay() {
        let words = words(["access.ask-at-read = [\"git\", \"seahorse\"]"])
        #expect(words.contains("chrome may read it"))
        #expect(words.contains("“ask-at-read = [\"git\", \"seahorse\", \"chrome\"]”"))
        #expect(!self.words(["access.ask-at-read = [\"chrome\", \"seahorse\"]"]).contains("ask-at-read"))
        #expect(!self.words(["access.ask-at-read = [\"*\"]"]).contains("ask-at-read"))
    }
}
