# keychaind: build, try, test, install. No target needs a terminal.

PREFIX ?= /usr/local
DESTDIR ?=
SWIFT ?= swift
INSTALL ?= install
STRIP ?= strip
CC ?= cc
CFLAGS ?= -O2 -g

# Whether the program gets its own group at installation, which needs an administrator (docs/domain.md).
DOMAIN ?= yes
DOMAINGROUP ?= keychaind

BINDIR = $(PREFIX)/bin
# keychaind finds the helper here, relative to its own folder.
HELPERDIR = $(PREFIX)/libexec/keychaind
SYSUSERSDIR = $(PREFIX)/lib/sysusers.d
TMPFILESDIR = $(PREFIX)/lib/tmpfiles.d
DATADIR = $(PREFIX)/share
UNITDIR = $(PREFIX)/lib/systemd/user
DOCDIR = $(DATADIR)/doc/keychaind
# The desktop portal before 1.20.1 and polkit before 124 search only /usr/share.
SYSTEMDATADIR = $(if $(filter /usr/local,$(PREFIX)),/usr/share,$(DATADIR))
PORTALDIR ?= $(SYSTEMDATADIR)/xdg-desktop-portal/portals
ACTIONDIR ?= $(SYSTEMDATADIR)/polkit-1/actions
# The PAM folder depends on the system (docs/migrating.md); the PAM configuration may also name the module by its path.
PAMDIR ?= $(PREFIX)/lib/security

