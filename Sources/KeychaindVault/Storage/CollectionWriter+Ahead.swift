import KeychaindModel

/// Reading rows before their key is there.
extension CollectionWriter {
    /// Reads the rows for an unlock with the tags; nil if something is wrong with them, so that tags are read alone.
    func contentsWithRows(of file: CollectionFile, reserving items: Int) -> LockedContents? {
        guard let header, header.indexKey == indexKey.fingerprint else { return nil }
        var table = ItemTable()
        table.reserve(items: items)
        ahead = rowsAhead(of: file, items) { record, tags in table.append(record, tags: tags) }
        return ahead == nil ? nil : LockedContents(header: header, table: table, tagsAreStale: false)
    }

    /// Reads the rows while their key is derived; a failure is found again when they are opened.
    func readAhead() {
        guard keys == nil, remains == nil, ahead == nil, header?.indexKey == indexKey.fingerprint,
            let file = try? openedFile(), let items = try? expectedItems(in: file)
        else { return }
        ahead = rowsAhead(of: file, items)
        file.releaseMemory()
    }

    private func rowsAhead(
        of file: CollectionFile,
        _ items: Int,
        _ body: (ItemRecord, StoredTags) -> Void = { _, _ in }
    ) -> RowsAhead? {
        try? RowsAhead(
            of: file,
            size: folder.size(ofDatabase: name.fileName),
            items: items,
            secretsUpTo: configuration.limits.residentSecretBytes + SecretsKey.overhead,
            body
        )
    }

    /// Opens the rows that were read ahead; nil if there are none, or they are not sound.
    func openAhead(_ keys: CollectionKeys, into table: ItemTable) -> LoadedContents? {
        guard let ahead, remains == nil, let file, (try? file.database.isTouched()) == false else { return nil }
        return try? ahead.open(with: keys, in: file, into: table)
    }
}
