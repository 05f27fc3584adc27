public import Foundation
import Synchronization

/// Something that a person allows a program to do, for as long as it is authorised.
///
/// The program's own state protects nothing; what must be safe is the secret of an ``LAPersistedRight``, which the keychain guards.
open class LARight: NSObject, @unchecked Sendable {
    /// Whether it is authorised.
    public enum State: Int, Sendable {
        /// Nobody has asked yet.
        case unknown = 0
        /// A person is being asked.
        case authorizing = 1
        /// A person has allowed it.
        case authorized = 2
        /// A person has not allowed it, or it was given back.
        case notAuthorized = 3
    }

    private struct Contents {
        var tag = 0
        var state = State.unknown
        var context = LAContext()
    }

    // Everything that changes is behind a lock: so the class is Sendable, though its superclass does not say so.
    private let contents = Mutex(Contents())

    /// What a person has to prove for it.
    let requirement: LAAuthenticationRequirement

    /// A right to which the person at the machine is enough.
    public convenience override init() {
        self.init(requirement: .default)
    }

    /// A right that asks for something else.
    public init(requirement: LAAuthenticationRequirement) {
        self.requirement = requirement
    }

    /// A number for the program's own use.
    open var tag: Int {
        get { contents.withLock { $0.tag } }
        set { contents.withLock { $0.tag = newValue } }
    }

    /// Whether it is authorised.
    open var state: State { contents.withLock { $0.state } }

    /// The context in which it was authorised last.
    var context: LAContext { contents.withLock { $0.context } }

    /// Throws if it could not be authorised now; asks nobody.
    open func checkCanAuthorize() async throws {
        let requirement = requirement
        let obstacle = await Background.value {
            LAContext().obstacle(to: requirement.expression, requirement.policy).map(LAError.init(_nsError:))
        }
        if let obstacle { throw obstacle._nsError }
    }

    /// Asks the person; throws what it ended with.
    ///
    /// - Parameter localizedReason: why, shown in the dialog.
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

    /// Gives it back: what was proved for it serves no longer.
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
            // It may have been given back, or asked for again, meanwhile.
            if contents.context === context { contents.state = state }
        }
    }
}
