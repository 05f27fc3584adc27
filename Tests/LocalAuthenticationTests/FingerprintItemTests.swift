import KeychaindTestSupport
import LocalAuthentication
import Testing

/// Items with access control, with a fingerprint reader.
struct FingerprintItemTests {
    @Test("A23 User presence accepts a finger")
    func read_userPresence_byFinger() async throws {
        try await Machine.withReader { machine, reader in
            #expect(machine.add("anna", .userPresence) == errSecSuccess)
            async let reading = machine.read()
            try await reader.touch("owner")
            #expect(await reading == .secret("anna"))
        }
    }

    @Test("A23 User presence accepts the passcode")
    func read_userPresence_byPasscode() async throws {
        try await Machine.withReader([.answer("password")]) { machine, _ in
            #expect(machine.add("anna", .userPresence) == errSecSuccess)
            #expect(await machine.read() == .secret("anna"))
            #expect(machine.question?.type == "password")
            #expect(machine.question?.text("description")?.contains("fingerprint reader") == true)
        }
    }

    @Test(
        "A24 Biometry accepts a finger, not the passcode",
        arguments: [SecAccessControlCreateFlags.biometryCurrentSet, .biometryAny]
    )
    func read_biometry_byFingerOnly(flags: SecAccessControlCreateFlags) async throws {
        try await Machine.withReader { machine, reader in
            #expect(machine.add("anna", flags) == errSecSuccess)
            async let reading = machine.read()
            try await reader.touch("owner")
            #expect(await reading == .secret("anna"))
            #expect(machine.question?.type == "confirm")
        }
    }

    @Test("A25 An item for the current set cannot be read after another finger was enrolled")
    func read_currentSetAfterAChange_fails() async throws {
        try await Machine.withReader { machine, reader in
            #expect(machine.add("anna", .biometryCurrentSet) == errSecSuccess)
            try await reader.enrol("left-thumb", as: "thumb")
            #expect(await machine.read() == .failed(errSecAuthFailed))
            #expect(machine.questionCount == 0)
        }
    }

    @Test("A26 The device passcode accepts the passcode, not a finger")
    func read_devicePasscode_byPasscodeOnly() async throws {
        try await Machine.withReader([.answer("password")]) { machine, reader in
            #expect(machine.add("anna", .devicePasscode) == errSecSuccess)
            #expect(await machine.read() == .secret("anna"))
            #expect(machine.question?.type == "password")
            #expect(machine.question?.text("description")?.contains("fingerprint reader") == false)
            // Nobody's finger.
            try await reader.claimOnce()
        }
    }

    @Test("A context evaluated by finger opens items that need a finger")
    func read_contextEvaluatedByFinger_asksNobody() async throws {
        try await Machine.withReader { machine, reader in
            #expect(machine.add("anna", .biometryAny) == errSecSuccess)
            let context = LAContext()
            async let evaluation = context.evaluation(.deviceOwnerAuthenticationWithBiometrics)
            try await reader.touch("owner")
            #expect(await evaluation == nil)
            let count = machine.questionCount
            #expect(await machine.read(context: context) == .secret("anna"))
            #expect(machine.questionCount == count)
        }
    }

    @Test("Five touches that do not match are errSecAuthFailed")
    func read_biometryLocked_isAuthFailed() async throws {
        try await Machine.withReader { machine, reader in
            #expect(machine.add("anna", .biometryAny) == errSecSuccess)
            async let reading = machine.read()
            try await reader.touch("stranger")
            // Later touches change no word of it.
            try await eventually("the warning") { machine.questionCount == 2 }
            await machine.answer(.cancel)
            for _ in 0..<4 { try await reader.touch("stranger") }
            #expect(await reading == .failed(errSecAuthFailed))
        }
    }
}
