// swift-tools-version: 6.2.3

import PackageDescription

let strictSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// .ci/run sets this variable, not the CI of programs that depend on this package: a newer compiler may warn.
let settings =
    Context.environment["KEYCHAIND_CI"] == nil ? strictSettings : strictSettings + [.treatAllWarnings(as: .error)]

// Under a trait, so that users of the libraries can leave out packages that only the programs need.
let logging = Target.Dependency.product(
    name: "Logging",
    package: "swift-log",
    condition: .when(traits: ["Programs"])
)

let tutorialDependencies: [Target.Dependency] = [
    "KeychaindDBus", "LocalAuthentication", "SecretServiceClient", "Security", "KeychaindSwiftUI",
    "KeychaindTestSupport", "keychaind",
]
// The tutorials say `import SwiftUI`.
let tutorialAliases: SwiftSetting = .unsafeFlags(["-module-alias", "SwiftUI=KeychaindSwiftUI"])
let tutorials = ["Biometrics", "Controls", "Credentials", "Note", "Wrapper"]

// The code of tutorials, unchanged: Tests/Tutorials/README.md. KEYCHAIND_SWIFT5 compiles it in that language mode.
let tutorialTargets = tutorials.map { tutorial in
    Target.testTarget(
        name: "Tutorial\(tutorial)Tests",
        dependencies: tutorialDependencies,
        path: "Tests/Tutorials/\(tutorial)",
        swiftSettings: (Context.environment["KEYCHAIND_SWIFT5"] == nil ? [] : [.swiftLanguageMode(.v5)])
            + [tutorialAliases]
    )
}

// The programs of the package `Examples`, for its tests: built with them, from the same libraries.
let exampleTargets = ["Credentials", "FromOtherLanguages", "KeychainWrapper", "Notes"].map { example in
    Target.executableTarget(
        name: "KeychaindExample\(example)",
        dependencies: ["LocalAuthentication", "Security"],
        path: "Examples/\(example)",
        exclude: ["README.md"]
            + (example == "FromOtherLanguages"
                ? ["everyone.sh", "with_libsecret.py", "with_secret_tool.sh", "with_secretstorage.py"] : [])
    )
}

