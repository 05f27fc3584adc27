import Glibc
import KeychaindDesktop

/// The keychaind that has a folder of keychains open.
enum KeychainHolder {
    /// The process; nil if it is another program, or one that this process cannot see, as in a container.
    ///
    /// The kernel lists the lock of the folder by the number of its file.
    static func process(in directory: String) -> pid_t? {
        var status = stat()
        guard stat("\(directory)/lock", &status) == 0,
            let locks = ProcessFolder.read("/proc/locks", limit: 1 << 20)
        else { return nil }
        for line in String(decoding: locks, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 5, words[1] == "FLOCK", words[5].hasSuffix(":\(status.st_ino)"),
                let process = pid_t(words[4])
            else { continue }
            // A file of another file system may have the same number.
            let name = ProcessFolder(process, in: "/proc").read("comm", limit: 16)
            if name?.dropLast().elementsEqual("keychaind".utf8) == true { return process }
        }
        return nil
    }
}
