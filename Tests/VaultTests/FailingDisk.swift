import Foundation
import Glibc
import KeychaindLog
import Synchronization

/// A disk on which system calls fail on demand.
final class FailingDisk: Sendable {
    enum Operation: Sendable {
        case open, status, read, write, sync
    }

    /// A failure, once or until it is taken away.
    struct Failure: Sendable {
        var operation = Operation.write

        /// The file that it meets; nil for all.
        var file: String?

        /// How many operations work before.
        var after = 0

        /// How often it happens; nil for always.
        var times: Int?

        /// The error number; zero for a read that returns zeros.
        var error = EIO

        /// Whether a failing write has stored half of its bytes.
        var isTorn = false
    }

    private struct State {
        var failure: Failure?
        var names: [CInt: String] = [:]
    }

    private let state = Mutex(State())

    /// The failure from now on; nil for none.
    var failure: Failure? {
        get { state.withLock { state in state.failure } }
        set { state.withLock { state in state.failure = newValue } }
    }

    /// The failure that is due now.
    private func take(_ operation: Operation, on file: String?) -> Failure? {
        state.withLock { state in
            guard let failure = state.failure, failure.operation == operation else { return nil }
            if let wanted = failure.file, wanted != file { return nil }
            if failure.after > 0 {
                state.failure?.after = failure.after - 1
                return nil
            }
            if let times = failure.times { state.failure?.times = times - 1 }
            if failure.times == 1 { state.failure = nil }
            return failure
        }
    }

    private func take(_ operation: Operation, on descriptor: CInt) -> Failure? {
        take(operation, on: state.withLock { state in state.names[descriptor] })
    }

    /// A new file has the name that it gets.
    private static func name(_ path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        return name.hasSuffix("-new") ? String(name.dropLast("-new".count)) : name
    }

    /// The system calls on this disk.
    var system: LogSystem {
        var system = LogSystem()
        let real = system
        system.open = { [self] path, flags in
            let name = Self.name(path)
            // A file that is only read can be opened.
            if flags & O_ACCMODE != O_RDONLY, let failure = take(.open, on: name) {
                errno = failure.error
                return -1
            }
            let descriptor = real.open(path, flags)
            if descriptor >= 0 { state.withLock { state in state.names[descriptor] = name } }
            return descriptor
        }
        system.status = { [self] path, status in
            guard let failure = take(.status, on: Self.name(path)) else { return real.status(path, status) }
            errno = failure.error
            return -1
        }
        system.read = { [self] descriptor, buffer, count, offset in
            guard let failure = take(.read, on: descriptor) else { return real.read(descriptor, buffer, count, offset) }
            guard failure.error == 0 else {
                errno = failure.error
                return -1
            }
            let read = real.read(descriptor, buffer, count, offset)
            if read > 0 { memset(buffer, 0, read) }
            return read
        }
        system.write = { [self] descriptor, bytes, count, offset in
            guard let failure = take(.write, on: descriptor) else {
                return real.write(descriptor, bytes, count, offset)
            }
            if failure.isTorn { _ = real.write(descriptor, bytes, count / 2, offset) }
            errno = failure.error
            return -1
        }
        system.synchronize = { [self] descriptor in
            guard let failure = take(.sync, on: descriptor) else { return real.synchronize(descriptor) }
            errno = failure.error
            return -1
        }
        return system
    }
}

extension LogSystem {
    /// A disk on which no file has more than a size.
    static func limited(to size: Int) -> LogSystem {
        var system = LogSystem()
        let real = system.write
        system.write = { descriptor, bytes, count, offset in
            guard offset + count <= size else {
                errno = ENOSPC
                return -1
            }
            return real(descriptor, bytes, count, offset)
        }
        return system
    }
}
