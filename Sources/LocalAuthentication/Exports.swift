// As on Apple's systems, an import of this module imports Security and Foundation.
@_exported public import Foundation
@_exported public import Security
