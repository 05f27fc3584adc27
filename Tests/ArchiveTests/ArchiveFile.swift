import Foundation
import KeychaindArchive
import KeychaindForeignFiles
import KeychaindGcrypt
import KeychaindTestSupport

/// A file with an archive, whose password is `password`.
final class ArchiveFile {
    private let folder: TemporaryFolder
    let path: String
    private var opened: [FileHandle] = []
    private let cost = Argon2id(memoryKiB: 8, iterations: 1, lanes: 1)

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("archive")
    }

    func write(
        limits: ArchiveLimits = ArchiveLimits(),
        _ body: (inout ArchiveWriter) throws(ArchiveError) -> Void
    ) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(descriptor) }
        var writer = try ArchiveWriter(
            to: descriptor,
            password: try SecureBytes(copying: Array("password".utf8)),
            cost: cost,
            limits: limits
        )
        try body(&writer)
        try writer.finish()
    }

    /// Writes a keychain with items that have these secrets.
    func write(secrets: [[UInt8]], limits: ArchiveLimits = ArchiveLimits()) throws {
        try write(limits: limits) { (writer) throws(ArchiveError) in
            try writer.append(keychain: ArchivedKeychain(label: "login", created: 1, modified: 2))
            for secret in secrets {
                try writer.append(
                    label: "label",
                    attributes: ["a": "b"],
                    created: 3,
                    modified: 4,
                    contentType: "text/plain",
                    bytes: secret
                )
            }
        }
    }

    /// Writes content that no writer would.
    func write(content: [UInt8]) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(descriptor) }
        let password = try SecureBytes(copying: Array("password".utf8))
        let new = try ArchiveHeader.make(password: password, cost: cost, created: 0)
        var output = try ArchiveOutput(descriptor, header: new.header, key: new.key)
        try content.span.withUnsafeBytes { (bytes) throws(ArchiveError) in try output.append(bytes) }
        try output.finish()
    }

    func reader(password: String = "password", limits: ArchiveLimits = ArchiveLimits()) throws -> ArchiveReader {
        try opened.append(FileHandle(forReadingFrom: URL(fileURLWithPath: path)))
        let descriptor = opened[opened.count - 1].fileDescriptor
        return try ArchiveReader(
            from: descriptor,
            password: try SecureBytes(copying: Array(password.utf8)),
            limits: limits
        )
    }

    /// Reads the whole archive and returns the number of its items.
    @discardableResult
    func count(password: String = "password") throws -> UInt64 {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        var reader = try ArchiveReader(
            from: descriptor,
            password: try SecureBytes(copying: Array(password.utf8))
        )
        while try reader.next() != nil {}
        return reader.itemCount
    }

    func bytes() throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

    func replace(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }
}

/// A copy of an item to compare.
struct PlainItem: Equatable {
    var keychain: String
    var label: String
    var attributes: [String: String]
    var secret: [UInt8]
    var contentType: String
    var created: UInt64?
    var modified: UInt64?
}

extension ForeignItem {
    var plain: PlainItem {
        PlainItem(
            keychain: keychain,
            label: label,
            attributes: attributes,
            secret: secret.withUnsafeBytes { Array($0) },
            contentType: contentType,
            created: created,
            modified: modified
        )
    }
}

extension ArchiveWriter {
    mutating func append(
        label: String,
        attributes: [String: String],
        created: UInt64?,
        modified: UInt64?,
        contentType: String,
        bytes: [UInt8]
    ) throws(ArchiveError) {
        try bytes.span.withUnsafeBytes { (secret) throws(ArchiveError) in
            try append(
                label: label,
                attributes: attributes,
                created: created,
                modified: modified,
                contentType: contentType,
                secret: secret
            )
        }
    }
}
