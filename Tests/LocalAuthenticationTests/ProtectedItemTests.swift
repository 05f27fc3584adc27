import KeychaindDBus
import KeychaindTestSupport
import LocalAuthentication
import Testing

/// Items with access control, without a fingerprint reader.
struct ProtectedItemTests {
    @Test("A18 After the first unlock an item is accessible, even in a locked session")
    func read_sessionLocked_afterFirstUnlockOnly() async throws {
        let logind = try await FakeLogind()
        try await logind.setDisplay(logind.session)
        var options = KeychainDaemon.Options()
        options.environment = logind.environment
        try await Machine.with([.hang], options) { machine in
            #expect(machine.add("shy", [], kSecAttrAccessibleWhenUnlocked) == errSecSuccess)
            #expect(machine.add("bold", [], kSecAttrAccessibleAfterFirstUnlock) == errSecSuccess)
            let shy = try #require(try await machine.service.client.searchItems(["account": "shy"]).unlocked.first)
            try await logind.setLockedHint(true)
            _ = try await machine.service.client.signals.first("the lock") { signal in
                signal.path == shy.rawValue && signal.changedProperties?.values["Locked"] == .boolean(true)
            }
            #expect(await machine.read("bold") == .secret("bold"))
            #expect(await machine.read("shy") == .failed(errSecInteractionNotAllowed))
            #expect(machine.questionCount == 0)
        }
    }

    @Test("A19 Without a passcode, an item that needs one is refused")
    func add_whenPasscodeSetWithoutOne_isRefused() async throws {
        try await Machine.with([.answer("other")], KeychainDaemon.Options(password: nil)) { machine in
            let client = machine.service.client
            // A keychain with its own password instead of login, whose password would be the passcode.
            let label = ["org.freedesktop.Secret.Collection.Label": Variant.string("Work")]
            let work = try #require(try await client.complete(client.createCollection(label).prompt).path)
            try await client.call(SecretServiceProxy.service, Self.interface, "SetAlias", "default", work)
            #expect(machine.add("anna", [], kSecAttrAccessibleWhenUnlockedThisDeviceOnly) == errSecSuccess)
            let protection = kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
            #expect(machine.add("ben", .userPresence, protection) == errSecNotAvailable)
            #expect(machine.add("carl", [], protection) == errSecNotAvailable)
            #expect(await machine.read("ben") == .failed(errSecItemNotFound))
        }
    }

    @Test("A19 An item that needs a passcode is stored in the keychain of the passcode")
    func add_whenPasscodeSet_isStored() async throws {
        try await Machine.with { machine in
            let protection = kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
            #expect(machine.add("anna", .userPresence, protection) == errSecSuccess)
            #expect(await machine.read() == .secret("anna"))
        }
    }

