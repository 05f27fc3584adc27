import CKeychaindDomain
import CKeychaindLinux
import Glibc
import KeychaindFIDO
import KeychaindHardening

/// Runs the process as the helper for security keys, which the daemon has started.
///
/// In a domain it has come with the group, so that no program of the user could trace it; it uses none of its rights.
func serveSecurityKeys() -> Never {
    ProcessHardening.apply()
    guard keychaind_give_up_group(getgid()) == 0 else { _exit(EX_OSERR) }
    // The change of groups has reset it.
    _ = keychaind_set_undumpable()
    SecurityKeyHelper.run(on: STDIN_FILENO)
}
