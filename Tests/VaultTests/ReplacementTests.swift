import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// Points #94 to #96 of the specification.
@VaultActor
@Suite struct ReplacementTests {
    private let folder = TemporaryFolder()
    private let clock = TestClock()

    private func login() async throws -> (Vault, Collection) {
        let vault = try await Vault.opened(Fixture.configuration(folder, clock: clock))
        return (vault, try await vault.unlockedLogin())
    }

    private func put(
        _ label: String,
        _ attributes: Attributes,
        _ secret: String,
        replacing: Bool,
        in login: Collection
    ) async throws -> ItemCreation {
        try await login.createItem(
            label: label,
            attributes: attributes,
            secret: Fixture.secret(secret),
            replacing: replacing
        )
    }

    @Test func replace_equalAttributes_keepsIDAndCreationTime() async throws {
        let (vault, login) = try await login()
        let id = try await login.add("old", ["a": "1", "b": "2"], secret: "old")
        let created = login.item(id)?.created
        clock.advance(seconds: 5)
        #expect(login.itemToReplace(["b": "2", "a": "1"]) == id)
        let outcome = try await put("new", ["b": "2", "a": "1"], "new", replacing: true, in: login)
        #expect(outcome == .replaced(id))
        #expect(login.itemIDs == [id])
        #expect(login.item(id)?.label == "new")
        #expect(login.item(id)?.created == created)
        #expect(login.item(id)?.modified != created)
        #expect(try await login.content(of: id) == Array("new".utf8))
        await vault.close()
    }

    @Test(arguments: [["a": "1"], ["a": "1", "b": "2", "c": "3"], ["a": "1", "b": "3"], [:]] as [Attributes])
    func replace_otherAttributes_createsAnItem(attributes: Attributes) async throws {
        let (vault, login) = try await login()
        let id = try await login.add("old", ["a": "1", "b": "2"], secret: "old")
        let outcome = try await put("new", attributes, "new", replacing: true, in: login)
        #expect(outcome != .replaced(id))
        #expect(login.itemCount == 2)
        #expect(try await login.content(of: id) == Array("old".utf8))
        await vault.close()
    }

    @Test(arguments: [["a": "1"], ["a": "1", "xdg:schema": "org.example"]] as [Attributes])
    func replace_withoutSchema_replacesTheItemOfAnySchema_andKeepsItsSchema(attributes: Attributes) async throws {
        let (vault, login) = try await login()
        let id = try await login.add("old", ["a": "1", "xdg:schema": "org.example"])
        #expect(try await put("new", attributes, "new", replacing: true, in: login) == .replaced(id))
        #expect(login.item(id)?.attributes == ["a": "1", "xdg:schema": "org.example"])
        #expect(login.search(["xdg:schema": "org.example"]) == [id])
        await vault.close()
    }

    @Test func replace_withoutSchema_prefersAnItemWithout() async throws {
        let (vault, login) = try await login()
        let plain = try await login.add("plain", ["a": "1"])
        clock.advance(seconds: 1)
        let schematic = try await login.add("schematic", ["a": "1", "xdg:schema": "org.example"])
        #expect(try await put("new", ["a": "1"], "x", replacing: true, in: login) == .replaced(plain))
        try await login.deleteItem(plain)
        #expect(try await put("new", ["a": "1"], "x", replacing: true, in: login) == .replaced(schematic))
        await vault.close()
    }

    @Test(arguments: [["a": "1"], ["a": "1", "xdg:schema": "org.freedesktop.Secret.Generic"]] as [Attributes])
    func replace_genericSchema_isNone(attributes: Attributes) async throws {
        let (vault, login) = try await login()
        let generic: Attributes = ["a": "1", "xdg:schema": "org.freedesktop.Secret.Generic"]
        let id = try await login.add("old", attributes)
        #expect(try await put("new", generic, "new", replacing: true, in: login) == .replaced(id))
        #expect(login.search(generic) == [id])
        #expect(try await put("newer", ["a": "1"], "newer", replacing: true, in: login) == .replaced(id))
        #expect(login.search(generic) == [id])
        await vault.close()
    }

    /// Of two twins, any program's next secret goes to the one that was modified last.
    @Test func replace_twins_takesTheNewest() async throws {
        let (vault, login) = try await login()
        let generic: Attributes = ["a": "1", "xdg:schema": "org.freedesktop.Secret.Generic"]
        let first = try await login.add("first", generic)
        clock.advance(seconds: 1)
        let second = try await login.add("second", ["a": "1"])
        for attributes in [generic, ["a": "1"]] {
            #expect(login.itemToReplace(attributes) == second)
        }
        try await login.deleteItem(second)
        #expect(login.itemToReplace(["a": "1"]) == first)
        await vault.close()
    }

