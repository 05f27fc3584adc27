package import DBus

/// What `Completed` has told.
package struct PromptOutcome: Hashable, Sendable {
    package let isDismissed: Bool
    package let result: Variant

    package init(isDismissed: Bool, result: Variant) {
        self.isDismissed = isDismissed
        self.result = result
    }

    /// The paths, if these are the result.
    package var paths: [String]? {
        guard case .objectPaths(let paths) = result else { return nil }
        return paths.map(\.rawValue)
    }

    /// The path, if one is the result.
    package var path: ObjectPath? {
        guard case .objectPath(let path) = result else { return nil }
        return path
    }
}
