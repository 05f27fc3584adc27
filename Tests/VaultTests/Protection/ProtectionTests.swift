import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// The protection of items, and changes without authentication.
@VaultActor
@Suite struct ProtectionTests {
    private let folder = TemporaryFolder()

    private func opened() async throws -> (Vault, Collection) {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        return (vault, try await vault.unlockedLogin())
    }

    @Test func protection_isStored() async throws {
        var (vault, login) = try await opened()
        let plain = try await login.add()
        #expect(!login.hasProtectedItems)
        #expect(login.protection(of: plain) == .none)
        let protected = try await login.protect("userPresence and applicationPassword", applicationPassword: "x")
        let accessible = try await login.add("a", ["keychain:accessible": "whenUnlocked"])
        for _ in 0..<2 {
            #expect(login.hasProtectedItems)
            #expect(login.protection(of: plain) == .none)
            #expect(login.protection(of: plain).policy == nil)
            let access = try AccessControl(parsing: "userPresence and applicationPassword")
            #expect(login.protection(of: protected) == .stated(try Protection(accessControl: access)))
            #expect(login.protection(of: protected).policy == access.policy)
            #expect(login.protection(of: protected).needsAuthentication)
            #expect(
                login.protection(of: accessible)
                    == .stated(try Protection(accessControl: nil, accessibility: .whenUnlocked))
            )
            #expect(!login.protection(of: accessible).needsAuthentication)
            login.lock()
            #expect(login.protection(of: protected).needsAuthentication)
            await vault.close()
            (vault, login) = try await opened()
        }
        try await login.deleteItem(protected, authenticated: true)
        try await login.deleteItem(accessible)
        #expect(!login.hasProtectedItems)
        await vault.close()
    }

    @Test func protection_beforeTheFirstUnlock_isUnknown() async throws {
        var (vault, login) = try await opened()
        let id = try await login.protect("userPresence")
        await vault.close()
        vault = try await Vault.opened(Fixture.configuration(folder))
        login = try #require(vault.collection(named: .login))
        #expect(!login.hasProtectedItems)
        #expect(login.search(["service": "bank"]) == [id])
        #expect(throws: VaultError.of(.locked)) { _ = try login.secret(of: id) }
        await vault.close()
    }

    @Test(
        arguments: [
            ["keychain:access-control": "fingerprint"], ["keychain:access-control": ""],
            ["keychain:access-control": "userPresence and"], ["keychain:accessible": "sometimes"],
            ["keychain:access-control": "userPresence", "keychain:synchronizable": "maybe"],
            ["keychain:accessible": "whenUnlockedThisDeviceOnly", "keychain:synchronizable": "true"],
        ] as [Attributes]
    )
    func invalidAttributes_areRefused(attributes: Attributes) async throws {
        let (vault, login) = try await opened()
        let id = try await login.add("kept", ["a": "1"])
        let before = login.item(id)
        let invalid = VaultError.of(.invalidAccessControl)
        await #expect(throws: invalid) { try await login.add("new", attributes) }
        await #expect(throws: invalid) { try await login.add("new", attributes, replacing: true) }
        await #expect(throws: invalid) { try await login.updateItem(id, label: "other", attributes: attributes) }
        #expect(login.itemIDs == [id])
        #expect(login.item(id) == before)
        await vault.close()
    }

    @Test func unknownReservedAttributes_areStored() async throws {
        let (vault, login) = try await opened()
        let id = try await login.add("x", ["keychain:class": "inet", "a": "1"])
        #expect(login.protection(of: id) == .none)
        #expect(login.item(id)?.attributes["keychain:class"] == "inet")
        await vault.close()
    }

    @Test(arguments: ["userPresence", "devicePasscode"])
    func protectedItem_withoutAuthentication_cannotBeChanged(accessControl: String) async throws {
        var (vault, login) = try await opened()
        let id = try await login.protect(accessControl)
        let before = login.item(id)
        let needed = VaultError.of(.authenticationNeeded)
        await #expect(throws: needed) { try await login.updateItem(id, label: "other") }
        await #expect(throws: needed) { try await login.updateItem(id, attributes: ["service": "bank"]) }
        await #expect(throws: needed) {
            try await login.updateItem(id, attributes: .protected("devicePasscode or applicationPassword"))
        }
        await #expect(throws: needed) { try await login.updateItem(id, secret: Fixture.secret("other")) }
        await #expect(throws: needed) { try await login.updateItem(id, setting: "xdg:schema", to: "x") }
        await #expect(throws: needed) { try await login.deleteItem(id) }
        await #expect(throws: needed) { try await login.add("new", ["service": "bank"], replacing: true) }
        await #expect(throws: needed) {
            _ = try await login.createItem(
                label: "new",
                attributes: ["service": "bank"],
                secret: Fixture.secret("new"),
                replacing: true,
                authenticated: ItemID(rawValue: id.rawValue + 1)
            )
        }
        #expect(login.item(id) == before)
        #expect(login.itemIDs == [id])
        await vault.close()
        (vault, login) = try await opened()
        #expect(login.item(id) == before)
        await vault.close()
    }

    @Test func protectedItem_withAuthentication_canBeChanged() async throws {
        let (vault, login) = try await opened()
        let id = try await login.protect("userPresence")
        try await login.updateItem(id, label: "other", authenticated: true)
        try await login.updateItem(id, setting: "xdg:schema", to: "x", authenticated: true)
        try await login.updateItem(id, secret: Fixture.secret("new"), authenticated: true)
        #expect(login.item(id)?.label == "other")
        #expect(login.item(id)?.attributes["xdg:schema"] == "x")
        #expect(try await login.content(of: id) == Array("new".utf8))
        #expect(login.protection(of: id).needsAuthentication)
        try await login.updateItem(id, setting: "xdg:schema", to: nil, authenticated: true)
        let replacement = try await login.createItem(
            label: "third",
            attributes: ["service": "bank"],
            secret: Fixture.secret("third"),
            replacing: true,
            authenticated: id
        )
        #expect(replacement == .replaced(id))
        #expect(login.protection(of: id) == .none)
        try await login.deleteItem(id)
        await vault.close()
    }

    @Test func changeRequestedBeforeProtection_isRefused() async throws {
        let (vault, login) = try await opened()
        let id = try await login.add("x", ["service": "bank"])
        // Both are requested before either is written.
        let protecting = Task { @VaultActor in
            try await login.updateItem(id, attributes: .protected("userPresence"))
        }
        let replacing = Task { @VaultActor in try await login.add("new", ["service": "bank"], replacing: true) }
        let deleting = Task { @VaultActor in try await login.deleteItem(id) }
        try await protecting.value
        await #expect(throws: VaultError.of(.authenticationNeeded)) { _ = try await replacing.value }
        await #expect(throws: VaultError.of(.authenticationNeeded)) { try await deleting.value }
        #expect(login.protection(of: id).needsAuthentication)
        #expect(try await login.content(of: id) == Array("secret".utf8))
        await vault.close()
    }

    @Test func setOneAttribute_keepsConcurrentChanges() async throws {
        let (vault, login) = try await opened()
        let id = try await login.add("x", ["a": "1", "z": "2"])
        let first = Task { @VaultActor in try await login.updateItem(id, attributes: ["b": "2"]) }
        let second = Task { @VaultActor in try await login.updateItem(id, setting: "xdg:schema", to: "s") }
        try await first.value
        try await second.value
        #expect(login.item(id)?.attributes == ["b": "2", "xdg:schema": "s"])
        #expect(login.search(["xdg:schema": "s"]) == [id])
        try await login.updateItem(id, setting: "b", to: nil)
        #expect(login.item(id)?.attributes == ["xdg:schema": "s"])
        for name in ReservedAttribute.allCases.map(\.rawValue) + ["keychain:x"] {
            await #expect(throws: VaultError.of(.notSupported)) {
                try await login.updateItem(id, setting: name, to: "userPresence")
            }
        }
        let long = String(repeating: "x", count: VaultLimits().attributeBytes)
        await #expect(throws: VaultError.of(.limitExceeded)) { try await login.updateItem(id, setting: "b", to: long) }
        await vault.close()
    }

    /// A program may have stored an attribute of a later version before it had a meaning.
    @Test func unknownAccessControl_neverOpens_andCanBeDeleted() async throws {
        var (vault, login) = try await opened()
        let id = try await login.add("x", ["keychain:later": "iris", "service": "bank"])
        await vault.close()
        try await OtherWriter(folder, password: Fixture.password)
            .exchangeAttribute(of: id, "keychain:later", for: "keychain:access-control", value: "iris")
        (vault, login) = try await opened()
        #expect(login.problem == nil)
        guard case .unknown = login.protection(of: id) else {
            Issue.record("the protection passes for understood")
            return
        }
        #expect(login.protection(of: id).needsAuthentication)
        #expect(throws: VaultError.of(.authenticationNeeded)) { _ = try login.secret(of: id) }
        await #expect(throws: VaultError.of(.authenticationNeeded)) { _ = try await login.storedSecret(of: id) }
        await #expect(throws: VaultError.of(.authenticationNeeded)) {
            try await login.updateItem(id, attributes: ["service": "bank"], secret: nil, authenticated: true)
        }
        await #expect(throws: VaultError.of(.authenticationNeeded)) { try await login.deleteItem(id) }
        try await login.deleteItem(id, authenticated: true)
        await vault.close()
    }
}
