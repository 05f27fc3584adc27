import Foundation
import KeychaindTestSupport
import LocalAuthentication
import Testing

/// `LAContext` with a fingerprint reader.
struct FingerprintContextTests {
    @Test("A33 A39 The reader is reported even without an enrolled finger")
    func canEvaluate_noneEnrolled_saysWhy() async throws {
        try await Machine.withReader([.answer("password")], isEnrolled: false) { _, _ in
            let context = LAContext()
            #expect(context.biometryType == .none)
            #expect(context.obstacle(to: .deviceOwnerAuthenticationWithBiometrics) == .biometryNotEnrolled)
            #expect(context.biometryType == .touchID)
            #expect(context.domainState.biometry.stateHash == nil)
            #expect(await context.evaluation(.deviceOwnerAuthenticationWithBiometrics) == .biometryNotEnrolled)
            // A36: the owner has the passcode.
            #expect(await context.evaluation() == nil)
        }
    }

    @Test("A34 An enrolled finger may be deleted after a check")
    func evaluate_fingerDeletedSince_fails() async throws {
        try await Machine.withReader { _, reader in
            let context = LAContext()
            #expect(context.obstacle(to: .deviceOwnerAuthenticationWithBiometrics) == nil)
            try await reader.delete()
            #expect(await context.evaluation(.deviceOwnerAuthenticationWithBiometrics) == .biometryNotEnrolled)
        }
    }

    @Test("A35 A39 Biometry accepts a finger, never the passcode")
    func evaluate_biometry_byFingerOnly() async throws {
        try await Machine.withReader { machine, reader in
            let context = LAContext()
            #expect(context.obstacle(to: .deviceOwnerAuthenticationWithBiometrics) == nil)
            #expect(context.biometryType == .touchID)
            async let evaluation = context.evaluation(.deviceOwnerAuthenticationWithBiometrics, reason: "to see it")
            try await reader.touch("owner")
            #expect(await evaluation == nil)
            #expect(machine.question?.type == "confirm")
            #expect(machine.question?.text("description")?.contains("to see it") == true)
        }
    }

    @Test("A36 A finger or the passcode authenticates the owner", arguments: [true, false])
    func evaluate_owner_byEither(byFinger: Bool) async throws {
        try await Machine.withReader(byFinger ? [.hang] : [.answer("password")]) { machine, reader in
            async let evaluation = LAContext().evaluation()
            if byFinger { try await reader.touch("owner") }
            #expect(await evaluation == nil)
            #expect(machine.question?.type == "password")
        }
    }

    @Test("A41 The fallback button has the default title, the program's, or is hidden; pressing it is userFallback")
    func evaluate_fallback_isUserFallback() async throws {
        try await Machine.withReader([.answer(""), .answer(""), .cancel]) { machine, _ in
            let context = LAContext()
            #expect(await context.evaluation(.deviceOwnerAuthenticationWithBiometrics) == .userFallback)
            #expect(machine.question?.text("continue-label") == "Enter Password")
            context.localizedFallbackTitle = "My own way"
            #expect(await context.evaluation(.deviceOwnerAuthenticationWithBiometrics) == .userFallback)
            #expect(machine.question?.text("continue-label") == "My own way")
            context.localizedFallbackTitle = ""
            #expect(await context.evaluation(.deviceOwnerAuthenticationWithBiometrics) == .userCancel)
            #expect(machine.question?.text("continue-label")?.contains("way") != true)
        }
    }

    @Test("A44 Too many failures lock biometry, and the passcode unlocks it")
    func evaluate_tooManyFailures_locks() async throws {
        try await Machine.withReader { machine, reader in
            let context = LAContext()
            async let evaluation = context.evaluation(.deviceOwnerAuthenticationWithBiometrics)
            for _ in 0..<5 { try await reader.touch("stranger") }
            #expect(await evaluation == .biometryLockout)
            #expect(context.obstacle(to: .deviceOwnerAuthenticationWithBiometrics) == .biometryLockout)
            #expect(context.obstacle(to: .deviceOwnerAuthentication) == nil)
            #expect(await context.evaluation(.deviceOwnerAuthenticationWithBiometrics) == .biometryLockout)
            await machine.answer(.answer("password"))
            #expect(await context.evaluation() == nil)
            #expect(context.obstacle(to: .deviceOwnerAuthenticationWithBiometrics) == nil)
        }
    }

    @Test("A45 The domain state is opaque, differs between fingers and programs, and revokes nothing")
    func domainState_changesWithFingersAndPrograms() async throws {
        try await Machine.withReader([.answer("password")]) { machine, reader in
            #expect(machine.add() == errSecSuccess)
            let context = LAContext()
            #expect(context.evaluatedPolicyDomainState == nil)
            #expect(context.obstacle(to: .deviceOwnerAuthenticationWithBiometrics) == nil)
            let first = try #require(context.domainState.biometry.stateHash)
            #expect(first.count == 32)
            #expect(LAContext().domainState.stateHash == first)
            #expect(context.evaluatedPolicyDomainState == first)
            #expect(context.domainState.biometry.biometryType == .touchID)
            let others = try await Self.domainStateOfAnotherProgram(machine)
            #expect(others.hasPrefix("([byte 0x") && !others.contains(Self.hexadecimal(first)))
            try await reader.enrol("left-thumb", as: "thumb")
            let second = try #require(context.domainState.biometry.stateHash)
            #expect(second != first)
            #expect(await machine.read() == .secret("anna"))
        }
    }

    private static func domainStateOfAnotherProgram(_ machine: Machine) async throws -> String {
        let result = try await Command.run(
            "gdbus",
            [
                "call", "--session", "-d", KeychainDaemon.busName, "-o", "/org/keychaind/Authentication", "-m",
                "org.keychaind.Authentication1.GetDomainState",
            ],
            environment: machine.service.bus.environment
        )
        return String(decoding: result.output, as: UTF8.self)
    }

    private static func hexadecimal(_ data: Data) -> String {
        data.map { String(format: "0x%02x", $0) }.joined(separator: ", ")
    }
}
