import Glibc
package import KeychaindDBus
import KeychaindFiles
package import Logging

/// A session of the user on a screen, and the program that draws it.
package struct SessionScreen: Hashable, Sendable {
    package let display: SessionRecord.Display
    /// The program to which logind gives the screen and the keyboard: a Wayland compositor or an X server.
    ///
    /// There is one at a time. Nil for an X server that needs nothing from logind, as it runs as root.
    package let controller: Int32?
}

/// Finds the sessions of the user that a person sees now.
@BusActor
package final class SessionScreens {
    package nonisolated static let folder = "/run/systemd/sessions"
    private static let most = 4096
    /// In bytes; logind's files have less than a tenth.
    private static let longest = 16 << 10

    private let systemBus: SystemBus
    private let folder: String
    private let seatSocket: String
    private let memory: String?
    private let userID: UInt32
    private let logger: Logger
    /// The first controller of each session, by its process and the start of that.
    private var firsts: [String: String] = [:]
    private var replaced: Set<String> = []

    /// - Parameters:
    ///   - folder: logind's files of sessions.
    ///   - seatSocket: the socket of seatd, which gives compositors their devices in place of logind. Where it runs,
    ///     any program can become the controller beside the compositor, so no session counts.
    ///   - memory: a folder that lasts until a reboot, where the next process finds the first controllers, and which
    ///     other programs must not reach. Nil forgets them.
    package init(
        systemBus: SystemBus,
        folder: String = SessionScreens.folder,
        seatSocket: String = "/run/seatd.sock",
        memory: String? = nil,
        userID: UInt32 = getuid(),
        logger: Logger
    ) {
        self.systemBus = systemBus
        self.folder = folder
        self.seatSocket = seatSocket
        self.memory = memory
        self.userID = userID
        self.logger = logger
    }

    /// Those on whose screen the session's first controller is, which this also notices.
    ///
    /// No other one counts: a program that ends the compositor can take its place, and answer on a black screen.
    package func visible() async -> [SessionScreen] {
        guard access(seatSocket, F_OK) != 0 else { return [] }
        var screens: [SessionScreen] = []
        for (session, record) in records() {
            let controller = await process(of: record.controller)
            // An X server that runs as root has none, so any program could have become it.
            if record.display == .wayland, controller == nil { continue }
            if let controller, !isFirst(controller, of: session) { continue }
            screens.append(SessionScreen(display: record.display, controller: controller))
        }
        return screens
    }

    private func isFirst(_ processID: Int32, of session: String) -> Bool {
        guard let startTime = ProcessFolder(processID, in: "/proc").processStatus?.startTime else { return false }
        let controller = "\(processID)-\(startTime)"
        if first(of: session, else: controller) == controller { return true }
        if replaced.insert(session).inserted {
            logger.warning(
                "The compositor was replaced; until the next login, dialogs take passwords only",
                metadata: ["session": "\(session)", "process": "\(processID)"]
            )
        }
        return false
    }

    /// A link instead of a file is there in one step, for the first one only, and never half written.
    private func first(of session: String, else controller: String) -> String {
        if let known = firsts[session] { return known }
        var first = controller
        if let memory, symlink(controller, "\(memory)/compositor-\(session)") != 0, errno == EEXIST {
            first = ProcessFolder(".", in: memory).link("compositor-\(session)") ?? ""
        }
        firsts[session] = first
        return first
    }

    /// The user's sessions on the screen, by the names of their files and their starts: logind may give a name again.
    private func records() -> [(String, SessionRecord)] {
        (FolderListing.names(in: folder, most: SessionScreens.most) ?? []).compactMap { name in
            ProcessFolder.read("\(folder)/\(name)", limit: SessionScreens.longest).flatMap(SessionRecord.init)
                .flatMap { $0.userID == userID ? ("\(name)-\($0.start)", $0) : nil }
        }
    }

    private func process(of controller: String?) async -> Int32? {
        guard let controller, let connection = try? await systemBus.connection(),
            let credentials = try? await connection.credentials(of: controller), credentials.userID == userID,
            let id = credentials.processID.flatMap(Int32.init(exactly:)), id > 0
        else { return nil }
        return id
    }
}
