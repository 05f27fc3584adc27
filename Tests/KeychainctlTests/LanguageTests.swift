import Foundation
import KeychaindTestSupport
import Testing

@Suite("Programs and dialogs in a person's language")
struct TranslatedProgramTests {
    private static let german: [String: String?] = ["LC_ALL": nil, "LANG": "de_DE.UTF-8"]
    private static let arabic: [String: String?] = ["LC_ALL": nil, "LANG": "ar_EG.UTF-8"]

    /// The title and the message of the first dialog of a command.
    private func dialog(
        of programs: TranslatedPrograms,
        daemon variables: [String: String?],
        command: [String: String?]
    ) async throws -> PromptQuestion {
        try await RunningService.withService(programs.options(variables)) { service in
            let locked = try await Command.run(programs.keychainctl, ["lock"], environment: service.bus.environment)
            #expect(locked.succeeded, "\(locked.errors)")
            let prompter = try await FakePrompter(on: service.bus, [.answer("password")])
            let environment = service.bus.environment.merging(command) { $1 }
            let result = try await Command.run(programs.keychainctl, ["unlock", "Login"], environment: environment)
            #expect(result.succeeded, "\(result.errors)")
            let question = try await prompter.questions.first("the question")
            await prompter.crash()
            return question
        }
    }

    @Test("A dialog is in the language of keychaind where the program has none")
    func dialog_programWithoutLanguage_hasTheDaemons() async throws {
        let programs = try await TranslatedPrograms()
        let question = try await dialog(of: programs, daemon: Self.german, command: ["LC_ALL": "C"])
        #expect(question.text("message")?.hasSuffix(" möchte den Schlüsselbund „Login“ entsperren") == true)
        #expect(question.text("title") == "Schlüsselbund entsperren")
        #expect(question.text("continue-label") == "Entsperren")
        let story = try #require(question.text("description"))
        #expect(story.contains("\nEinzelheiten: ") || story.contains("Einzelheiten: „"), "\(story)")
        #expect(story.contains("(Prozess "), "\(story)")
    }

    @Test("A dialog is in the program's language where keychaind has another; names are set apart in Arabic")
    func dialog_programsLanguage_isUsed() async throws {
        let programs = try await TranslatedPrograms()
        let question = try await dialog(of: programs, daemon: Self.german, command: Self.arabic)
        let message = try #require(question.text("message"))
        #expect(message.hasPrefix("يريد "), "\(message)")
        #expect(message.contains("“\u{2068}Login\u{2069}”"), "\(message)")
        #expect(question.text("cancel-label") == "إلغاء")
        let english = try await dialog(of: programs, daemon: Self.german, command: ["LC_ALL": "en_GB.UTF-8"])
        #expect(english.text("continue-label") == "Unlock")
    }

    @Test("A program's language that is a path, or has no catalogue, leaves the dialog in that of keychaind")
    func dialog_hostileLanguage_isIgnored() async throws {
        let programs = try await TranslatedPrograms()
        let hostile: [String: String?] = [
            "LC_ALL": nil, "LANG": "xx_XX",
            "LANGUAGE": "../../../../tmp:/tmp:fr:" + String(repeating: "x", count: 100_000),
        ]
        let question = try await dialog(of: programs, daemon: Self.german, command: hostile)
        #expect(question.text("continue-label") == "Entsperren")
    }

    @Test("keychainctl writes its messages in the language of its environment, with the forms of numbers")
    func keychainctl_german_writesGerman() async throws {
        let programs = try await TranslatedPrograms()
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
        let programs = try await TranslatedPrograms()
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

    @Test(
        "A damaged catalogue, or one in another folder that a variable names, leaves the text in English",
        arguments: ["", "x", "\u{DE}\u{12}\u{4}\u{95}", "cut"]
    )
    func keychainctl_damagedCatalogue_isEnglish(content: String) async throws {
        let programs = try await TranslatedPrograms()
        let path = try programs.makeCatalogue("de")
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        try FileManager.default.removeItem(atPath: path)
        let elsewhere = try TemporaryFolder()
        let other = try elsewhere.makeFolder("de/LC_MESSAGES") + "/keychaind.mo"
        try whole.write(to: URL(fileURLWithPath: other))
        let damaged = content == "cut" ? whole.prefix(whole.count / 3) : Data(content.utf8)
        try damaged.write(to: URL(fileURLWithPath: path))
        let environment = Self.german.merging([
            "LOCPATH": elsewhere.path, "NLSPATH": elsewhere.path + "/%L/%N", "TEXTDOMAINDIR": elsewhere.path,
            "TEXTDOMAIN": "keychaind", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent",
        ]) { $1 }
        let result = try await Command.run(
            programs.keychainctl,
            ["recovery-key", "--keychain", "x"],
            environment: environment
        )
        #expect(result.status == .exited(8))
        #expect(!result.errors.contains("Schlüssel"), "\(result.errors)")
        let plain = try await Command.run(
            programs.keychainctl,
            ["set", "a=b"],
            environment: environment
        )
        #expect(plain.status == .exited(8))
    }
}
