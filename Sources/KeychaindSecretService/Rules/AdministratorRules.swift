import Glibc
import KeychaindFiles
import KeychaindModel
import KeychaindRules

/// The rules in the administrators' folder: files `*.rules`, in the order of their names, one rule a line.
package struct AdministratorRules: Sendable, Equatable {
    /// The folder of the system.
    package static let folder = "/etc/keychaind/rules.d"

    /// A line or a file that is not understood.
    package struct Mistake: Hashable, Sendable {
        /// `FILE:LINE`, or the file or folder.
        package let place: String
        package let text: String
        package let reason: String
    }

    private(set) var entries: [RuleEntry] = []
    package private(set) var mistakes: [Mistake] = []

    package static let none = AdministratorRules()

    package init() {}

    private static let maximumFiles = 1000
    private static let maximumSize = 4 << 20
    /// The most rules of all files.
    private static let maximumRules = 10_000

    /// Adds the rules of a folder; blocks on the disk.
    ///
    /// - Parameter owner: the user whose files count, besides root.
    package mutating func read(_ folder: String = AdministratorRules.folder, owner: UInt32 = 0) {
        var status = stat()
        guard stat(folder, &status) == 0 else {
            if errno != ENOENT, errno != ENOTDIR { add(folder, "it cannot be read") }
            return
        }
        guard AdministratorRules.belongs(status, to: owner), status.st_mode & S_IFMT == S_IFDIR else {
            return add(folder, "it is no folder that only an administrator can change")
        }
        var names: [String] = []
        let isRead = FolderListing.forEach(in: folder) { name in
            if name.hasSuffix(".rules"), !name.hasPrefix(".") { names.append(name) }
            return names.count <= AdministratorRules.maximumFiles
        }
        guard names.count <= AdministratorRules.maximumFiles else { return add(folder, "it has too many files") }
        if !isRead { add(folder, "it cannot be read") }
        for name in names.sorted() { readFile("\(folder)/\(name)", owner) }
    }

    private static func belongs(_ status: stat, to owner: UInt32) -> Bool {
        (status.st_uid == 0 || status.st_uid == owner) && status.st_mode & (S_IWGRP | S_IWOTH) == 0
    }

    private mutating func add(_ place: String, _ reason: String, text: String = "") {
        mistakes.append(Mistake(place: place, text: text, reason: reason))
    }

    private mutating func readFile(_ path: String, _ owner: UInt32) {
        let bytes: [UInt8]
        do throws(RegularFile.Failure) {
            let file = try RegularFile(path)
            guard AdministratorRules.belongs(file.status, to: owner) else { throw .notRegular }
            bytes = try file.read(most: AdministratorRules.maximumSize + 1)
        } catch .notRegular {
            return add(path, "it is no file that only an administrator can change")
        } catch {
            return add(path, "it cannot be read")
        }
        guard bytes.count <= AdministratorRules.maximumSize else { return add(path, "it is too long") }
        guard let text = String(validating: bytes, as: UTF8.self) else { return add(path, "it is not in UTF-8") }
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.drop { $0 == " " || $0 == "\t" }
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            let place = "\(path):\(index + 1)"
            guard entries.count < AdministratorRules.maximumRules else { return add(place, "there are too many rules") }
            do throws(RuleError) {
                entries.append(RuleEntry(try Rule(String(line)), id: place, from: .administrator(place: place)))
            } catch {
                add(place, error.reason, text: String(line.prefix(Rule.longest)))
            }
        }
    }
}
