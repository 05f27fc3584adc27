/// How long an evaluation goes on without an end.
package struct EvaluationLimits: Hashable, Sendable {
    /// How many wrong passwords one evaluation takes; touches are limited by the ``Lockout``.
    package var passwords = 5

    /// How long nothing may happen: neither an answer nor anything at the reader.
    package var silence = Duration.seconds(120)

    /// The usual limits.
    package init() {}
}
