/// Service not available.
public let errSecServiceNotAvailable: OSStatus = -67585

/// Insufficient client ID.
public let errSecInsufficientClientID: OSStatus = -67586

/// Device reset.
public let errSecDeviceReset: OSStatus = -67587

/// Device failed.
public let errSecDeviceFailed: OSStatus = -67588

/// Apple add app ACL subject.
public let errSecAppleAddAppACLSubject: OSStatus = -67589

/// Apple public key incomplete.
public let errSecApplePublicKeyIncomplete: OSStatus = -67590

/// Apple signature mismatch.
public let errSecAppleSignatureMismatch: OSStatus = -67591

/// Apple invalid key start date.
public let errSecAppleInvalidKeyStartDate: OSStatus = -67592

/// Apple invalid key end date.
public let errSecAppleInvalidKeyEndDate: OSStatus = -67593

/// Conversion error.
public let errSecConversionError: OSStatus = -67594

/// Apple SS lv2 rollback.
public let errSecAppleSSLv2Rollback: OSStatus = -67595

/// Quota exceeded.
public let errSecQuotaExceeded: OSStatus = -67596

/// File too big.
public let errSecFileTooBig: OSStatus = -67597

/// Invalid database blob.
public let errSecInvalidDatabaseBlob: OSStatus = -67598

/// Invalid key blob.
public let errSecInvalidKeyBlob: OSStatus = -67599

/// Incompatible database blob.
public let errSecIncompatibleDatabaseBlob: OSStatus = -67600

/// Incompatible key blob.
public let errSecIncompatibleKeyBlob: OSStatus = -67601

/// Host name mismatch.
public let errSecHostNameMismatch: OSStatus = -67602

/// Unknown critical extension flag.
public let errSecUnknownCriticalExtensionFlag: OSStatus = -67603

/// No basic constraints.
public let errSecNoBasicConstraints: OSStatus = -67604

/// No basic constraints CA.
public let errSecNoBasicConstraintsCA: OSStatus = -67605

/// Invalid authority key ID.
public let errSecInvalidAuthorityKeyID: OSStatus = -67606

/// Invalid subject key ID.
public let errSecInvalidSubjectKeyID: OSStatus = -67607

/// Invalid key usage for policy.
public let errSecInvalidKeyUsageForPolicy: OSStatus = -67608

/// Invalid extended key usage.
public let errSecInvalidExtendedKeyUsage: OSStatus = -67609

/// Invalid ID linkage.
public let errSecInvalidIDLinkage: OSStatus = -67610

/// Path length constraint exceeded.
public let errSecPathLengthConstraintExceeded: OSStatus = -67611

/// Invalid root.
public let errSecInvalidRoot: OSStatus = -67612

/// CRL expired.
public let errSecCRLExpired: OSStatus = -67613

/// CRL not valid yet.
public let errSecCRLNotValidYet: OSStatus = -67614

/// CRL not found.
public let errSecCRLNotFound: OSStatus = -67615

/// CRL server down.
public let errSecCRLServerDown: OSStatus = -67616

/// CRL bad URI.
public let errSecCRLBadURI: OSStatus = -67617

/// Unknown cert extension.
public let errSecUnknownCertExtension: OSStatus = -67618

/// Unknown CRL extension.
public let errSecUnknownCRLExtension: OSStatus = -67619

/// CRL not trusted.
public let errSecCRLNotTrusted: OSStatus = -67620

/// CRL policy failed.
public let errSecCRLPolicyFailed: OSStatus = -67621

/// IDP failure.
public let errSecIDPFailure: OSStatus = -67622

/// SMIME email addresses not found.
public let errSecSMIMEEmailAddressesNotFound: OSStatus = -67623

/// SMIME bad extended key usage.
public let errSecSMIMEBadExtendedKeyUsage: OSStatus = -67624

/// SMIME bad key usage.
public let errSecSMIMEBadKeyUsage: OSStatus = -67625

/// SMIME key usage not critical.
public let errSecSMIMEKeyUsageNotCritical: OSStatus = -67626

/// SMIME no email address.
public let errSecSMIMENoEmailAddress: OSStatus = -67627

/// SMIME subj alt name not critical.
public let errSecSMIMESubjAltNameNotCritical: OSStatus = -67628

/// SSL bad extended key usage.
public let errSecSSLBadExtendedKeyUsage: OSStatus = -67629

/// OCSP bad response.
public let errSecOCSPBadResponse: OSStatus = -67630

