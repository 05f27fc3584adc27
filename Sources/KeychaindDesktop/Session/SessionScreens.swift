import Glibc
package import KeychaindDBus

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
    private static let most = 4096
    /// In bytes; logind's files have less than a tenth.
    private static let longest = 16 << 10

    private let systemBus: SystemBus
    private let folder: String
    private let seatSocket: String
    private let userID: UInt32

    /// - Parameters:
    ///   - folder: logind's files of sessions.
    ///   - seatSocket: the socket of seatd, which gives compositors their devices in place of logind. Where it runs,
    ///     any program can become the controller beside the compositor, so no session counts.
    package init(
        systemBus: SystemBus,
        folder: String = "/run/systemd/sessions",
        seatSocket: String = "/run/seatd.sock",
        userID: UInt32 = getuid()
    ) {
        self.systemBus = systemBus
        self.folder = folder
        self.seatSocket = seatSocket
        self.userID = userID
    }

    package func visible() async -> [SessionScreen] {
        guard access(seatSocket, F_OK) != 0 else { return [] }
        var screens: [SessionScreen] = []
        for record in records() {
            let controller = await process(of: record.controller)
            // An X server that runs as root has none, so any program could have become it.
            if record.display == .wayland, controller == nil { continue }
            screens.append(SessionScreen(display: record.display, controller: controller))
        }
        return screens
    }

    private func records() -> [SessionRecord] {
        (FolderListing.names(in: folder, most: SessionScreens.most) ?? [])
            .compactMap { ProcessFolder.read("\(folder)/\($0)", limit: SessionScreens.longest) }
            .compactMap(SessionRecord.init)
            .filter { $0.userID == userID }
    }

    private func process(of controller: String?) async -> Int32? {
        guard let controller, let connection = try? await systemBus.connection(),
            let credentials = try? await connection.credentials(of: controller), credentials.userID == userID,
            let id = credentials.processID.flatMap(Int32.init(exactly:)), id > 0
        else { return nil }
        return id
    }
}
