import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

@VaultActor
@Suite struct RecoveryKeyTests {
    private let folder = TemporaryFolder()
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder))
    }

    /// Creates a recovery key, as it is written down.
    private func makeKey(for login: Collection) async throws -> [UInt8] {
        let key = try await login.addRecoveryKey(openedBy: Fixture.bytes(Fixture.password))
        return try key.grouped().withUnsafeBytes { Array($0) }
    }

    private func reads(_ text: [UInt8]) throws(VaultError) -> Bool {
        do throws(GcryptError) {
            let text = try SecureBytes(copying: text)
            do throws(VaultError) {
                let key = try RecoveryKey.read(text)
                if let key = consume key { return try key.grouped().count == 34 }
                return false
            } catch {
                throw GcryptError(.authenticationFailed, reason: error.reason)
            }
        } catch {
            throw VaultError(.mistypedRecoveryKey, reason: error.reason)
        }
    }

    @Test func recoveryKey_isRandom_inGroupsOfReadableSymbols() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        var keys: Set<[UInt8]> = []
        for _ in 0..<5 {
            let key = try await makeKey(for: login)
            let groups = key.split(separator: UInt8(ascii: "-"))
            #expect(groups.map(\.count) == [4, 4, 4, 4, 4, 4, 4])
            #expect(groups.joined().allSatisfy(Self.alphabet.contains))
            keys.insert(key)
        }
        #expect(keys.count == 5)
        await vault.close()
    }

    @Test func unlock_withTheRecoveryKey_inAnyTypedForm() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let id = try await login.add(secret: "kept")
        let key = String(decoding: try await makeKey(for: login), as: UTF8.self)
        let forms = [
            key, key.lowercased(), key.replacing("-", with: ""), key.replacing("-", with: " ") + "\n",
            "  " + key.replacing("-", with: " - ").lowercased(),
            key.replacing("0", with: "O").replacing("1", with: "I").replacing("V", with: "U"),
            key.replacing("0", with: "o").replacing("1", with: "l").replacing("V", with: "u"),
        ]
        for form in forms {
            login.lock()
            try await login.unlock(with: Fixture.bytes(form))
            #expect(login.unlockedBy == .recoveryKey)
            #expect(try await login.content(of: id) == Array("kept".utf8))
        }
        login.lock()
        for wrong in [String(key.dropLast()), key + "0", key.replacing("-", with: "*"), ""] {
            let code: VaultError.Code = wrong.isEmpty ? .emptyPassword : .wrongPassword
            await #expect(throws: VaultError.of(code)) { try await login.unlock(with: Fixture.bytes(wrong)) }
        }
        // It opens the collection, but is no passcode.
        await #expect(throws: VaultError.of(.wrongPassword)) { _ = try await vault.verifyPasscode(Fixture.bytes(key)) }
        await vault.close()
    }

    @Test func read_wrongSymbol_isDetected() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let key = try await makeKey(for: login)
        await vault.close()
        #expect(try reads(key))
        for index in key.indices where key[index] != UInt8(ascii: "-") {
            for symbol in Self.alphabet where symbol != key[index] {
                var wrong = key
                wrong[index] = symbol
                #expect(throws: VaultError.of(.mistypedRecoveryKey)) { _ = try reads(wrong) }
            }
        }
    }

    @Test func read_swappedSymbols_areDetected() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let key = try await makeKey(for: login)
        await vault.close()
        for first in key.indices {
            for second in key.indices where second > first && key[first] != key[second] {
                guard key[first] != UInt8(ascii: "-"), key[second] != UInt8(ascii: "-") else { continue }
                var wrong = key
                wrong.swapAt(first, second)
                #expect(throws: VaultError.of(.mistypedRecoveryKey)) { _ = try reads(wrong) }
            }
        }
    }

    @Test func unlock_mistypedRecoveryKey_isReported_ifThereIsOne() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let other = try await vault.createCollection(label: "Other", password: Fixture.bytes(Fixture.password))
        var key = try await makeKey(for: login)
        key[0] = key[0] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
        login.lock()
        other.lock()
        await #expect(throws: VaultError.of(.mistypedRecoveryKey)) {
            try await login.unlock(with: SecureBytes(copying: key))
        }
        await #expect(throws: VaultError.of(.wrongPassword)) { try await other.unlock(with: SecureBytes(copying: key)) }
        #expect(login.state == .locked)
        await vault.close()
    }

    @Test func passwordThatLooksLikeARecoveryKey_isAPassword() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin("AAAA-AAAA-AAAA-AAAA-AAAA-AAAA-AAAB")
        _ = try await login.addRecoveryKey(openedBy: Fixture.bytes("AAAA-AAAA-AAAA-AAAA-AAAA-AAAA-AAAB"))
        login.lock()
        try await login.unlock(with: Fixture.bytes("AAAA-AAAA-AAAA-AAAA-AAAA-AAAA-AAAB"))
        #expect(login.unlockedBy == .password)
        await vault.close()
    }

    @Test func changePassword_withTheRecoveryKey_replacesTheForgottenOne() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let key = try await makeKey(for: login)
        login.lock()
        try await login.changePassword(from: SecureBytes(copying: key), to: Fixture.bytes("new"))
        await #expect(throws: VaultError.of(.wrongPassword)) {
            try await login.unlock(with: Fixture.bytes(Fixture.password))
        }
        try await login.unlock(with: Fixture.bytes("new"))
        login.lock()
        try await login.unlock(with: SecureBytes(copying: key))
        #expect(login.keySlots.map(\.kind) == [.password, .recoveryKey])
        await vault.close()
    }

    @Test func recoveryKey_readByAnotherProgram_opens() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        try await login.add(secret: "kept")
        let key = String(decoding: try await makeKey(for: login), as: UTF8.self)
        try await login.changePassword(from: Fixture.bytes(Fixture.password), to: Fixture.bytes("new"))
        await vault.close()
        #expect(try await OtherReader(folder).read(passwords: key).items.map(\.text) == ["kept"])
        #expect(try await OtherReader(folder).read(passwords: "new").items.map(\.text) == ["kept"])
    }
}
