/// How far the answers of a dialog count.
package enum PrompterTrust: Hashable, Sendable {
    /// A person sees the dialog, as far as can be told: its answers count, and a touch at the reader while it is shown.
    case trusted

    /// A program of the user may be behind the dialog, and nobody in front of it: only what is known counts, a password.
    case passwordsOnly(reason: String)

    /// Why only passwords count; nil if all answers do.
    package var objection: String? {
        if case .passwordsOnly(let reason) = self { reason } else { nil }
    }
}
