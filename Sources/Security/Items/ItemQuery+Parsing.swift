import Foundation
import KeychaindModel

extension ItemQuery {
    /// Reads a query; throws for unknown keys, values of the wrong type and contradictions.
    ///
    /// - Parameter otherClass: the class of the attributes, if the query does not name one.
    init(_ query: CFDictionary, of otherClass: ItemClass? = nil) throws(StatusError) {
        var unread = try QueryValue.entries(of: query)
        try readClass(&unread)
        // Most queries have few of these, and each look-up converts a name.
        let hasUse = unread.keys.contains { $0.hasPrefix("u_") }
        let hasMatch = unread.keys.contains { $0.hasPrefix("m_") }
        let hasValue = unread.keys.contains { $0.hasPrefix("v_") }
        if hasValue { try readReferences(&unread) }
        if hasMatch { try readLimit(&unread) }
        if hasMatch || hasUse { try readMatches(&unread) }
        if unread.keys.contains(where: { $0.hasPrefix("r_") }) { try readReturns(&unread) }
        if hasUse { try readInteraction(&unread) }
        // There is only one keychain.
        _ = try readFlag(kSecUseDataProtectionKeychain, &unread)
        if hasValue { try readSecret(&unread) }
        try readProtection(&unread)
        try readDates(&unread)
        try readAttributes(&unread, areKeys: isIdentity || (itemClass ?? otherClass) == .key)
        if let key = unread.keys.min() {
            throw ItemQuery.refusal(of: key)
        }
        try checkAttributes()
    }

    /// Apple's keys without a counterpart.
    private static let unsupportedKeys: Set<String> = Set(
        [
            kSecAttrAccess, kSecMatchPolicy, kSecMatchSearchList, kSecUseKeychain,
            kSecAttrIsSensitive, kSecAttrPersistentReference, kSecAttrSyncViewHint, kSecAttrPRF, kSecAttrSalt,
            kSecAttrRounds, kSecMatchHostOrSubdomainOfHost, kSecUseUserIndependentKeychain,
        ].map { $0 as String }
    )

    /// The error for a key that was not read.
    ///
    /// Keys that begin with a letter and an underscore are not those of attributes.
    private static func refusal(of key: String) -> StatusError {
        guard !unsupportedKeys.contains(key) else {
            return StatusError(errSecUnimplemented, "the key \(key) is not supported")
        }
        let isAttribute = !key.dropFirst().hasPrefix("_")
        return StatusError(isAttribute ? errSecNoSuchAttr : errSecParam, "the key \(key) is unknown")
    }

    private mutating func readClass(_ unread: inout [String: QueryValue]) throws(StatusError) {
        guard let value = unread.removeValue(forKey: kSecClass as String) else { return }
        guard case .text(let text) = value else { throw StatusError(errSecParam, "kSecClass is not text") }
        itemClass = ItemClass.allCases.first { $0.code == text }
        isIdentity = text == kSecClassIdentity as String
        guard itemClass != nil || isIdentity else { throw StatusError(errSecParam, "the class \(text) is unknown") }
    }

    private mutating func readReferences(_ unread: inout [String: QueryValue]) throws(StatusError) {
        if let value = unread.removeValue(forKey: kSecValuePersistentRef as String) {
            guard case .data(let bytes) = value, let stored = PersistentReference(bytes) else {
                throw StatusError(errSecParam, "kSecValuePersistentRef is not a reference to an item")
            }
            reference = stored
        }
        if let value = unread.removeValue(forKey: kSecValueRef as String) {
            guard case .object(let named) = value, reference == nil else {
                throw StatusError(errSecInvalidItemRef, "kSecValueRef is not a reference to an item")
            }
            try readObject(named)
        }
        guard let reference, itemClass != nil || isIdentity else {
            isIdentity = isIdentity || reference?.isIdentity == true
            return
        }
        guard reference.isIdentity == isIdentity else {
            throw StatusError(errSecInvalidItemRef, "the reference has another class")
        }
    }

    private mutating func readObject(_ named: AnyObject) throws(StatusError) {
        if let item = named as? SecKeychainItem {
            reference = item.reference
            return
        }
        object = ReferencedObject(named)
        guard object != nil else {
            throw StatusError(errSecInvalidItemRef, "kSecValueRef is not a reference to an item")
        }
        if itemClass == nil, !isIdentity {
            itemClass = object?.itemClass
            isIdentity = itemClass == nil
        }
        guard itemClass == object?.itemClass else {
            throw StatusError(errSecParam, "the reference has another class")
        }
    }

    private mutating func readLimit(_ unread: inout [String: QueryValue]) throws(StatusError) {
        if let value = unread.removeValue(forKey: kSecMatchLimit as String) {
            switch value {
            case .text(let text) where text == kSecMatchLimitOne as String: limit = .one
            case .text(let text) where text == kSecMatchLimitAll as String: limit = .all
            case .number(let number) where number > 0: limit = number == 1 ? .one : .count(Int(clamping: number))
            default: throw StatusError(errSecParam, "kSecMatchLimit is invalid")
            }
        }
    }

    private mutating func readMatches(_ unread: inout [String: QueryValue]) throws(StatusError) {
        ignoresCase = try readFlag(kSecMatchCaseInsensitive, &unread) ?? false
        for key in [kSecMatchItemList, kSecUseItemList] {
            guard let value = unread.removeValue(forKey: key as String) else { continue }
            guard case .object(let object) = value, let list = object as? NSArray else {
                throw StatusError(errSecParam, "\(key) is not an array")
            }
            candidates = try list.map { (element) throws(StatusError) in try ListedItem(element) }
        }
        conditions = try CertificateConditions(&unread, ignoresCase: ignoresCase)
    }

