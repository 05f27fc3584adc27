import Foundation
import Synchronization

/// What has to go when the test process ends, and nothing else has removed it: fixtures that suites share live to the end.
enum Leftovers {
    private struct State {
        var processes: Set<pid_t> = []
        var folders: Set<String> = []
        var isRegistered = false
    }

    private static let state = Mutex(State())

    static func add(process: pid_t) {
        registerOnce()
        state.withLock { _ = $0.processes.insert(process) }
    }

    static func remove(process: pid_t) {
        state.withLock { _ = $0.processes.remove(process) }
    }

    static func add(folder: String) {
        registerOnce()
        state.withLock { _ = $0.folders.insert(folder) }
    }

    static func remove(folder: String) {
        state.withLock { _ = $0.folders.remove(folder) }
    }

    private static func registerOnce() {
        let isFirst = state.withLock { state in
            defer { state.isRegistered = true }
            return !state.isRegistered
        }
        if isFirst {
            atexit { Leftovers.clean() }
        }
    }

    private static func clean() {
        let (processes, folders) = state.withLock { ($0.processes, $0.folders) }
        for process in processes {
            kill(-process, SIGKILL)
        }
        for process in processes {
            // Unless its own thread has waited for it already.
            waitpid(process, nil, 0)
        }
        for folder in folders {
            try? FileManager.default.removeItem(atPath: folder)
        }
    }
}
