public import Foundation

/// The secret of a right.
public final class LASecret: Sendable {
    private let right: LAPersistedRight

    init(of right: LAPersistedRight) {
        self.right = right
    }

    /// What it is, read from the keychain each time.
    ///
    /// Throws ``LAError/Code/notInteractive`` if the right is not authorised, which the keychain finds and not this object.
    public var rawData: Data {
        get async throws {
            let right = right
            return try await Background.value { Result { try LASecret.read(right) } }.get()
        }
    }

    /// Reads it, as ``rawData`` does.
    ///
    /// - Parameter completion: takes the secret, or why it is not given; not called on the main thread.
    public func loadData(completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        let right = right
        Background.run {
            do {
                completion(try LASecret.read(right), nil)
            } catch {
                completion(nil, error)
            }
        }
    }

    private static func read(_ right: LAPersistedRight) throws -> Data {
        try RightItem(right.identifier).secret(in: right.context)
    }
}
