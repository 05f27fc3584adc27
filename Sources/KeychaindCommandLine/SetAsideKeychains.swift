import Glibc
import KeychaindFiles

/// Folders with keychains of other accounts that had the number of this user (docs/domain.md).
package enum SetAsideKeychains {
    /// The paths of the folders, which only root can enter; none without a domain.
    package static var folders: [String] {
        let system = "/var/lib/keychaind"
        let names = FolderListing.names(in: system) ?? []
        return names.filter { $0.hasPrefix("\(getuid()).set-aside.") }.map { "\(system)/\($0)" }
    }
}
