package import DBus
import Foundation
import Synchronization

/// The real fprintd with libfprint's virtual reader, on a private bus that stands for the system's, with a person who touches it.
///
/// Only fprintd and libfprint know what a reader reports and when; a stand-in would behave as its author believes.
/// polkit is a stand-in that allows everything unless told otherwise, so that no test needs root. All ends with this object.
package final class VirtualReader: Sendable {
    /// Which of libfprint's virtual readers.
    package enum Kind: String, Sendable {
        /// It keeps prints itself, and tells enrolled fingers apart.
        case storing = "virtual_device_storage"
        /// It looks for one finger at a time.
        case plain = "virtual_device"
    }

    /// The bus that stands for the system's.
    package let bus: PrivateBus
    /// Answers what fprintd asks polkit.
    package let polkit: FakePolkit
    /// Where fprintd keeps what is enrolled, instead of `/var/lib/fprint`.
    package let templates: String

    private let kind: Kind
    private let folder: TemporaryFolder
    private let socket: VirtualReaderSocket
    private let connection: Connection
    private let process: Mutex<ChildProcess>
    /// Whether the reader waits for a finger, at each change.
    private let readiness = Recorder<Bool>()
    private let touched = Mutex(0)
    private let enrolment = Recorder<(status: String, isDone: Bool)>()

    /// Starts fprintd, and waits until it has taken its name.
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

    /// What a program's environment needs to take the bus for the system's.
    package var environment: [String: String?] {
        ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
    }

    // MARK: fprintd

    /// The process that runs now, or ran last.
    package var service: ChildProcess {
        process.withLock { $0 }
    }

    /// Ends fprintd at once.
    package func kill() async throws {
        try await service.kill()
    }

    /// Stops fprintd from doing anything until it is resumed or killed.
    package func pause() {
        service.send(SIGSTOP)
    }

    /// Lets fprintd go on.
    package func resume() {
        service.send(SIGCONT)
    }

    /// Starts fprintd again, after it has ended; what was enrolled is still there, but not in a reader that keeps it itself.
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
        // It ends by itself after half a minute unless told not to.
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

    /// Waits until the reader wants a finger, and lays one on it.
    ///
    /// - Parameter print: what the finger looks like to the reader: any word. Whether it is enrolled is for the reader to find out.
    package func touch(_ print: String) async throws {
        try await command("SCAN \(print)")
    }

    /// Waits until the reader wants a finger, and makes a scan that is no good.
    package func touchBadly(_ mistake: Mistake) async throws {
        try await command("RETRY \(mistake.rawValue)")
    }

    /// What can be wrong with a scan; the raw value is libfprint's.
    package enum Mistake: Int, Sendable, CaseIterable {
        case unclear = 0
        case tooShort = 1
        case notCentered = 2
        case notRemoved = 3
    }

    /// Waits until the reader wants a finger, and lets it fail with one of libfprint's errors (`FpDeviceError`).
    package func fail(_ error: Int) async throws {
        try await command("ERROR \(error)")
    }

    /// Waits until the reader wants a finger.
    package func waitUntilReady() async throws {
        try await waitUntilReady(consuming: false)
    }

    /// Pulls the plug; the reader listens for that only while somebody has claimed it.
    package func unplug() async throws {
        _ = try await send("UNPLUG")
    }

    /// Gives the reader a command of libfprint's own, at once.
    @discardableResult
    package func send(_ command: String) async throws -> String {
        try await socket.answer(to: command)
    }

    private func command(_ command: String) async throws {
        try await waitUntilReady(consuming: true)
        try await send(command)
    }

    /// Every change from "not ready" to "ready" is good for one touch.
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
    ///   - finger: fprintd's name for it, such as `right-index-finger`.
    ///   - print: what it looks like to the reader.
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

    /// Takes a finger away.
    package func delete(_ finger: String = "right-index-finger") async throws {
        try await withClaim { _ = try await $0.call("DeleteEnrolledFinger", finger) }
    }

    /// Has the reader for oneself meanwhile, so that nobody else can use it.
    package func withClaim<Result: Sendable>(_ body: (VirtualReader) async throws -> Result) async throws -> Result {
        _ = try await call("Claim", "")
        do {
            let result = try await body(self)
            // One that was unplugged meanwhile cannot be given back.
            _ = try? await call("Release")
            return result
        } catch {
            _ = try? await call("Release")
            throw error
        }
    }

    /// Takes the reader as another program, and gives it back; throws `AlreadyInUse` while somebody else has it.
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