/// OCSP bad request.
public let errSecOCSPBadRequest: OSStatus = -67631

/// OCSP unavailable.
public let errSecOCSPUnavailable: OSStatus = -67632

/// OCSP status unrecognized.
public let errSecOCSPStatusUnrecognized: OSStatus = -67633

/// End of data.
public let errSecEndOfData: OSStatus = -67634

/// Incomplete cert revocation check.
public let errSecIncompleteCertRevocationCheck: OSStatus = -67635

/// Network failure.
public let errSecNetworkFailure: OSStatus = -67636

/// OCSP not trusted to anchor.
public let errSecOCSPNotTrustedToAnchor: OSStatus = -67637

/// Record modified.
public let errSecRecordModified: OSStatus = -67638

/// OCSP signature error.
public let errSecOCSPSignatureError: OSStatus = -67639

/// OCSP no signer.
public let errSecOCSPNoSigner: OSStatus = -67640

/// OCSP responder malformed req.
public let errSecOCSPResponderMalformedReq: OSStatus = -67641

/// OCSP responder internal error.
public let errSecOCSPResponderInternalError: OSStatus = -67642

/// OCSP responder try later.
public let errSecOCSPResponderTryLater: OSStatus = -67643

/// OCSP responder signature required.
public let errSecOCSPResponderSignatureRequired: OSStatus = -67644

/// OCSP responder unauthorized.
public let errSecOCSPResponderUnauthorized: OSStatus = -67645

/// OCSP response nonce mismatch.
public let errSecOCSPResponseNonceMismatch: OSStatus = -67646

/// Code signing bad cert chain length.
public let errSecCodeSigningBadCertChainLength: OSStatus = -67647

/// Code signing no basic constraints.
public let errSecCodeSigningNoBasicConstraints: OSStatus = -67648

/// Code signing bad path length constraint.
public let errSecCodeSigningBadPathLengthConstraint: OSStatus = -67649

/// Code signing no extended key usage.
public let errSecCodeSigningNoExtendedKeyUsage: OSStatus = -67650

/// Code signing development.
public let errSecCodeSigningDevelopment: OSStatus = -67651

/// Resource sign bad cert chain length.
public let errSecResourceSignBadCertChainLength: OSStatus = -67652

/// Resource sign bad ext key usage.
public let errSecResourceSignBadExtKeyUsage: OSStatus = -67653

/// Trust setting deny.
public let errSecTrustSettingDeny: OSStatus = -67654

/// Invalid subject name.
public let errSecInvalidSubjectName: OSStatus = -67655

/// Unknown qualified cert statement.
public let errSecUnknownQualifiedCertStatement: OSStatus = -67656

/// Mobile me request queued.
public let errSecMobileMeRequestQueued: OSStatus = -67657

/// Mobile me request redirected.
public let errSecMobileMeRequestRedirected: OSStatus = -67658

/// Mobile me server error.
public let errSecMobileMeServerError: OSStatus = -67659

/// Mobile me server not available.
public let errSecMobileMeServerNotAvailable: OSStatus = -67660

/// Mobile me server already exists.
public let errSecMobileMeServerAlreadyExists: OSStatus = -67661

/// Mobile me server service err.
public let errSecMobileMeServerServiceErr: OSStatus = -67662

/// Mobile me request already pending.
public let errSecMobileMeRequestAlreadyPending: OSStatus = -67663

/// Mobile me no request pending.
public let errSecMobileMeNoRequestPending: OSStatus = -67664

/// Mobile me CSR verify failure.
public let errSecMobileMeCSRVerifyFailure: OSStatus = -67665

/// Mobile me failed consistency check.
public let errSecMobileMeFailedConsistencyCheck: OSStatus = -67666

/// Not initialized.
public let errSecNotInitialized: OSStatus = -67667

/// Invalid handle usage.
public let errSecInvalidHandleUsage: OSStatus = -67668

/// PVC referent not found.
public let errSecPVCReferentNotFound: OSStatus = -67669

/// Function integrity fail.
public let errSecFunctionIntegrityFail: OSStatus = -67670

/// Internal error.
public let errSecInternalError: OSStatus = -67671

/// Memory error.
public let errSecMemoryError: OSStatus = -67672

/// Invalid data.
public let errSecInvalidData: OSStatus = -67673

/// MDS error.
public let errSecMDSError: OSStatus = -67674

/// Invalid pointer.
public let errSecInvalidPointer: OSStatus = -67675

