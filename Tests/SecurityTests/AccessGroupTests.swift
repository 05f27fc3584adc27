import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Security
import Testing

/// Access groups, and what an item has without naming a group or an accessibility.
struct AccessGroupTests {
    @Test("The group of a program begins with a prefix, as on Apple's systems")
    func programGroup_hasAPrefix() {
        #expect(ProgramGroup.name(bundle: "org.example.App", program: "app") == "local.org.example.App")
        #expect(ProgramGroup.name(bundle: nil, program: "app") == "local.app")
        #expect(ProgramGroup.name(bundle: "", program: "a\u{0}b") == "local.ab")
        let long = ProgramGroup.name(bundle: String(repeating: "ü", count: 300), program: "")
        #expect(long.utf8.count <= 255 && long.hasPrefix("local.üü"))
        #expect(ProgramGroup.current.hasPrefix("local.") && ProgramGroup.current.count > 6)
    }

    @Test("Every item has a group and an accessibility, and is found by them", arguments: TestedProvider.allCases)
    func copyMatching_defaults_areReturnedAndMatched(provider: TestedProvider) async throws {
        try await Keychain.with(provider) { keychain in
            #expect(SecItemAdd(keychain.generic("anna", [kSecValueData: data("1")]), nil) == errSecSuccess)
            let found = try #require(
                keychain.find(keychain.generic("anna", [kSecReturnAttributes: true]), as: [String: Any].self)
            )
            // As programs find out the prefix of their team.
            let group = try #require(found[kSecAttrAccessGroup as String] as? String)
            #expect(group.components(separatedBy: ".").first == "local" && group == ProgramGroup.current)
            #expect(found[kSecAttrAccessible as String] as? String == kSecAttrAccessibleWhenUnlocked as String)
            let matching: [CFString: Any] = [
                kSecAttrAccessGroup: group, kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked,
            ]
            #expect(keychain.secret(keychain.generic("anna", matching)) == "1")
            for other in [
                [kSecAttrAccessGroup: "local.other"], [kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock],
            ] as [[CFString: Any]] {
                #expect(SecItemCopyMatching(keychain.generic("anna", other), nil) == errSecItemNotFound)
                #expect(
                    SecItemUpdate(keychain.generic("anna", other), [kSecAttrComment: "c"] as CFDictionary) == -25300
                )
                #expect(SecItemDelete(keychain.generic("anna", other)) == errSecItemNotFound)
            }
            // Writing the result back makes nothing stricter: a locked screen still does not lock the item.
            #expect(SecItemUpdate(keychain.generic("anna"), found.changes) == errSecSuccess)
            let client = try await keychain.provider.makeOwnClient()
            let item = try #require(try await client.search(["service": keychain.name]).all.first)
            #expect(try await item.attributes()["keychain:accessible"] == nil)
        }
    }

    @Test("Items of other programs and of earlier versions belong to every program's group", arguments: [true, false])
    func copyMatching_withoutGroup_isFound(isOwn: Bool) async throws {
        try await Keychain.with { keychain in
            try await add(keychain, isOwn: isOwn, secret: "old")
            for more in [
                [:], [kSecAttrAccessGroup: ProgramGroup.current], [kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked],
            ] as [[CFString: Any]] {
                #expect(keychain.secret(keychain.generic("anna", more)) == "old", "\(more)")
            }
            #expect(
                SecItemCopyMatching(keychain.generic("anna", [kSecAttrAccessGroup: "a.b"]), nil) == errSecItemNotFound
            )
            let attributes = keychain.generic("anna", [kSecReturnAttributes: true])
            let found = try #require(keychain.find(attributes, as: [String: Any].self))
            #expect(found[kSecAttrAccessGroup as String] as? String == ProgramGroup.current)
            #expect(keychain.secret(found as CFDictionary) == "old")
        }
    }

    @Test("An item of an earlier version, without a group, has no twin", arguments: TestedProvider.allCases)
    func add_itemOfEarlierVersion_isDuplicate(provider: TestedProvider) async throws {
        try await Keychain.with(provider) { keychain in
            try await add(keychain, isOwn: true, secret: "old")
            #expect(SecItemAdd(keychain.generic("anna", [kSecValueData: data("new")]), nil) == errSecDuplicateItem)
            #expect(SecItemAdd(keychain.generic("ben"), nil) == errSecSuccess)
            let renamed = [kSecAttrAccount: "anna"] as CFDictionary
            #expect(SecItemUpdate(keychain.generic("ben"), renamed) == errSecDuplicateItem)
            // In another group it is another item, as before.
            #expect(SecItemAdd(keychain.generic("anna", [kSecAttrAccessGroup: "a.b"]), nil) == errSecSuccess)
            #expect(SecItemUpdate(keychain.generic(), [kSecValueData: data("new")] as CFDictionary) == errSecSuccess)
            #expect(keychain.secret(keychain.generic("anna", [kSecAttrAccessGroup: ProgramGroup.current])) == "new")
        }
    }

    @Test("No twin of an earlier version's item in a keychain that was never unlocked")
    func add_itemOfEarlierVersionLocked_isDuplicate() async throws {
        try await Keychain.withOwn { keychain in
            try await add(keychain, isOwn: true, secret: "old")
            try await keychain.provider.restartLocked()
            let prompter = try await keychain.provider.answerPrompts(.answer("password"))
            #expect(SecItemAdd(keychain.generic("anna", [kSecValueData: data("new")]), nil) == errSecDuplicateItem)
            #expect(keychain.secret(keychain.generic()) == "old")
            #expect(prompter.questions.count == 1)
            await prompter.crash()
        }
    }

    @Test("A14 Two programs with the same account have two items, and each reads, changes and deletes its own")
    func twoPrograms_haveTwoItems() async throws {
        try await Keychain.with { keychain in
            for name in ["a", "b"] {
                ProgramGroup.$chosen.withValue("local.\(name)") {
                    #expect(SecItemAdd(keychain.generic("anna", [kSecValueData: data(name)]), nil) == errSecSuccess)
                    #expect(SecItemAdd(keychain.generic("anna"), nil) == errSecDuplicateItem)
                }
            }
            for name in ["a", "b"] {
                ProgramGroup.$chosen.withValue("local.\(name)") {
                    #expect(keychain.secret(keychain.generic()) == name)
                    #expect(keychain.find(keychain.all([kSecReturnData: true]), as: [Data].self) == [data(name)])
                    let change = [kSecValueData: data(name + "2")] as CFDictionary
                    #expect(SecItemUpdate(keychain.generic(), change) == errSecSuccess)
                }
            }
            ProgramGroup.$chosen.withValue("local.a") {
                #expect(SecItemDelete(keychain.generic()) == errSecSuccess)
                #expect(SecItemCopyMatching(keychain.generic(), nil) == errSecItemNotFound)
                #expect(SecItemDelete(keychain.generic()) == errSecItemNotFound)
                // Items have no owner: who names the group has the item.
                #expect(keychain.secret(keychain.generic("anna", [kSecAttrAccessGroup: "local.b"])) == "b2")
            }
        }
    }

    @Test("A46 A query without a group finds, changes and deletes in all groups of the program")
    func query_noGroup_coversEqualItems() async throws {
        try await Keychain.with { keychain in
            let groups = ["local.other", "team.one", "team.two", "flatpak:org.example.App"]
            for group in groups + [ProgramGroup.current] {
                let item: [CFString: Any] = [kSecAttrAccessGroup: group, kSecValueData: data(group)]
                #expect(SecItemAdd(keychain.generic("anna", item), nil) == errSecSuccess)
            }
            let all = keychain.all([kSecReturnData: true])
            #expect(keychain.find(all, as: [Data].self) == ["team.one", "team.two", ProgramGroup.current].map(data))
            #expect(keychain.secret(keychain.generic()) == "team.one")
            #expect(SecItemUpdate(keychain.generic(), [kSecValueData: data("new")] as CFDictionary) == errSecSuccess)
            #expect(keychain.find(all, as: [Data].self) == ["new", "new", "new"].map(data))
            #expect(SecItemDelete(keychain.generic()) == errSecSuccess)
            #expect(SecItemCopyMatching(keychain.generic(), nil) == errSecItemNotFound)
            for group in ["local.other", "flatpak:org.example.App"] {
                #expect(keychain.secret(keychain.generic("anna", [kSecAttrAccessGroup: group])) == group)
            }
        }
    }

    @Test("A46 An Info.plist, which changes the program's group, hides no item")
    func query_groupOfTheFileName_isCovered() async throws {
        try await Keychain.with { keychain in
            #expect(SecItemAdd(keychain.generic("anna", [kSecValueData: data("1")]), nil) == errSecSuccess)
            ProgramGroup.$chosen.withValue("local.org.example.App") {
                #expect(keychain.secret(keychain.generic()) == "1")
                #expect(SecItemDelete(keychain.generic()) == errSecSuccess)
            }
        }
    }

    @Test("A46 A deletion in a keychain that was never unlocked leaves the items of other programs")
    func delete_neverUnlocked_deletesOwn() async throws {
        try await Keychain.withOwn { keychain in
            for group in ["local.other", ProgramGroup.current] {
                let item: [CFString: Any] = [kSecAttrAccessGroup: group, kSecValueData: data(group)]
                #expect(SecItemAdd(keychain.generic("anna", item), nil) == errSecSuccess)
            }
            try await keychain.provider.restartLocked()
            let prompter = try await keychain.provider.answerPrompts(.answer("password"))
            #expect(SecItemDelete(keychain.generic()) == errSecSuccess)
            #expect(keychain.secret(keychain.generic("anna", [kSecAttrAccessGroup: "local.other"])) == "local.other")
            #expect(SecItemCopyMatching(keychain.generic(), nil) == errSecItemNotFound)
            #expect(prompter.questions.count == 1)
            await prompter.crash()
        }
    }

    @Test("A search without a group covers all groups")
    func copyMatching_noGroup_coversAll() async throws {
        try await Keychain.with { keychain in
            for group in ["team.one", nil, "team.two"] {
                let account = group ?? "none"
                var item: [CFString: Any] = [kSecValueData: data(account)]
                item[kSecAttrAccessGroup] = group
                #expect(SecItemAdd(keychain.generic(account, item), nil) == errSecSuccess)
            }
            let all = keychain.find(keychain.all([kSecReturnData: true]), as: [Data].self)
            #expect(all == ["team.one", "none", "team.two"].map(data))
            #expect(keychain.secret(keychain.generic("team.two")) == "team.two")
        }
    }

    @Test("A51 An update moves an item to another group, unless one is there")
    func update_group_moves() async throws {
        try await Keychain.with { keychain in
            #expect(SecItemAdd(keychain.generic("anna", [kSecValueData: data("1")]), nil) == errSecSuccess)
            #expect(SecItemUpdate(keychain.generic(), [kSecAttrAccessGroup: "a.b"] as CFDictionary) == errSecSuccess)
            let own: [CFString: Any] = [kSecAttrAccessGroup: ProgramGroup.current]
            #expect(SecItemCopyMatching(keychain.generic("anna", own), nil) == errSecItemNotFound)
            #expect(keychain.secret(keychain.generic("anna", [kSecAttrAccessGroup: "a.b"])) == "1")
            #expect(SecItemAdd(keychain.generic("anna"), nil) == errSecSuccess)
            let moved = keychain.generic("anna", [kSecAttrAccessGroup: "a.b"])
            #expect(SecItemUpdate(moved, own as CFDictionary) == errSecDuplicateItem)
            for group in ["", String(repeating: "g", count: 256)] {
                let change = [kSecAttrAccessGroup: group] as CFDictionary
                #expect(SecItemUpdate(moved, change) != errSecInternalComponent)
            }
        }
    }

    @Test("A50 No program is in a group without a name")
    func emptyGroup_isMissingEntitlement() async throws {
        try await Keychain.with { keychain in
            let nameless: [CFString: Any] = [kSecAttrAccessGroup: ""]
            let item = keychain.generic("anna", nameless.merging([kSecValueData: data("1")]) { $1 })
            #expect(SecItemAdd(item, nil) == errSecMissingEntitlement)
            #expect(SecItemCopyMatching(keychain.generic(), nil) == errSecItemNotFound)
            #expect(SecItemAdd(keychain.generic("anna", [kSecValueData: data("1")]), nil) == errSecSuccess)
            #expect(SecItemCopyMatching(keychain.generic("anna", nameless), nil) == errSecMissingEntitlement)
            #expect(SecItemUpdate(keychain.generic(), nameless as CFDictionary) == errSecMissingEntitlement)
            #expect(SecItemDelete(keychain.generic("anna", nameless)) == errSecMissingEntitlement)
            #expect(keychain.secret(keychain.generic()) == "1")
        }
    }

    @Test("An access control comes with its accessibility")
    func copyMatching_accessControl_hasAccessibility() async throws {
        try await Keychain.with { keychain in
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAfterFirstUnlock, .userPresence, nil)
            )
            #expect(SecItemAdd(keychain.generic("anna", [kSecAttrAccessControl: control]), nil) == errSecSuccess)
            let found = keychain.find(keychain.generic("anna", [kSecReturnAttributes: true]), as: [String: Any].self)
            #expect(found?[kSecAttrAccessible as String] as? String == kSecAttrAccessibleAfterFirstUnlock as String)
            #expect(found?[kSecAttrAccessControl as String] as? SecAccessControl == control)
        }
    }

    /// Stores an item without a group, as another program or an earlier version did.
    private func add(_ keychain: Keychain, isOwn: Bool, secret: String) async throws {
        var attributes = ["service": keychain.name, "account": "anna"]
        if isOwn {
            attributes["xdg:schema"] = "org.freedesktop.Secret.Generic"
            attributes["keychain:class"] = "genericPassword"
            attributes["keychain:synchronizable"] = "false"
        }
        let client = try await keychain.provider.makeOwnClient()
        let collection = try #require(try await client.defaultCollection())
        try await collection.createItem(label: "x", attributes: attributes, secret: Secret(secret))
    }
}

extension [String: Any] {
    /// The changes of a result that a program passes back.
    fileprivate var changes: CFDictionary {
        var changes = self
        changes[kSecClass as String] = nil
        return changes as CFDictionary
    }
}
