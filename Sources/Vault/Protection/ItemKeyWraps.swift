import KeychainModel

/// The ways to the key of an item, one for each alternative of its policy: part of the item's metadata.
///
/// Encoded: the revision at which the key was made (8), then the wraps, one after the other.
struct ItemKeyWraps: Equatable, Sendable {
    /// The encoded form, which is all that an item in memory keeps.
    let encoded: [UInt8]

    /// The revision at which the key was made.
    let revision: UInt64

    /// Joins wraps.
    init(_ wraps: [WrappedItemKey], revision: UInt64) {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: revision)
        for wrap in wraps { bytes += wrap.encoded }
        encoded = bytes
        self.revision = revision
    }

    /// Reads the encoded form; nil when it has another form.
    init?(decoding bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard let revision = reader.integer(UInt64.self), let wraps = Self.wraps(&reader), !wraps.isEmpty else {
            return nil
        }
        encoded = Array(bytes)
        self.revision = revision
    }

    /// The wraps.
    var wraps: [WrappedItemKey] {
        encoded.withUnsafeBytes { bytes in
            var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(8)))
            return Self.wraps(&reader) ?? []
        }
    }

    /// What of each alternative gives key material, in the order of ``Policy/keyAlternatives``.
    var alternatives: [FactorSet] { wraps.map(\.factors) }

    /// The identifier of the `login` whose passcode they take; nil if they take that of the item's own collection, or none.
    var login: [UInt8]? { wraps.lazy.compactMap(\.login).first }

    private static func wraps(_ reader: inout ByteReader) -> [WrappedItemKey]? {
        var wraps: [WrappedItemKey] = []
        while !reader.remaining.isEmpty {
            guard let wrap = WrappedItemKey(from: &reader) else { return nil }
            wraps.append(wrap)
        }
        return wraps
    }
}
