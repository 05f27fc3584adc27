import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

/// The failure of a command that has changed some of several items already.
enum HalfDone {
    /// Adds to an error how far the command came; an interruption stays one.
    ///
    /// - Parameters:
    ///   - error: what ended the command.
    ///   - count: how many items are done.
    ///   - done: the same in words.
    ///   - label: that of the item at which it ended.
    static func failure(_ error: any Error, after count: Int, _ done: Text, at label: String) -> any Error {
        guard count > 0 else { return error }
        switch error {
        case is CancellationError:
            return CommandFailure(.cancelled, "interrupted; \(done)")
        case let error as SecretServiceError where error.code == .cancelled:
            return CommandFailure(.cancelled, "interrupted; \(done)")
        case let error as SecretServiceError:
            return incomplete(done, label, CommandFailure(error))
        case let failure as CommandFailure:
            return incomplete(done, label, failure)
        default:
            return error
        }
    }

    private static func incomplete(_ done: Text, _ label: String, _ failure: CommandFailure) -> CommandFailure {
        // Translators: first how many items are done, such as "2 of 5 items are deleted"
        CommandFailure(.incomplete, "\(done); it ended at “\(label.visible)”: \(failure.text)")
    }
}
