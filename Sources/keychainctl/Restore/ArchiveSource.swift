import Glibc
import KeychaindArchive
import KeychaindCommandLine
import KeychaindForeignFiles
import KeychaindGcrypt
import KeychaindImport
import KeychaindLanguage

/// The file of an archive.
final class ArchiveSource {
    private let path: String
    private let descriptor: CInt

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

    /// Asks for the password, and returns all items of the archive by keychain; none of a damaged one.
    func items(
        passwordFD: Int32?,
        _ interruption: Interruption
    ) throws(CommandFailure) -> [(keychain: String, items: [ImportedItem])] {
        let password = try SecureBytes.password(for: Text("the archive"), from: passwordFD, interruption)
        do throws(ArchiveError) {
            var reader = try ArchiveReader(from: descriptor, password: password)
            return try read(&reader)
        } catch {
            throw CommandFailure(error, path)
        }
    }

    private func read(
        _ reader: inout ArchiveReader
    ) throws(ArchiveError) -> [(keychain: String, items: [ImportedItem])] {
        var keychains: [(keychain: String, items: [ImportedItem])] = []
        var indices: [String: Int] = [:]
        while let item = try reader.next() {
            let index = indices[item.keychain] ?? keychains.endIndex
            if index == keychains.endIndex {
                indices[item.keychain] = index
                keychains.append((item.keychain, []))
            }
            keychains[index].items.append(ImportedItem(item))
        }
        return keychains
    }
}
