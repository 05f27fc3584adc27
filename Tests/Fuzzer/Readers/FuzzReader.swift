import KeychaindGcrypt

/// A reader of bytes that others may have written.
///
/// Its name is that of its seeds in `Seeds`, and of its dictionary in `Dictionaries`, if there are any.
struct FuzzReader: Sendable {
    let name: String

    /// Throws what the reader refuses; a trap or a broken promise is a finding.
    let read: @Sendable (UnsafeRawBufferPointer) throws -> Void

    init(_ name: String, _ read: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void) {
        self.name = name
        self.read = read
    }

    /// What a reader throws where the code it calls says no more than no.
    struct Refusal: Error {}

    static let all: [FuzzReader] = [
        foreignFiles, sealedContents, keySlots, keychainFiles, logs, logins, prompters, processes, grammars, keys,
        archives,
        values, messages, services, replies,
    ].flatMap(\.self)

    static func named(_ name: String) -> FuzzReader? {
        _ = pool
        return all.first { reader in reader.name == name }
    }

    /// Locked memory for the keys of all readers; the first use of libgcrypt sets its size.
    private static let pool = try? Gcrypt.initialize(lockedBytes: 16 << 20)
}

/// Traps unless what a reader promises holds.
func promise(_ holds: Bool, _ what: StaticString) {
    precondition(holds, what.description)
}

extension UnsafeRawBufferPointer {
    /// The bytes as an array that ends where the memory does, so that the address sanitizer sees what is read behind.
    var copied: [UInt8] { Array(self) }

    var text: String { String(decoding: self, as: UTF8.self) }
}
