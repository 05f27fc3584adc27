package import Glibc

/// A process's folder in /proc, read with bounds: everything in it may be what the process wants it to be.
package struct ProcessFolder {
    package let path: String

    /// - Parameter root: where the processes are.
    package init(_ id: Int32, in root: String) {
        self.init("\(id)", in: root)
    }

    /// The same by the folder's name, such as `self`.
    package init(_ name: String, in root: String) {
        path = "\(root)/\(name)"
    }

    /// The start of a file, up to a number of bytes; nil if it cannot be read, or is no regular file.
    ///
    /// May block for as long as the process likes if the file is in a file system of the process's.
    package func read(_ name: String, limit: Int) -> [UInt8]? {
        ProcessFolder.read("\(path)/\(name)", limit: limit)
    }

    /// The same for any path.
    package static func read(_ path: String, limit: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            while count < limit {
                let result = Glibc.read(descriptor, buffer.baseAddress! + count, limit - count)
                guard result > 0 else { break }
                count += result
            }
        }
    }

    /// Where a link leads; nil if it cannot be read.
    package func link(_ name: String) -> String? {
        let target = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            buffer.withMemoryRebound(to: CChar.self) { buffer in
                count = max(0, readlink("\(path)/\(name)", buffer.baseAddress!, buffer.count))
            }
        }
        return target.isEmpty ? nil : String(decoding: target, as: UTF8.self)
    }

    /// What a file's inode says, after following links.
    package func status(of name: String) -> stat? {
        ProcessFolder.status(at: "\(path)/\(name)")
    }

    /// The same for any path.
    package static func status(at path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }
}
