/// What ``kSecUseAuthenticationContext`` takes: an `LAContext`, which this module does not know.
package protocol AuthenticationContextSource: AnyObject, Sendable {
    /// How it is now. It is asked for on the thread of the program's call, for it may run the program's own code.
    var snapshot: any AuthenticationSnapshot { get }
}
