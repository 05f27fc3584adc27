import CKeychaindLinux
import Glibc
import KeychaindDesktop
import KeychaindFiles
import KeychaindRights

/// The folders in which sandboxed programs are installed.
package struct SandboxInstallations: Sendable {
    private let flatpaks: [String]
    private let snaps: [String]
    /// The time for reading the folders, whose disks may never answer.
    let patience: Duration

    private static let mostPrograms = 10_000

    /// - Parameters:
    ///   - flatpaks: folders with one folder for each application.
    ///   - snaps: folders with one folder for each Snap.
    ///   - patience: the time for reading the folders.
    package init(flatpaks: [String] = [], snaps: [String] = [], patience: Duration = .seconds(10)) {
        self.flatpaks = flatpaks
        self.snaps = snaps
        self.patience = patience
    }

    /// The installations of the system and of the user's data folder.
    package static func ofUser(dataHome: String?) -> SandboxInstallations {
        SandboxInstallations(
            flatpaks: ["/var/lib/flatpak/app"] + (dataHome.map { ["\($0)/flatpak/app"] } ?? []),
            snaps: ["/snap", "/var/lib/snapd/snap"]
        )
    }

    /// The identities of the installed programs; blocks.
    func programs() -> Set<String> {
        UserRights.perform {
            var programs: Set<String> = []
            for folder in flatpaks {
                for name in Self.folders(in: folder) where Sandbox.isName(name, limit: 255) && name.contains(".") {
                    programs.insert("flatpak:\(name)")
                }
            }
            for folder in snaps {
                for name in Self.folders(in: folder) where Sandbox.isName(name, limit: 51) && name != "bin" {
                    programs.insert("snap:\(name)")
                }
            }
            return programs
        }
    }

    private static func folders(in folder: String) -> [String] {
        var names: [String] = []
        _ = FolderListing.forEach(in: folder) { name in
            var status = stat()
            if !name.hasPrefix("."), stat("\(folder)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
                names.append(name)
            }
            return names.count < mostPrograms
        }
        return names
    }
}
