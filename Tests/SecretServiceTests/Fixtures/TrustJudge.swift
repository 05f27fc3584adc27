import KeychaindAuthentication
import KeychaindDBus

/// Trusts dialogs as the test says.
@BusActor
final class TrustJudge: PrompterInspector {
    var verdict = PrompterTrust.passwordsOnly(reason: "the test says so")

    func trust(inOwner uniqueName: String, of busName: String) async -> PrompterTrust { verdict }
}
