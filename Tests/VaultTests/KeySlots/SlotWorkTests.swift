import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// The slots that a password is tried in, of a file whose slots cost much together.
@Suite struct SlotWorkTests {
    private static let identifier = [UInt8](repeating: 1, count: 16)
    private static let costs = Argon2id(memoryKiB: 64, iterations: 2, lanes: 1)

    private static func bytes(_ text: String) throws -> SecureBytes {
        try SecureBytes(copying: Array(text.utf8), in: .locked)
    }

    /// A header with a slot for each password.
    private static func header(_ passwords: [String]) throws -> CollectionHeader {
        let master = try SecureBytes(copying: [UInt8](repeating: 2, count: SealingKey.keySize), in: .locked)
        var slots: [StoredSlot] = []
        for (index, password) in passwords.enumerated() {
            slots.append(
                try PasswordSlot.seal(
                    master,
                    password: bytes(password),
                    derivation: costs,
                    slot: Int64(index + 1),
                    collection: identifier
                )
            )
        }
        return CollectionHeader(
            identifier: identifier,
            label: "",
            created: Timestamp(seconds: 0),
            modified: Timestamp(seconds: 0),
            indexKey: [],
            slots: slots
        )
    }

    @Test("a password is tried in the first slots, up to a bound of their work")
    func work_isBounded_inAllSlotsTogether() throws {
        _ = try Gcrypt.initialize(lockedBytes: 1 << 20)
        let header = try Self.header(["first", "second", "third"])
        #expect(try Self.opened("second", header, upTo: 256) == 2)
        #expect(throws: VaultError.self) { try Self.opened("third", header, upTo: 383) }
        #expect(try Self.opened("third", header, upTo: 384) == 3)
    }

    /// The number of the slot that a password opens; nil if it opens none.
    @discardableResult
    private static func opened(_ password: String, _ header: CollectionHeader, upTo work: Int) throws -> Int64? {
        guard let opened = try header.open(byPassword: bytes(password), upTo: work) else { return nil }
        return opened.slot.id
    }
}