    @Test("A21 An item with access control needs authentication for each read, by any program")
    func read_again_asksAgain() async throws {
        try await Machine.with { machine in
            #expect(machine.add() == errSecSuccess)
            #expect(await machine.read() == .secret("anna"))
            #expect(await machine.read() == .secret("anna"))
            #expect(machine.questionCount == 2)
            let other = machine.service.client
            let item = try #require(try await other.searchItems(["account": "anna"]).locked.first)
            let session = try await other.openPlainSession()
            await #expect(throws: BusError(.init(rawValue: "org.freedesktop.Secret.Error.IsLocked"), "")) {
                try await other.secret(of: item, session: session)
            }
        }
    }

    @Test("A27 The supplied context customises the prompt")
    func read_contextOfTheProgram_isShown() async throws {
        try await Machine.with { machine in
            #expect(machine.add() == errSecSuccess)
            let context = LAContext()
            context.localizedReason = "Access your password on the keychain"
            context.localizedCancelTitle = "Rather not"
            #expect(await machine.read(context: context, prompt: "another reason") == .secret("anna"))
            let description = machine.question?.text("description") ?? ""
            #expect(description.contains("Access your password on the keychain"))
            #expect(!description.contains("another reason"))
            #expect(machine.question?.text("cancel-label") == "Rather not")
            // The authentication is reused in this context, but not in others.
            #expect(await machine.read(context: context) == .secret("anna"))
            #expect(machine.questionCount == 1)
            #expect(await machine.read() == .secret("anna"))
            #expect(machine.questionCount == 2)
        }
    }

    @Test("A28 A recent authentication serves in a context with a reuse time only", arguments: [true, false])
    func read_withinTheReuse_asksOnce(isEvaluated: Bool) async throws {
        try await Machine.with { machine in
            #expect(machine.add() == errSecSuccess)
            let first = LAContext()
            // The receiver's counts, not that of the context which was authenticated.
            first.touchIDAuthenticationAllowableReuseDuration = 300
            if isEvaluated { #expect(await first.evaluation() == nil) }
            #expect(await machine.read(context: first) == .secret("anna"))
            let second = LAContext()
            second.touchIDAuthenticationAllowableReuseDuration = 300
            #expect(await machine.read(context: second) == .secret("anna"))
            #expect(machine.questionCount == 1)
            #expect(await machine.read(context: LAContext()) == .secret("anna"))
            #expect(await machine.read() == .secret("anna"))
            #expect(machine.questionCount == 3)
        }
    }

    @Test("A28 An authentication that is too old or whose context was invalidated serves in no other")
    func read_afterAShortReuse_asks() async throws {
        try await Machine.with { machine in
            #expect(machine.add() == errSecSuccess)
            let first = LAContext()
            for _ in 0..<2 { #expect(await machine.read(context: first) == .secret("anna")) }
            #expect(machine.questionCount == 1)
            let second = LAContext()
            second.touchIDAuthenticationAllowableReuseDuration = 1e-9
            for _ in 0..<2 { #expect(await machine.read(context: second) == .secret("anna")) }
            #expect(machine.questionCount == 2)
            first.invalidate()
            second.invalidate()
            let third = LAContext()
            third.touchIDAuthenticationAllowableReuseDuration = 300
            #expect(await machine.read(context: third) == .secret("anna"))
            #expect(machine.questionCount == 3)
        }
    }

    @Test("A28 The reuse time may be any number", arguments: [-1, .nan, .infinity, 1e-9, 1e300])
    func read_strangeReuse_isTaken(duration: TimeInterval) async throws {
        try await Machine.with { machine in
            #expect(machine.add() == errSecSuccess)
            let context = LAContext()
            context.touchIDAuthenticationAllowableReuseDuration = duration
            #expect(await machine.read(context: context) == .secret("anna"))
        }
    }

    @Test("A29 The operation's prompt is shown as the reason")
    func read_operationPrompt_isShown() async throws {
        try await Machine.with { machine in
            #expect(machine.add() == errSecSuccess)
            #expect(await machine.read(prompt: "Access your data") == .secret("anna"))
            #expect(machine.question?.text("description")?.contains("Access your data") == true)
            // Also for a context without a reason.
            #expect(await machine.read(context: LAContext(), prompt: "Access it again") == .secret("anna"))
            #expect(machine.question?.text("description")?.contains("Access it again") == true)
        }
    }

    @Test("A30 A wide search returns all matches, and authenticates for each protected item")
    func read_wide_authenticatesForAll() async throws {
        try await Machine.with { machine in
            #expect(machine.add("anna", []) == errSecSuccess)
            #expect(machine.add("ben", .userPresence) == errSecSuccess)
            #expect(machine.add("carl", .userPresence) == errSecSuccess)
            #expect(machine.add("dora", .devicePasscode) == errSecSuccess)
            #expect(await Self.readAll(machine) == ["anna", "ben", "carl", "dora"])
            // Items with the same access control share a question that names them.
            #expect(machine.questionCount == 2)
            #expect(await machine.read("carl") == .secret("carl"))
            #expect(machine.questionCount == 3)
        }
    }

    @Test("A30 A search for many fails if the first dialog is cancelled, not if a later one is", arguments: [0, 1])
    func read_wideCancelled_fails(answers: Int) async throws {
        let responses = Array(repeating: PromptResponse.answer("password"), count: answers) + [.cancel]
        try await Machine.with(responses) { machine in
            #expect(machine.add("anna", []) == errSecSuccess)
            #expect(machine.add("ben", .userPresence) == errSecSuccess)
            #expect(machine.add("dora", .devicePasscode) == errSecSuccess)
            #expect(await Self.readAll(machine) == (answers == 0 ? [] : ["anna", "ben"]))
            #expect(machine.questionCount == answers + 1)
        }
    }

    @Test("A30 A31 A wide search with skip returns only items that need no question, including those of a context")
    func read_wideSkipping_leavesOut() async throws {
        try await Machine.with { machine in
            #expect(machine.add("anna", []) == errSecSuccess)
            #expect(machine.add("ben", .userPresence) == errSecSuccess)
            let skip = kSecUseAuthenticationUISkip as String
            #expect(await Self.readAll(machine, interaction: skip) == ["anna"])
            #expect(machine.questionCount == 0)
            let context = LAContext()
            #expect(await context.evaluation() == nil)
            #expect(await Self.readAll(machine, context: context, interaction: skip) == ["anna", "ben"])
            #expect(machine.questionCount == 1)
        }
    }

    @Test("A32 A boolean in the program protects nothing: the keychain decides")
    func read_afterAnEvaluationElsewhere_asks() async throws {
        try await Machine.with([.answer("password"), .cancel]) { machine in
            #expect(machine.add() == errSecSuccess)
            #expect(await LAContext().evaluation() == nil)
            #expect(await machine.read(interaction: kSecUseAuthenticationUIFail as String).secret == nil)
            #expect(await machine.read() == .failed(errSecUserCanceled))
            #expect(machine.questionCount == 2)
        }
    }

    @Test("An evaluated context opens items without asking, even if asking is forbidden")
    func read_evaluatedContext_asksNobody() async throws {
        try await Machine.with { machine in
            #expect(machine.add() == errSecSuccess)
            let context = LAContext()
            let fail = kSecUseAuthenticationUIFail as String
            #expect(await machine.read(context: context, interaction: fail) == .failed(errSecInteractionNotAllowed))
            #expect(await context.evaluation() == nil)
            #expect(await machine.read(context: context, interaction: fail) == .secret("anna"))
            context.interactionNotAllowed = true
            #expect(await machine.read(context: context) == .secret("anna"))
            #expect(machine.questionCount == 1)
        }
    }

    @Test("A47 A context that a change has authenticated changes and reads without asking")
    func update_changedInTheContext_asksOnce() async throws {
        try await Machine.with { machine in
            #expect(machine.add() == errSecSuccess)
            let context = LAContext()
            let query = machine.item("anna", [kSecUseAuthenticationContext: context])
            for text in ["first", "second"] {
                let change = [kSecValueData: Data(text.utf8)] as CFDictionary
                #expect(SecItemUpdate(query, change) == errSecSuccess)
                #expect(await machine.read(context: context) == .secret(text))
            }
            #expect(await context.evaluation() == nil)
            #expect(machine.questionCount == 1)
            let scope = "use or change every item that your fingerprint or password protects, for 5 minutes"
            #expect(machine.question?.text("message")?.hasSuffix("”, and \(scope)") == true)
        }
    }

    @Test("An evaluated context changes items without asking, but neither protects nor deletes them")
    func update_evaluatedContext_asksNobody() async throws {
        try await Machine.with { machine in
            #expect(machine.add() == errSecSuccess)
            let context = LAContext()
            #expect(await context.evaluation() == nil)
            let query = machine.item("anna", [kSecUseAuthenticationContext: context])
            #expect(await machine.read(context: context) == .secret("anna"))
            let changes = [kSecValueData: Data("new".utf8), kSecAttrComment: "c"] as CFDictionary
            #expect(SecItemUpdate(query, changes) == errSecSuccess)
            #expect(await machine.read(context: context) == .secret("new"))
            #expect(machine.questionCount == 1)
            let protection = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil)
            let exposed = [kSecAttrAccessControl: protection as Any] as CFDictionary
            #expect(SecItemUpdate(query, exposed) == errSecSuccess)
            #expect(machine.questionCount == 2)
            #expect(machine.add("ben") == errSecSuccess)
            let other = machine.item("ben", [kSecUseAuthenticationContext: context])
            #expect(SecItemDelete(other) == errSecSuccess)
            #expect(machine.questionCount == 3)
        }
    }

    @Test("A70 An application password from the program adds and reads an item, and nobody is asked")
    func applicationPassword_ofTheProgram_asksNobody() async throws {
        try await Machine.with { machine in
            let context = LAContext()
            #expect(!context.isCredentialSet(.applicationPassword))
            #expect(context.setCredential(Data("own".utf8), type: .applicationPassword))
            #expect(context.isCredentialSet(.applicationPassword) && !context.isCredentialSet(.smartCardPIN))
            let protection = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
            let control = try #require(SecAccessControlCreateWithFlags(nil, protection, .applicationPassword, nil))
            let more: [CFString: Any] = [
                kSecAttrAccessControl: control, kSecValueData: Data("anna".utf8), kSecUseAuthenticationContext: context,
            ]
            #expect(SecItemAdd(machine.item("anna", more), nil) == errSecSuccess)
            let fail = kSecUseAuthenticationUIFail as String
            #expect(await machine.read(context: context, interaction: fail) == .secret("anna"))
            #expect(await machine.read(context: context) == .secret("anna"))
            #expect(machine.questionCount == 0)
            // Without the password, the person types it.
            #expect(context.setCredential(nil, type: .applicationPassword))
            #expect(await machine.read(context: context, interaction: fail) == .failed(errSecInteractionNotAllowed))
            await machine.answer(.answer("own"))
            #expect(await machine.read() == .secret("anna"))
            #expect(machine.questionCount == 1)
            #expect(context.setCredential(Data("wrong".utf8), type: .applicationPassword))
            #expect(await machine.read(context: context) == .failed(errSecAuthFailed))
            #expect(machine.questionCount == 1)
        }
    }

    @Test("Other credentials are not kept")
    func credential_other_isNotKept() {
        let context = LAContext()
        #expect(!context.setCredential(Data("1234".utf8), type: .smartCardPIN))
        #expect(!context.setCredential(Data(repeating: 1, count: 1025), type: .applicationPassword))
        #expect(!context.isCredentialSet(.applicationPassword))
        #expect(context.setCredential(Data([1]), type: .applicationPassword))
        context.invalidate()
        #expect(!context.isCredentialSet(.applicationPassword))
        #expect(!context.setCredential(Data([1]), type: .applicationPassword))
    }

    @Test("A context that has read an item asks before it changes one")
    func update_contextThatHasRead_asks() async throws {
        try await Machine.with { machine in
            #expect(machine.add() == errSecSuccess)
            let context = LAContext()
            #expect(await machine.read(context: context) == .secret("anna"))
            let query = machine.item("anna", [kSecUseAuthenticationContext: context])
            let changes = [kSecValueData: Data("new".utf8)] as CFDictionary
            #expect(SecItemUpdate(query, changes) == errSecSuccess)
            #expect(machine.questionCount == 2)
            #expect(await context.evaluation() == nil)
            #expect(machine.questionCount == 2)
        }
    }

    @Test("Changing and deleting need the same authentication as reading, with the same texts")
    func updateAndDelete_protected_ask() async throws {
        try await Machine.with { machine in
            #expect(machine.add() == errSecSuccess)
            let query = machine.item("anna", [kSecUseOperationPrompt: "to change it"])
            let changes = [kSecValueData: Data("new".utf8), kSecAttrComment: "c"] as CFDictionary
            #expect(SecItemUpdate(query, changes) == errSecSuccess)
            #expect(machine.questionCount == 1)
            #expect(machine.question?.text("description")?.contains("to change it") == true)
            #expect(await machine.read() == .secret("new"))
            #expect(SecItemDelete(machine.item("anna", [kSecUseOperationPrompt: "to delete it"])) == errSecSuccess)
            #expect(machine.question?.text("description")?.contains("to delete it") == true)
            #expect(machine.questionCount == 3)
        }
    }

    @Test("The status explains why an item was not released")
    func read_refused_saysWhy() async throws {
        try await Machine.with([.answer("wrong")]) { machine in
            #expect(machine.add() == errSecSuccess)
            #expect(await machine.read() == .failed(errSecAuthFailed))
            let context = LAContext()
            context.interactionNotAllowed = true
            #expect(await machine.read(context: context) == .failed(errSecInteractionNotAllowed))
            context.invalidate()
            #expect(await machine.read(context: context) == .failed(errSecAuthFailed))
            await machine.prompter.crash()
            #expect(await machine.read() == .failed(errSecInteractionNotAllowed))
        }
    }

    @Test("A context's properties are read on the caller's thread, where a subclass may use the keychain")
    func read_contextOfASubclass_isAskedWhereTheProgramCalls() async throws {
        try await Machine.with { machine in
            #expect(machine.add() == errSecSuccess)
            #expect(machine.add("reason", []) == errSecSuccess)
            let context = CuriousContext(machine.item("reason", [kSecReturnData: true]))
            #expect(await machine.read(context: context) == .secret("anna"))
            #expect(machine.question?.text("description")?.contains("reason") == true)
            #expect(await context.evaluation(reason: "") == nil)
            #expect(machine.question?.text("description")?.contains("reason") == true)
        }
    }

    @Test("A value that is not a context is refused")
    func query_contextOfAnotherType_isRefused() async throws {
        try await Machine.with { machine in
            for context in ["context" as NSString, NSNull(), NSNumber(value: 1)] as [AnyObject] {
                let query = machine.item("anna", [kSecUseAuthenticationContext: context])
                #expect(SecItemCopyMatching(query, nil) == errSecParam)
            }
            let query = machine.item("anna", [kSecUseOperationPrompt: 7])
            #expect(SecItemCopyMatching(query, nil) == errSecParam)
        }
    }

    private static let interface = SecretServiceProxy.Interface.service

    private static func readAll(
        _ machine: Machine,
        context: LAContext? = nil,
        interaction: String? = nil
    ) async -> Set<String> {
        await machine.elsewhere {
            var query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: machine.name, kSecMatchLimit: kSecMatchLimitAll,
                kSecReturnData: true,
            ]
            query[kSecUseAuthenticationContext] = context
            query[kSecUseAuthenticationUI] = interaction
            var result: CFTypeRef?
            guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess else { return [] }
            return Set((result as? [Data] ?? []).map { String(decoding: $0, as: UTF8.self) })
        }
    }
}
