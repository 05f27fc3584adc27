import Glibc
import KeychaindArchive
import KeychaindCommandLine
import KeychaindFiles
import KeychaindGcrypt
import KeychaindLanguage
import SecretServiceClient

/// Takes keychains and their items, in this order.
protocol ExportWriter: AnyObject {
    func begin(_ keychain: ArchivedKeychain) throws(CommandFailure)
    func append(_ record: SecretItemRecord, _ secret: borrowing Secret) throws(CommandFailure)
    func finish() throws(CommandFailure)
}

/// Writes an encrypted archive.
final class ArchiveExportWriter: ExportWriter {
    private var writer: ArchiveWriter
    private let path: String

    init(_ descriptor: CInt, path: String, password: borrowing SecureBytes) throws(CommandFailure) {
        self.path = path
        do throws(ArchiveError) {
            writer = try ArchiveWriter(to: descriptor, password: password)
        } catch {
            throw CommandFailure(error, path)
        }
    }

    func begin(_ keychain: ArchivedKeychain) throws(CommandFailure) {
        do throws(ArchiveError) { try writer.append(keychain: keychain) } catch { throw CommandFailure(error, path) }
    }

    func append(_ record: SecretItemRecord, _ secret: borrowing Secret) throws(CommandFailure) {
        let contentType = secret.contentType
        try secret.withUnsafeBytes { (bytes) throws(CommandFailure) in
            try append(record.properties, contentType: contentType, bytes)
        }
    }

    private func append(
        _ properties: SecretItem.Properties,
        contentType: String,
        _ secret: UnsafeRawBufferPointer
    ) throws(CommandFailure) {
        do throws(ArchiveError) {
            try writer.append(
                label: properties.label,
                attributes: properties.attributes,
                created: properties.created,
                modified: properties.modified,
                contentType: contentType,
                secret: secret
            )
        } catch {
            throw CommandFailure(error, path)
        }
    }

    func finish() throws(CommandFailure) {
        do throws(ArchiveError) { try writer.finish() } catch { throw CommandFailure(error, path) }
    }
}

enum ArchiveCheck {
    /// Reads an archive back; throws unless it has a number of items.
    static func check(
        _ descriptor: CInt,
        path: String,
        password: borrowing SecureBytes,
        items: Int
    ) throws(CommandFailure) {
        lseek(descriptor, 0, SEEK_SET)
        do throws(ArchiveError) {
            guard try ArchiveReader.countItems(in: descriptor, password: password) == UInt64(items) else {
                throw ArchiveError(.damaged, reason: "it lacks items when it is read back")
            }
        } catch {
            throw CommandFailure(error, path)
        }
    }
}

extension CommandFailure {
    init(_ error: ArchiveError, _ path: String) {
        let status: ExitStatus =
            switch error.code {
            case .notAnArchive, .unsupported, .truncated, .damaged: .badData
            case .wrongPassword: .wrongPassword
            case .inputOutput: .inputOutput
            case .limitExceeded, .cryptographyFailed: .failure
            }
        self.init(status, Text("“\(path.visible)”: \(error.reason)"))
    }
}

/// Writes unencrypted JSON.
///
/// A secret is `secret` if it is UTF-8, else `secret-base64`.
final class PlainExportWriter: ExportWriter {
    private let descriptor: CInt
    private let path: String
    private var isFirstKeychain = true
    private var isFirstItem = true

    init(_ descriptor: CInt, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    func begin(_ keychain: ArchivedKeychain) throws(CommandFailure) {
        var text = Array((isFirstKeychain ? "{\"keychains\": [" : "\n  ]},").utf8)
        isFirstKeychain = false
        isFirstItem = true
        text += Array("\n {\"label\": ".utf8)
        JSON.append(keychain.label, to: &text)
        try write(&text, ending: ", \"items\": [")
    }

    func append(_ record: SecretItemRecord, _ secret: borrowing Secret) throws(CommandFailure) {
        let properties = record.properties
        var text = Array((isFirstItem ? "\n  {\"label\": " : ",\n  {\"label\": ").utf8)
        isFirstItem = false
        JSON.append(properties.label, to: &text)
        text += Array(", \"attributes\": {".utf8)
        for (index, attribute) in properties.attributes.sorted(by: { $0.key < $1.key }).enumerated() {
            if index > 0 { text += Array(", ".utf8) }
            JSON.append(attribute.key, to: &text)
            text += Array(": ".utf8)
            JSON.append(attribute.value, to: &text)
        }
        text += Array("}, \"created\": \(properties.created), \"modified\": \(properties.modified)".utf8)
        text += Array(", \"content-type\": ".utf8)
        JSON.append(secret.contentType, to: &text)
        text += Array(", ".utf8)
        JSON.append(secret, isMember: true, to: &text)
        try write(&text, ending: "}")
    }

    func finish() throws(CommandFailure) {
        var text: [UInt8] = []
        try write(&text, ending: isFirstKeychain ? "{\"keychains\": []}\n" : "\n  ]}\n]}\n")
    }

    /// Writes and wipes the bytes.
    private func write(_ bytes: inout [UInt8], ending: String) throws(CommandFailure) {
        bytes += Array(ending.utf8)
        defer { bytes.withUnsafeMutableBytes { wipe($0) } }
        guard bytes.withUnsafeBytes({ FileBytes.write($0, to: descriptor) }) else {
            let reason = String(cString: strerror(errno))
            throw CommandFailure(.inputOutput, "“\(path.visible)” cannot be written: \(reason)")
        }
    }
}