/// Self check failed.
public let errSecSelfCheckFailed: OSStatus = -67676

/// Function failed.
public let errSecFunctionFailed: OSStatus = -67677

/// Module manifest verify failed.
public let errSecModuleManifestVerifyFailed: OSStatus = -67678

/// Invalid GUID.
public let errSecInvalidGUID: OSStatus = -67679

/// Invalid handle.
public let errSecInvalidHandle: OSStatus = -67680

/// Invalid DB list.
public let errSecInvalidDBList: OSStatus = -67681

/// Invalid passthrough ID.
public let errSecInvalidPassthroughID: OSStatus = -67682

/// Invalid network address.
public let errSecInvalidNetworkAddress: OSStatus = -67683

/// CRL already signed.
public let errSecCRLAlreadySigned: OSStatus = -67684

/// Invalid number of fields.
public let errSecInvalidNumberOfFields: OSStatus = -67685

/// Verification failure.
public let errSecVerificationFailure: OSStatus = -67686

/// Unknown tag.
public let errSecUnknownTag: OSStatus = -67687

/// Invalid signature.
public let errSecInvalidSignature: OSStatus = -67688

/// Invalid name.
public let errSecInvalidName: OSStatus = -67689

/// Invalid certificate ref.
public let errSecInvalidCertificateRef: OSStatus = -67690

/// Invalid certificate group.
public let errSecInvalidCertificateGroup: OSStatus = -67691

