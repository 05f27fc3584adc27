import CKeychaindLinux
import Glibc
import Synchronization

@testable import KeychaindLog

/// A disk whose operations fail on demand.
final class FaultyDisk: Sendable {
    enum Mode: CaseIterable, Sendable {
        /// Not done, and an error.
        case fail

        /// Not done, for lack of room, and an error.
        case full

        /// Half of the bytes, and their number.
        case short

        /// Half of the bytes or the whole operation, and an error.
        case torn

        /// Not done, and success; opening a file never lies.
        case lie

        /// Not done, and neither is anything after: the process has ended.
        case kill

        /// Not done, and an error, and so does everything after.
        case broken
    }

    private struct State {
        var countdown = 0
        var mode = Mode.fail
        var seen = 0
        var isDead = false
        var isFull = false
    }

    private let state = Mutex(State())

    /// - Parameter number: the operation that fails, from 1; 0 for none.
    init(failing number: Int = 0, _ mode: Mode = .fail) {
        state.withLock { state in (state.countdown, state.mode) = (number, mode) }
    }

    /// The operations so far.
    var seen: Int { state.withLock { state in state.seen } }

    /// Whether the process has ended.
    var isDead: Bool { state.withLock { state in state.isDead } }

    /// Whether files cannot grow.
    var isFull: Bool {
        get { state.withLock { state in state.isFull } }
        set { state.withLock { state in state.isFull = newValue } }
    }

    private enum Effect { case none, fail(CInt), half(CInt?), lie }

    private func take() -> Effect {
        state.withLock { state in
            if state.isDead { return .fail(EIO) }
            state.seen += 1
            guard state.seen == state.countdown else { return .none }
            switch state.mode {
            case .fail: return .fail(EIO)
            case .full: return .fail(ENOSPC)
            case .short: return .half(nil)
            case .torn: return .half(EIO)
            case .lie: return .lie
            case .kill, .broken:
                state.isDead = true
                return .fail(EIO)
            }
        }
    }

    private func run(_ body: () -> CInt) -> CInt {
        switch take() {
        case .none, .half(nil): return body()
        case .lie: return 0
        case .fail(let number):
            errno = number
            return -1
        case .half(let number?):
            _ = body()
            errno = number
            return -1
        }
    }

    private func transfer(_ count: Int, _ body: (Int) -> Int) -> Int {
        switch take() {
        case .none: return body(count)
        case .lie: return count
        case .half(nil): return body(max(1, count / 2))
        case .fail(let number):
            errno = number
            return -1
        case .half(let number?):
            _ = body(count / 2)
            errno = number
            return -1
        }
    }

    var system: LogSystem {
        let real = LogSystem()
        var system = real
        system.open = { path, flags in
            switch self.take() {
            case .fail(let number), .half(let number?):
                errno = number
                return -1
            case .none, .lie, .half(nil): return real.open(path, flags)
            }
        }
        system.status = { path, status in self.run { real.status(path, status) } }
        system.read = { file, bytes, count, offset in
            self.transfer(count) { count in real.read(file, bytes, count, offset) }
        }
        system.write = { file, bytes, count, offset in
            var status = stat()
            if self.isFull, fstat(file, &status) == 0, offset + count > status.st_size {
                errno = ENOSPC
                return -1
            }
            return self.transfer(count) { count in real.write(file, bytes, count, offset) }
        }
        system.synchronize = { file in self.run { real.synchronize(file) } }
        system.synchronizeFolder = { path in self.run { real.synchronizeFolder(path) } }
        system.rename = { path, newPath, replacing in self.run { real.rename(path, newPath, replacing) } }
        system.remove = { path in self.run { real.remove(path) } }
        return system
    }
}
