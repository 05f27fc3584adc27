import Foundation
import Security
import Synchronization

/// The key pair of a right in the keychain; the private key has the access control of the right.
struct RightKey: Sendable {
    private let identifier: String

    init(_ identifier: String) {
        self.identifier = identifier
    }

    /// Deletes both keys, if there are any.
    func delete(in context: LAContext) async throws {
        let key = self
        let status = await Background.value { SecItemDelete(key.query([kSecUseAuthenticationContext: context])) }
        if status != errSecItemNotFound { try RightItem.check(status) }
    }

    /// Deletes the keys of all rights of this program.
    static func deleteAll() async throws {
        let status = await Background.value { SecItemDelete(all as CFDictionary) }
        if status != errSecItemNotFound { try RightItem.check(status) }
    }

    private static var all: [CFString: Any] {
        [kSecClass: kSecClassKey, kSecAttrLabel: RightItem.service]
    }

    fileprivate var tag: Data { Data((RightItem.service + "." + identifier).utf8) }

    fileprivate func query(_ more: [CFString: Any]) -> CFDictionary {
        RightKey.all.merging([kSecAttrApplicationTag: tag]) { $1 }.merging(more) { $1 } as CFDictionary
    }
}

#if Keys
extension RightKey {
    /// The kind of all keys of rights.
    static var kind: [CFString: Any] {
        [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256]
    }

    /// The private key, made if it does not exist; blocks.
    func privateKey(_ constraints: String, in context: LAContext) throws -> SecKey {
        try findOrMakePrivateKey(
            constraints,
            [kSecUseAuthenticationContext: context, kSecUseAuthenticationUI: kSecUseAuthenticationUIFail]
        )
    }

    /// The public key, made if it does not exist; blocks.
    func publicKey(_ constraints: String) throws -> SecKey {
        if let key = try find([kSecAttrKeyClass: kSecAttrKeyClassPublic]) { return key }
        // It is stored after the private key: another program may not have come to that.
        guard let key = SecKeyCopyPublicKey(try findOrMakePrivateKey(constraints, [:])) else {
            throw LAError.object(.authenticationFailed, "the key has no public key")
        }
        return key
    }

    /// Performs an operation, and throws its error.
    func perform(
        _ operation: (SecKey, UnsafeMutablePointer<Unmanaged<CFError>?>) -> Data?,
        with key: SecKey
    ) throws -> Data {
        var failure: Unmanaged<CFError>?
        if let result = operation(key, &failure) { return result }
        guard let error = failure?.takeRetainedValue() else {
            throw LAError.object(.authenticationFailed, "the key gave no result")
        }
        if error.domain == NSOSStatusErrorDomain { try RightItem.check(OSStatus(truncatingIfNeeded: error.code)) }
        throw error
    }

    private func find(_ more: [CFString: Any]) throws -> SecKey? {
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query(more.merging([kSecReturnRef: true]) { $1 }), &result)
        if status == errSecItemNotFound { return nil }
        try RightItem.check(status)
        return result as? SecKey
    }

    /// Held while a pair is made: the provider lets a program wait for a limited number of new keys.
    private static let making = Mutex(())

    private func findOrMakePrivateKey(_ constraints: String, _ more: [CFString: Any]) throws -> SecKey {
        let query = more.merging([kSecAttrKeyClass: kSecAttrKeyClassPrivate]) { $1 }
        if let key = try find(query) { return key }
        return try RightKey.making.withLock { (_) throws -> SecKey in
            if let key = try find(query) { return key }
            try makePair(constraints)
            guard let key = try find(query) else { throw LAError.object(.authenticationFailed, "the key was deleted") }
            return key
        }
    }

    /// Makes the pair, unless another program has done so at the same time.
    private func makePair(_ constraints: String) throws {
        let protection = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
        guard let control = SecAccessControl(protection, constraints: constraints) else {
            throw LAError.object(.authenticationFailed, "the requirement is invalid")
        }
        let common: [CFString: Any] = [
            kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag, kSecAttrLabel: RightItem.service,
        ]
        // The label makes the private key unique: without it, that is a hash of the key.
        let own: [CFString: Any] = [kSecAttrAccessControl: control, kSecAttrApplicationLabel: tag]
        let parameters = RightKey.kind.merging([
            kSecPrivateKeyAttrs: common.merging(own) { $1 }, kSecPublicKeyAttrs: common,
        ]) { $1 }
        var failure: Unmanaged<CFError>?
        guard SecKeyCreateRandomKey(parameters as CFDictionary, &failure) == nil else { return }
        let error = failure?.takeRetainedValue() ?? LAError.object(.authenticationFailed, "the key was not made")
        guard error.domain == NSOSStatusErrorDomain, error.code == Int(errSecDuplicateItem) else { throw error }
    }
}
#endif
