import KeychaindDBus

/// What a service of a ``ScriptedBus`` can send.
struct ScriptedService: Sendable {
    /// The name of its reader.
    let name: String
    /// The signatures of answers, by method.
    let answers: [String: String]
    let signals: [ServiceMessage]
    /// Calls of objects that are exported to it.
    var calls: [ServiceMessage] = []

    /// The well-known names of all services.
    static let names = [
        "net.reactivated.Fprint", "org.freedesktop.login1", "org.kde.secretprompter",
        "org.gnome.keyring.SystemPrompter", "org.freedesktop.Notifications",
    ]

    static let ownerChanged = ServiceMessage(
        path: "/org/freedesktop/DBus",
        interface: "org.freedesktop.DBus",
        member: "NameOwnerChanged",
        signature: "sss",
        sender: "org.freedesktop.DBus"
    )

    static let fprintd = ScriptedService(
        name: "fprintd",
        answers: [
            "GetDevices": "ao", "ListEnrolledFingers": "as", "GetAll": "a{sv}", "Claim": "", "Release": "",
            "VerifyStart": "", "VerifyStop": "",
        ],
        signals: [("VerifyStatus", "sb"), ("VerifyFingerSelected", "s")].map { member, signature in
            ServiceMessage(
                path: "/net/reactivated/Fprint/Device/0",
                interface: "net.reactivated.Fprint.Device",
                member: member,
                signature: signature
            )
        } + [ownerChanged]
    )

    static let logind = ScriptedService(
        name: "logind",
        answers: [
            "GetSession": "o", "GetSessionByPID": "o", "GetUser": "o", "Get": "v", "Inhibit": "h",
        ],
        signals: [("SessionNew", "so"), ("SessionRemoved", "so"), ("PrepareForSleep", "b")].map { member, signature in
            ServiceMessage(
                path: "/org/freedesktop/login1",
                interface: "org.freedesktop.login1.Manager",
                member: member,
                signature: signature
            )
        }
            + ["Lock", "Unlock"].map { member in
                ServiceMessage(
                    path: session,
                    interface: "org.freedesktop.login1.Session",
                    member: member,
                    signature: ""
                )
            }
            + [session, user].map { path in
                ServiceMessage(
                    path: path,
                    interface: "org.freedesktop.DBus.Properties",
                    member: "PropertiesChanged",
                    signature: "sa{sv}as"
                )
            } + [ownerChanged]
    )

    static let gcrPrompter = ScriptedService(
        name: "gcr-prompter",
        answers: ["BeginPrompting": "", "PerformPrompt": "", "StopPrompting": ""],
        signals: [ownerChanged],
        calls: [("PromptReady", "sa{sv}s"), ("PromptDone", "")].map { member, signature in
            ServiceMessage(
                path: "/prompt",
                interface: "org.gnome.keyring.internal.Prompter.Callback",
                member: member,
                signature: signature
            )
        }
    )

    static let kdePrompter = ScriptedService(
        name: "kde-prompter",
        answers: [
            "Get": "v", "UnlockCollectionPrompt": "", "CreateCollectionPrompt": "", "ListActivatableNames": "as",
        ],
        signals: [ownerChanged],
        calls: [("Accepted", "h"), ("Rejected", ""), ("Dismissed", "")].map { member, signature in
            ServiceMessage(
                path: "/org/keychaind/prompt/kde",
                interface: "org.kde.secretprompter.request",
                member: member,
                signature: signature
            )
        }
    )

    static let notifications = ScriptedService(
        name: "notifications",
        answers: ["Notify": "u", "GetCapabilities": "as", "CloseNotification": ""],
        signals: [("ActionInvoked", "us"), ("NotificationClosed", "uu")].map { member, signature in
            ServiceMessage(
                path: "/org/freedesktop/Notifications",
                interface: "org.freedesktop.Notifications",
                member: member,
                signature: signature
            )
        } + [ownerChanged]
    )

    private static let session = "/org/freedesktop/login1/session/_31"
    private static let user = "/org/freedesktop/login1/user/_0"
}

/// A message of an interface, as a service may send it.
struct ServiceMessage {
    let path: String
    let interface: String
    let member: String
    let signature: String
    /// Nil for the service.
    var sender: String?
}
