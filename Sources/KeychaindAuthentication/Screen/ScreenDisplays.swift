import Glibc
package import KeychaindDBus
package import KeychaindDesktop
import KeychaindFiles
import KeychaindRights

/// The displays of a session that a person sees, for a program that this process starts.
package struct ScreenDisplay: Sendable {
    /// A connection to the compositor, which the program gets: another socket cannot take the place of its path.
    package let wayland: FileDescriptor?
    /// The X11 display, such as `:0`.
    package let x11: String?
    /// Whether the administrator lets screen readers into dialogs, and with them all programs of the user.
    let isAccessible: Bool
    private let screen: SessionScreen
    private let screens: SessionScreens

    init(
        of screen: SessionScreen,
        wayland: FileDescriptor?,
        x11: String?,
        isAccessible: Bool,
        screens: SessionScreens
    ) {
        self.screen = screen
        self.wayland = wayland
        self.x11 = x11
        self.isAccessible = isAccessible
        self.screens = screens
    }

    /// Whether a person sees it still.
    @BusActor
    package func isVisible() async -> Bool { await screens.visible().contains(screen) }
}

/// Finds the displays of the user's screen by who listens there, whatever the environment says.
@BusActor
package final class ScreenDisplays {
    private static let mostSockets = 64
    private static let mostEntries = 4096

    private let screens: SessionScreens
    private let runtimeFolder: String
    private let x11Folder: String
    private let processes: String
    private let accessibilityFile: String

    /// - Parameter accessibilityFile: exists if the administrator lets screen readers into dialogs.
    package init(
        screens: SessionScreens,
        runtimeFolder: String = "/run/user/\(getuid())",
        x11Folder: String = "/tmp/.X11-unix",
        processes: String = "/proc",
        accessibilityFile: String = "/etc/keychaind/accessible-dialogs"
    ) {
        self.screens = screens
        self.runtimeFolder = runtimeFolder
        self.x11Folder = x11Folder
        self.processes = processes
        self.accessibilityFile = accessibilityFile
    }

    /// Nil if no display is proven to be on a screen.
    ///
    /// - Parameter names: displays that come before others, such as `wayland-0` and `:0`.
    package func find(preferring names: [String] = []) async -> ScreenDisplay? {
        for screen in await screens.visible() {
            let wayland = screen.display == .wayland ? compositor(of: screen, names) : nil
            // A compositor starts Xwayland with the first connection.
            let x11 = wayland == nil ? display(of: screen, names) : nil
            guard wayland != nil || x11 != nil else { continue }
            return ScreenDisplay(
                of: screen,
                wayland: wayland,
                x11: x11,
                isAccessible: access(accessibilityFile, F_OK) == 0,
                screens: screens
            )
        }
        return nil
    }

    private func compositor(of screen: SessionScreen, _ preferred: [String]) -> FileDescriptor? {
        names(in: runtimeFolder, startingWith: "wayland-", preferred)?.lazy
            .compactMap { DisplaySocket(path: "\(self.runtimeFolder)/\($0)") }
            .first { self.belongs($0, to: screen) }?.descriptor
    }

    /// The display of the compositor's Xwayland, or of the X server.
    ///
    /// A server that runs as root needs no controller, so any program could be it: where there is one, no other counts.
    private func display(of screen: SessionScreen, _ preferred: [String]) -> String? {
        let preferred = preferred.filter { $0.hasPrefix(":") }.map { "X" + $0.dropFirst() }
        let sockets = (names(in: x11Folder, startingWith: "X", preferred) ?? []).compactMap { name in
            DisplaySocket(path: "\(x11Folder)/\(name)").map { (name: name, socket: $0) }
        }
        let roots = screen.display == .x11 ? sockets.filter { $0.socket.userID == 0 } : []
        let found = roots.first ?? sockets.first { roots.isEmpty && belongs($0.socket, to: screen) }
        return found.map { ":" + $0.name.dropFirst() }
    }

    /// The names of sockets in a folder where any program can make some; the preferred ones first.
    ///
    /// Nil if there are too many to look at each: the real one could be hidden among them.
    private func names(in folder: String, startingWith prefix: String, _ preferred: [String]) -> [String]? {
        let entries = UserRights.perform { FolderListing.names(in: folder, most: ScreenDisplays.mostEntries) }
        guard let names = entries?.filter({ $0.hasPrefix(prefix) && !$0.hasSuffix(".lock") }),
            names.count <= ScreenDisplays.mostSockets
        else { return nil }
        return names.filter(preferred.contains) + names.filter { !preferred.contains($0) }
    }

    /// Whether the screen's controller listens there, or KWin's starter, which passes it the socket.
    private func belongs(_ socket: DisplaySocket, to screen: SessionScreen) -> Bool {
        guard let controller = screen.controller else { return false }
        if socket.processID == controller { return true }
        return UserRights.perform {
            guard ProcessFolder(controller, in: processes).processStatus?.parentID == socket.processID else {
                return false
            }
            let folder = ProcessFolder(socket.processID, in: processes)
            guard let program = ProgramFile(of: folder) else {
                // With a capability of the session's, its file cannot be seen. Only who has started the compositor
                // could forge the name.
                return folder.read("comm", limit: 16) == Array("kwin_wayland_wr\n".utf8)
            }
            return program.name == "kwin_wayland_wrapper" && program.place == .present && program.isProtected
        }
    }
}
