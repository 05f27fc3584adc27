import Foundation
import Hummingbird
import Security

/// Answers requests with the password that is in the keychain.
struct PasswordMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let password = password(of: "server"),
            request.headers[.authorization] == "Basic " + Data("anna:\(password)".utf8).base64EncodedString()
        else { throw HTTPError(.unauthorized) }
        return try await next(request, context)
    }
}

guard store("correct horse", of: "server") == errSecSuccess else { fatalError("not stored") }
let router = Router()
router.middlewares.add(PasswordMiddleware())
router.get("/") { _, _ in "Hello" }
let server = Application(
    router: router,
    configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
    onServerRunning: { channel in
        print(channel.localAddress?.port ?? 0)
        fflush(nil)
    }
)
try await server.runService()
