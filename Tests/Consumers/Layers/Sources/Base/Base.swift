import LocalAuthentication
import Security

/// A context for an application password, whose result programs ignore.
public func context(_ password: Data) -> LAContext {
    let context = LAContext()
    context.setCredential(password, type: .applicationPassword)
    return context
}

/// The service of a query that is filled and read by keys.
public func service(_ name: String) -> String? {
    let query = NSMutableDictionary()
    query.setValue(name, forKey: kSecAttrService as String)
    return (query as NSDictionary).value(forKey: kSecAttrService as String) as? String
}
