import Glibc
import KeychaindArchive
import KeychaindCommandLine
import KeychaindForeignFiles
import KeychaindGcrypt
import SecretServiceClient

/// An archive that is read item by item, after all of it was found intact.
final class ArchiveSource {
    private let path: String
    private let descriptor: CInt
    private var reader: ArchiveReader?

    /// Nil if the path is no file that begins as an archive does.
    init?(_ path: String) throws(CommandFailure) {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { return nil }
        var beginning = [UInt8](repeating: 0, count: 4)
        guard pread(file, &beginning, 4, 0) == 4, ArchiveReader.recognizes(beginning) else {
            close(file)
            return nil
        }
        descriptor = file
        self.path = path
    }

    deinit {
        close(descriptor)
    }

    /// Asks for the password, and checks the whole archive, so that a damaged one restores nothing.
    func unlock(passwordFD: Int32?, _ interruption: Interruption) throws(CommandFailure) {
        let password = try SecureBytes.password(for: "the archive", from: passwordFD, interruption)
        do throws(ArchiveError) {
            _ = try ArchiveReader.countItems(in: descriptor, password: password)
            lseek(descriptor, 0, SEEK_SET)
            reader = try ArchiveReader(from: descriptor, password: password)
        } catch {
            throw CommandFailure(error, path)
        }
    }

    func next() throws(CommandFailure) -> ArchivedItem? {
        do throws(ArchiveError) {
            guard let item = try reader?.next() else { return nil }
            return ArchivedItem(item)
        } catch {
            throw CommandFailure(error, path)
        }
    }
}

/// An item of an archive, shared by the steps of a restore.
final class ArchivedItem: Sendable {
    let item: ForeignItem

    init(_ item: consuming ForeignItem) {
        self.item = item
    }

    var keychain: String { item.keychain }

    var name: String { "“\(item.label.visible)” in “\(item.keychain.visible)”" }

    func secret() throws(SecretServiceError) -> Secret {
        try item.secret.withUnsafeBytes { (bytes) throws(SecretServiceError) in
            try Secret(copying: bytes, contentType: item.contentType)
        }
    }

    func hasSecret(_ other: borrowing Secret) -> Bool {
        let mine = item.secret.withUnsafeBytes { bytes in Array(bytes) }
        return other.withUnsafeBytes { bytes in bytes.elementsEqual(mine) }
    }
}

/// Adds the items of an archive that the provider lacks; changes none that is there.
final class ArchiveRestoration {
    private(set) var created = 0
    private(set) var same = 0
    /// The names of items that are there with another label or secret.
    private(set) var differing: [String] = []

    private let archive: ArchiveSource
    private let client: SecretClient
    private var collections: [String: SecretCollection] = [:]

    init(_ archive: ArchiveSource, to client: SecretClient) {
        self.archive = archive
        self.client = client
    }

    func run() async throws {
        let all = try await client.collections()
        for collection in all { collections[try await collection.label()] = collection }
        while let item = try archive.next() {
            try Task.checkCancellation()
            try await restore(item)
            Terminal.progress("\(created + same + differing.count) items")
        }
        Terminal.progress("")
    }

    private func restore(_ item: ArchivedItem) async throws {
        let collection = try await collection(item.keychain)
        switch try await presence(of: item, in: collection) {
        case .absent:
            let secret = try item.secret()
            try await collection.createItem(label: item.item.label, attributes: item.item.attributes, secret: secret)
            created += 1
        case .same: same += 1
        case .different: differing.append(item.name)
        }
    }

    private enum Presence {
        case absent
        case same
        case different
    }

    /// Compares with the items of equal attributes; a protected one counts as different.
    private func presence(of item: ArchivedItem, in collection: SecretCollection) async throws -> Presence {
        var result = Presence.absent
        for other in try await collection.search(item.item.attributes) {
            let properties = try await other.properties()
            guard properties.attributes == item.item.attributes else { continue }
            // Items without attributes are told apart by their labels.
            if item.item.attributes.isEmpty, properties.label != item.item.label { continue }
            guard !properties.isLocked, properties.label == item.item.label else {
                result = .different
                continue
            }
            if item.hasSecret(try await other.secret(prompting: .never)) { return .same }
            result = .different
        }
        return result
    }

    /// The unlocked keychain of a label, made if it is missing.
    private func collection(_ label: String) async throws -> SecretCollection {
        if let known = collections[label] {
            if try await known.isLocked() { try await known.unlock() }
            return known
        }
        let new = try await client.createCollection(label: label)
        collections[label] = new
        return new
    }
}
