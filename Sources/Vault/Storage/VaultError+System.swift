import Glibc

extension VaultError {
    /// The failure that an error number of the system stands for.
    init(errno number: CInt, doing what: String) {
        let code: Code =
            switch number {
            case ENOSPC, EDQUOT: .storageFull
            case EACCES, EPERM, EROFS: .readOnly
            default: .storageFailed
            }
        self.init(code, reason: "could not \(what): \(String(cString: strerror(number)))")
    }
}
