import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Security
import Testing

/// The functions of keychains on macOS, as old tools call them.
struct MacKeychainTests {
    @Test("A generic password is added, found, changed and deleted")
    func genericPassword_wholeLife() async throws {
        try await Keychain.with { keychain in
            let service = keychain.name
            var item: SecKeychainItem?
            #expect(Self.add(service, "anna", "secret", &item) == errSecSuccess)
            #expect(Self.add(service, "anna", "other", nil) == errSecDuplicateItem)
            #expect(Self.find(service, "anna") == "secret")
            #expect(Self.find(service, nil) == "secret")
            #expect(keychain.secret(keychain.generic("anna")) == "secret")
            let found = try #require(item)
            #expect(SecKeychainItemModifyAttributesAndData(found, nil, 3, "new") == errSecSuccess)
            #expect(Self.find(service, "anna") == "new")
            #expect(SecKeychainItemDelete(found) == errSecSuccess)
            #expect(Self.find(service, "anna") == nil)
            #expect(SecKeychainItemDelete(found) == errSecItemNotFound)
        }
    }

    @Test("An internet password is found by each of its attributes, and not by others")
    func internetPassword_isFoundByItsAttributes() async throws {
        try await Keychain.with { keychain in
            let server = keychain.name
            let count = UInt32(server.utf8.count)
            let added = SecKeychainAddInternetPassword(
                nil,
                count,
                server,
                0,
                nil,
                4,
                "anna",
                5,
                "/path",
                8443,
                .HTTPS,
                .httpBasic,
                6,
                "secret",
                nil
            )
            #expect(added == errSecSuccess)
            func find(_ path: String?, _ port: UInt16, _ type: SecProtocolType, _ how: SecAuthenticationType)
                -> OSStatus
            {
                let size = UInt32(path?.utf8.count ?? 0)
                return SecKeychainFindInternetPassword(
                    nil,
                    count,
                    server,
                    0,
                    nil,
                    4,
                    "anna",
                    size,
                    path,
                    port,
                    type,
                    how,
                    nil,
                    nil,
                    nil
                )
            }
            #expect(find("/path", 8443, .HTTPS, .httpBasic) == errSecSuccess)
            #expect(find(nil, 0, .any, .default) == errSecSuccess)
            #expect(find("/other", 8443, .HTTPS, .httpBasic) == errSecItemNotFound)
            #expect(find(nil, 1, .any, .any) == errSecItemNotFound)
            #expect(find(nil, 0, .FTP, .any) == errSecItemNotFound)
            #expect(find(nil, 0, .any, .httpDigest) == errSecItemNotFound)
            let attributes = keychain.find(
                keychain.internet("anna", [kSecReturnAttributes: true]),
                as: [String: Any].self
            )
            #expect(attributes?[kSecAttrProtocol as String] as? String == kSecAttrProtocolHTTPS as String)
        }
    }

    @Test("Attributes are written and read in the memory of C")
    func attributes_inMemory() async throws {
        try await Keychain.with { keychain in
            var item: SecKeychainItem?
            #expect(Self.add(keychain.name, "anna", "secret", &item) == errSecSuccess)
            let found = try #require(item)
            var comment = Array("a comment".utf8)
            let type = UInt32(0x6162_6364)
            try comment.withUnsafeMutableBytes { comment in
                try withUnsafePointer(to: type) { type in
                    var attributes = [
                        SecKeychainAttribute(
                            tag: SecItemAttr.commentItemAttr.rawValue,
                            length: UInt32(comment.count),
                            data: comment.baseAddress
                        ),
                        SecKeychainAttribute(
                            tag: SecItemAttr.typeItemAttr.rawValue,
                            length: 4,
                            data: UnsafeMutableRawPointer(mutating: type)
                        ),
                    ]
                    try attributes.withUnsafeMutableBufferPointer { attributes in
                        var list = SecKeychainAttributeList(count: 2, attr: attributes.baseAddress)
                        #expect(SecKeychainItemModifyAttributesAndData(found, &list, 0, nil) == errSecSuccess)
                        let address = try #require(attributes.baseAddress)
                        address[0] = SecKeychainAttribute(
                            tag: SecItemAttr.commentItemAttr.rawValue,
                            length: 0,
                            data: nil
                        )
                        address[1] = SecKeychainAttribute(
                            tag: SecItemAttr.genericItemAttr.rawValue,
                            length: 0,
                            data: nil
                        )
                        var itemClass = SecItemClass.internetPasswordItemClass
                        var (length, data): (UInt32, UnsafeMutableRawPointer?) = (0, nil)
                        #expect(SecKeychainItemCopyContent(found, &itemClass, &list, &length, &data) == errSecSuccess)
                        #expect(itemClass == .genericPasswordItemClass)
                        #expect(Self.text(data, length) == "secret")
                        #expect(Self.text(address[0].data, address[0].length) == "a comment")
                        #expect(address[1].data == nil && address[1].length == 0)
                        #expect(SecKeychainItemFreeContent(&list, data) == errSecSuccess)
                        #expect(address[0].data == nil)
                    }
                }
            }
            let attributes = keychain.find(
                keychain.generic("anna", [kSecReturnAttributes: true]),
                as: [String: Any].self
            )
            #expect(attributes?[kSecAttrType as String] as? UInt32 == type)
        }
    }

