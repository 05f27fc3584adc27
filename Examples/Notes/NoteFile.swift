import Foundation

/// The file of the note: the accounts of the items with its key, and the encrypted note.
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
        guard let contents else { throw .damaged }
        return try key.open(contents.sealed)
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
