// As on Apple's systems: who imports this has keychain and Foundation, too.
@_exported public import Foundation
@_exported public import Security
