/// No error.
public let errSecSuccess: OSStatus = 0

/// The function or operation is not implemented.
public let errSecUnimplemented: OSStatus = -4

/// The disk is full.
public let errSecDiskFull: OSStatus = -34

/// Reading or writing failed.
public let errSecIO: OSStatus = -36

/// The file is already open for writing.
public let errSecOpWr: OSStatus = -49

/// One or more parameters passed to a function were not valid.
public let errSecParam: OSStatus = -50

/// Writing is not permitted.
public let errSecWrPerm: OSStatus = -61

/// Memory could not be allocated.
public let errSecAllocate: OSStatus = -108

/// The user canceled the operation.
public let errSecUserCanceled: OSStatus = -128

/// The parameter or the state is not valid for the operation.
public let errSecBadReq: OSStatus = -909

/// An internal component failed.
public let errSecInternalComponent: OSStatus = -2070

/// Core Foundation reported an unknown error.
public let errSecCoreFoundationUnknown: OSStatus = -4960

/// A required entitlement is missing.
public let errSecMissingEntitlement: OSStatus = -34018

/// The program may not call this function.
public let errSecRestrictedAPI: OSStatus = -34020

/// No keychain is available.
public let errSecNotAvailable: OSStatus = -25291

/// The keychain cannot be modified.
public let errSecReadOnly: OSStatus = -25292

/// Authentication failed.
public let errSecAuthFailed: OSStatus = -25293

/// The specified keychain could not be found.
public let errSecNoSuchKeychain: OSStatus = -25294

/// The specified keychain is not valid.
public let errSecInvalidKeychain: OSStatus = -25295

/// A keychain with the same name already exists.
public let errSecDuplicateKeychain: OSStatus = -25296

/// The specified callback function is already installed.
public let errSecDuplicateCallback: OSStatus = -25297

/// The specified callback function is not valid.
public let errSecInvalidCallback: OSStatus = -25298

/// The specified item already exists in the keychain.
public let errSecDuplicateItem: OSStatus = -25299

/// The specified item could not be found in the keychain.
public let errSecItemNotFound: OSStatus = -25300

/// The buffer is too small for the item.
public let errSecBufferTooSmall: OSStatus = -25301

/// The data is too large for the keychain.
public let errSecDataTooLarge: OSStatus = -25302

/// The specified attribute does not exist.
public let errSecNoSuchAttr: OSStatus = -25303

/// The reference is not to an item, or no longer.
public let errSecInvalidItemRef: OSStatus = -25304

/// The reference to a search is not valid.
public let errSecInvalidSearchRef: OSStatus = -25305

/// There is no such class of items.
public let errSecNoSuchClass: OSStatus = -25306

/// There is no default keychain.
public let errSecNoDefaultKeychain: OSStatus = -25307

/// Interaction with the user is not allowed.
public let errSecInteractionNotAllowed: OSStatus = -25308

/// The specified attribute cannot be modified.
public let errSecReadOnlyAttr: OSStatus = -25309

/// The keychain is of another version.
public let errSecWrongSecVersion: OSStatus = -25310

/// The key size is not allowed.
public let errSecKeySizeNotAllowed: OSStatus = -25311

/// There is no storage module.
public let errSecNoStorageModule: OSStatus = -25312

/// There is no certificate module.
public let errSecNoCertificateModule: OSStatus = -25313

/// There is no policy module.
public let errSecNoPolicyModule: OSStatus = -25314

/// Interaction with the user is required, but not allowed.
public let errSecInteractionRequired: OSStatus = -25315

/// The data of the item is not available.
public let errSecDataNotAvailable: OSStatus = -25316

/// The data of the item cannot be modified.
public let errSecDataNotModifiable: OSStatus = -25317

/// The certificate chain could not be made.
public let errSecCreateChainFailed: OSStatus = -25318

/// The preferences domain is not valid.
public let errSecInvalidPrefsDomain: OSStatus = -25319

/// No interface can be shown at this time.
public let errSecInDarkWake: OSStatus = -25320

/// The access control list is not a simple one.
public let errSecACLNotSimple: OSStatus = -25240

/// The specified policy could not be found.
public let errSecPolicyNotFound: OSStatus = -25241

/// The trust setting is not valid.
public let errSecInvalidTrustSetting: OSStatus = -25242

/// The item has no access control.
public let errSecNoAccessForItem: OSStatus = -25243

/// The owner cannot be changed this way.
public let errSecInvalidOwnerEdit: OSStatus = -25244

/// No trust results are available.
public let errSecTrustNotAvailable: OSStatus = -25245

/// The format is not supported.
public let errSecUnsupportedFormat: OSStatus = -25256

/// The format is unknown.
public let errSecUnknownFormat: OSStatus = -25257

/// The key must be wrapped to be exported.
public let errSecKeyIsSensitive: OSStatus = -25258

/// There is more than one private key.
public let errSecMultiplePrivKeys: OSStatus = -25259

/// A passphrase is required.
public let errSecPassphraseRequired: OSStatus = -25260

/// The reference to a password is not valid.
public let errSecInvalidPasswordRef: OSStatus = -25261

/// The trust settings are not valid.
public let errSecInvalidTrustSettings: OSStatus = -25262

/// There are no trust settings.
public let errSecNoTrustSettings: OSStatus = -25263

/// The PKCS #12 data could not be verified; the password may be wrong.
public let errSecPkcs12VerifyFailure: OSStatus = -25264

/// The signature of the policy is not valid.
public let errSecMPSignatureInvalid: OSStatus = -25327

/// The message uses keys that are too old.
public let errSecOTRTooOld: OSStatus = -25328

