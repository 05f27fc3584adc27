import KeychaindDBus
import KeychaindTestSupport

/// A key slot, as `List` returns it.
struct SlotOnBus: BusValue, Hashable {
    static let signature = "(tsts)"

    let number: UInt64
    let kind: String
    let made: UInt64
    let label: String

    init(from reader: inout Reader) throws(BusError) {
        (number, kind, made, label) = try reader.readStructure { (reader) throws(BusError) in
            (
                try UInt64(from: &reader), try String(from: &reader), try UInt64(from: &reader),
                try String(from: &reader)
            )
        }
    }

    func write(to writer: inout Writer) {
        writer.writeStructure { writer in
            number.write(to: &writer)
            kind.write(to: &writer)
            made.write(to: &writer)
            label.write(to: &writer)
        }
    }
}

extension SecretServiceProxy {
    static let keySlots = "org.keychaind.KeySlots1"
    static let masterPasswords = "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface"

    // MARK: org.keychaind.KeySlots1

    func slots(of collection: ObjectPath) async throws(BusError) -> [SlotOnBus] {
        try await call(collection, Self.keySlots, "List").read([SlotOnBus].self)
    }

    /// Adds a slot and returns its prompt.
    func addSlot(_ member: String, label: String = "", to collection: ObjectPath) async throws(BusError) -> ObjectPath {
        try await call(collection, Self.keySlots, member, label).read(ObjectPath.self)
    }

    func removeSlot(_ number: UInt64, of collection: ObjectPath) async throws(BusError) -> ObjectPath {
        try await call(collection, Self.keySlots, "Remove", number).read(ObjectPath.self)
    }

    /// Creates a recovery key; the test answers the prompter.
    func makeRecoveryKey(
        of collection: ObjectPath,
        session: ObjectPath,
        label: String = ""
    ) async throws(BusError) -> WireSecret {
        try await call(collection, Self.keySlots, "MakeRecoveryKey", session, label).read(WireSecret.self)
    }

    // MARK: gnome-keyring's interface

    func createWithMasterPassword(
        _ properties: [String: Variant],
        _ password: WireSecret
    ) async throws(BusError) -> ObjectPath {
        try await call(Self.service, Self.masterPasswords, "CreateWithMasterPassword", properties, password)
            .read(ObjectPath.self)
    }

    func unlockWithMasterPassword(_ collection: ObjectPath, _ password: WireSecret) async throws(BusError) {
        try await call(Self.service, Self.masterPasswords, "UnlockWithMasterPassword", collection, password)
    }

    func changeWithMasterPassword(
        _ collection: ObjectPath,
        from old: WireSecret,
        to new: WireSecret
    ) async throws(BusError) {
        try await call(Self.service, Self.masterPasswords, "ChangeWithMasterPassword", collection, old, new)
    }

    func changeWithPrompt(_ collection: ObjectPath) async throws(BusError) -> ObjectPath {
        try await call(Self.service, Self.masterPasswords, "ChangeWithPrompt", collection).read(ObjectPath.self)
    }
}

extension WireSecret {
    /// A password for a plain session.
    static func password(_ text: String, _ session: ObjectPath) -> WireSecret {
        WireSecret(session: session, value: Array(text.utf8))
    }
}