let package = Package(
    name: "keychaind",
    products: [
        .executable(name: "keychaind", targets: ["keychaind"]),
        .executable(name: "keychainctl", targets: ["keychainctl"]),
        .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
        .library(name: "SecretServiceClient", targets: ["SecretServiceClient"]),
        .library(name: "Security", targets: ["Security"]),
    ],
    traits: [
        .default(enabledTraits: ["Keys", "Programs"]),
        .trait(name: "Keys", description: "Keys, certificates and identities in Security and LocalAuthentication."),
        .trait(name: "Programs", description: "The programs keychaind and keychainctl, and the tests."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-asn1.git", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
    ],
    targets: tutorialTargets + exampleTargets + [
        // System libraries: only what Swift cannot import itself.
        .systemLibrary(name: "CKeychaindDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
        .systemLibrary(name: "CKeychaindGcrypt", providers: [.apt(["libgcrypt20-dev"])]),
        .systemLibrary(name: "CKeychaindLinux"),
        .systemLibrary(name: "CKeychaindSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),
        // toml++ is C++, of headers alone (libtomlplusplus-dev).
        .target(name: "CKeychaindTOML"),
        // tpm2-tss (libtss2-dev) by its headers alone; the libraries are loaded where there is a TPM.
        .target(name: "CKeychaindTPM"),
        // libfido2 (libfido2-dev) by its headers alone; the library is loaded in a helper process.
        .target(name: "CKeychaindFIDO"),
        // Zeroes freed memory, in programs that ask for it; uses huge pages for large blocks.
        .target(name: "CKeychaindWipingHeap"),
        // The first instructions of a set-gid process.
        .target(name: "CKeychaindDomain"),

        // Reads and writes files and folders.
        .target(name: "KeychaindFiles"),
        .target(name: "KeychaindConfiguration", dependencies: ["CKeychaindTOML", "KeychaindFiles"]),
        .target(name: "KeychaindDBus", dependencies: ["CKeychaindDBus", "CKeychaindLinux"]),
        .target(name: "KeychaindGcrypt", dependencies: ["CKeychaindGcrypt"]),
        .target(
            name: "KeychaindHardening",
            dependencies: ["CKeychaindLinux", "CKeychaindSeccomp", "CKeychaindWipingHeap"]
        ),
        .target(name: "KeychaindRights", dependencies: ["CKeychaindLinux"]),
        .target(name: "KeychaindModel"),
        // Which program may have which item: rules, their order and their decision.
        .target(name: "KeychaindRules", dependencies: ["KeychaindModel"]),
        // The texts for people, in their languages.
        .target(name: "KeychaindLanguage", dependencies: ["CKeychaindLinux", "KeychaindFiles"]),
        // What both programs have: the version, and for keychainctl statuses, tables and passwords.
        .target(
            name: "KeychaindCommandLine",
            dependencies: ["CKeychaindLinux", "KeychaindFiles", "KeychaindGcrypt", "KeychaindLanguage"]
        ),
        .target(
            name: "KeychaindSwitch",
            dependencies: ["CKeychaindLinux", "KeychaindCommandLine", "KeychaindFiles", "KeychaindLanguage"]
        ),
        .target(name: "KeychaindKeys", dependencies: ["KeychaindGcrypt", "KeychaindModel"]),
        .target(name: "KeychaindForeignFiles", dependencies: ["KeychaindFiles", "KeychaindGcrypt"]),
        // The encrypted archives of `keychainctl export`.
        .target(
            name: "KeychaindArchive",
            dependencies: ["KeychaindFiles", "KeychaindForeignFiles", "KeychaindGcrypt"]
        ),
        // Sealed records in a file to which changes are appended.
        .target(name: "KeychaindLog", dependencies: ["CKeychaindLinux", "KeychaindGcrypt"]),
        .target(
            name: "KeychaindVault",
            dependencies: [
                "CKeychaindLinux", "KeychaindGcrypt", "KeychaindLog", "KeychaindModel", "KeychaindRights",
                logging,
            ]
        ),
        .target(
            name: "KeychaindTPM",
            dependencies: ["CKeychaindTPM", "KeychaindGcrypt", "KeychaindKeys", "KeychaindRights", "KeychaindVault"]
        ),
        .target(
            name: "KeychaindDesktop",
            dependencies: [
                "CKeychaindLinux", "KeychaindDBus", "KeychaindFiles", "KeychaindGcrypt", "KeychaindLanguage",
                "KeychaindModel", "KeychaindRights",
                logging,
            ]
        ),
        .target(
            name: "KeychaindAuthentication",
            dependencies: [
                "CKeychaindLinux", "KeychaindDBus", "KeychaindDesktop", "KeychaindFiles", "KeychaindGcrypt",
                "KeychaindLanguage", "KeychaindModel", "KeychaindRights",
                logging,
            ]
        ),
        .target(
            name: "KeychaindFIDO",
            dependencies: [
                "CKeychaindFIDO", "CKeychaindLinux", "KeychaindAuthentication", "KeychaindDBus", "KeychaindFiles",
                "KeychaindGcrypt", "KeychaindModel",
                logging,
            ]
        ),
        .target(
            name: "KeychaindSecretService",
            dependencies: [
                "CKeychaindLinux",
                "KeychaindAuthentication", "KeychaindDBus", "KeychaindDesktop", "KeychaindFiles", "KeychaindGcrypt",
                "KeychaindKeys", "KeychaindLanguage", "KeychaindModel", "KeychaindRules", "KeychaindVault",
                logging,
            ]
        ),
        .target(name: "SecretServiceClient", dependencies: ["CKeychaindLinux", "KeychaindDBus", "KeychaindGcrypt"]),
        // Copies items of other providers; Foundation is for the report's JSON.
        .target(
            name: "KeychaindImport",
            dependencies: [
                "CKeychaindLinux", "KeychaindCommandLine", "KeychaindDBus", "KeychaindFiles", "KeychaindForeignFiles",
                "KeychaindGcrypt", "KeychaindLanguage", "KeychaindModel", "SecretServiceClient",
            ]
        ),
        // Apple's API: the targets that use Foundation, whose types are in it.
        .target(
            name: "Security",
            dependencies: [
                "KeychaindGcrypt", "KeychaindModel", "SecretServiceClient",
                .byName(name: "KeychaindKeys", condition: .when(traits: ["Keys"])),
                .product(name: "SwiftASN1", package: "swift-asn1", condition: .when(traits: ["Keys"])),
            ]
        ),
        .target(name: "LocalAuthentication", dependencies: ["SecretServiceClient", "Security"]),

        // Links the Swift runtime statically: starts faster, needs less memory, and needs no installed Swift.
        // In release only: the tests link this target too and need the shared runtime.
        .executableTarget(
            name: "keychaind",
            dependencies: [
                "KeychaindAuthentication", "CKeychaindDomain", "CKeychaindLinux",
                "KeychaindCommandLine", "KeychaindConfiguration", "KeychaindDBus", "KeychaindDesktop", "KeychaindFIDO",
                "KeychaindFiles", "KeychaindGcrypt",
                "KeychaindHardening", "KeychaindLanguage", "KeychaindModel", "KeychaindRights",
                "KeychaindSecretService", "KeychaindTPM", "KeychaindVault",
                logging,
            ],
            swiftSettings: [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))],
            linkerSettings: [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))]
        ),

        .executableTarget(
            name: "keychainctl",
            dependencies: [
                "KeychaindArchive", "KeychaindCommandLine", "KeychaindConfiguration", "KeychaindDBus", "KeychaindFiles",
                "KeychaindForeignFiles", "KeychaindGcrypt", "KeychaindImport", "KeychaindLanguage", "KeychaindModel",
                "KeychaindSwitch",
                "SecretServiceClient",
                .product(
                    name: "ArgumentParser",
                    package: "swift-argument-parser",
                    condition: .when(traits: ["Programs"])
                ),
            ],
            swiftSettings: [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))],
            linkerSettings: [
                .unsafeFlags(["-static-stdlib"], .when(configuration: .release)),
                // Parts of Foundation that the argument parser, compiled for the shared library, does not name.
                .linkedLibrary("_FoundationCollections", .when(configuration: .release)),
                .linkedLibrary("_FoundationCShims", .when(configuration: .release)),
            ]
        ),

        // A virtual fingerprint reader with a menu, for trying: `swift run KeychaindTouchSimulator`.
        .executableTarget(
            name: "KeychaindTouchSimulator",
            dependencies: ["KeychaindTestSupport"],
            path: "Tests/TouchSimulator",
            exclude: ["README.md"]
        ),

        // No product: `make bench` prints what calls cost.
        .executableTarget(
            name: "KeychaindServiceBenchmark",
            dependencies: [
                "CKeychaindDBus", "CKeychaindGcrypt", "CKeychaindLinux", "KeychaindDBus", "KeychaindGcrypt",
                "SecretServiceClient", "Security",
                // Its key derivations have the same memory as keychaind's.
                "CKeychaindWipingHeap",
            ],
            path: "Benchmarks/Service"
        ),

        // `swift run -c release KeychaindLogBenchmark FOLDER`
        .executableTarget(
            name: "KeychaindLogBenchmark",
            dependencies: ["CKeychaindLinux", "KeychaindGcrypt", "KeychaindLog"],
            path: "Benchmarks/Log"
        ),

        .target(
            name: "KeychaindTestSupport",
            dependencies: [
                "CKeychaindDBus", "CKeychaindLinux", "KeychaindDBus", "KeychaindGcrypt", "KeychaindLanguage",
                "KeychaindModel", "KeychaindVault",
                logging,
            ],
            path: "Tests/TestSupport"
        ),
        .testTarget(
            name: "DBusTests",
            dependencies: ["CKeychaindDBus", "CKeychaindLinux", "KeychaindDBus", "KeychaindTestSupport"]
        ),
        .testTarget(name: "LanguageTests", dependencies: ["KeychaindLanguage", "KeychaindTestSupport"]),
        .testTarget(name: "ConfigurationTests", dependencies: ["KeychaindConfiguration"]),
        .testTarget(name: "GcryptTests", dependencies: ["KeychaindGcrypt", "KeychaindTestSupport"]),
        .testTarget(name: "KeychainModelTests", dependencies: ["KeychaindModel", "KeychaindTestSupport"]),
        .testTarget(name: "RulesTests", dependencies: ["KeychaindModel", "KeychaindRules"]),
        .testTarget(
            name: "ForeignFilesTests",
            dependencies: ["KeychaindForeignFiles", "KeychaindGcrypt", "KeychaindTestSupport"],
            exclude: ["Fixtures"]
        ),
        .testTarget(
            name: "KeysTests",
            dependencies: ["KeychaindGcrypt", "KeychaindKeys", "KeychaindModel", "KeychaindTestSupport"]
        ),
        .testTarget(
            name: "LogTests",
            dependencies: ["CKeychaindLinux", "KeychaindGcrypt", "KeychaindLog", "KeychaindTestSupport"],
            exclude: ["read_log.py", "write_log.py"]
        ),
        .testTarget(
            name: "VaultTests",
            dependencies: [
                "KeychaindGcrypt", "KeychaindLog", "KeychaindModel", "KeychaindTestSupport", "KeychaindVault", logging,
            ],
            exclude: ["Fixtures"]
        ),
        .testTarget(
            name: "TPMTests",
            dependencies: [
                "KeychaindGcrypt", "KeychaindKeys", "KeychaindModel", "KeychaindTPM", "KeychaindTestSupport",
                "KeychaindVault",
            ]
        ),
        .testTarget(
            name: "DesktopTests",
            dependencies: [
                "KeychaindDBus", "KeychaindDesktop", "KeychaindGcrypt", "KeychaindLanguage", "KeychaindModel",
                "KeychaindTestSupport",
                logging,
            ]
        ),
        .testTarget(
            name: "AuthenticationTests",
            dependencies: [
                "KeychaindAuthentication", "KeychaindDBus", "KeychaindDesktop", "KeychaindGcrypt", "KeychaindLanguage",
                "KeychaindModel", "KeychaindTestSupport",
                logging,
            ]
        ),
        .testTarget(
            name: "SecretServiceTests",
            dependencies: [
                "KeychaindAuthentication", "KeychaindDBus", "KeychaindDesktop", "KeychaindGcrypt", "KeychaindKeys",
                "KeychaindLanguage", "KeychaindModel", "KeychaindRules", "KeychaindSecretService",
                "KeychaindTestSupport", "KeychaindVault", "keychaind",
                logging,
            ]
        ),
        .testTarget(
            name: "SecretServiceClientTests",
            dependencies: [
                "KeychaindDBus", "KeychaindGcrypt", "SecretServiceClient", "KeychaindSecretServiceClientProbe",
                "KeychaindTestSupport", "keychaind",
            ]
        ),
        .testTarget(
            name: "ArchiveTests",
            dependencies: ["KeychaindArchive", "KeychaindForeignFiles", "KeychaindGcrypt", "KeychaindTestSupport"],
            exclude: ["Fixtures"]
        ),
        .testTarget(
            name: "SwitchTests",
            dependencies: [
                "KeychaindCommandLine", "KeychaindFiles", "KeychaindLanguage", "KeychaindSwitch",
                "KeychaindTestSupport",
            ]
        ),
        .testTarget(
            name: "KeychainctlTests",
            dependencies: [
                "CKeychaindLinux", "KeychaindArchive", "KeychaindCommandLine", "KeychaindDBus",
                "KeychaindForeignFiles", "KeychaindGcrypt", "KeychaindImport", "KeychaindLanguage",
                "KeychaindTestSupport", "SecretServiceClient", "keychainctl", "keychaind",
            ]
        ),
        .testTarget(
            name: "SecurityTests",
            dependencies: ["SecretServiceClient", "Security", "KeychaindTestSupport", "keychaind"],
            exclude: ["Samples"]
        ),
        // The examples, driven as a person would.
        .testTarget(
            name: "ExampleTests",
            dependencies: exampleTargets.map { .byName(name: $0.name) } + [
                "KeychaindTestSupport", "KeychaindTouchSimulator", "keychaind",
            ]
        ),
        .testTarget(
            name: "LocalAuthenticationTests",
            dependencies: [
                "KeychaindDBus", "LocalAuthentication", "SecretServiceClient", "Security", "KeychaindTestSupport",
                "keychaind",
            ]
        ),
        // Stands in for Apple's in those tests.
        .target(name: "KeychaindSwiftUI", path: "Tests/Tutorials/SwiftUI"),
        // A program of its own, since it looks at what the library does to its process.
        .executableTarget(
            name: "KeychaindSecretServiceClientProbe",
            dependencies: ["CKeychaindGcrypt", "CKeychaindLinux", "SecretServiceClient"],
            path: "Tests/SecretServiceClientProbe"
        ),
        // Likewise: what it does to itself would be done to all tests.
        .executableTarget(
            name: "KeychaindHardeningProbe",
            dependencies: ["CKeychaindHardeningProbe", "KeychaindHardening"],
            path: "Tests/HardeningProbe/Swift"
        ),
        .target(name: "CKeychaindHardeningProbe", path: "Tests/HardeningProbe/C"),
        .testTarget(
            name: "KeychaindTests",
            dependencies: [
                "KeychaindDBus", "KeychaindGcrypt", "KeychaindHardeningProbe", "KeychaindSecretService",
                "KeychaindTestSupport", "keychaind",
            ]
        ),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

