import ArgumentParser
import Glibc

/// The descriptors that the process was started with.
enum Descriptors {
    /// Occupies 0, 1 and 2 where they are closed; otherwise the connection to the bus could become standard output.
    ///
    /// They are opened the wrong way round: a use fails with `EBADF`, as that of a closed descriptor does.
    static func reserveStandard() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free descriptor, since those below are open.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Throws unless a descriptor of an argument was passed by the caller.
    ///
    /// Call it before anything is opened, which could get this number.
    static func check(_ descriptor: Int32?, of option: String) throws(ValidationError) {
        guard let descriptor else { return }
        guard descriptor == STDIN_FILENO || descriptor > STDERR_FILENO else {
            throw ValidationError("\(option) needs the number of a descriptor to read from")
        }
        guard fcntl(descriptor, F_GETFD) >= 0 else {
            throw ValidationError("\(option): descriptor \(descriptor) is not open")
        }
    }
}
