import Glibc
import KeychaindDBus
import KeychaindDesktop
import KeychaindRights
import Synchronization

/// Reports that a file may have changed: written, replaced, created or removed, also by way of links and folders.
///
/// With `*` as its name, any file of the folder.
///
/// Bounded: events are gathered for a time before they are read, however many there are.
@BusActor
final class FileWatch {
    private let path: String
    private let descriptor: Int32
    private let handler: @BusActor () async -> Void
    private let looks = FileWatch.makeLooks()
    private let watched = LastWatched()

    /// The time in which events are gathered.
    private static let delay = Duration.milliseconds(200)

    /// The time that a disk has for an answer: it may have to spin up.
    private static let patience = Duration.seconds(10)

    /// Nil if the kernel grants no watch.
    init?(_ path: String, handler: @escaping @BusActor () async -> Void) {
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        self.path = path
        self.handler = handler
    }

    /// Reads the disk, which may never answer, on one thread at a time; does nothing while there is no thread for it.
    static func makeLooks() -> BlockingCalls {
        BlockingCalls(limit: 1, patience: patience)
    }

    /// Watches the folders as they are now, and waits for the next event; the file must be read afterwards.
    ///
    /// Returns false if no folder can be watched. It does not wait long for a disk: folders on a slow one are watched
    /// once that answers.
    func watch() async -> Bool {
        let isWatched = await looks.run { [path, descriptor, watched] in
            let former = watched.names
            watched.names = UserRights.perform { WatchedFolders.watch(path, with: descriptor, instead: former) }
            return !watched.names.isEmpty
        }
        return isWatched ?? true
    }

    func waitForChanges() {
        BusActor.loop.watchReadable(descriptor) { [self] in
            BusActor.loop.unwatch(descriptor)
            BusActor.loop.schedule(after: FileWatch.delay) { [self] in
                guard takeEvents() else { return waitForChanges() }
                BusActor.start { [self] in
                    _ = await watch()
                    await handler()
                    waitForChanges()
                }
            }
        }
    }

    /// Takes the waiting events; false if none concerns the file.
    private func takeEvents() -> Bool {
        let names = watched.names
        var isConcerned = false
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        // At most as many as the kernel keeps; more would come as fast as they are read.
        for _ in 0..<64 {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            isConcerned = WatchedFolders.concerns(buffer[..<count], names) || isConcerned
        }
        return isConcerned
    }
}

/// The names in watched folders that matter, by the kernel's number of the folder.
typealias WatchedNames = [Int32: Set<String>]

/// The names that the last reading of the folders has found; it may end after its caller has stopped waiting.
private final class LastWatched: Sendable {
    private let state = Mutex<WatchedNames>([:])

    var names: WatchedNames {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// The folders of a file whose changes matter.
enum WatchedFolders {
    private static let events = [
        IN_CREATE, IN_CLOSE_WRITE, IN_MOVED_TO, IN_MOVED_FROM, IN_DELETE, IN_ATTRIB, IN_DELETE_SELF, IN_MOVE_SELF,
        IN_ONLYDIR,
    ].reduce(UInt32(0)) { $0 | UInt32($1) }

    private static let linkLimit = 8

    /// Watches the folder of a file and the one above it, or the next that exist, and the folders that links lead to.
    ///
    /// Blocks on the disk. Folders watched before are given up unless they are among these.
    static func watch(_ path: String, with descriptor: Int32, instead former: WatchedNames) -> WatchedNames {
        var names: WatchedNames = [:]
        add(path, levels: 2, to: &names, descriptor)
        var target = path
        for _ in 0..<linkLimit {
            guard let next = destination(of: target) else { break }
            target = next
            add(target, levels: 1, to: &names, descriptor)
        }
        for number in former.keys where names[number] == nil { inotify_rm_watch(descriptor, number) }
        return names
    }

    private static func add(_ path: String, levels: Int, to names: inout WatchedNames, _ descriptor: Int32) {
        var levels = levels
        var path = path[...]
        while levels > 0, let slash = path.lastIndex(of: "/"), path != "/" {
            let folder = slash == path.startIndex ? "/" : path[..<slash]
            let number = inotify_add_watch(descriptor, String(folder), events)
            if number >= 0 {
                names[number, default: []].insert(String(path[path.index(after: slash)...]))
                levels -= 1
            }
            path = folder
        }
    }

    /// The path that a symbolic link leads to; nil for anything else.
    private static func destination(of path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        let target = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if target.hasPrefix("/") { return target }
        return path.lastIndex(of: "/").map { path[...$0] + target }
    }

    /// Whether one of the events is about a watched name or a folder itself.
    static func concerns(_ events: ArraySlice<UInt8>, _ names: WatchedNames) -> Bool {
        var rest = events
        let head = MemoryLayout<inotify_event>.size
        while rest.count >= head {
            let event = rest.withUnsafeBytes { $0.loadUnaligned(as: inotify_event.self) }
            let name = rest.dropFirst(head).prefix(Int(event.len)).prefix { $0 != 0 }
            rest = rest.dropFirst(head + Int(event.len))
            let isAboutAll = event.mask & UInt32(IN_Q_OVERFLOW) != 0
            guard let watched = names[event.wd] else {
                if isAboutAll { return true }
                continue
            }
            if name.isEmpty || watched.contains("*") || watched.contains(String(decoding: name, as: UTF8.self)) {
                return true
            }
        }
        return false
    }
}
