/// A failure to read a file of another program.
///
/// The message is for a person and contains no secret. Names in it come from the file and are not escaped.
package struct ForeignFileError: Error, Equatable, Sendable {
    package enum Code: Equatable, Sendable {
        /// No reader knows the format.
        case notRecognized
        /// The format is known, but not in this version or with this encryption.
        case unsupported
        case damaged
        /// The password is wrong, or missing.
        case wrongPassword
        case tooLarge
        /// The system refused to read the file.
        case unreadable
        case outOfMemory
    }

    package let code: Code

    /// What is wrong, and where or what to do.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    static func damaged(at offset: Int) -> ForeignFileError {
        ForeignFileError(.damaged, "the file is damaged at byte \(offset)")
    }

    static func damaged(_ part: StaticString, at offset: Int) -> ForeignFileError {
        ForeignFileError(.damaged, "\(part) is damaged at byte \(offset)")
    }
}

extension ForeignFileError: CustomStringConvertible {
    package var description: String { message }
}

/// Something that the file does not have any more, or that cannot be taken from it.
package struct ForeignLoss: Equatable, Sendable {
    /// The label of the item, not escaped.
    package let item: String
    package let reason: String
}

/// The result of reading a file.
package struct ForeignFileSummary: Equatable, Sendable {
    /// The most losses that are named.
    package static let namedLosses = 1000
    /// The most columns or members that are named.
    package static let namedUnknown = 256

    package private(set) var items = 0
    package private(set) var losses: [ForeignLoss] = []
    /// The number of losses, also of those that are not named.
    package private(set) var lossCount = 0
    /// The columns and members that no reader knows, with the number of values that were kept as secrets.
    package private(set) var unknown: [String: Int] = [:]

    package init() {}

    mutating func countItem() {
        items += 1
    }

    mutating func keepUnknown(_ name: String) {
        let isNamed = unknown[name] != nil || unknown.count < Self.namedUnknown
        unknown[isNamed ? name : "…", default: 0] += 1
    }

    mutating func lose(_ reason: String, of item: String) {
        lossCount += 1
        if losses.count < Self.namedLosses { losses.append(ForeignLoss(item: item, reason: reason)) }
    }
}
