import KeychaindGcrypt
import KeychaindModel

/// The metadata of an item, sealed as one blob.
///
/// Plaintext, big-endian: revision of the secret (8) with the highest bit set for an item key, created (8), modified
/// (8), length of the label (4), label, with that bit the length of the wraps (4) and ``ItemKeyWraps``, packed
/// attributes.
struct ItemMetadata: Equatable, Sendable {
    private static let ownKeyBit: UInt64 = 1 << 63

    /// The revision at which the secret was sealed; a change of the label keeps it.
    var secretRevision: UInt64
    var created: Timestamp
    var modified: Timestamp

    /// The wrapped item key; nil when the secrets key alone opens the secret.
    var wraps: ItemKeyWraps?

    // The sealed secret of a record, label and attributes share an allocation, since a table has many of them.
    private var bytes: [UInt8]
    private var secretCount: UInt32 = 0
    private var labelCount: UInt32

    init(
        secretRevision: UInt64,
        created: Timestamp,
        modified: Timestamp,
        label: String,
        attributes: Attributes,
        wraps: ItemKeyWraps? = nil
    ) {
        self.secretRevision = secretRevision
        self.created = created
        self.modified = modified
        self.wraps = wraps
        bytes = Array(label.utf8) + attributes.packed
        labelCount = UInt32(label.utf8.count)
    }

    private var labelStart: Int { Int(secretCount) }
    private var labelEnd: Int { labelStart + Int(labelCount) }

    /// The bytes of the label and the attributes.
    var textBytes: Int { bytes.count - labelStart }

    var label: String {
        get { String(decoding: bytes[labelStart..<labelEnd], as: UTF8.self) }
        set {
            bytes.replaceSubrange(labelStart..<labelEnd, with: newValue.utf8)
            labelCount = UInt32(newValue.utf8.count)
        }
    }

    var attributes: Attributes {
        get { Attributes(canonical: bytes, from: labelEnd) }
        set { bytes.replaceSubrange(labelEnd..., with: newValue.packed) }
    }

    /// The sealed secret that a record keeps with its metadata, and which is no part of them; nil if it keeps none.
    var sealedSecret: ArraySlice<UInt8>? {
        secretCount == 0 ? nil : bytes[..<labelStart]
    }

    /// The metadata with a sealed secret instead of another one; with an empty one, they keep none.
    func keeping(_ sealedSecret: [UInt8]) -> ItemMetadata {
        var metadata = self
        metadata.secretCount = UInt32(sealedSecret.count)
        metadata.bytes = []
        metadata.bytes.reserveCapacity(sealedSecret.count + bytes.count - labelStart)
        metadata.bytes += sealedSecret
        metadata.bytes += bytes[labelStart...]
        return metadata
    }

    static func == (first: ItemMetadata, second: ItemMetadata) -> Bool {
        first.secretRevision == second.secretRevision && first.created == second.created
            && first.modified == second.modified && first.wraps == second.wraps
            && first.labelCount == second.labelCount
            && first.bytes[first.labelStart...] == second.bytes[second.labelStart...]
    }

    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32 + self.bytes.count - labelStart + (wraps?.encoded.count ?? 0))
        bytes.append(bigEndian: wraps == nil ? secretRevision : secretRevision | Self.ownKeyBit)
        bytes.append(bigEndian: created.microsecondsSinceEpoch)
        bytes.append(bigEndian: modified.microsecondsSinceEpoch)
        bytes.append(bigEndian: labelCount)
        bytes += self.bytes[labelStart..<labelEnd]
        if let wraps {
            bytes.append(bigEndian: UInt32(clamping: wraps.encoded.count))
            bytes += wraps.encoded
        }
        bytes += self.bytes[labelEnd...]
        return bytes
    }
}

extension ItemMetadata {
    private static let fixedSize = 8 + 8 + 8 + 4

    init?(decoding bytes: UnsafeRawBufferPointer) {
        self = .unknown
        guard decode(bytes) else { return nil }
    }

    /// Unknown metadata, with the memory for those of this many bytes, and a sealed secret.
    init(reserving count: Int, sealedSecret: UnsafeRawBufferPointer? = nil) {
        self = .unknown
        let secret = sealedSecret ?? UnsafeRawBufferPointer(start: nil, count: 0)
        secretCount = UInt32(secret.count)
        bytes = [UInt8](repeating: 0, count: secret.count + max(0, count - Self.fixedSize))
        bytes.withUnsafeMutableBytes { bytes in bytes.copyMemory(from: secret) }
    }

    /// Takes encoded metadata over, without allocating if memory was reserved for them; false for an invalid encoding.
    mutating func decode(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var reader = FieldReader(bytes)
        guard let secretRevision = reader.integer(UInt64.self), let created = reader.integer(Int64.self),
            let modified = reader.integer(Int64.self), let labelLength = reader.integer(UInt32.self),
            let label = reader.bytes(Int(labelLength))
        else { return false }
        var wraps: ItemKeyWraps?
        if secretRevision & Self.ownKeyBit != 0 {
            wraps = reader.integer(UInt32.self).flatMap { length in reader.bytes(Int(length)) }
                .flatMap(ItemKeyWraps.init(decoding:))
            guard wraps != nil else { return false }
        }
        guard Attributes.areCanonical(reader.remaining) else { return false }
        self.secretRevision = secretRevision & ~Self.ownKeyBit
        self.created = Timestamp(microsecondsSinceEpoch: created)
        self.modified = Timestamp(microsecondsSinceEpoch: modified)
        self.wraps = wraps
        let count = labelStart + label.count + reader.remaining.count
        if self.bytes.count != count {
            self.bytes.removeSubrange(labelStart...)
            self.bytes += repeatElement(0, count: count - labelStart)
        }
        labelCount = labelLength
        let (start, end) = (labelStart, labelEnd)
        self.bytes.withUnsafeMutableBytes { bytes in
            UnsafeMutableRawBufferPointer(rebasing: bytes[start..<end]).copyMemory(from: label)
            UnsafeMutableRawBufferPointer(rebasing: bytes[end...]).copyMemory(from: reader.remaining)
        }
        return true
    }
}
