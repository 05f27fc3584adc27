public import Foundation
import Synchronization

/// A permission that a person gives to a program, until it is revoked.
///
/// The state of this object protects nothing: keep what must be safe in the secret of an ``LAPersistedRight``, which
/// the keychain guards.
open class LARight: NSObject, @unchecked Sendable {
    /// The state of the right.
    public enum State: Int, Sendable {
        /// Not yet requested.
        case unknown = 0
        /// A person is being asked.
        case authorizing = 1
        /// A person allowed it.
        case authorized = 2
        /// A person refused it, or it was revoked.
        case notAuthorized = 3
    }

    private struct Contents {
        var tag = 0
        var state = State.unknown
        var context = LAContext()
    }

    // Sendable because its mutable state is behind a lock; the superclass does not declare it.
    private let contents = Mutex(Contents())

    let requirement: LAAuthenticationRequirement

    /// Creates a right with the default requirement: a finger or the passcode.
    public convenience override init() {
        self.init(requirement: .default)
    }

    /// Creates a right with another requirement.
    public init(requirement: LAAuthenticationRequirement) {
        self.requirement = requirement
    }

    /// A number for use by the program.
    open var tag: Int {
        get { contents.withLock { $0.tag } }
        set { contents.withLock { $0.tag = newValue } }
    }

    /// The state of the right.
    open var state: State { contents.withLock { $0.state } }

    var context: LAContext { contents.withLock { $0.context } }

    /// Throws if the right cannot be authorised now; does not ask the person.
    open func checkCanAuthorize() async throws {
        let requirement = requirement
        let obstacle = await Background.value {
            LAContext().obstacle(to: requirement.expression, requirement.policy).map(LAError.init(_nsError:))
        }
        if let obstacle { throw obstacle._nsError }
    }

    /// Asks the person; throws unless the right was authorised.
    ///
    /// - Parameter localizedReason: the reason that the dialog shows.
    open func authorize(localizedReason: String) async throws {
        let context = begin()
        do {
            _ = try await LAContext.reply {
                context.evaluate(requirement.expression, requirement.policy, localizedReason, $0)
            }
            end(context, as: .authorized)
        } catch {
            end(context, as: .notAuthorized)
            throw error
        }
    }

    /// Revokes the authorisation.
    open func deauthorize() async {
        begin(as: .notAuthorized)
    }

    @discardableResult
    private func begin(as state: State = .authorizing) -> LAContext {
        let (old, new) = contents.withLock { contents in
            let old = contents.context
            contents.context = LAContext()
            contents.state = state
            return (old, contents.context)
        }
        old.invalidate()
        return new
    }

    private func end(_ context: LAContext, as state: State) {
        contents.withLock { contents in
            // Unless it was revoked or requested again meanwhile.
            if contents.context === context { contents.state = state }
        }
    }
}

/// A right stored in the keychain, with a secret and a key that can be used only while the right is authorised.
public final class LAPersistedRight: LARight, @unchecked Sendable {
    // Sendable like its superclass: the only property is a constant.

    let identifier: String

    init(_ identifier: String, _ requirement: LAAuthenticationRequirement) {
        self.identifier = identifier
        super.init(requirement: requirement)
    }

    /// The secret stored with the right.
    public var secret: LASecret { LASecret(of: self) }
}

/// The secret of a right.
public final class LASecret: Sendable {
    private let right: LAPersistedRight

    init(of right: LAPersistedRight) {
        self.right = right
    }

    /// The bytes of the secret, read from the keychain each time.
    ///
    /// Throws ``LAError/Code/notInteractive`` if the right is not authorised; the keychain checks it, not this object.
    public var rawData: Data {
        get async throws {
            let right = right
            return try await Background.value { Result { try LASecret.read(right) } }.get()
        }
    }

    /// Reads the secret, as ``rawData`` does.
    ///
    /// - Parameter completion: receives the secret or an error; not called on the main thread.
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