    @Test func replace_genericSchema_leavesItemsOfOtherSchemas() async throws {
        let (vault, login) = try await login()
        let old = try await login.add("old", ["a": "1", "xdg:schema": "org.example"])
        let generic: Attributes = ["a": "1", "xdg:schema": "org.freedesktop.Secret.Generic"]
        #expect(try await put("new", generic, "new", replacing: true, in: login).id != old)
        await vault.close()
    }

    /// A schema alone identifies nothing: without other attributes it is another item.
    @Test(
        arguments: [
            ["a": "1", "xdg:schema": "org.other"], ["b": "1"], ["a": "1", "b": "2"], [:],
        ] as [Attributes]
    )
    func replace_anotherSchemaOrOtherAttributes_createsAnItem(attributes: Attributes) async throws {
        let (vault, login) = try await login()
        let old = try await login.add("old", ["a": "1", "xdg:schema": "org.example"], secret: "old")
        let bare = try await login.add("bare", ["xdg:schema": "org.example"], secret: "old")
        let creation = try await put("new", attributes, "new", replacing: true, in: login)
        #expect(![old, bare].contains(creation.id))
        #expect(try await login.content(of: old) == Array("old".utf8))
        await vault.close()
    }

    @Test func replace_reservedAttributes_doNotCount() async throws {
        let (vault, login) = try await login()
        let id = try await login.add("old", ["a": "1", "keychain:class": "x"])
        let outcome = try await put("new", ["a": "1", "keychain:other": "y"], "new", replacing: true, in: login)
        #expect(outcome == .replaced(id))
        #expect(login.item(id)?.attributes == ["a": "1", "keychain:other": "y"])
        #expect(login.search(["keychain:class": "x"]).isEmpty)
        await vault.close()
    }

    @Test func replace_noAttributes_replacesAnItemWithout() async throws {
        let (vault, login) = try await login()
        let other = try await login.add("other", ["a": "1"], secret: "other")
        #expect(login.itemToReplace([:]) == nil)
        let outcome = try await put("first", [:], "x", replacing: true, in: login)
        #expect(outcome != .replaced(other))
        #expect(try await put("second", [:], "y", replacing: true, in: login) == .replaced(outcome.id))
        #expect(login.itemCount == 2)
        #expect(try await login.content(of: other) == Array("other".utf8))
        await vault.close()
    }

    @Test func replace_severalEqual_replacesTheNewest() async throws {
        let (vault, login) = try await login()
        let first = try await login.add("1", ["a": "1"])
        clock.advance(seconds: 1)
        let second = try await login.add("2", ["a": "1"])
        #expect(first != second)
        #expect(try await put("3", ["a": "1"], "x", replacing: true, in: login) == .replaced(second))
        #expect(login.item(first)?.label == "1")
        await vault.close()
    }

    /// Another program creates an open item with the attributes of a protected one, to attract its next secret.
    @Test(arguments: ["", "userPresence", "biometryAny"])
    func replace_protectedItemWithAnOpenTwin_replacesTheProtectedOne(accessControl: String) async throws {
        let (vault, login) = try await login()
        let bank = try await login.protect("userPresence")
        clock.advance(seconds: 1)
        let twin = try await login.add("twin", ["service": "bank"], secret: "bait")
        let attributes: Attributes = accessControl.isEmpty ? ["service": "bank"] : .protected(accessControl)
        #expect(login.itemToReplace(attributes) == bank)
        await #expect(throws: VaultError.of(.authenticationNeeded)) {
            _ = try await put("new", attributes, "new", replacing: true, in: login)
        }
        #expect(try await login.content(of: twin) == Array("bait".utf8))
        #expect(try await login.content(of: bank) == Array("secret".utf8))
        let creation = try await login.createItem(
            label: "new",
            attributes: attributes,
            secret: Fixture.secret("new"),
            replacing: true,
            authenticated: bank
        )
        #expect(creation == .replaced(bank))
        await vault.close()
    }

    @Test func replace_severalProtected_prefersTheSameAccessControl_thenTheNewest() async throws {
        let (vault, login) = try await login()
        let finger = try await login.protect("biometryAny")
        clock.advance(seconds: 1)
        let presence = try await login.protect("userPresence")
        clock.advance(seconds: 1)
        let open = try await login.add("open", ["service": "bank"])
        #expect(login.itemToReplace(.protected("biometryAny")) == finger)
        #expect(login.itemToReplace(.protected("devicePasscode or biometryAny")) == presence)
        #expect(login.itemToReplace(.protected("devicePasscode")) == presence)
        #expect(login.itemToReplace(["service": "bank"]) == presence)
        try await login.deleteItem(finger, authenticated: true)
        try await login.deleteItem(presence, authenticated: true)
        #expect(login.itemToReplace(.protected("biometryAny")) == open)
        await vault.close()
    }

    @Test func noReplace_equalAttributes_createsAnItem() async throws {
        let (vault, login) = try await login()
        let first = try await login.add("1", ["a": "1"])
        let second = try await login.add("2", ["a": "1"])
        #expect(first != second)
        #expect(login.search(["a": "1"]).count == 2)
        await vault.close()
    }
}