/// What the codes of this file mean, in words for people.
let validationErrorMessages: [OSStatus: String] = [
    errSecServiceNotAvailable: "Service not available.",
    errSecInsufficientClientID: "Insufficient client ID.",
    errSecDeviceReset: "Device reset.",
    errSecDeviceFailed: "Device failed.",
    errSecAppleAddAppACLSubject: "Apple add app ACL subject.",
    errSecApplePublicKeyIncomplete: "Apple public key incomplete.",
    errSecAppleSignatureMismatch: "Apple signature mismatch.",
    errSecAppleInvalidKeyStartDate: "Apple invalid key start date.",
    errSecAppleInvalidKeyEndDate: "Apple invalid key end date.",
    errSecConversionError: "Conversion error.",
    errSecAppleSSLv2Rollback: "Apple SS lv2 rollback.",
    errSecQuotaExceeded: "Quota exceeded.",
    errSecFileTooBig: "File too big.",
    errSecInvalidDatabaseBlob: "Invalid database blob.",
    errSecInvalidKeyBlob: "Invalid key blob.",
    errSecIncompatibleDatabaseBlob: "Incompatible database blob.",
    errSecIncompatibleKeyBlob: "Incompatible key blob.",
    errSecHostNameMismatch: "Host name mismatch.",
    errSecUnknownCriticalExtensionFlag: "Unknown critical extension flag.",
    errSecNoBasicConstraints: "No basic constraints.",
    errSecNoBasicConstraintsCA: "No basic constraints CA.",
    errSecInvalidAuthorityKeyID: "Invalid authority key ID.",
    errSecInvalidSubjectKeyID: "Invalid subject key ID.",
    errSecInvalidKeyUsageForPolicy: "Invalid key usage for policy.",
    errSecInvalidExtendedKeyUsage: "Invalid extended key usage.",
    errSecInvalidIDLinkage: "Invalid ID linkage.",
    errSecPathLengthConstraintExceeded: "Path length constraint exceeded.",
    errSecInvalidRoot: "Invalid root.",
    errSecCRLExpired: "CRL expired.",
    errSecCRLNotValidYet: "CRL not valid yet.",
    errSecCRLNotFound: "CRL not found.",
    errSecCRLServerDown: "CRL server down.",
    errSecCRLBadURI: "CRL bad URI.",
    errSecUnknownCertExtension: "Unknown cert extension.",
    errSecUnknownCRLExtension: "Unknown CRL extension.",
    errSecCRLNotTrusted: "CRL not trusted.",
    errSecCRLPolicyFailed: "CRL policy failed.",
    errSecIDPFailure: "IDP failure.",
    errSecSMIMEEmailAddressesNotFound: "SMIME email addresses not found.",
    errSecSMIMEBadExtendedKeyUsage: "SMIME bad extended key usage.",
    errSecSMIMEBadKeyUsage: "SMIME bad key usage.",
    errSecSMIMEKeyUsageNotCritical: "SMIME key usage not critical.",
    errSecSMIMENoEmailAddress: "SMIME no email address.",
    errSecSMIMESubjAltNameNotCritical: "SMIME subj alt name not critical.",
    errSecSSLBadExtendedKeyUsage: "SSL bad extended key usage.",
    errSecOCSPBadResponse: "OCSP bad response.",
    errSecOCSPBadRequest: "OCSP bad request.",
    errSecOCSPUnavailable: "OCSP unavailable.",
    errSecOCSPStatusUnrecognized: "OCSP status unrecognized.",
    errSecEndOfData: "End of data.",
    errSecIncompleteCertRevocationCheck: "Incomplete cert revocation check.",
    errSecNetworkFailure: "Network failure.",
    errSecOCSPNotTrustedToAnchor: "OCSP not trusted to anchor.",
    errSecRecordModified: "Record modified.",
    errSecOCSPSignatureError: "OCSP signature error.",
    errSecOCSPNoSigner: "OCSP no signer.",
    errSecOCSPResponderMalformedReq: "OCSP responder malformed req.",
    errSecOCSPResponderInternalError: "OCSP responder internal error.",
    errSecOCSPResponderTryLater: "OCSP responder try later.",
    errSecOCSPResponderSignatureRequired: "OCSP responder signature required.",
    errSecOCSPResponderUnauthorized: "OCSP responder unauthorized.",
    errSecOCSPResponseNonceMismatch: "OCSP response nonce mismatch.",
    errSecCodeSigningBadCertChainLength: "Code signing bad cert chain length.",
    errSecCodeSigningNoBasicConstraints: "Code signing no basic constraints.",
    errSecCodeSigningBadPathLengthConstraint: "Code signing bad path length constraint.",
    errSecCodeSigningNoExtendedKeyUsage: "Code signing no extended key usage.",
    errSecCodeSigningDevelopment: "Code signing development.",
    errSecResourceSignBadCertChainLength: "Resource sign bad cert chain length.",
    errSecResourceSignBadExtKeyUsage: "Resource sign bad ext key usage.",
    errSecTrustSettingDeny: "Trust setting deny.",
    errSecInvalidSubjectName: "Invalid subject name.",
    errSecUnknownQualifiedCertStatement: "Unknown qualified cert statement.",
    errSecMobileMeRequestQueued: "Mobile me request queued.",
    errSecMobileMeRequestRedirected: "Mobile me request redirected.",
    errSecMobileMeServerError: "Mobile me server error.",
    errSecMobileMeServerNotAvailable: "Mobile me server not available.",
    errSecMobileMeServerAlreadyExists: "Mobile me server already exists.",
    errSecMobileMeServerServiceErr: "Mobile me server service err.",
    errSecMobileMeRequestAlreadyPending: "Mobile me request already pending.",
    errSecMobileMeNoRequestPending: "Mobile me no request pending.",
    errSecMobileMeCSRVerifyFailure: "Mobile me CSR verify failure.",
    errSecMobileMeFailedConsistencyCheck: "Mobile me failed consistency check.",
    errSecNotInitialized: "Not initialized.",
    errSecInvalidHandleUsage: "Invalid handle usage.",
    errSecPVCReferentNotFound: "PVC referent not found.",
    errSecFunctionIntegrityFail: "Function integrity fail.",
    errSecInternalError: "Internal error.",
    errSecMemoryError: "Memory error.",
    errSecInvalidData: "Invalid data.",
    errSecMDSError: "MDS error.",
    errSecInvalidPointer: "Invalid pointer.",
    errSecSelfCheckFailed: "Self check failed.",
    errSecFunctionFailed: "Function failed.",
    errSecModuleManifestVerifyFailed: "Module manifest verify failed.",
    errSecInvalidGUID: "Invalid GUID.",
    errSecInvalidHandle: "Invalid handle.",
    errSecInvalidDBList: "Invalid DB list.",
    errSecInvalidPassthroughID: "Invalid passthrough ID.",
    errSecInvalidNetworkAddress: "Invalid network address.",
    errSecCRLAlreadySigned: "CRL already signed.",
    errSecInvalidNumberOfFields: "Invalid number of fields.",
    errSecVerificationFailure: "Verification failure.",
    errSecUnknownTag: "Unknown tag.",
    errSecInvalidSignature: "Invalid signature.",
    errSecInvalidName: "Invalid name.",
    errSecInvalidCertificateRef: "Invalid certificate ref.",
    errSecInvalidCertificateGroup: "Invalid certificate group.",
]
