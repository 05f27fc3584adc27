import FoundationEssentials
import Glibc
package import KeychaindCommandLine
package import KeychaindLanguage

/// What an import did, without a secret, for a person and for `keychainctl switch on`.
package struct ImportReport: Codable, Equatable, Sendable {
    /// An item that stayed behind; its texts are escaped.
    package struct Left: Codable, Equatable, Sendable {
        package let keychain: String
        package let label: String
        package let reason: String
        /// The reason for the terminal; the file has it in English.
        private(set) package var shownReason = Text.empty

        private enum CodingKeys: CodingKey {
            case keychain, label, reason
        }

        init(_ item: LeftItem) {
            keychain = item.keychain.visible
            label = item.label.visible
            reason = item.reason.english.visible
            shownReason = item.reason
        }
    }

    package var version = 1
    /// The name of the source, such as `gnome-keyring`.
    package let source: String
    /// Seconds since 1970.
    package var finished: UInt64 = 0
    /// The items of the source.
    package var items = 0
    /// The items written, new or replaced.
    package var copied = 0
    /// The items that keychaind had already.
    package var same = 0
    /// The items that stayed behind.
    package var left = 0
    /// The items of keychaind that are known to be equal to their originals.
    package var verified = 0
    package var leftItems: [Left] = []
    /// Keychains of the source that could not be opened; how many items they have is unknown.
    package var skippedKeychains: [String] = []

    /// The reason of an item that differs and stays behind because somebody decided so.
    package static let keptReason = keptText.english

    static let keptText = Text("keychaind's own was kept")

    package init(source: String) {
        self.source = source
    }

    package mutating func leave(_ items: [LeftItem]) {
        left += items.count
        leftItems += items.map(Left.init)
    }

    // MARK: The file

    /// The folder of the reports: `keychaind/imports` in the user's state folder; nil without a home folder.
    package static var folder: String? {
        DisplayEnvironment.folder("XDG_STATE_HOME", default: ".local/state").map { $0 + "/keychaind/imports" }
    }

    /// Writes the report into the folder, closed to others, and returns its path.
    package func write() throws(CommandFailure) -> String {
        guard let folder = ImportReport.folder else {
            throw CommandFailure(.inputOutput, "there is no home folder")
        }
        do {
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            let data = try encoder.encode(self)
            let path = "\(folder)/\(finished)-\(source).json"
            // Complete under its name, or not there.
            let draft = path + ".\(getpid())"
            let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw ImportReport.failure(draft) }
            let count = data.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            let isSynced = fsync(descriptor) == 0
            guard close(descriptor) == 0, isSynced, count == data.count, rename(draft, path) == 0 else {
                let failure = ImportReport.failure(path)
                unlink(draft)
                throw failure
            }
            return path
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw ImportReport.failure(folder)
        }
    }

    private static func failure(_ path: String) -> CommandFailure {
        CommandFailure(
            .inputOutput,
            "the report \(path.visible) cannot be written: \(String(cString: strerror(errno)))"
        )
    }
}
