public import Foundation

/// What a status means, in words for people; nil for one that means nothing here.
///
/// - Parameters:
///   - status: what a function has answered.
///   - reserved: not used.
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    let tables = [generalErrorMessages, validationErrorMessages, parameterErrorMessages, recordErrorMessages]
    return tables.lazy.compactMap { $0[status] }.first as NSString?
}
