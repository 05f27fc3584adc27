/// A prompter as a person names it, in the order that the daemon is given.
package enum PrompterName: String, CaseIterable, Sendable {
    /// KDE's, on KDE's desktop.
    case kde
    /// GCR's system prompter, of GNOME and of desktops like it.
    case gcr
    /// A pinentry with windows.
    case pinentry
    /// A pinentry on the terminal of the caller.
    case tty
    /// Nobody: where this is reached, nobody is asked.
    case none

    /// The order if none is given: windows, where there is a desktop.
    package static let standard: [PrompterName] = [.kde, .gcr, .pinentry, .tty]

    /// Reads names with commas between them; nil if one is unknown, is there twice, or there is none.
    ///
    /// What comes after ``none`` is left out, and so is ``none`` itself: of an empty order nobody is asked.
    package static func order(_ text: some StringProtocol) -> [PrompterName]? {
        var order: [PrompterName] = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let name = PrompterName(rawValue: String(word)), !order.contains(name) else { return nil }
            order.append(name)
        }
        return Array(order.prefix { $0 != .none })
    }
}
