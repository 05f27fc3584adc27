import KeychaindGcrypt
import KeychaindModel

@testable import KeychaindVault

/// Key slots: a file of unknown origin may have any, and its checksums are no secret.
extension FuzzReader {
    static let keySlots = [
        FuzzReader("key-slot", readKeySlot),
        FuzzReader("recovery-key") { bytes in
            guard let key = try RecoveryKey.read(SecureBytes(copying: bytes)) else { throw Refusal() }
            guard let again = try RecoveryKey.read(key.grouped()) else { throw Refusal() }
            promise(again.canonical.isEqual(to: key.canonical), "a recovery key is the same when it is read again")
        },
    ]

    /// The first byte is the kind, the second the length of the parameters in units of four bytes.
    private static let readKeySlot: @Sendable (UnsafeRawBufferPointer) throws -> Void = { bytes in
        guard bytes.count >= 2 else { throw Refusal() }
        let content = bytes.dropFirst(2)
        var parameters = Array(content.prefix(Int(bytes[1]) * 4))
        // A derivation with large costs is no finding: it is bounded, and tested elsewhere.
        if bytes[0] == 1 { parameters.replaceSubrange(0..<min(4, parameters.count), with: [0, 0, 0, 8]) }
        if bytes[0] == 1, parameters.count >= 8 { parameters.replaceSubrange(4..<8, with: [0, 0, 0, 1]) }
        let slot = StoredSlot(
            id: 1,
            kind: Int64(bytes[0]),
            parameters: parameters,
            wrapped: Array(content.dropFirst(Int(bytes[1]) * 4))
        )
        _ = slot.note
        _ = try slot.check(in: identifier)
        let header = CollectionHeader(
            identifier: identifier,
            label: "",
            created: Timestamp(seconds: 0),
            modified: Timestamp(seconds: 0),
            indexKey: [],
            slots: [slot]
        )
        _ = KeySlotInfo(slot, in: header)
        _ = SecurityKeySlot.credential(of: slot)
        let secret = try SecureBytes(copying: [UInt8](repeating: 2, count: 32), in: .locked)
        let opened = [
            opens { _ = try header.open(with: secret) },
            opens { _ = try SecurityKeySlot.open(slot, with: secret, collection: identifier) },
            opens { _ = try HostSlot.open(slot, by: MirrorHost(), collection: identifier) },
            opens { _ = try LoginSlot.open(slot, with: loginKey(secret), collection: identifier) },
        ]
        guard opened.contains(true) else { throw Refusal() }
    }

    private static func loginKey(_ secret: borrowing SecureBytes) throws -> LoginKey {
        LoginKey(
            identifier: identifier,
            secrets: try SecretsKey(secret.copy(in: .locked), collection: identifier)
        )
    }

    private static func opens(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return true
        } catch {
            return false
        }
    }
}

/// A sealer that takes every key for its own.
private struct MirrorHost: HostSealer {
    func check() throws(VaultError) {}

    func seal(_ key: borrowing SecureBytes) throws(VaultError) -> [UInt8] { key.withUnsafeBytes { Array($0) } }

    func unseal(_ sealed: [UInt8]) throws(VaultError) -> SecureBytes {
        try cipher { () throws(GcryptError) in try SecureBytes(copying: sealed, in: .locked) }
    }
}
