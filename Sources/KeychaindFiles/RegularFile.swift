package import Glibc

/// A regular file that is open for reading; a pipe or a terminal in its place is refused without a wait.
package struct RegularFile: ~Copyable {
    package enum Failure: Error, Equatable {
        /// By the number of the error.
        case system(CInt)
        case notRegular

        package var reason: String {
            switch self {
            case .system(let number): String(cString: strerror(number))
            case .notRegular: "it is not a file"
            }
        }
    }

    package let descriptor: CInt
    package let status: stat

    package init(_ path: String, followingLink: Bool = true) throws(Failure) {
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (followingLink ? 0 : O_NOFOLLOW)
        let descriptor = open(path, flags)
        guard descriptor >= 0 else { throw .system(errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .notRegular
        }
        self.descriptor = descriptor
        self.status = status
    }

    deinit {
        close(descriptor)
    }

    package var size: Int { Int(status.st_size) }

    /// Reads to the end, or as many bytes.
    package func read(most: Int = .max) throws(Failure) -> [UInt8] {
        guard let bytes = FileBytes.read(descriptor, most: most) else { throw .system(errno) }
        return bytes
    }
}