// The readers for libFuzzer, with which `scripts/fuzz` builds them into a program; else a suite that reads the seeds.
let readers: [Target.Dependency] = [
    "CKeychaindDBus", "CKeychaindLinux", "KeychaindArchive", "KeychaindAuthentication", "KeychaindConfiguration",
    "KeychaindDBus", "KeychaindDesktop", "KeychaindFIDO", "KeychaindForeignFiles", "KeychaindGcrypt", "KeychaindKeys",
    "KeychaindLanguage", "KeychaindLog", "KeychaindModel", "KeychaindRules", "KeychaindSecretService",
    "KeychaindTestSupport", "KeychaindVault", "Security",
    logging,
]
if Context.environment["KEYCHAIND_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "KeychaindFuzzer",
            dependencies: readers,
            path: "Tests/Fuzzer",
            exclude: ["Dictionaries", "Seeds", "Tests"]
        )
    )
} else {
    package.targets.append(
        .testTarget(
            name: "Fuzzer",
            dependencies: readers,
            path: "Tests/Fuzzer",
            exclude: ["Dictionaries", "Program", "Seeds"]
        )
    )
}

// Not for C, nor for tutorials and examples, which are compiled with the settings of a program that follows them.
let outsiders = Set((tutorialTargets + exampleTargets).map(\.name))
for target in package.targets where !target.name.hasPrefix("CKeychaind") && !outsiders.contains(target.name) {
    target.swiftSettings = settings + (target.swiftSettings ?? [])
}

/// Leaves out all targets but these and their dependencies.
@MainActor
func keep(_ names: [String]) {
    var needed: Set<String> = []
    var pending = names
    while let name = pending.popLast() {
        guard needed.insert(name).inserted else { continue }
        let dependencies = package.targets.first { $0.name == name }?.dependencies ?? []
        for case .byNameItem(let dependency, _) in dependencies { pending.append(dependency) }
    }
    package.targets.removeAll { target in !needed.contains(target.name) }
    package.products.removeAll { product in !needed.contains(product.name) }
}

// `SUITES=VaultTests,GcryptTests` builds only these suites and their dependencies.
// A variable of another meaning is ignored.
let suites = (Context.environment["SUITES"] ?? "").split(separator: ",").map(String.init)
if !suites.isEmpty, suites.allSatisfy({ name in package.targets.contains { $0.name == name } }) {
    keep(suites)
    package.products = []
}