/// The message uses keys that are too new.
public let errSecOTRIDTooNew: OSStatus = -25329

/// The certificate could not be decoded.
public let errSecInvalidCertificate: OSStatus = -26265

/// The certificate was not signed by its proposed parent.
public let errSecNotSigner: OSStatus = -26267

/// The algorithm is not supported.
public let errSecUnsupportedAlgorithm: OSStatus = -26268

/// The trust policy denied the operation.
public let errSecPolicyDenied: OSStatus = -26270

/// The operation is not supported.
public let errSecUnsupportedOperation: OSStatus = -26271

/// The padding is not supported.
public let errSecUnsupportedPadding: OSStatus = -26273

/// The key is not valid.
public let errSecInvalidKey: OSStatus = -26274

/// The data could not be decoded.
public let errSecDecode: OSStatus = -26275

/// An internal error occurred.
public let errSecInternal: OSStatus = -26276

/// What the codes of this file mean, in words for people.
let generalErrorMessages: [OSStatus: String] = [
    errSecSuccess: "No error.",
    errSecUnimplemented: "The function or operation is not implemented.",
    errSecDiskFull: "The disk is full.",
    errSecIO: "Reading or writing failed.",
    errSecOpWr: "The file is already open for writing.",
    errSecParam: "One or more parameters passed to a function were not valid.",
    errSecWrPerm: "Writing is not permitted.",
    errSecAllocate: "Memory could not be allocated.",
    errSecUserCanceled: "The user canceled the operation.",
    errSecBadReq: "The parameter or the state is not valid for the operation.",
    errSecInternalComponent: "An internal component failed.",
    errSecCoreFoundationUnknown: "Core Foundation reported an unknown error.",
    errSecMissingEntitlement: "A required entitlement is missing.",
    errSecRestrictedAPI: "The program may not call this function.",
    errSecNotAvailable: "No keychain is available.",
    errSecReadOnly: "The keychain cannot be modified.",
    errSecAuthFailed: "Authentication failed.",
    errSecNoSuchKeychain: "The specified keychain could not be found.",
    errSecInvalidKeychain: "The specified keychain is not valid.",
    errSecDuplicateKeychain: "A keychain with the same name already exists.",
    errSecDuplicateCallback: "The specified callback function is already installed.",
    errSecInvalidCallback: "The specified callback function is not valid.",
    errSecDuplicateItem: "The specified item already exists in the keychain.",
    errSecItemNotFound: "The specified item could not be found in the keychain.",
    errSecBufferTooSmall: "The buffer is too small for the item.",
    errSecDataTooLarge: "The data is too large for the keychain.",
    errSecNoSuchAttr: "The specified attribute does not exist.",
    errSecInvalidItemRef: "The reference is not to an item, or no longer.",
    errSecInvalidSearchRef: "The reference to a search is not valid.",
    errSecNoSuchClass: "There is no such class of items.",
    errSecNoDefaultKeychain: "There is no default keychain.",
    errSecInteractionNotAllowed: "Interaction with the user is not allowed.",
    errSecReadOnlyAttr: "The specified attribute cannot be modified.",
    errSecWrongSecVersion: "The keychain is of another version.",
    errSecKeySizeNotAllowed: "The key size is not allowed.",
    errSecNoStorageModule: "There is no storage module.",
    errSecNoCertificateModule: "There is no certificate module.",
    errSecNoPolicyModule: "There is no policy module.",
    errSecInteractionRequired: "Interaction with the user is required, but not allowed.",
    errSecDataNotAvailable: "The data of the item is not available.",
    errSecDataNotModifiable: "The data of the item cannot be modified.",
    errSecCreateChainFailed: "The certificate chain could not be made.",
    errSecInvalidPrefsDomain: "The preferences domain is not valid.",
    errSecInDarkWake: "No interface can be shown at this time.",
    errSecACLNotSimple: "The access control list is not a simple one.",
    errSecPolicyNotFound: "The specified policy could not be found.",
    errSecInvalidTrustSetting: "The trust setting is not valid.",
    errSecNoAccessForItem: "The item has no access control.",
    errSecInvalidOwnerEdit: "The owner cannot be changed this way.",
    errSecTrustNotAvailable: "No trust results are available.",
    errSecUnsupportedFormat: "The format is not supported.",
    errSecUnknownFormat: "The format is unknown.",
    errSecKeyIsSensitive: "The key must be wrapped to be exported.",
    errSecMultiplePrivKeys: "There is more than one private key.",
    errSecPassphraseRequired: "A passphrase is required.",
    errSecInvalidPasswordRef: "The reference to a password is not valid.",
    errSecInvalidTrustSettings: "The trust settings are not valid.",
    errSecNoTrustSettings: "There are no trust settings.",
    errSecPkcs12VerifyFailure: "The PKCS #12 data could not be verified; the password may be wrong.",
    errSecMPSignatureInvalid: "The signature of the policy is not valid.",
    errSecOTRTooOld: "The message uses keys that are too old.",
    errSecOTRIDTooNew: "The message uses keys that are too new.",
    errSecInvalidCertificate: "The certificate could not be decoded.",
    errSecNotSigner: "The certificate was not signed by its proposed parent.",
    errSecUnsupportedAlgorithm: "The algorithm is not supported.",
    errSecPolicyDenied: "The trust policy denied the operation.",
    errSecUnsupportedOperation: "The operation is not supported.",
    errSecUnsupportedPadding: "The padding is not supported.",
    errSecInvalidKey: "The key is not valid.",
    errSecDecode: "The data could not be decoded.",
    errSecInternal: "An internal error occurred.",
]
