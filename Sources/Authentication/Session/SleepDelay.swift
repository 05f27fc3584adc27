import DBus

/// The delay that logind grants before the machine sleeps.
enum SleepDelay {
    /// Not asked for.
    case none
    /// Asked for; taken when the answer comes, unless that is too late.
    case asking
    /// Granted; logind waits until the descriptor is closed.
    case held(FileDescriptor)
}
