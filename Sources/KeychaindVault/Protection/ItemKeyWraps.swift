import KeychaindModel

/// The wraps of an item key, one per alternative of the policy; encoded as revision of the key (8), then the wraps.
struct ItemKeyWraps: Equatable, Sendable {
    /// The encoding, which is all that is kept in memory.
    let encoded: [UInt8]

    init(_ wraps: [WrappedItemKey], revision: UInt64) {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: revision)
        for wrap in wraps { bytes += wrap.encoded }
        encoded = bytes
    }

    init?(decoding bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard reader.integer(UInt64.self) != nil, let wraps = Self.wraps(&reader), !wraps.isEmpty else { return nil }
        encoded = Array(bytes)
    }

    var revision: UInt64 {
        encoded.withUnsafeBytes { bytes in UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) }
    }

    var wraps: [WrappedItemKey] {
        encoded.withUnsafeBytes { bytes in
            var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(8)))
            return Self.wraps(&reader) ?? []
        }
    }

    /// The factors with key material in each alternative, in the order of ``Policy/keyAlternatives``.
    var alternatives: [FactorSet] { wraps.map(\.factors) }

    private static func wraps(_ reader: inout ByteReader) -> [WrappedItemKey]? {
        var wraps: [WrappedItemKey] = []
        while !reader.remaining.isEmpty {
            guard let wrap = WrappedItemKey(from: &reader) else { return nil }
            wraps.append(wrap)
        }
        return wraps
    }
}
