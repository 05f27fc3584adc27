public import Foundation

// `nonisolated(unsafe)`: constants, of a class that cannot say that its immutable ones are Sendable.

/// Whether to give the secret.
public nonisolated(unsafe) let kSecReturnData: CFString = "r_Data"

/// Whether to give the attributes.
public nonisolated(unsafe) let kSecReturnAttributes: CFString = "r_Attributes"

/// Whether to give a reference.
public nonisolated(unsafe) let kSecReturnRef: CFString = "r_Ref"

/// Whether to give a reference that can be stored.
public nonisolated(unsafe) let kSecReturnPersistentRef: CFString = "r_PersistentRef"

/// The secret.
public nonisolated(unsafe) let kSecValueData: CFString = "v_Data"

/// A reference.
public nonisolated(unsafe) let kSecValueRef: CFString = "v_Ref"

/// A reference that was stored.
public nonisolated(unsafe) let kSecValuePersistentRef: CFString = "v_PersistentRef"
