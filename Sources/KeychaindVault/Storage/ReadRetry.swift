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

    /// Whether the file is tried again at intervals: the cause may pass, or somebody may give access back.
    var isTriedAgain: Bool { mayPass || code == .readOnly }
}

/// Reads a file again after a failure that may pass, or damage; blocks for a twentieth of a second or so.
///
/// A disk that once returns less of a page than there is makes a sound file look damaged; that needs no pause.
///
/// - Parameters:
///   - isSound: whether the contents need no other look.
///   - read: told whether it was called before; then it must not use what a connection has cached.
func retryingRead<Contents>(
    until isSound: (Contents) -> Bool = { _ in true },
    _ read: (_ isAgain: Bool) throws(VaultError) -> Contents
) throws(VaultError) -> Contents {
    var isAgain = false
    for milliseconds: UInt32 in [5, 50] {
        do throws(VaultError) {
            let contents = try read(isAgain)
            if isSound(contents) { return contents }
            usleep(milliseconds * 1000)
        } catch {
            guard error.isTriedAgain || error.code == .unreadable else { throw error }
            if error.isTriedAgain { usleep(milliseconds * 1000) }
        }
        isAgain = true
    }
    return try read(isAgain)
}
