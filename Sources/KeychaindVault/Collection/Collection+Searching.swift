package import KeychaindModel
import Logging

extension Collection {
    /// Returns the items with all of the attributes (#63, #64), last modified first; all items for no attributes (#65).
    ///
    /// Works in every state. Before the first unlock it matches blind tags, with a false match in 1 of 2⁶⁴ attributes.
    package func search(_ attributes: Attributes) -> [ItemID] {
        guard table.count > 0 else { return [] }
        do throws(VaultError) {
            return try hits(attributes)
        } catch {
            context.configuration.logger.error("\(name): a search failed: \(error)")
            return []
        }
    }

    /// Makes no more tags once an attribute decides: a tag costs more than a look at an item.
    private func hits(_ attributes: Attributes) throws(VaultError) -> [ItemID] {
        var tags: [UInt64] = []
        var decided: [ItemID]?
        var failure: VaultError?
        attributes.visitPairs { pair in
            do throws(VaultError) {
                let tag = try context.indexKey.tag(of: pair)
                tags.append(tag)
                decided = table.hits(attributes, with: tag)
            } catch {
                failure = error
            }
            return decided == nil && failure == nil
        }
        if let failure { throw failure }
        return decided ?? table.search(attributes, tags: tags)
    }
}

/// The stamp of a program as an attribute, with its blind tag.
package struct Stamp: Sendable {
    package let program: String

    package let attribute: Attributes

    fileprivate let tag: UInt64
}

extension Vault {
    /// The stamp of a program; throws if the vault is closed.
    package func stamp(of program: String) throws(VaultError) -> Stamp {
        guard let indexKey = context?.indexKey else { throw VaultError.vaultClosed }
        let attribute = Attributes([(Attributes.program, program)])
        return Stamp(program: program, attribute: attribute, tag: try indexKey.tags(of: attribute).first ?? 0)
    }
}

extension Collection {
    /// Whether an item has a stamp, also before the first unlock.
    package func hasStamp(_ stamp: Stamp, of id: ItemID) -> Bool {
        table.hasAttribute(stamp.attribute, tag: stamp.tag, of: id)
    }

    /// Stamps an item for a program; its times stay.
    ///
    /// Durable on return. Throws `notSupported` for another program's item, `locked`, and disk errors.
    package func stamp(_ id: ItemID, for program: String) async throws(VaultError) {
        guard let item = item(id) else { throw VaultError.noItem(id) }
        switch item.attributes[Attributes.program] {
        case program: return
        case nil: break
        case .some: throw VaultError(.notSupported, reason: "item \(id) belongs to another sandboxed program")
        }
        var update = PendingUpdate(attributes: .one(Attributes.program, program), isAuthenticated: true)
        // A change in between would be a change of what the person has seen.
        update.revision = revision(of: id)
        update.times = CopiedTimes(modified: item.modified)
        _ = try await perform(PendingMutation(.update(id, update)))
    }
}
