import KeychaindModel

extension FileRemains {
    /// The header of the file; what is damaged of it comes from the newest generation that has it.
    ///
    /// Nil if no key slot is left, here or there.
    func header(orFrom generations: Generations) throws(VaultError) -> CollectionHeader? {
        for identifier in identifiers {
            if let header = try header(identifier: identifier) { return header }
        }
        for file in ((try? generations.existing()) ?? []).reversed() {
            guard let past = try? FileRemains(of: file, in: generations.folder) else { continue }
            for identifier in past.identifiers {
                // The slots show whether the identifier is right.
                if let header = try header(identifier: identifier) { return header }
                guard let header = try past.header(identifier: identifier), itemCount > 0,
                    identifiers.isEmpty || identifiers.contains(identifier)
                else { continue }
                return header
            }
        }
        return nil
    }
}
