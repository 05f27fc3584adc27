import Glibc

/// The root folders that an examination of a process may enter.
package enum ExaminedRoots: Sendable {
    /// The root of this process only, so that no program can make the examination block.
    case own
    case all
}

/// Why the examination of a process has found nothing out.
package enum ExaminationObstacle: Error, Hashable {
    /// A root that the examination may not enter, by its mount namespace and path.
    case root(String)
    /// The system is short of descriptors or memory, which may pass.
    case shortage

    /// Throws if the number of an error is that of a shortage.
    static func check(_ code: Int32) throws(ExaminationObstacle) {
        if code == EMFILE || code == ENFILE || code == ENOMEM { throw .shortage }
    }
}
