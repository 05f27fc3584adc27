"""libsecret as programs use it: its objects, which update their caches from signals, and its simple functions.

Every step ends with a look through other objects than those that made the change. To be run with
G_DEBUG=fatal-criticals: a wrong type or a missing property ends the process.
"""

import gi

gi.require_version("Secret", "1")
from gi.repository import GLib, Secret

SCHEMA = Secret.Schema.new(
    "org.example.Schema",
    Secret.SchemaFlags.NONE,
    {
        "name": Secret.SchemaAttributeType.STRING,
        "number": Secret.SchemaAttributeType.INTEGER,
        "flag": Secret.SchemaAttributeType.BOOLEAN,
    },
)
ALL = Secret.SearchFlags.ALL


def comes_true(condition):
    """Runs the main loop until the condition is true."""
    context, late = GLib.MainContext.default(), []
    source = GLib.timeout_add_seconds(60, lambda: late.append(True) or GLib.SOURCE_CONTINUE)
    while not condition() and not late:
        context.iteration(True)
    GLib.source_remove(source)
    return condition()


def wait(start, finish, *arguments):
    """Calls an asynchronous function and waits for its result."""
    results = []
    start(*arguments, None, lambda _, result: results.append(finish(result)))
    assert comes_true(lambda: results)
    return results[0]


def value(content, content_type="text/plain"):
    return Secret.Value.new(content, len(content), content_type)


def connect():
    flags = Secret.ServiceFlags.OPEN_SESSION | Secret.ServiceFlags.LOAD_COLLECTIONS
    return Secret.Service.open_sync(Secret.Service.__gtype__, None, flags, None)


def check_collections(service):
    assert service.get_session_algorithms() == "dh-ietf1024-sha256-aes128-cbc-pkcs7"
    paths = [collection.get_object_path() for collection in service.get_collections()]
    assert "/org/freedesktop/secrets/collection/login" in paths
    load = Secret.CollectionFlags.LOAD_ITEMS
    assert Secret.Collection.for_alias_sync(service, "no such alias", load, None) is None
    login = Secret.Collection.for_alias_sync(service, "default", load, None)
    assert login.get_object_path() in paths and not login.get_locked()
    other = Secret.Collection.for_alias_sync(service, "login", load, None)
    login.set_label_sync("Mine", None)
    assert comes_true(lambda: other.get_label() == "Mine")
    assert 0 < login.get_created() <= login.get_modified()
    service.set_alias_sync("work", login, None)
    assert Secret.Collection.for_alias_sync(service, "work", load, None) is not None
    service.set_alias_sync("work", None, None)
    assert Secret.Collection.for_alias_sync(service, "work", load, None) is None
    return login


def check_items(login):
    attributes = {"name": "x", "number": "5", "flag": "true"}
    none, replace = Secret.ItemCreateFlags.NONE, Secret.ItemCreateFlags.REPLACE
    first = Secret.Item.create_sync(login, SCHEMA, attributes, "first", value("one"), none, None)
    assert comes_true(lambda: len(login.get_items()) == 1)
    again = Secret.Item.create_sync(login, SCHEMA, attributes, "again", value("two", "text/html"), replace, None)
    assert again.get_object_path() == first.get_object_path()
    assert comes_true(lambda: first.get_label() == "again")
    first.load_secret_sync(None)
    assert first.get_secret().get() == b"two" and first.get_secret().get_content_type() == "text/html"
    first.set_label_sync("changed", None)
    assert comes_true(lambda: again.get_label() == "changed")
    first.set_attributes_sync(SCHEMA, {"name": "y"}, None)
    wanted = {"name": "y", "xdg:schema": "org.example.Schema"}
    assert comes_true(lambda: again.get_attributes() == wanted) and again.get_schema_name() == "org.example.Schema"
    for content in ["", "x" * 16, "x" * 3_000_000]:
        first.set_secret_sync(value(content, "application/octet-stream"), None)
        again.load_secret_sync(None)
        assert again.get_secret().get() == content.encode()
    return first


