import Foundation
package import KeychaindDBus
import Synchronization

/// The real fprintd with libfprint's virtual reader and a scripted user, on a private bus that stands for the system
/// bus.
///
/// Only fprintd and libfprint know what a reader reports and when; a stand-in would behave as its author believes.
/// A stand-in for polkit allows everything by default, so that no test needs root.
package final class VirtualReader: Sendable {
    /// The kind of virtual reader.
    package enum Kind: String, Sendable {
        /// Stores prints and identifies the enrolled finger.
        case storing = "virtual_device_storage"
        /// Verifies one finger at a time.
        case plain = "virtual_device"
    }

    /// The bus that stands for the system bus.
    package let bus: PrivateBus
    /// Answers fprintd's polkit questions.
    package let polkit: FakePolkit
    /// fprintd's storage, instead of `/var/lib/fprint`.
    package let templates: String

    private let kind: Kind
    private let folder: TemporaryFolder
    private let socket: VirtualReaderSocket
    private let connection: Connection
    private let process: Mutex<ChildProcess>
    /// Each change of whether the reader waits for a finger.
    private let readiness = Recorder<Bool>()
    private let touched = Mutex(0)
    private let enrolment = Recorder<(status: String, isDone: Bool)>()

    /// Starts fprintd and waits for its bus name.
    package init(_ kind: Kind = .storing, bus: PrivateBus? = nil) async throws {
        self.kind = kind
        let bus = if let bus { bus } else { try await PrivateBus() }
        self.bus = bus
        folder = try TemporaryFolder()
        templates = try folder.makeFolder("templates")
        socket = VirtualReaderSocket(path: folder.path("reader"))
        polkit = try await FakePolkit(on: bus)
        connection = try await bus.connect()
        process = Mutex(try await VirtualReader.launch(kind, on: bus, folder, templates))
        await listen()
    }

    deinit {
        process.withLock { $0 }.end()
        let connection = connection
        Task { @BusActor in connection.close(flushing: false) }
    }

    /// The environment in which programs use this bus as the system bus.
    package var environment: [String: String?] {
        ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
    }

    // MARK: fprintd

    /// The current or last process.
    package var service: ChildProcess {
        process.withLock { $0 }
    }

    /// Kills fprintd.
    package func kill() async throws {
        try await service.kill()
    }

    /// Suspends fprintd.
    package func pause() {
        service.send(SIGSTOP)
    }

    /// Resumes fprintd.
    package func resume() {
        service.send(SIGCONT)
    }

    /// Starts the ended fprintd again.
    ///
    /// Prints in the storage remain, those in a storing reader are lost.
    package func start() async throws {
        readiness.record(false)
        let started = try await VirtualReader.launch(kind, on: bus, folder, templates)
        process.withLock { $0 = started }
    }

    private static func launch(
        _ kind: Kind,
        on bus: PrivateBus,
        _ folder: TemporaryFolder,
        _ templates: String
    ) async throws -> ChildProcess {
        let watch = try await NameWatch(busName, on: bus)
        let candidates = ["/usr/libexec/fprintd", "/usr/lib/fprintd/fprintd", "/usr/lib/fprintd"]
        let program = candidates.first { path in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
        }
        guard let program else { throw DaemonError(reason: "the package fprintd has to be installed", log: "") }
        // By default, it ends after half a minute.
        let process = try ChildProcess(
            program,
            ["-t"],
            environment: [
                "FP_" + kind.rawValue.uppercased(): folder.path("reader"),
                "FP_DRIVERS_WHITELIST": kind.rawValue,
                "STATE_DIRECTORY": templates,
                "DBUS_SYSTEM_BUS_ADDRESS": bus.address,
            ]
        )
        do {
            try await watch.waitForOwner(unless: process)
        } catch {
            try await process.kill()
            throw DaemonError(reason: "\(error)", log: try await process.standardError.text())
        }
        return process
    }

    // MARK: The person

    /// Waits until the reader wants a finger, and touches it.
    ///
    /// - Parameter print: the name of the finger's print, enrolled or not.
    package func touch(_ print: String) async throws {
        try await command("SCAN \(print)")
    }

    /// Waits until the reader wants a finger, and makes a bad scan.
    package func touchBadly(_ mistake: Mistake) async throws {
        try await command("RETRY \(mistake.rawValue)")
    }

    /// The fault of a scan; the raw value is libfprint's.
    package enum Mistake: Int, Sendable, CaseIterable {
        case unclear = 0
        case tooShort = 1
        case notCentered = 2
        case notRemoved = 3
    }

    /// Waits until the reader wants a finger, and fails with one of libfprint's errors (`FpDeviceError`).
    package func fail(_ error: Int) async throws {
        try await command("ERROR \(error)")
    }

    /// Waits until the reader wants a finger.
    package func waitUntilReady() async throws {
        try await waitUntilReady(consuming: false)
    }

    /// Unplugs the reader, which must be claimed.
    package func unplug() async throws {
        _ = try await send("UNPLUG")
    }

    /// Sends the reader a libfprint command at once.
    @discardableResult
    package func send(_ command: String) async throws -> String {
        try await socket.answer(to: command)
    }

    private func command(_ command: String) async throws {
        try await waitUntilReady(consuming: true)
        try await send(command)
    }

    /// Each change to "ready" allows one touch.
    private func waitUntilReady(consuming: Bool) async throws {
        while true {
            let changes = readiness.all
            if changes.last == true, changes.count > touched.withLock({ $0 }) {
                if consuming { touched.withLock { $0 = changes.count } }
                return
            }
            _ = try await readiness.first("a reader that waits for a finger", after: changes.count) { $0 }
        }
    }

    // MARK: Enrolment

    /// Enrols a finger, as a settings program does.
    ///
    /// - Parameters:
    ///   - finger: fprintd's name of the finger, such as `right-index-finger`.
    ///   - print: the name of the finger's print.
    package func enrol(_ finger: String = "right-index-finger", as print: String = "owner") async throws {
        try await withClaim { reader in
            try await reader.send("SET_ENROLL_STAGES 1")
            let start = reader.enrolment.count
            _ = try await reader.call("EnrollStart", finger)
            var count = start
            while true {
                try await reader.send("SCAN \(print)")
                let (status, isDone) = try await reader.enrolment.first("the next stage", after: count)
                count += 1
                if isDone {
                    guard status == "enroll-completed" else { throw BusError(.failed, status) }
                    break
                }
            }
            _ = try await reader.call("EnrollStop")
        }
    }

    /// Deletes a finger.
    package func delete(_ finger: String = "right-index-finger") async throws {
        try await withClaim { _ = try await $0.call("DeleteEnrolledFinger", finger) }
    }

    /// Claims the reader during a body.
    package func withClaim<Result: Sendable>(_ body: (VirtualReader) async throws -> Result) async throws -> Result {
        _ = try await call("Claim", "")
        do {
            let result = try await body(self)
            // An unplugged reader cannot be released.
            _ = try? await call("Release")
            return result
        } catch {
            _ = try? await call("Release")
            throw error
        }
    }

    /// Claims and releases the reader as another program; throws `AlreadyInUse` if it is claimed.
    @BusActor
    package func claimOnce() async throws(BusError) {
        _ = try await call("Claim", "")
        _ = try await call("Release")
    }

    // MARK: The bus

    private static let busName = "net.reactivated.Fprint"
    private static let device = busName + ".Device"

    @BusActor
    private func listen() {
        let (readiness, enrolment) = (readiness, enrolment)
        let properties = SignalMatch(interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged")
        connection.subscribe(to: properties) { message in
            let signal = BusSignal(message: message)
            guard case .boolean(let isNeeded) = signal.changedProperties?.values["finger-needed"] else { return }
            readiness.record(isNeeded)
        }
        connection.subscribe(to: SignalMatch(interface: VirtualReader.device, member: "EnrollStatus")) { message in
            guard let (status, isDone) = try? message.read(String.self, Bool.self) else { return }
            enrolment.record((status, isDone))
        }
    }

    @BusActor
    private func call(_ member: String, _ argument: String? = nil) async throws(BusError) -> Message {
        let manager = ObjectPath(unchecked: "/net/reactivated/Fprint/Manager")
        let find = Message.call(
            to: VirtualReader.busName,
            manager,
            VirtualReader.busName + ".Manager",
            "GetDefaultDevice"
        )
        let path = try await connection.call(find, timeout: Patience.limit).read(ObjectPath.self)
        let message = Message.call(to: VirtualReader.busName, path, VirtualReader.device, member)
        if let argument { message.append(argument) }
        return try await connection.call(message, timeout: Patience.limit)
    }
}

/// The command socket of libfprint's virtual reader, which takes one command a connection.
struct VirtualReaderSocket: Sendable {
    let path: String

    /// Sends a command and returns the answer.
    ///
    /// The reader listens only while it is claimed.
    func answer(to command: String) async throws -> String {
        let path = path
        return try await BlockingThread.run { Result { try VirtualReaderSocket.exchange(command, at: path) } }.get()
    }

    private static func exchange(_ command: String, at path: String) throws -> String {
        let connection = try LocalSocket.connect(to: path)
        let descriptor = connection.rawValue
        defer { withExtendedLifetime(connection) {} }
        let text = Array(command.utf8)
        guard send(descriptor, text, text.count, Int32(MSG_NOSIGNAL)) == text.count else {
            throw POSIXError(.EIO)
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1024)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
            answer += buffer[..<count]
        }
        return String(decoding: answer, as: UTF8.self)
    }
}
