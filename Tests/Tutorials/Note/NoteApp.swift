import KeychaindTestSupport
import SwiftUI

/// What the toolbar is part of: a note that is locked at first, and says what becomes of it.
@MainActor
final class NoteApp {
    let changes = Recorder<String>()
    private var isLocked = true

    var toolbar: ToolbarView {
        ToolbarView(
            noteLocked: Binding(get: { self.isLocked }, set: { self.setLocked($0) }),
            showUnlockModal: Binding(get: { false }, set: { _ in self.changes.record("password") })
        )
    }

    private func setLocked(_ isLocked: Bool) {
        self.isLocked = isLocked
        changes.record(isLocked ? "locked" : "unlocked")
    }
}
