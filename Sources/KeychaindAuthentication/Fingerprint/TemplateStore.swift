import Glibc
import KeychaindFiles

/// The folder of fprintd's enrolled prints: one file per finger, `USER/DRIVER/DEVICE/FINGER`.
///
/// It belongs to root with mode 0700 and is normally unreadable. Where readable, it shows changes that fprintd does not
/// report.
package struct TemplateStore: Sendable {
    private static let folderLevels = 3
    private static let mostEntries = 128
    private static let mostBytes = 1 << 20

    private let path: String
    private let user: String

    /// - Parameter user: the owner of the prints; nil for the user of this process.
    package init(path: String = "/var/lib/fprint", user: String? = nil) {
        self.path = path
        self.user = user ?? getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) } ?? ""
    }

    /// The observable state of the user's files; blocks on disk I/O.
    ///
    /// A readable file counts by path and content, any other by path, size, inode and modification time. An unreadable
    /// folder is recorded as well. At most 128 files are listed, and files over one mebibyte are not read.
    func snapshot() -> [Template] {
        guard !user.isEmpty, !user.contains("/"), !user.hasPrefix(".") else { return [] }
        var templates: [Template] = []
        add("\(path)/\(user)", name: "", level: 0, to: &templates)
        return templates
    }

    private func add(_ path: String, name: String, level: Int, to templates: inout [Template]) {
        guard templates.count < TemplateStore.mostEntries else { return }
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno != ENOENT {
                templates.append(Template(name: name, content: .hidden))
            }
            return
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR where level <= TemplateStore.folderLevels:
            guard let names = FolderListing.names(in: path) else {
                templates.append(Template(name: name, content: .hidden))
                return
            }
            for child in names.prefix(TemplateStore.mostEntries) {
                add("\(path)/\(child)", name: "\(name)/\(child)", level: level + 1, to: &templates)
            }
        case S_IFREG:
            templates.append(Template(name: name, content: TemplateStore.content(of: path, status)))
        default:
            templates.append(Template(name: name, content: .hidden))
        }
    }

    private static func content(of path: String, _ status: stat) -> Template.Content {
        let unread = Template.Content.unread(
            size: status.st_size,
            inode: UInt64(status.st_ino),
            seconds: status.st_mtim.tv_sec,
            nanoseconds: status.st_mtim.tv_nsec
        )
        guard status.st_size <= mostBytes else { return unread }
        do throws(RegularFile.Failure) {
            return .bytes(try RegularFile(path, followingLink: false).read(most: status.st_size + 1))
        } catch {
            return unread
        }
    }
}

/// A file or folder below the user's folder of enrolled prints.
struct Template: Hashable {
    enum Content: Hashable {
        case bytes([UInt8])
        case unread(size: Int, inode: UInt64, seconds: Int, nanoseconds: Int)
        /// A folder or special file that cannot be read.
        case hidden
    }

    /// The path below the user's folder; empty for that folder.
    let name: String
    let content: Content
}
