import Security
import Testing

/// Names each symbol that code for Apple's keychain uses; mostly, the test is that it compiles.
struct SymbolTests {
    @Test
    func types_areDeclared() {
        let types: [Any.Type] = [
            CFDictionary.self, CFMutableDictionary.self, CFArray.self, CFData.self, CFNumber.self, CFDate.self,
            CFString.self, CFBoolean.self, CFTypeRef.self, CFError.self, CFOptionFlags.self, CFIndex.self,
            CFAllocator.self, OSStatus.self, NSErrorPointer.self, SecAccessControl.self,
            SecAccessControlCreateFlags.self, SecKey.self, SecCertificate.self, SecIdentity.self,
        ]
        #expect(types.count == 20)
        #expect(kCFBooleanTrue == true && kCFBooleanFalse == false && kCFAllocatorDefault == nil && noErr == 0)
    }

    @Test
    func functions_haveApplesTypes() {
        let add: (CFDictionary, UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus = SecItemAdd
        let copy: (CFDictionary, UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus = SecItemCopyMatching
        let update: (CFDictionary, CFDictionary) -> OSStatus = SecItemUpdate
        let delete: (CFDictionary) -> OSStatus = SecItemDelete
        let message: (OSStatus, UnsafeMutableRawPointer?) -> CFString? = SecCopyErrorMessageString
        let control:
            (CFAllocator?, CFTypeRef, SecAccessControlCreateFlags, UnsafeMutablePointer<Unmanaged<CFError>?>?) ->
                SecAccessControl? = SecAccessControlCreateWithFlags
        let random: (SecRandomRef?, Int, UnsafeMutableRawPointer) -> OSStatus = SecRandomCopyBytes
        let domain: (CFError?) -> CFString? = CFErrorGetDomain
        let code: (CFError?) -> CFIndex = CFErrorGetCode
        let userInfo: (CFError?) -> CFDictionary? = CFErrorCopyUserInfo
        typealias ErrorResult = UnsafeMutablePointer<Unmanaged<CFError>?>?
        let createKey: (CFData, CFDictionary, ErrorResult) -> SecKey? = SecKeyCreateWithData
        let makeKey: (CFDictionary, ErrorResult) -> SecKey? = SecKeyCreateRandomKey
        let exportKey: (SecKey, ErrorResult) -> CFData? = SecKeyCopyExternalRepresentation
        let attributes: (SecKey) -> CFDictionary? = SecKeyCopyAttributes
        let publicKey: (SecKey) -> SecKey? = SecKeyCopyPublicKey
        let blockSize: (SecKey) -> Int = SecKeyGetBlockSize
        let createCertificate: (CFAllocator?, CFData) -> SecCertificate? = SecCertificateCreateWithData
        let certificateData: (SecCertificate) -> CFData = SecCertificateCopyData
        let summary: (SecCertificate) -> CFString? = SecCertificateCopySubjectSummary
        let commonName: (SecCertificate, UnsafeMutablePointer<CFString?>) -> OSStatus = SecCertificateCopyCommonName
        let addresses: (SecCertificate, UnsafeMutablePointer<CFArray?>) -> OSStatus = SecCertificateCopyEmailAddresses
        let certificateKey: (SecCertificate) -> SecKey? = SecCertificateCopyKey
        let serialNumber: (SecCertificate, ErrorResult) -> CFData? = SecCertificateCopySerialNumberData
        let certificate: (SecIdentity, UnsafeMutablePointer<SecCertificate?>) -> OSStatus = SecIdentityCopyCertificate
        let privateKey: (SecIdentity, UnsafeMutablePointer<SecKey?>) -> OSStatus = SecIdentityCopyPrivateKey
        let functions: [Any] = [
            add, copy, update, delete, message, control, random, domain, code, userInfo, createKey, makeKey, exportKey,
            attributes, publicKey, blockSize, createCertificate, certificateData, summary, commonName, addresses,
            certificateKey, serialNumber, certificate, privateKey,
        ]
        #expect(functions.count == 25)
    }

    @Test
    func flags_haveApplesBits() {
        let flags: [SecAccessControlCreateFlags] = [
            .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .or, .and, .privateKeyUsage,
            .applicationPassword,
        ]
        #expect(flags.map(\.rawValue) == [0, 1, 3, 4, 5, 14, 15, 30, 31].map { 1 << $0 })
    }

    @Test
    @available(*, deprecated)
    func olderFlags_areTheSame() {
        #expect(SecAccessControlCreateFlags.touchIDAny == .biometryAny)
        #expect(SecAccessControlCreateFlags.touchIDCurrentSet == .biometryCurrentSet)
        #expect(SecAccessControlCreateFlags.watch == .companion)
    }

    @Test
    func dictionaries_haveKeyValueCoding() {
        let query = NSMutableDictionary()
        query.setValue(kSecClassKey, forKey: kSecClass as String)
        query.setValue("anna", forKey: kSecAttrAccount as String)
        query.setValue(nil, forKey: kSecAttrAccount as String)
        #expect(query.value(forKey: kSecClass as String) as? String == kSecClassKey as String)
        #expect(query.value(forKey: kSecAttrAccount as String) == nil && query.count == 1)
        let copy: CFDictionary = query
        #expect(copy.value(forKey: kSecClass as String) != nil)
    }

    @Test
    func keys_differ() {
        let keys: [CFString] = [
            kSecClass, kSecAttrAccess, kSecAttrAccessControl, kSecAttrAccessible, kSecAttrAccessGroup,
            kSecAttrSynchronizable, kSecAttrCreationDate, kSecAttrModificationDate, kSecAttrDescription,
            kSecAttrComment, kSecAttrCreator, kSecAttrType, kSecAttrLabel, kSecAttrIsInvisible, kSecAttrIsNegative,
            kSecAttrAccount, kSecAttrService, kSecAttrGeneric, kSecAttrSecurityDomain, kSecAttrServer,
            kSecAttrProtocol, kSecAttrAuthenticationType, kSecAttrPort, kSecAttrPath, kSecAttrSubject, kSecAttrIssuer,
            kSecAttrSerialNumber, kSecAttrSubjectKeyID, kSecAttrPublicKeyHash, kSecAttrCertificateType,
            kSecAttrCertificateEncoding, kSecAttrKeyClass, kSecAttrApplicationLabel, kSecAttrIsPermanent,
            kSecAttrApplicationTag, kSecAttrKeySizeInBits, kSecAttrEffectiveKeySize, kSecAttrCanEncrypt,
            kSecAttrCanDecrypt, kSecAttrCanDerive, kSecAttrCanSign, kSecAttrCanVerify, kSecAttrCanWrap,
            kSecAttrCanUnwrap, kSecAttrTokenID, kSecPrivateKeyAttrs, kSecPublicKeyAttrs, kSecMatchLimit,
            kSecMatchCaseInsensitive, kSecMatchPolicy, kSecMatchItemList, kSecMatchSearchList, kSecMatchIssuers,
            kSecMatchEmailAddressIfPresent, kSecMatchSubjectContains, kSecMatchTrustedOnly, kSecMatchValidOnDate,
            kSecReturnData, kSecReturnAttributes, kSecReturnRef, kSecReturnPersistentRef, kSecValueData, kSecValueRef,
            kSecValuePersistentRef, kSecUseItemList, kSecUseKeychain, kSecUseOperationPrompt, kSecUseNoAuthenticationUI,
            kSecUseAuthenticationUI, kSecUseAuthenticationContext, kSecUseDataProtectionKeychain,
        ]
        #expect(Set(keys).count == keys.count)
        // As on Apple's systems, an attribute of passwords and one of keys share a name.
        #expect(kSecAttrKeyType == kSecAttrType)
    }

    @Test
    func values_differ() {
        let groups: [[CFString]] = [
            [
                kSecClassGenericPassword, kSecClassInternetPassword, kSecClassCertificate, kSecClassKey,
                kSecClassIdentity,
            ],
            [
                kSecAttrAccessibleWhenUnlocked, kSecAttrAccessibleAfterFirstUnlock, kSecAttrAccessibleAlways,
                kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
                kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, kSecAttrAccessibleAlwaysThisDeviceOnly,
            ],
            [
                kSecAttrProtocolFTP, kSecAttrProtocolFTPAccount, kSecAttrProtocolHTTP, kSecAttrProtocolIRC,
                kSecAttrProtocolNNTP, kSecAttrProtocolPOP3, kSecAttrProtocolSMTP, kSecAttrProtocolSOCKS,
                kSecAttrProtocolIMAP, kSecAttrProtocolLDAP, kSecAttrProtocolAppleTalk, kSecAttrProtocolAFP,
                kSecAttrProtocolTelnet, kSecAttrProtocolSSH, kSecAttrProtocolFTPS, kSecAttrProtocolHTTPS,
                kSecAttrProtocolHTTPProxy, kSecAttrProtocolHTTPSProxy, kSecAttrProtocolFTPProxy, kSecAttrProtocolSMB,
                kSecAttrProtocolRTSP, kSecAttrProtocolRTSPProxy, kSecAttrProtocolDAAP, kSecAttrProtocolEPPC,
                kSecAttrProtocolIPP, kSecAttrProtocolNNTPS, kSecAttrProtocolLDAPS, kSecAttrProtocolTelnetS,
                kSecAttrProtocolIMAPS, kSecAttrProtocolIRCS, kSecAttrProtocolPOP3S,
            ],
            [
                kSecAttrAuthenticationTypeNTLM, kSecAttrAuthenticationTypeMSN, kSecAttrAuthenticationTypeDPA,
                kSecAttrAuthenticationTypeRPA, kSecAttrAuthenticationTypeHTTPBasic,
                kSecAttrAuthenticationTypeHTTPDigest, kSecAttrAuthenticationTypeHTMLForm,
                kSecAttrAuthenticationTypeDefault,
            ],
            [kSecMatchLimitOne, kSecMatchLimitAll],
            [kSecAttrSynchronizableAny],
            [kSecUseAuthenticationUIAllow, kSecUseAuthenticationUIFail, kSecUseAuthenticationUISkip],
            [kSecAttrKeyClassPublic, kSecAttrKeyClassPrivate, kSecAttrKeyClassSymmetric],
            [
                kSecAttrKeyTypeRSA, kSecAttrKeyTypeEC, kSecAttrKeyTypeDSA, kSecAttrKeyTypeAES, kSecAttrKeyTypeDES,
                kSecAttrKeyType3DES, kSecAttrKeyTypeRC4, kSecAttrKeyTypeRC2, kSecAttrKeyTypeCAST,
            ],
            [kSecAttrTokenIDSecureEnclave],
        ]
        for group in groups { #expect(Set(group).count == group.count) }
        #expect(kSecAttrKeyTypeECSECPrimeRandom == kSecAttrKeyTypeEC)
    }

    @Test
    func statuses_haveApplesNumbers_andMessages() {
        let statuses: [(OSStatus, OSStatus)] = [
            (errSecSuccess, 0), (errSecUnimplemented, -4), (errSecIO, -36), (errSecParam, -50), (errSecAllocate, -108),
            (errSecUserCanceled, -128), (errSecMissingEntitlement, -34018), (errSecNotAvailable, -25291),
            (errSecAuthFailed, -25293), (errSecDuplicateItem, -25299), (errSecItemNotFound, -25300),
            (errSecDataTooLarge, -25302), (errSecNoSuchAttr, -25303), (errSecInvalidItemRef, -25304),
            (errSecInteractionNotAllowed, -25308), (errSecDecode, -26275), (errSecInternalError, -67671),
            // Older names.
            (errSecDskFull, -34), (errSecInvaldCRLAuthority, -67827), (errSecInvalidTupleCredendtials, -67852),
        ]
        for (status, number) in statuses {
            #expect(status == number)
            #expect(SecCopyErrorMessageString(status, nil) != nil)
        }
    }
}
