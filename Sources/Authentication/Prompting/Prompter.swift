package import DBus

/// A program that shows dialogs; it only shows and asks, and decides nothing.
@BusActor
package protocol Prompter: AnyObject {
    /// What it is called in logs.
    var name: String { get }

    /// Opens a dialog, which has to be closed whatever becomes of it.
    ///
    /// Returns as soon as the prompter has taken the dialog on, though it may have others to show first. Throws
    /// ``PromptError/Code/unavailable`` at once where there is no such prompter.
    func open() async throws(PromptError) -> any PromptDialog
}
