import KeychaindGcrypt
import KeychaindModel

struct KeySlotChange: Sendable {
    var header: CollectionHeader
    let now: Timestamp
    let costs: Argon2id

    /// Replaces the opened password, or the first one after a recovery key.
    mutating func changePassword(_ opened: borrowing OpenedSlot, to new: borrowing SecureBytes) throws(VaultError) {
        let passwords = header.slots.filter { slot in slot.kind == StoredSlot.Kind.password.rawValue }
        let replaced = passwords.first { slot in slot.id == opened.slot.id } ?? passwords.first
        let slot = try PasswordSlot.seal(
            opened.master,
            password: new,
            derivation: costs,
            note: KeySlotNote(made: now, label: replaced?.note?.label ?? ""),
            slot: replaced?.id ?? header.unusedSlot,
            collection: header.identifier
        )
        header.slots.removeAll { other in other.id == slot.id }
        header.slots.append(slot)
    }

    mutating func addPassword(
        _ opened: borrowing OpenedSlot,
        _ new: borrowing SecureBytes,
        label: String
    ) throws(VaultError) {
        header.slots.append(
            try PasswordSlot.seal(
                opened.master,
                password: new,
                derivation: costs,
                note: KeySlotNote(made: now, label: label),
                slot: header.unusedSlot,
                collection: header.identifier
            )
        )
    }

    mutating func addRecoveryKey(
        _ opened: borrowing OpenedSlot,
        _ key: borrowing RecoveryKey,
        label: String
    ) throws(VaultError) {
        header.slots.append(
            try RecoverySlot.seal(
                opened.master,
                under: key,
                note: KeySlotNote(made: now, label: label),
                slot: header.unusedSlot,
                collection: header.identifier
            )
        )
    }

    /// Adds this machine, which has one slot, in place of any other.
    mutating func addHost(
        _ opened: borrowing OpenedSlot,
        _ sealer: any HostSealer,
        label: String
    ) throws(VaultError) {
        let slot = try HostSlot.seal(
            opened.master,
            by: sealer,
            note: KeySlotNote(made: now, label: label),
            slot: header.unusedSlot,
            collection: header.identifier
        )
        replaceSlots(by: slot)
    }

    /// Adds `login`, in place of any other.
    mutating func addLogin(_ opened: borrowing OpenedSlot, _ login: LoginKey, label: String) throws(VaultError) {
        let slot = try LoginSlot.seal(
            opened.master,
            under: login,
            note: KeySlotNote(made: now, label: label),
            slot: header.unusedSlot,
            collection: header.identifier
        )
        replaceSlots(by: slot)
    }

    /// Puts a slot in place of all of its kind.
    private mutating func replaceSlots(by slot: StoredSlot) {
        header.slots.removeAll { other in other.kind == slot.kind }
        header.slots.append(slot)
    }

    mutating func addSecurityKey(
        _ opened: borrowing OpenedSlot,
        _ credential: SecurityKeyCredential,
        secret: borrowing SecureBytes,
        label: String
    ) throws(VaultError) {
        header.slots.append(
            try SecurityKeySlot.seal(
                opened.master,
                under: secret,
                of: credential,
                note: KeySlotNote(made: now, label: label),
                slot: header.unusedSlot,
                collection: header.identifier
            )
        )
    }

    /// Removes a slot, but not the last password: a person can always unlock the collection.
    mutating func remove(_ number: Int64) throws(VaultError) {
        guard let slot = header.slots.first(where: { slot in slot.id == number }) else {
            throw VaultError(.noSuchKeySlot, reason: "there is no key slot \(number)")
        }
        guard slot.opensCollection else {
            throw VaultError(.notSupported, reason: "key slot \(number) cannot be removed by a person")
        }
        header.slots.removeAll { other in other.id == number }
        guard header.hasPassword || slot.kind != StoredSlot.Kind.password.rawValue else {
            throw VaultError(.lastKeySlot, reason: "key slot \(number) is the last password")
        }
    }
}
