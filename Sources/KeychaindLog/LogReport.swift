/// What opening a log has found.
package struct LogReport: Equatable, Sendable {
    package enum End: Equatable, Sendable {
        case clean

        /// A crash has interrupted a commit; its bytes count as never written.
        case torn(bytes: Int)

        /// Another program has cut the file off.
        case cut

        /// The known change is damaged; or missing, as in an older file or where zeros are over its end.
        case damaged, older(than: UInt64)
    }

    package internal(set) var end = End.clean

    /// What is damaged, in the order of the file; of many, the first 1,000.
    package private(set) var damages: [LogDamage] = []

    /// Whether anything of the file is lost.
    package var isDamaged: Bool { !damages.isEmpty || end == .cut || end == .damaged }

    mutating func add(_ kind: LogDamage.Kind, at offset: Int, size: Int) {
        if damages.count < 1000 { damages.append(LogDamage(kind: kind, offset: offset, size: size)) }
    }

    mutating func removeDamages(from offset: Int) { damages.removeAll { damage in damage.offset >= offset } }
}

/// A damaged place of a file.
package struct LogDamage: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// A copy of the file header; bytes that are no frame.
        case header, unreadable

        /// Somebody has removed or replaced frames before this place.
        case missing

        /// A frame whose header is readable.
        case frame(RecordID, sequence: UInt64)
    }

    package let kind: Kind, offset: Int, size: Int

    static func frame(_ frame: Frame, at place: Int) -> LogDamage {
        LogDamage(kind: .frame(frame.id, sequence: frame.sequence), offset: place, size: frame.size)
    }
}

/// The bounds of a log, in bytes and numbers.
package struct LogLimits: Sendable {
    package var fileSize = 4 << 30
    package var frameSize = 24 << 20

    package var records = 1 << 20

    /// The changes in a commit.
    package var changes = 1 << 16

    /// The room that is written ahead at once, and that which only removals use when the disk is full.
    package var room = 128 << 10, reserve = 64 << 10

    /// The zeros that always follow the last commit.
    static let leastRoom = 64

    package init() {}
}
