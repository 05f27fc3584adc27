import CKeychaindLinux
import Glibc
import KeychaindDBus
import KeychaindGcrypt
import KeychaindRights

/// The password at the start, never in an argument or variable that other processes could read.
enum StartPassword {
    /// The name of the systemd credential with the password (systemd.exec(5), "CREDENTIALS").
    static let credential = "keychaind.password"

    /// The descriptor from the command line, or of the credential; nil if there is neither.
    static func descriptor(_ options: Options) -> Int32? {
        if let descriptor = options.passwordDescriptor {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            return descriptor
        }
        guard let folder = getenv("CREDENTIALS_DIRECTORY").map({ String(cString: $0) }), folder.hasPrefix("/") else {
            return nil
        }
        let descriptor = UserRights.perform {
            open("\(folder)/\(credential)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        }
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}

extension StartPassword {
    /// A password that is read while the vault is opened.
    @BusActor
    struct Reading {
        private let task: Task<Handoff<PasswordDescriptor.Outcome>, Never>

        /// Reads the descriptor on a thread of its own, and closes it unless it is a standard one.
        init(from descriptor: Int32) {
            // Like a task of `BusActor.start(_:)`, but with a result.
            task = Task.immediate(executorPreference: BusActor.loop) { @BusActor in
                await BlockingThread.run {
                    let outcome = PasswordDescriptor.read(from: descriptor)
                    if descriptor > STDERR_FILENO { close(descriptor) }
                    return Handoff(outcome)
                }
            }
        }

        /// Waits for the password; to be called once.
        func outcome() async -> PasswordDescriptor.Outcome {
            await task.value.take() ?? .failure("it was used before")
        }
    }
}
