import Foundation
import KeychaindGcrypt

/// The file of the note: the accounts of the items with its key, and the note encrypted with AES-256-GCM.
struct NoteFile {
    /// The accounts of the two items.
    struct Header: Codable {
        var touch = UUID().uuidString
        var password = UUID().uuidString
    }

    private struct Contents: Codable {
        var header: Header
        var sealed: Data
    }

    private let url: URL

    /// In `$XDG_DATA_HOME/Notes`, by default `~/.local/share/Notes`.
    init() {
        let home = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
        url = home.appendingPathComponent("Notes/note.json")
    }

    /// The accounts of the items with the key; nil if there is no note.
    var header: Header? { contents?.header }

    private var contents: Contents? {
        try? JSONDecoder().decode(Contents.self, from: Data(contentsOf: url))
    }

    /// Reads the note.
    func read(with key: NoteKey) throws(NoteError) -> String {
        guard let contents, let text = try? key.open(contents.sealed) else { throw .damaged }
        return text
    }

    /// Replaces the note.
    func write(_ text: String, with key: NoteKey, _ header: Header) throws(NoteError) {
        do {
            let contents = Contents(header: header, sealed: try key.seal(text))
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try JSONEncoder().encode(contents).write(to: url, options: .atomic)
        } catch {
            throw .file(error)
        }
    }

    /// Deletes the note.
    func remove() throws(NoteError) {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            throw .file(error)
        }
    }
}

extension NoteKey {
    fileprivate func seal(_ text: String) throws -> Data {
        let cipher = try SealingKey(SecureBytes(copying: [UInt8](bytes)))
        return Data(
            try Array(text.utf8).withUnsafeBytes { try cipher.seal($0, associatedData: .init(rebasing: $0[..<0])) }
        )
    }

    fileprivate func open(_ sealed: Data) throws -> String? {
        let cipher = try SealingKey(SecureBytes(copying: [UInt8](bytes)))
        return try [UInt8](sealed).withUnsafeBytes { sealed in
            try cipher.open(sealed, associatedData: .init(rebasing: sealed[..<0]))
                .withUnsafeBytes { String(validating: $0, as: UTF8.self) }
        }
    }
}