def check_search(service, login, item):
    none = Secret.ItemCreateFlags.NONE
    second = Secret.Item.create_sync(login, SCHEMA, {"name": "y"}, "second", value("2"), none, None)
    hits = service.search_sync(SCHEMA, {"name": "y"}, ALL | Secret.SearchFlags.LOAD_SECRETS, None)
    assert [hit.get_label() for hit in hits] == ["second", "changed"]
    assert all(hit.get_secret() is not None for hit in hits)
    assert len(service.search_sync(SCHEMA, {"name": "y"}, Secret.SearchFlags.NONE, None)) == 1
    assert len(login.search_sync(SCHEMA, {"name": "y"}, ALL, None)) == 2
    second.delete_sync(None)
    assert comes_true(lambda: len(login.get_items()) == 1)
    try:
        second.load_secret_sync(None)
        raise AssertionError("a deleted item still has a secret")
    except GLib.Error as error:
        assert error.matches(Secret.error_get_quark(), Secret.Error.NO_SUCH_OBJECT), error.message


def check_passwords():
    name = {"name": "password"}
    for collection in (Secret.COLLECTION_DEFAULT, Secret.COLLECTION_SESSION):
        assert Secret.password_store_sync(SCHEMA, name, collection, "label", "geheim\nß", None)
        assert Secret.password_lookup_sync(SCHEMA, name, None) == "geheim\nß"
        assert Secret.password_clear_sync(SCHEMA, name, None)
        assert not Secret.password_clear_sync(SCHEMA, name, None)
    assert wait(Secret.password_store, Secret.password_store_finish, SCHEMA, name, None, "label", "later")
    assert wait(Secret.password_lookup, Secret.password_lookup_finish, SCHEMA, name) == "later"
    (hit,) = wait(Secret.password_search, Secret.password_search_finish, SCHEMA, name, ALL)
    assert hit.retrieve_secret_sync(None).get_text() == "later"
    assert wait(Secret.password_clear, Secret.password_clear_finish, SCHEMA, name)
    assert wait(Secret.password_lookup, Secret.password_lookup_finish, SCHEMA, name) is None


def check_schemas():
    """A store without a schema, as by secret-tool, changes the item of the program that uses one."""
    name = {"name": "twin"}
    assert Secret.password_store_sync(SCHEMA, name, None, "label", "old", None)
    assert Secret.password_store_sync(None, name, None, "label", "new", None)
    assert Secret.password_lookup_sync(SCHEMA, name, None) == "new"
    (hit,) = Secret.password_search_sync(None, name, ALL, None)
    assert hit.get_attributes() == {**name, "xdg:schema": "org.example.Schema"}
    assert hit.set_attributes_sync(None, {"name": "moved"}, None)
    assert Secret.password_lookup_sync(SCHEMA, {"name": "moved"}, None) == "new"
    assert Secret.password_clear_sync(SCHEMA, {"name": "moved"}, None)


def check_locking(service, login, item):
    count, _ = service.lock_sync([item], None)
    assert count == 1
    assert comes_true(lambda: login.get_locked() and item.get_locked())
    hits = service.search_sync(SCHEMA, {"name": "y"}, ALL | Secret.SearchFlags.LOAD_SECRETS, None)
    assert [hit.get_label() for hit in hits] == ["changed"]
    try:
        item.set_label_sync("no", None)
        raise AssertionError("a locked item was changed")
    except GLib.Error as error:
        assert error.matches(Secret.error_get_quark(), Secret.Error.IS_LOCKED), error.message
    assert item.get_label() == "changed"
    # There is no prompter: the prompt is dismissed, which is not an error.
    count, _ = service.unlock_sync([login], None)
    assert count == 0 and login.get_locked()


service = connect()
login = check_collections(service)
item = check_items(login)
check_search(service, login, item)
check_passwords()
check_schemas()
check_locking(service, login, item)
