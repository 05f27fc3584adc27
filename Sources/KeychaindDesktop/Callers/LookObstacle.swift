import Glibc

/// The root folders that a look at a process may look into.
package enum LookRoots: Sendable {
    /// The root of this process only, so that no program can make the look block.
    case own
    case all
}

/// Why a look at a process has found nothing out.
package enum LookObstacle: Error, Hashable {
    /// A root into which the look may not look, by its mount namespace and path.
    case root(String)
    /// The system is short of descriptors or memory, which may pass.
    case shortage

    /// Throws if the number of an error is that of a shortage.
    static func check(_ code: Int32) throws(LookObstacle) {
        if code == EMFILE || code == ENFILE || code == ENOMEM { throw .shortage }
    }
}
