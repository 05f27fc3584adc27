import Foundation
import KeychaindTestSupport
import LocalAuthentication
import SecretServiceClient
import Testing

/// `LAContext` without a fingerprint reader.
struct ContextTests {
    @Test("A33 A failed check returns its reason: no reader, no passcode")
    func canEvaluate_impossible_saysWhy() async throws {
        try await Machine.with { _ in
            let context = LAContext()
            #expect(context.obstacle(to: .deviceOwnerAuthentication) == nil)
            var error: NSError?
            #expect(!context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error))
            #expect(error?.domain == LAErrorDomain)
            #expect(error?.code == LAError.biometryNotAvailable.rawValue)
            #expect(error?.localizedDescription == "No fingerprint reader is available.")
            #expect(!context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil))
        }
        try await Machine.with([.hang], KeychainDaemon.Options(password: nil)) { _ in
            #expect(LAContext().obstacle(to: .deviceOwnerAuthentication) == .passcodeNotSet)
        }
    }

    @Test("A34 An evaluation may fail after a successful check")
    func evaluate_stateChangedSince_fails() async throws {
        try await Machine.with { machine in
            let context = LAContext()
            #expect(context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
            await machine.prompter.crash()
            #expect(await context.evaluation() == .notInteractive)
        }
    }

    @Test("A36 A37 The passcode alone authenticates the owner, and the dialog shows the reason")
    func evaluate_ownerWithPasscodeOnly_isProved() async throws {
        try await Machine.with { machine in
            #expect(await LAContext().evaluation(reason: "To access your data") == nil)
            #expect(machine.question?.type == "password")
            #expect(machine.question?.text("description")?.contains("To access your data") == true)
            let context = LAContext()
            context.localizedReason = "the context's own"
            #expect(await context.evaluation(reason: "") == nil)
            #expect(machine.question?.text("description")?.contains("the context's own") == true)
        }
    }

    @Test("A37 Reasons and titles of any length and kind")
    func evaluate_strangeTexts_areCut() async throws {
        try await Machine.with { machine in
            let context = LAContext()
            context.localizedReason = String(repeating: "é", count: 5_000)
            context.localizedCancelTitle = "No\u{0}w" + String(repeating: "x", count: 5_000)
            context.localizedFallbackTitle = String(repeating: "👩‍👩‍👧", count: 500)
            #expect(await context.evaluation(reason: "a\u{0}b" + String(repeating: "日", count: 5_000)) == nil)
            #expect(machine.question?.text("description")?.contains("ab日日") == true)
            #expect(machine.question?.text("cancel-label")?.hasPrefix("Nowxx") == true)
        }
    }

    @MainActor
    @Test("A71 Companion policies fail where no device is paired, and fall back to a finger")
    func evaluate_companions_areNotAvailable() async throws {
        try await Machine.with { machine in
            let context = LAContext()
            #expect(context.obstacle(to: .deviceOwnerAuthenticationWithCompanion) == .companionNotAvailable)
            #expect(await context.evaluation(.deviceOwnerAuthenticationWithCompanion) == .companionNotAvailable)
            let either = LAPolicy.deviceOwnerAuthenticationWithBiometricsOrCompanion
            #expect(context.obstacle(to: either) == .biometryNotAvailable)
            #expect(await context.evaluation(either) == .biometryNotAvailable)
            #expect(machine.questionCount == 0)
        }
    }

