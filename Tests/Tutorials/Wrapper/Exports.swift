// On Apple's systems UIKit brings it along.
@_exported import Security