    private mutating func readReturns(_ unread: inout [String: QueryValue]) throws(StatusError) {
        let keys: [(CFString, Returns)] = [
            (kSecReturnData, .data), (kSecReturnAttributes, .attributes), (kSecReturnRef, .reference),
            (kSecReturnPersistentRef, .persistentReference),
        ]
        for (key, returned) in keys where try readFlag(key, &unread) == true {
            returns.insert(returned)
        }
    }

    private mutating func readInteraction(_ unread: inout [String: QueryValue]) throws(StatusError) {
        if try readFlag(kSecUseNoAuthenticationUI, &unread) == true { interaction = .fail }
        if let value = unread.removeValue(forKey: kSecUseAuthenticationContext as String) {
            guard case .object(let object) = value, let source = object as? any AuthenticationContextSource else {
                throw StatusError(errSecParam, "kSecUseAuthenticationContext is not an LAContext")
            }
            let snapshot = source.snapshot
            guard snapshot.isUsable else { throw StatusError(errSecAuthFailed, "the LAContext was invalidated") }
            context = snapshot
            contextSource = source
        }
        if let prompt = unread.removeValue(forKey: kSecUseOperationPrompt as String) {
            guard case .text(let text) = prompt else {
                throw StatusError(errSecParam, "kSecUseOperationPrompt is not text")
            }
            operationPrompt = text
        }
        guard let value = unread.removeValue(forKey: kSecUseAuthenticationUI as String) else { return }
        switch value {
        case .text(let text) where text == kSecUseAuthenticationUIAllow as String: interaction = .ask
        case .text(let text) where text == kSecUseAuthenticationUIFail as String: interaction = .fail
        case .text(let text) where text == kSecUseAuthenticationUISkip as String: interaction = .skip
        default: throw StatusError(errSecParam, "kSecUseAuthenticationUI is invalid")
        }
    }

    private mutating func readSecret(_ unread: inout [String: QueryValue]) throws(StatusError) {
        guard let value = unread.removeValue(forKey: kSecValueData as String) else { return }
        guard case .data(let bytes) = value else { throw StatusError(errSecParam, "kSecValueData is not data") }
        data = bytes
    }

    private mutating func readProtection(_ unread: inout [String: QueryValue]) throws(StatusError) {
        if let value = unread.removeValue(forKey: kSecAttrAccessControl as String) {
            guard case .object(let object) = value, let control = object as? SecAccessControl else {
                throw StatusError(errSecParam, "kSecAttrAccessControl is not a SecAccessControl")
            }
            values[.accessible] = .text(control.accessibility.rawValue)
            values[.accessControl] = control.constraints.map(KeychainValue.text)
            isUnconstrained = control.constraints == nil
        }
        if let value = unread.removeValue(forKey: kSecAttrAccessible as String) {
            guard case .text(let code) = value, let accessibility = Accessibility(code: code) else {
                throw StatusError(errSecParam, "kSecAttrAccessible is invalid")
            }
            let read = KeychainValue.text(accessibility.rawValue)
            // Results contain both, with equal values.
            guard values[.accessible] ?? read == read else {
                throw StatusError(errSecParam, "kSecAttrAccessible differs from the access control")
            }
            values[.accessible] = read
        }
        if let value = unread.removeValue(forKey: kSecAttrSynchronizable as String) {
            switch value {
            case .text(let text) where text == kSecAttrSynchronizableAny as String: synchronizable = .any
            case .number(let number): synchronizable = number == 0 ? .no : .yes
            default: throw StatusError(errSecParam, "kSecAttrSynchronizable is neither true nor false")
            }
        }
    }

    private mutating func readAttributes(
        _ unread: inout [String: QueryValue],
        areKeys: Bool
    ) throws(StatusError) {
        if let value = unread.removeValue(forKey: kSecAttrLabel as String) {
            guard case .text(let text)? = value.value(as: .text) else {
                throw StatusError(errSecParam, "kSecAttrLabel is not text")
            }
            label = text
            if case .data = value { isLabelData = true }
        }
        let rest = unread
        unread = [:]
        for (key, value) in rest {
            guard let attribute = KeychainAttribute(code: key, areKeys: areKeys) else {
                unread[key] = value
                continue
            }
            guard let read = value.value(as: attribute.kind) else {
                throw StatusError(errSecParam, "the attribute \(key) has a value of the wrong type")
            }
            // As on Apple's systems, where no program is in it: an item without a group is in the program's own.
            guard attribute != .accessGroup || !read.isEmpty else {
                throw StatusError(errSecMissingEntitlement, "no program is in an access group without a name")
            }
            values[attribute] = read
        }
    }

    private mutating func readDates(_ unread: inout [String: QueryValue]) throws(StatusError) {
        created = try readDate(kSecAttrCreationDate, &unread)
        modified = try readDate(kSecAttrModificationDate, &unread)
    }

    private func readDate(_ key: CFString, _ unread: inout [String: QueryValue]) throws(StatusError) -> Double? {
        guard let value = unread.removeValue(forKey: key as String) else { return nil }
        guard case .date(let date) = value else { throw StatusError(errSecParam, "\(key) is not a date") }
        return date.timeIntervalSince1970
    }

    func readFlag(
        _ key: CFString,
        _ unread: inout [String: QueryValue]
    ) throws(StatusError) -> Bool? {
        guard let value = unread.removeValue(forKey: key as String) else { return nil }
        guard let flag = value.flag else { throw StatusError(errSecParam, "\(key) is neither true nor false") }
        return flag
    }
}