    @Test("A persistent reference leads to the item")
    func persistentReference_leadsToTheItem() async throws {
        try await Keychain.with { keychain in
            var item: SecKeychainItem?
            #expect(Self.add(keychain.name, "anna", "secret", &item) == errSecSuccess)
            var (reference, found): (CFData?, SecKeychainItem?)
            #expect(SecKeychainItemCreatePersistentReference(try #require(item), &reference) == errSecSuccess)
            let copied = SecKeychainItemCopyFromPersistentReference(try #require(reference), &found)
            #expect(copied == errSecSuccess && found == item)
            var owner: SecKeychain?
            var standard: SecKeychain?
            #expect(SecKeychainItemCopyKeychain(try #require(found), &owner) == errSecSuccess)
            #expect(SecKeychainCopyDefault(&standard) == errSecSuccess && standard == owner)
        }
    }

    @Test("If it is forbidden to ask, a locked item is neither read nor changed")
    func interactionForbidden_lockedItem_isNotAllowed() async throws {
        try await Keychain.withOwn { keychain in
            let client = try await keychain.provider.makeOwnClient()
            let login = try #require(try await client.collection(alias: "login"))
            try await client.setAlias("default", to: login)
            var item: SecKeychainItem?
            #expect(Self.add(keychain.name, "anna", "secret", &item) == errSecSuccess)
            let found = try #require(item)
            try await login.lock()
            let prompter = try await keychain.provider.answerPrompts(.answer("password"))
            // For the process; other tests of these functions have no locked items.
            #expect(SecKeychainSetUserInteractionAllowed(false) == errSecSuccess)
            defer { SecKeychainSetUserInteractionAllowed(true) }
            var (length, data): (UInt32, UnsafeMutableRawPointer?) = (0, nil)
            #expect(SecKeychainItemCopyContent(found, nil, nil, &length, &data) == errSecInteractionNotAllowed)
            #expect(data == nil)
            #expect(SecKeychainItemModifyContent(found, nil, 3, "new") == errSecInteractionNotAllowed)
            #expect(SecKeychainItemDelete(found) == errSecInteractionNotAllowed)
            #expect(prompter.questions.count == 0)
            await prompter.crash()
        }
    }

    @Test("Names that are not text, and memory of others, do no harm")
    func badInput_isRefused() async throws {
        try await Keychain.with { _ in
            let bytes: [CChar] = [-1, -2]
            #expect(SecKeychainAddGenericPassword(nil, 2, bytes, 1, "a", 1, "s", nil) == errSecParam)
            #expect(SecKeychainFindGenericPassword(nil, 2, bytes, 1, "a", nil, nil, nil) == errSecParam)
            var own = 7
            #expect(SecKeychainItemFreeContent(nil, &own) == errSecSuccess && own == 7)
            #expect(SecKeychainItemFreeContent(nil, nil) == errSecSuccess)
        }
    }

    private static func add(
        _ service: String,
        _ account: String,
        _ secret: String,
        _ item: UnsafeMutablePointer<SecKeychainItem?>?
    ) -> OSStatus {
        SecKeychainAddGenericPassword(
            nil,
            UInt32(service.utf8.count),
            service,
            UInt32(account.utf8.count),
            account,
            UInt32(secret.utf8.count),
            secret,
            item
        )
    }

    private static func find(_ service: String, _ account: String?) -> String? {
        var (length, data): (UInt32, UnsafeMutableRawPointer?) = (0, nil)
        let count = UInt32(account?.utf8.count ?? 0)
        let size = UInt32(service.utf8.count)
        let status = SecKeychainFindGenericPassword(nil, size, service, count, account, &length, &data, nil)
        guard status == errSecSuccess else { return nil }
        defer { SecKeychainItemFreeContent(nil, data) }
        return text(data, length)
    }

    private static func text(_ data: UnsafeMutableRawPointer?, _ length: UInt32) -> String? {
        data.map { String(decoding: UnsafeRawBufferPointer(start: $0, count: Int(length)), as: UTF8.self) }
    }
}
