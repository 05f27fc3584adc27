import Glibc

/// The root folder that a process sees.
///
/// A file system at it can be one that never answers. Finding out whose root it is asks the kernel only.
enum ProcessRoot: Equatable {
    /// The root of this process.
    case own
    /// Another one, by its mount namespace and its path in it.
    case other(String)
    /// The kernel lets this process look into nothing of the other one.
    case hidden

    /// - Parameter folders: the process folder instead of /proc.
    init(of process: ProcessFolder, in folders: String) throws(ExaminationObstacle) {
        var failure: Int32 = 0
        let path = process.link("root", failure: &failure)
        try ExaminationObstacle.check(failure)
        guard failure != EACCES, failure != EPERM else {
            self = .hidden
            return
        }
        // Every mount namespace has a root of its own.
        let namespace = process.link("ns/mnt", failure: &failure)
        try ExaminationObstacle.check(failure)
        guard let path, let namespace else {
            self = .other(process.path)
            return
        }
        let own = ProcessFolder("self", in: folders)
        let isOwn = own.link("root") == path && own.link("ns/mnt") == namespace
        self = isOwn ? .own : .other("\(namespace) \(path)")
    }
}
