package import DBus

/// Decides how far to trust the processes that show dialogs.
///
/// Where there is none, every prompter counts.
@BusActor
package protocol PrompterInspector: AnyObject, Sendable {
    /// How far to trust a process as it is at this moment; what cannot be seen in time is not trusted.
    func trust(in prompter: PrompterProcess) async -> PrompterTrust
}

/// The process that shows a dialog, by what is known of it.
package enum PrompterProcess: Hashable, Sendable {
    /// The connection of the session bus that owned a well-known name.
    case owner(uniqueName: String, busName: String)
    /// A child of this process.
    case child(Int32)
}
