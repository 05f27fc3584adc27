import Foundation

/// Gives what an operation has made, or the error that it has ended with.
func reporting<Result>(
    to error: UnsafeMutablePointer<Unmanaged<CFError>?>?,
    _ operation: () throws(StatusError) -> Result
) -> Result? {
    do throws(StatusError) {
        return try operation()
    } catch let failure {
        error?.pointee = .passRetained(failure.error)
        return nil
    }
}
