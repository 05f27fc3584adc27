#include "CKeychaindTOML.h"

// An assertion of toml++ 3.3 fails for "[[[", although the error is reported anyway. NDEBUG would turn the assertions
// into assumptions of the optimizer.
#undef NDEBUG
#define TOML_ASSERT(expression) static_cast<void>(0)
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

// Deeper than any setting; a deeper table is reported as a value of another type.
constexpr size_t deepest = 16;

using each_value = void (*)(void *, const keychaind_toml_value *);

// Whether all elements are strings, which are added to `texts`.
bool collect(const toml::array &array, std::vector<const char *> &texts) {
    for (auto &&element : array) {
        const auto *text = element.as_string();
        if (!text) {
            return false;
        }
        texts.push_back(text->get().c_str());
    }
    return true;
}

void visit(const toml::table &table, std::vector<const char *> &keys, void *context, each_value each) {
    for (auto &&[key, node] : table) {
        const std::string name(key.str());
        keys.push_back(name.c_str());
        const toml::table *inner = node.as_table();
        if (inner && !inner->empty() && keys.size() < deepest) {
            visit(*inner, keys, context, each);
        } else {
            keychaind_toml_value value{};
            value.keys = keys.data();
            value.key_count = keys.size();
            value.key_line = key.source().begin.line;
            value.key_column = key.source().begin.column;
            value.line = node.source().begin.line;
            value.column = node.source().begin.column;
            value.kind = keychaind_toml_other;
            std::vector<const char *> texts;
            if (inner && inner->empty()) {
                value.kind = keychaind_toml_empty_table;
            } else if (const auto *flag = node.as_boolean()) {
                value.kind = keychaind_toml_boolean;
                value.number = flag->get();
            } else if (const auto *integer = node.as_integer()) {
                value.kind = keychaind_toml_integer;
                value.number = integer->get();
            } else if (const auto *text = node.as_string()) {
                value.kind = keychaind_toml_text;
                value.text = text->get().c_str();
            } else if (const auto *array = node.as_array(); array && collect(*array, texts)) {
                value.kind = keychaind_toml_texts;
                value.texts = texts.data();
                value.text_count = texts.size();
            }
            each(context, &value);
        }
        keys.pop_back();
    }
}

}  // namespace

extern "C" void keychaind_toml_parse(const char *document, size_t length, void *context, each_value each,
                                     void (*failed)(void *, const keychaind_toml_failure *)) {
    const toml::parse_result result = toml::parse(std::string_view(document, length));
    if (!result) {
        const toml::parse_error &error = result.error();
        const std::string message(error.description());
        const keychaind_toml_failure failure{message.c_str(), error.source().begin.line, error.source().begin.column};
        failed(context, &failure);
        return;
    }
    std::vector<const char *> keys;
    visit(result.table(), keys, context, each);
}
