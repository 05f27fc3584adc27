import Glibc

extension VaultError {
    /// Whether the cause is the disk, the memory or another program at this moment, and not the file.
    ///
    /// A file that could not be read for such a cause is not damaged: it is left where it is, and read again later.
    var mayPass: Bool {
        switch code {
        case .storageFailed, .storageFull, .limitExceeded, .busy: true
        default: false
        }
    }
}

/// Reads a file again at once after a failure that may pass; blocks for a twentieth of a second or so.
func retryingRead<Result>(_ read: () throws(VaultError) -> Result) throws(VaultError) -> Result {
    for milliseconds: UInt32 in [5, 50] {
        do throws(VaultError) {
            return try read()
        } catch {
            guard error.mayPass else { throw error }
            usleep(milliseconds * 1000)
        }
    }
    return try read()
}
