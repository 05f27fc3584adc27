import Foundation
import KeychaindDBus
import KeychaindTestSupport
import Testing

@Suite("Programs and dialogs in a person's language")
struct TranslatedProgramTests {
    private static let german: [String: String?] = ["LC_ALL": nil, "LANG": "de_DE.UTF-8"]
    private static let arabic: [String: String?] = ["LC_ALL": nil, "LANG": "ar_EG.UTF-8"]

    /// For all tests that do not change a catalogue.
    private static let shared = Task { try await TranslatedPrograms() }

    /// Keychaind's language is German.
    @Test("A dialog is in the program's language, or in keychaind's if that is none, a path or has no catalogue")
    func dialog_isInTheProgramsLanguage() async throws {
        let programs = try await Self.shared.value
        try await RunningService.withService(programs.options(Self.german)) { service in
            func dialog(_ command: [String: String?]) async throws -> PromptQuestion {
                try await service.client.lock([ObjectPath(unchecked: "/org/freedesktop/secrets/collection/login")])
                let prompter = try await FakePrompter(on: service.bus, [.answer("password")])
                let environment = service.bus.environment.merging(command) { $1 }
                let result = try await Command.run(programs.keychainctl, ["unlock", "Login"], environment: environment)
                #expect(result.succeeded, "\(result.errors)")
                let question = try await prompter.questions.first("the question")
                try await prompter.end()
                return question
            }
            let german = try await dialog(["LC_ALL": "C"])
            #expect(german.text("message")?.hasSuffix(" möchte den Schlüsselbund „Login“ entsperren") == true)
            #expect(german.text("title") == "Schlüsselbund entsperren")
            #expect(german.text("continue-label") == "Entsperren")
            let story = try #require(german.text("description"))
            #expect(story.contains("\nEinzelheiten: ") || story.contains("Einzelheiten: „"), "\(story)")
            #expect(story.contains("(Prozess "), "\(story)")

            // Names are set apart in Arabic.
            let arabic = try await dialog(Self.arabic)
            let message = try #require(arabic.text("message"))
            #expect(message.hasPrefix("يريد ") && message.contains("“\u{2068}Login\u{2069}”"), "\(message)")
            #expect(arabic.text("cancel-label") == "إلغاء")
            #expect(try await dialog(["LC_ALL": "en_GB.UTF-8"]).text("continue-label") == "Unlock")
            let hostile = "../../../../tmp:/tmp:fr:" + String(repeating: "x", count: 100_000)
            let unknown = try await dialog(["LC_ALL": nil, "LANG": "xx_XX", "LANGUAGE": hostile])
            #expect(unknown.text("continue-label") == "Entsperren")
        }
    }

    @Test("keychainctl writes its messages in the language of its environment, with the forms of numbers")
    func keychainctl_german_writesGerman() async throws {
        let programs = try await Self.shared.value
        try await Controlled.with { controlled in
            func run(_ arguments: [String], _ language: [String: String?] = Self.german) async throws -> CommandResult {
                let environment = controlled.provider.bus.environment.merging(language) { $1 }
                return try await Command.run(programs.keychainctl, arguments, environment: environment)
            }
            let missing = try await run(["get", "service=web"])
            #expect(missing.status == .exited(3))
            #expect(missing.errors == "keychainctl: kein Eintrag hat service=web\n")
            for user in ["anna", "bob", "cora"] { try await controlled.add(user, ["bank": "1", "user": user]) }
            #expect(try await run(["delete", "bank=1"]).errors.contains("3 Einträge haben bank=1:"))
            let refusal = try await run(["collection", "delete", "login"]).errors
            #expect(refusal.contains("hat 3 Einträge; --with-items löscht sie mit"), "\(refusal)")
            #expect(try await run(["delete", "bank=1", "--all"]).errors == "3 Einträge wurden gelöscht.\n")
            for user in ["anna", "bob"] { try await controlled.add(user, ["bank": "1", "user": user]) }
            #expect(try await run(["delete", "bank=1", "--all"], Self.arabic).errors == "حُذف عنصران.\n")
            #expect(try await run(["status"]).text.contains("Fingerabdruckleser  keiner"))
        }
    }

    @Test("Lists for scripts and JSON are the same in every language")
    func keychainctl_forScripts_isEnglish() async throws {
        let programs = try await Self.shared.value
        try await Controlled.with { controlled in
            try await controlled.add("Bank", ["bank": "1"])
            for arguments in [["list"], ["list", "--json"], ["status", "--json"], ["collection", "list"]] {
                func output(_ language: [String: String?]) async throws -> String {
                    let environment = controlled.provider.bus.environment.merging(language) { $1 }
                    return try await Command.run(programs.keychainctl, arguments, environment: environment).text
                }
                let english = try await output(["LC_ALL": "C"])
                #expect(try await output(Self.german) == english, "\(arguments)")
                #expect(!english.isEmpty)
            }
        }
    }

    @Test("A damaged catalogue, or one in another folder that a variable names, leaves the text in English")
    func keychainctl_damagedCatalogue_isEnglish() async throws {
        let programs = try await TranslatedPrograms()
        let path = try programs.makeCatalogue("de")
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        let elsewhere = try TemporaryFolder()
        let other = try elsewhere.makeFolder("de/LC_MESSAGES") + "/keychaind.mo"
        try whole.write(to: URL(fileURLWithPath: other))
        let environment = Self.german.merging([
            "LOCPATH": elsewhere.path, "NLSPATH": elsewhere.path + "/%L/%N", "TEXTDOMAINDIR": elsewhere.path,
            "TEXTDOMAIN": "keychaind", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent",
        ]) { $1 }
        let contents = ["", "x", "\u{DE}\u{12}\u{4}\u{95}"].map { Data($0.utf8) }
        for damaged in contents + [Data(whole.prefix(whole.count / 3))] {
            try damaged.write(to: URL(fileURLWithPath: path))
            for arguments in [["recovery-key", "--keychain", "x"], ["set", "a=b"]] {
                let result = try await Command.run(programs.keychainctl, arguments, environment: environment)
                #expect(result.status == .exited(8), "\(damaged.count) bytes: \(result.errors)")
                #expect(!result.errors.contains("Schlüssel"), "\(damaged.count) bytes: \(result.errors)")
            }
        }
    }
}
