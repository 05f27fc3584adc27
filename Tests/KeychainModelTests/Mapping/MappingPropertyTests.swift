import KeychainModel
import Testing

struct MappingPropertyTests {
    @Test
    func item_writtenAndRead_isTheSame() {
        var random = RandomItems(seed: 1)
        for _ in 0..<3000 {
            let item = random.item()
            #expect(KeychainItem(item.attributes, label: item.storedLabel) == item)
        }
    }

    @Test
    func attributes_readAndWritten_areTheSame() {
        var random = RandomItems(seed: 2)
        for _ in 0..<5000 {
            let attributes = random.attributes()
            let label = random.text()
            let item = KeychainItem(attributes, label: label)
            #expect(item.attributes == attributes, "\(item)")
            #expect(item.storedLabel.utf8.elementsEqual(label.utf8))
        }
    }

    @Test
    func attributes_markedAsUnlabelled_areTheSame_whateverTheLabel() {
        var random = RandomItems(seed: 3)
        for _ in 0..<1000 {
            var item = random.item()
            item.label = nil
            for label in [item.storedLabel, "renamed", ""] {
                let read = KeychainItem(item.attributes, label: label)
                #expect(read.attributes == item.attributes)
                #expect(read.storedLabel == label)
                #expect((read.label == nil) == (label == item.storedLabel))
            }
        }
    }

    @Test
    func searches_anItemThatMatches_isFound() {
        var random = RandomItems(seed: 4)
        var matches = 0
        for _ in 0..<3000 {
            let item = random.item()
            // A query with some of the item's attributes, and one of somebody else's.
            for query in [part(of: item), random.item()] where query.matches(item) {
                // What is empty is searched for as it is, and matches what is missing too.
                guard query.values.allSatisfy({ item[$0.key] == $0.value || $0.value == .boolean(false) }) else {
                    continue
                }
                matches += 1
                #expect(query.searches.contains { item.attributes.contains(all: $0) }, "\(query) does not find \(item)")
            }
            #expect(item.matches(item))
        }
        #expect(matches > 2000)
    }

    private func part(of item: KeychainItem) -> KeychainItem {
        var query = KeychainItem(item.itemClass)
        for (index, value) in item.values.enumerated() where index.isMultiple(of: 2) {
            try? query.set(value.key, to: value.value)
        }
        return query
    }
}
