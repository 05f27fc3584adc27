import DBus

/// A session of logind's.
package struct LogindSession: Hashable, Sendable {
    /// Its id, such as `2` or `c1`.
    let id: String
    let path: ObjectPath
}
