import AsyncHTTPClient
import Security

guard store("correct horse", of: "web") == errSecSuccess, let token = password(of: "web") else {
    fatalError("not stored")
}
var request = HTTPClientRequest(url: CommandLine.arguments[1])
request.headers.add(name: "Authorization", value: "Bearer \(token)")
let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
let body = try await response.body.collect(upTo: 1024)
print(String(buffer: body))