RELEASE = .build/release/keychaind
PAM_MODULE = .build/pam_keychaind.so
HELPER = .build/keychaind-folders
INTERFACES = $(wildcard dbus/*.xml)
POLICY = dbus/org.keychaind.policy
# In the same folders as here, so that their links work.
DOCUMENTS = LICENSE README.md SECURITY.md CHANGELOG.md ARCHITECTURE.md \
	$(wildcard docs/*.md docs/decisions/*.md docs/images/*.png) \
	Examples/KeySlots/README.md Examples/KeySlots/key_slots.py

# The files that install creates and uninstall removes.
INSTALLED = \
	$(BINDIR)/keychaind \
	$(HELPERDIR)/keychaind-folders \
	$(SYSUSERSDIR)/keychaind.conf \
	$(TMPFILESDIR)/keychaind.conf \
	$(DATADIR)/dbus-1/services/org.freedesktop.secrets.service \
	$(DATADIR)/dbus-1/services/org.freedesktop.impl.portal.desktop.keychaind.service \
	$(PORTALDIR)/keychaind.portal \
	$(addprefix $(DATADIR)/dbus-1/interfaces/,$(notdir $(INTERFACES))) \
	$(UNITDIR)/keychaind.service \
	$(UNITDIR)/keychaind.socket \
	$(PAMDIR)/pam_keychaind.so \
	$(addprefix $(ACTIONDIR)/,$(notdir $(POLICY))) \
	$(DATADIR)/man/man1/keychaind.1 \
	$(addprefix $(DOCDIR)/,$(DOCUMENTS))

.PHONY: packages build pam helper run test consumers docs bench lint format install uninstall clean
.DEFAULT_GOAL := build

# The build's packages; the other targets install theirs themselves.
packages:
	scripts/install-packages build

build: pam helper
	$(SWIFT) build -c release --product keychaind

# Loaded into login programs: C, linked only with PAM and the C library.
pam: $(PAM_MODULE)

$(PAM_MODULE): pam/pam_keychaind.c
	mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -std=gnu11 -Wall -Wextra $(if $(CI),-Werror) -fPIC -fvisibility=hidden \
		-fstack-protector-strong -shared -Wl,-z,relro,-z,now,-z,defs,--as-needed $(LDFLAGS) -o $@ $< -lpam

# Makes the domain's folders; set-uid root, so it links only the C library.
helper: $(HELPER)

$(HELPER): domain/keychaind-folders.c
	mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -D_FORTIFY_SOURCE=2 $(CFLAGS) -std=gnu11 -Wall -Wextra $(if $(CI),-Werror) -fPIE \
		-fstack-protector-strong -pie -Wl,-z,relro,-z,now,--as-needed $(LDFLAGS) -o $@ $<

run:
	scripts/install-packages run
	$(SWIFT) build -c release --product keychaind
	scripts/run

# All tests; with SUITE=VaultTests, one Swift suite.
test:
	scripts/install-packages test
	$(MAKE) pam helper
	SWIFT='$(SWIFT)' scripts/test $(SUITE)

# One site for all libraries, in .build/documentation/site.
docs:
	scripts/install-packages build
	scripts/docs

# Packages that use this one beside others; with CONSUMER=TLS, one of them. The first build takes half an hour.
consumers:
	scripts/install-packages test
	$(SWIFT) build -c release --product keychaind
	LIMIT=3600 SWIFT='$(SWIFT)' Tests/Scripts/run Consumers $(or $(CONSUMER),all)

bench:
	scripts/install-packages test
	$(SWIFT) build -c release --product keychaind
	$(SWIFT) run -c release KeychaindMicrobenchmarks
	$(SWIFT) run -c release KeychaindServiceBenchmark
	Benchmarks/Session/session.py $(RELEASE)

lint:
	scripts/install-packages test
	scripts/lint

format:
	find Package.swift Sources Tests Benchmarks Examples -name '*.swift' -not -path 'Tests/Tutorials/*' -print0 | \
		xargs --null $(SWIFT) format --in-place --parallel

# Builds nothing, so `sudo make install` needs no Swift and leaves no root-owned files in the build folder.
install:
	@test -x $(RELEASE) || { echo "install: there is no $(RELEASE) yet; run make first" >&2; exit 1; }
	@test -x $(HELPER) || { echo "install: there is no $(HELPER) yet; run make first" >&2; exit 1; }
	@test -f $(PAM_MODULE) || { echo "install: there is no $(PAM_MODULE) yet; run make first" >&2; exit 1; }
	$(INSTALL) -D -m 755 $(RELEASE) $(DESTDIR)$(BINDIR)/keychaind
	$(STRIP) $(DESTDIR)$(BINDIR)/keychaind
	$(INSTALL) -D -m 755 $(HELPER) $(DESTDIR)$(HELPERDIR)/keychaind-folders
	$(STRIP) $(DESTDIR)$(HELPERDIR)/keychaind-folders
	$(INSTALL) -D -m 644 dbus/keychaind.sysusers $(DESTDIR)$(SYSUSERSDIR)/keychaind.conf
	$(INSTALL) -D -m 644 dbus/keychaind.tmpfiles $(DESTDIR)$(TMPFILESDIR)/keychaind.conf
	$(INSTALL) -d $(DESTDIR)$(DATADIR)/dbus-1/services $(DESTDIR)$(DATADIR)/dbus-1/interfaces $(DESTDIR)$(UNITDIR) \
		$(DESTDIR)$(DATADIR)/man/man1 $(DESTDIR)$(ACTIONDIR) $(DESTDIR)$(PAMDIR)
	sed 's|@BINDIR@|$(BINDIR)|' dbus/org.freedesktop.secrets.service.in \
		> $(DESTDIR)$(DATADIR)/dbus-1/services/org.freedesktop.secrets.service
	sed 's|@BINDIR@|$(BINDIR)|' dbus/org.freedesktop.impl.portal.desktop.keychaind.service.in \
		> $(DESTDIR)$(DATADIR)/dbus-1/services/org.freedesktop.impl.portal.desktop.keychaind.service
	sed 's|@BINDIR@|$(BINDIR)|' dbus/keychaind.service.in > $(DESTDIR)$(UNITDIR)/keychaind.service
	chmod 644 $(DESTDIR)$(DATADIR)/dbus-1/services/org.freedesktop.secrets.service $(DESTDIR)$(UNITDIR)/keychaind.service \
		$(DESTDIR)$(DATADIR)/dbus-1/services/org.freedesktop.impl.portal.desktop.keychaind.service
	$(INSTALL) -D -m 644 dbus/keychaind.portal $(DESTDIR)$(PORTALDIR)/keychaind.portal
	$(INSTALL) -m 644 dbus/keychaind.socket $(DESTDIR)$(UNITDIR)
	$(INSTALL) -m 644 $(PAM_MODULE) $(DESTDIR)$(PAMDIR)
	$(STRIP) --strip-unneeded $(DESTDIR)$(PAMDIR)/pam_keychaind.so
	$(INSTALL) -m 644 $(INTERFACES) $(DESTDIR)$(DATADIR)/dbus-1/interfaces
	$(INSTALL) -m 644 $(POLICY) $(DESTDIR)$(ACTIONDIR)
	$(INSTALL) -m 644 docs/man/keychaind.1 $(DESTDIR)$(DATADIR)/man/man1
	INSTALL=$(INSTALL) scripts/install-documents $(DESTDIR)$(DOCDIR) $(DOCUMENTS)
	@DESTDIR=$(DESTDIR) scripts/install-domain $(DOMAIN) $(DOMAINGROUP) $(BINDIR)/keychaind \
		$(HELPERDIR)/keychaind-folders

uninstall:
	rm -f $(addprefix $(DESTDIR),$(INSTALLED))
	if [ -d $(DESTDIR)$(HELPERDIR) ]; then rmdir $(DESTDIR)$(HELPERDIR); fi
	if [ -d $(DESTDIR)$(DOCDIR) ]; then find $(DESTDIR)$(DOCDIR) -depth -type d -empty -delete; fi

clean:
	$(SWIFT) package clean