    @Test("A reason must be there, by the parameter or the property")
    func evaluate_emptyReason_isRefused() async throws {
        try await Machine.with { machine in
            let context = LAContext()
            #expect(await context.evaluation(reason: "") == .notInteractive)
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .devicePasscode, nil)
            )
            await #expect(throws: (any Error).self) {
                try await context.evaluateAccessControl(control, operation: .useItem, localizedReason: "")
            }
            #expect(machine.questionCount == 0)
            context.localizedReason = "to see it"
            #expect(await context.evaluation(reason: "") == nil)
            #expect(machine.question?.text("description")?.contains("to see it") == true)
        }
    }

    @Test("A38 The reply is not called on the main thread")
    func evaluate_reply_isOffTheMainThread() async throws {
        try await Machine.with { machine in
            let replies = Recorder<(isProved: Bool, isMain: Bool, found: OSStatus)>()
            let (bus, item) = (machine.service.bus.address, machine.name)
            LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "to see it") { isProved, error in
                // A reply may block, for example in the keychain.
                let query = [kSecClass: kSecClassGenericPassword, kSecAttrService: item] as CFDictionary
                let found = KeychainBus.$current.withValue(.address(bus)) { SecItemCopyMatching(query, nil) }
                replies.record((isProved && error == nil, Thread.isMainThread, found))
            }
            let reply = try await replies.first("the reply")
            #expect(reply.isProved && !reply.isMain)
            #expect(reply.found == errSecItemNotFound)
        }
    }

    @Test("A40 The program sets the title of the cancel button")
    func evaluate_cancelTitle_isShown() async throws {
        try await Machine.with([.cancel]) { machine in
            let context = LAContext()
            #expect(await context.evaluation() == .userCancel)
            #expect(machine.question?.text("cancel-label") == "Cancel")
            context.localizedCancelTitle = "Use Password"
            #expect(await context.evaluation() == .userCancel)
            #expect(machine.question?.text("cancel-label") == "Use Password")
        }
    }

    @Test("A48 A context that has satisfied a policy satisfies it again without asking, until it is invalidated")
    func evaluate_again_asksNobody() async throws {
        try await Machine.with { machine in
            let context = LAContext()
            for _ in 0..<2 { #expect(await context.evaluation() == nil) }
            #expect(machine.questionCount == 1)
            #expect(await LAContext().evaluation() == nil)
            #expect(machine.questionCount == 2)
            context.invalidate()
            #expect(await context.evaluation() == .invalidContext)
        }
    }

    @Test("A42 Invalidating a context ends its running evaluation and all later ones")
    func invalidate_endsAll() async throws {
        try await Machine.with([.hang]) { machine in
            let context = LAContext()
            async let evaluation = context.evaluation()
            _ = try await machine.waitForQuestion()
            context.invalidate()
            #expect(await evaluation == .appCancel)
            _ = try await machine.prompter.calls.first("the end of the dialog") { $0 == "StopPrompting" }
            #expect(await context.evaluation() == .invalidContext)
            #expect(context.obstacle(to: .deviceOwnerAuthentication) == .invalidContext)
            context.invalidate()
            let unused = LAContext()
            unused.invalidate()
            #expect(await unused.evaluation() == .invalidContext)
            #expect(machine.questionCount == 1)
            // Nor does it read what needs no authentication.
            #expect(machine.add("anna", []) == errSecSuccess)
            #expect(await machine.read(context: LAContext()) == .secret("anna"))
            #expect(await machine.read(context: unused) == .failed(errSecAuthFailed))
        }
    }

    @Test("A43 Errors differ: failed, cancelled by the person, not allowed to ask")
    func evaluate_failures_areToldApart() async throws {
        try await Machine.with([.cancel, .answer("wrong")]) { machine in
            #expect(await LAContext().evaluation() == .userCancel)
            #expect(await LAContext().evaluation() == .authenticationFailed)
            let quiet = LAContext()
            quiet.interactionNotAllowed = true
            #expect(await quiet.evaluation() == .notInteractive)
            #expect(await LAContext().evaluation(.deviceOwnerAuthenticationWithBiometrics) == .biometryNotAvailable)
        }
        try await Machine.with([.hang], KeychainDaemon.Options(password: nil)) { _ in
            #expect(await LAContext().evaluation() == .passcodeNotSet)
        }
    }

    @Test("A43 A concurrent evaluation is refused, and the first continues")
    func evaluate_twiceAtOnce_secondIsRefused() async throws {
        try await Machine.with([.hang]) { machine in
            let context = LAContext()
            async let first = context.evaluation()
            _ = try await machine.waitForQuestion()
            #expect(await context.evaluation() == .invalidContext)
            context.invalidate()
            #expect(await first == .appCancel)
        }
    }

    @Test("A69 After the evaluation of an access control, items with it are read without asking")
    func evaluateAccessControl_opensItems() async throws {
        try await Machine.with { machine in
            #expect(machine.add("anna", .devicePasscode) == errSecSuccess)
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .devicePasscode, nil)
            )
            let context = LAContext()
            let created = try await context.evaluateAccessControl(
                control,
                operation: .createItem,
                localizedReason: "to add"
            )
            #expect(created && machine.questionCount == 0)
            try await context.evaluateAccessControl(control, operation: .useItem, localizedReason: "to read")
            #expect(machine.question?.text("description")?.contains("to read") == true)
            #expect(machine.questionCount == 1)
        }
    }

    @Test("An application password cannot be evaluated without its item")
    func applicationPassword_isNotTaken() async throws {
        try await Machine.with { machine in
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .applicationPassword, nil)
            )
            let context = LAContext()
            await #expect(throws: LAError.self) {
                try await context.evaluateAccessControl(control, operation: .useItem, localizedReason: "to read")
            }
            #expect(machine.questionCount == 0)
        }
    }

    @Test("A subclass of a context for a test is used")
    func subclass_takesPart() async throws {
        final class Mock: LAContext, @unchecked Sendable {
            override var biometryType: LABiometryType { .touchID }
            override func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool { true }
            override func evaluatePolicy(
                _ policy: LAPolicy,
                localizedReason: String,
                reply: @escaping @Sendable (Bool, (any Error)?) -> Void
            ) {
                reply(false, LAError(.biometryLockout))
            }
        }
        let mock: LAContext = Mock()
        #expect(mock.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
        #expect(mock.biometryType == .touchID)
        #expect(await mock.evaluation() == .biometryLockout)
    }
}
