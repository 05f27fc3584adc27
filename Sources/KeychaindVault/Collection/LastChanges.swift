/// The last change that each vault has made in a file, the latest first.
///
/// A file goes from one computer to another and comes back with other changes: its revision alone does not say whether
/// it still has all changes that were made here.
struct LastChanges: Equatable, Sendable {
    struct Entry: Equatable, Sendable {
        /// A random number, by which a vault knows its own changes.
        var vault: UInt64
        var number: UInt64
    }

    /// More computers than a person takes a keychain to.
    private static let maximumCount = 8

    private var entries: [Entry] = []

    init() {}

    /// The bytes are empty until a vault has changed the file.
    init(decoding bytes: UnsafeRawBufferPointer) {
        var reader = FieldReader(bytes)
        guard reader.integer(UInt8.self) == 0 else { return }
        while entries.count < Self.maximumCount, let vault = reader.integer(UInt64.self),
            let number = reader.integer(UInt64.self)
        {
            entries.append(Entry(vault: vault, number: number))
        }
    }

    /// The size of the encoded list in bytes.
    var encodedSize: Int { entries.isEmpty ? 0 : 1 + 16 * entries.count }

    func encode(into bytes: inout [UInt8]) {
        guard !entries.isEmpty else { return }
        bytes.append(0)
        for entry in entries {
            bytes.append(bigEndian: entry.vault)
            bytes.append(bigEndian: entry.number)
        }
    }

    subscript(vault: UInt64) -> Entry? {
        entries.first { entry in entry.vault == vault }
    }

    mutating func note(_ number: UInt64, of vault: UInt64) {
        if entries.first?.vault == vault {
            entries[0].number = number
            return
        }
        entries.removeAll { entry in entry.vault == vault }
        entries.insert(Entry(vault: vault, number: number), at: 0)
        entries.removeLast(max(0, entries.count - Self.maximumCount))
    }

    /// Whether a change is known to be missing.
    func lack(_ last: Entry) -> Bool {
        if let entry = self[last.vault] { return entry.number < last.number }
        // A full list has dropped the vaults whose changes are the oldest.
        return !entries.isEmpty && entries.count < Self.maximumCount
    }
}
