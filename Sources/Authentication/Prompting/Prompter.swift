package import DBus

/// A program that shows dialogs; it only shows and asks, and decides nothing.
@BusActor
package protocol Prompter: AnyObject {
    /// What it is called in logs.
    var name: String { get }

    /// Whether a dialog can probably be opened for a caller at this moment; it is found out without starting or showing anything.
    ///
    /// - Parameter caller: the unique name of the connection on whose behalf a person would be asked.
    func isAvailable(for caller: String) async -> Bool

    /// Opens a dialog, which has to be closed whatever becomes of it.
    ///
    /// Returns as soon as the prompter has taken the dialog on, though it may have others to show first. Throws
    /// ``PromptError/Code/unavailable`` at once where there is no such prompter, or it cannot ask that kind of question.
    ///
    /// - Parameters:
    ///   - caller: the unique name of the connection on whose behalf a person is asked.
    ///   - question: the first that will be asked in it.
    func open(for caller: String, asking question: PromptRequest.Question) async throws(PromptError) -> any PromptDialog
}
