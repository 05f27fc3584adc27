import CKeychaindLinux
import Glibc
import KeychaindFiles
import Synchronization

/// The installed catalogues, `LANGUAGE/LC_MESSAGES/keychaind.mo` in one folder.
package final class Catalogues: Sendable {
    private let folder: String
    private let mustBeRoots: Bool
    /// By name; the value is nil for a missing one.
    private let known = Mutex<[String: Language?]>([:])

    /// More names than a person has languages are another program's doing.
    private static let largestNumber = 64

    /// - Parameters:
    ///   - folder: an absolute path.
    ///   - mustBeRoots: whether root alone must be able to change a catalogue.
    package init(folder: String, mustBeRoots: Bool = false) {
        self.folder = folder
        self.mustBeRoots = mustBeRoots
    }

    /// The catalogues beside this program: `../share/locale`, from the folder of its file.
    ///
    /// No variable chooses the folder. A set-gid process might be started by a link elsewhere, so it takes only files
    /// of root.
    package static let installed = Catalogues(
        folder: programFolder + "/../share/locale",
        mustBeRoots: getauxval(UInt(AT_SECURE)) != 0
    )

    private static var programFolder: String {
        let path = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            buffer.withMemoryRebound(to: CChar.self) { buffer in
                guard let start = buffer.baseAddress else { return }
                count = max(0, readlink("/proc/self/exe", start, buffer.count))
            }
        }
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return "/nonexistent" }
        return String(decoding: path[..<slash], as: UTF8.self)
    }

    /// The first language of the list that there is; nil for none.
    package func language(for locale: LocaleNames) -> Language? {
        for name in locale.names {
            if name.prefix(while: { $0 != "_" && $0 != "@" }) == "en" { return .english }
            for candidate in LocaleNames.catalogues(for: name) {
                if let language = language(named: candidate) { return language }
            }
        }
        return nil
    }

    private func language(named name: String) -> Language? {
        known.withLock { known in
            if let language = known[name] { return language }
            if known.count >= Catalogues.largestNumber { known = known.filter { $0.value != nil } }
            let language = read(name).flatMap(Catalogue.init).map { Language(name, $0) }
            known.updateValue(language, forKey: name)
            return language
        }
    }

    private func read(_ name: String) -> [UInt8]? {
        let path = "\(folder)/\(name)/LC_MESSAGES/keychaind.mo"
        guard let file = try? RegularFile(path), file.size <= Catalogue.limit, !mustBeRoots || isRoots(file) else {
            return nil
        }
        return try? file.read(most: Catalogue.limit)
    }

    /// Whether only root can change the file and the folders that it was found by.
    private func isRoots(_ file: borrowing RegularFile) -> Bool {
        guard Catalogues.isRootsAlone(file.status), let path = realpath("/proc/self/fd/\(file.descriptor)", nil) else {
            return false
        }
        defer { free(path) }
        var parent = String(cString: path)[...]
        while let slash = parent.lastIndex(of: "/") {
            parent = parent[..<slash]
            var status = stat()
            guard stat(parent.isEmpty ? "/" : String(parent), &status) == 0, Catalogues.isRootsAlone(status) else {
                return false
            }
        }
        return true
    }

    private static func isRootsAlone(_ status: stat) -> Bool {
        status.st_uid == 0 && status.st_mode & (S_IWGRP | S_IWOTH) == 0
    }
}

extension Language {
    /// The language of this process; English without a catalogue.
    package static let ofProcess = Catalogues.installed.language(for: LocaleNames.ofProcess) ?? .english
}

extension Text {
    /// The text in the language of this process, for a terminal.
    package var localized: String { Language.ofProcess.string(self) }
}
