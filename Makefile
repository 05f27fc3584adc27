# keychaind: build, try, test, install. No target needs a terminal, with YES=1 for packages that are missing.

PREFIX ?= /usr/local
DESTDIR ?=
SWIFT ?= swift
SWIFT_BUILD_OPTIONS ?=
# All addresses of functions are looked up at the start, and then read-only. No library is searched beside the program.
# What no code of the program uses is left out. LLVM's linker comes with Swift, and keeps relocations in little room.
SWIFT_LINK_OPTIONS = -Xswiftc -use-ld=lld -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now \
	-Xlinker --no-export-dynamic -Xlinker -z -Xlinker pack-relative-relocs --disable-local-rpath
SWIFT_BUILD = SWIFT='$(SWIFT)' scripts/build
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
# What only `keychainctl switch` puts where buses, desktops and PAM look. It finds the folder relative to its own.
SWITCHDIR = $(DATADIR)/keychaind
SYSUSERSDIR = $(PREFIX)/lib/sysusers.d
TMPFILESDIR = $(PREFIX)/lib/tmpfiles.d
DATADIR = $(PREFIX)/share
UNITDIR = $(PREFIX)/lib/systemd/user
DOCDIR = $(DATADIR)/doc/keychaind
# Where PAM looks, with the prefixes /usr and /usr/local.
PAMDIR ?= $(shell scripts/install-folder pam $(PREFIX))

# The tests install their own build, with BUILD=test.
BUILD ?= release
RELEASE = .build/$(BUILD)/keychaind
CONTROL = .build/$(BUILD)/keychainctl
COMPLETIONS = .build/completions
PAM_MODULE = .build/pam_keychaind.so
HELPER = .build/keychaind-folders
DIALOG = .build/keychaind-dialog
# Those of others come with their own packages.
INTERFACES = $(wildcard dbus/org.keychaind.*.xml)
# Catalogues of texts, where the programs of the build folder find them, too: ../share/locale.
LANGUAGES = $(basename $(notdir $(wildcard po/*.po)))
CATALOGUES = $(dir $(realpath .build/$(BUILD)))share/locale
# In the same folders as here, so that their links work.
DOCUMENTS = LICENSE README.md SECURITY.md CHANGELOG.md ARCHITECTURE.md \
	$(wildcard docs/*.md docs/decisions/*.md docs/images/*.png docs/images/*.svg) \
	Examples/KeySlots/README.md Examples/KeySlots/key_slots.py

# The files that install creates and uninstall removes. All names in folders of others are keychaind's own.
INSTALLED = \
	$(BINDIR)/keychaind \
	$(BINDIR)/keychainctl \
	$(HELPERDIR)/keychaind-dialog \
	$(DATADIR)/applications/keychaind-dialog.desktop \
	$(HELPERDIR)/keychaind-folders \
	$(HELPERDIR)/keychaind-start \
	$(SYSUSERSDIR)/keychaind.conf \
	$(TMPFILESDIR)/keychaind.conf \
	$(addprefix $(SWITCHDIR)/,org.freedesktop.secrets.service keychaind.portal hidden.desktop pam-config) \
	$(DATADIR)/dbus-1/services/org.freedesktop.impl.portal.desktop.keychaind.service \
	$(addprefix $(DATADIR)/dbus-1/interfaces/,$(notdir $(INTERFACES))) \
	$(UNITDIR)/keychaind.service \
	$(UNITDIR)/keychaind.socket \
	$(PAMDIR)/pam_keychaind.so \
	$(addprefix $(DATADIR)/man/man1/,keychaind.1 keychainctl.1) \
	$(foreach language,$(LANGUAGES),$(DATADIR)/locale/$(language)/LC_MESSAGES/keychaind.mo) \
	$(DATADIR)/bash-completion/completions/keychainctl \
	$(DATADIR)/zsh/site-functions/_keychainctl \
	$(DATADIR)/fish/vendor_completions.d/keychainctl.fish \
	$(addprefix $(DOCDIR)/,$(DOCUMENTS))

.PHONY: packages build catalogues completions pot po pam helper dialog no-dialog run test check sanitize consumers docs dist deb proof bench compare lint format install uninstall clean
.DEFAULT_GOAL := build

# The build's Debian packages; the other targets install theirs themselves. Each asks first; YES=1 says yes.
packages:
	scripts/install-packages build

build: pam helper $(shell pkg-config --exists gtk4 && echo dialog || echo no-dialog)
	$(SWIFT_BUILD) -c release $(SWIFT_LINK_OPTIONS) $(SWIFT_BUILD_OPTIONS) --product keychaind
	$(SWIFT_BUILD) -c release $(SWIFT_LINK_OPTIONS) $(SWIFT_BUILD_OPTIONS) --product keychainctl
	$(MAKE) completions catalogues

# For three shells, from the program itself.
completions:
	mkdir -p $(COMPLETIONS)
	for shell in bash zsh fish; do \
		$(CONTROL) --generate-completion-script $$shell >$(COMPLETIONS)/keychainctl.$$shell || exit 1; \
	done

catalogues:
	for language in $(LANGUAGES); do \
		mkdir -p $(CATALOGUES)/$$language/LC_MESSAGES && \
		msgfmt --check --output-file=$(CATALOGUES)/$$language/LC_MESSAGES/keychaind.mo po/$$language.po || exit 1; \
	done

# The texts of the sources, for translators; with po, also into the languages that there are (docs/translating.md).
pot:
	scripts/texts pot

po: pot
	for language in $(LANGUAGES); do \
		msgmerge --quiet --update --backup=none --no-location po/$$language.po po/keychaind.pot || exit 1; \
	done

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

# Asks in windows: C and GTK 4, as it takes what the user types.
dialog: $(DIALOG)

$(DIALOG): dialog/keychaind-dialog.c Sources/KeychaindCommandLine/Version.swift
	mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -D_FORTIFY_SOURCE=2 -DGDK_VERSION_MIN_REQUIRED=GDK_VERSION_4_8 \
		-DVERSION='"$(shell sed -n 's/.*static let current = "\(.*\)"/\1/p' Sources/KeychaindCommandLine/Version.swift)"' \
		$$(pkg-config --cflags gtk4) $(CFLAGS) -std=gnu11 -Wall -Wextra $(if $(CI),-Werror) -fPIE \
		-fstack-protector-strong -pie -Wl,-z,relro,-z,now,--as-needed $(LDFLAGS) -o $@ $< \
		$$(pkg-config --libs gtk4) -lm

no-dialog:
	@echo 'make: keychaind-dialog is left out, as there is no GTK 4; Debian has it in libgtk-4-dev'

run:
	SWIFT='$(SWIFT)' scripts/prepare run
	$(MAKE) build
	setpriv --pdeathsig TERM scripts/run

# What a change needs; with SUITE=VaultTests, one Swift suite.
test:
	SWIFT='$(SWIFT)' scripts/prepare test
	SWIFT='$(SWIFT)' scripts/test $(SUITE)

# Before a release: also the release build, the packages, the documentation, Swift 5 and other developers' packages.
check:
	SWIFT='$(SWIFT)' scripts/prepare test lint deb
	$(MAKE) lint
	SWIFT='$(SWIFT)' scripts/test --check

# All Swift tests with SANITIZER=address or SANITIZER=thread, and the processes that they start; a report fails.
sanitize:
	SWIFT='$(SWIFT)' scripts/prepare test
	SWIFT='$(SWIFT)' scripts/sanitize $(SANITIZER)

# One site for all libraries, in .build/documentation/site.
docs:
	SWIFT='$(SWIFT)' scripts/prepare build
	SWIFT='$(SWIFT)' scripts/docs

# Packages that use this one beside others; with CONSUMER=tls, one of them. The first build takes half an hour.
consumers:
	SWIFT='$(SWIFT)' scripts/prepare test
	$(SWIFT_BUILD) -c release $(SWIFT_LINK_OPTIONS) --product keychaind
	LIMIT=3600 SWIFT='$(SWIFT)' Tests/Scripts/run Consumers $(or $(CONSUMER),all)

# A source archive that builds without a network, in .build/dist, and Debian packages of it, in .build/deb.
dist:
	packaging/dist

deb:
	SWIFT='$(SWIFT)' scripts/prepare deb
	packaging/deb

# All that takes hours, or only PROOF="faults model". Needs root; the first time loads Debians for MACHINES, which take
# their programs from packages. DEBIAN is the suite of gnome, kde, dialogs and screens.
MACHINES = packages sessions gnome kde dialogs screens move-in-kwallet
proof:
	SWIFT='$(SWIFT)' scripts/prepare test proof
	$(if $(filter-out $(MACHINES),$(or $(PROOF),all)),$(MAKE) build)
	$(if $(filter $(MACHINES),$(or $(PROOF),$(MACHINES))),$(MAKE) deb)
	SWIFT='$(SWIFT)' LIMIT=$(or $(LIMIT),36000) Tests/Scripts/run Proof $(PROOF)

bench:
	SWIFT='$(SWIFT)' scripts/prepare bench
	$(SWIFT_BUILD) -c release $(SWIFT_LINK_OPTIONS) --product keychaind
	$(SWIFT_BUILD) -c release --product KeychaindServiceBenchmark
	$(dir $(RELEASE))KeychaindServiceBenchmark
	Benchmarks/Session/session.py $(RELEASE)

# Draws docs/comparison.md anew, beside other providers; a quarter of an hour, of an otherwise idle computer.
compare:
	SWIFT='$(SWIFT)' scripts/prepare compare
	$(SWIFT_BUILD) -c release $(SWIFT_LINK_OPTIONS) --product keychaind
	$(SWIFT_BUILD) -c release --product KeychaindServiceBenchmark
	Benchmarks/Comparison/compare.py

lint:
	scripts/install-packages lint
	scripts/lint

format:
	find Package.swift Sources Tests Benchmarks Examples -name '*.swift' -not -path 'Tests/Tutorials/*' -print0 | \
		xargs --null $(SWIFT) format --in-place --parallel

# Builds nothing, so `sudo make install` needs no Swift and leaves no root-owned files in the build folder.
#
# Changes nobody's provider: nothing that it installs starts keychaind before `keychainctl switch on`.
#
# The programs of the domain come last, with their group: an interruption leaves the former ones, with theirs.
install:
	@for file in $(RELEASE) $(CONTROL) $(HELPER) $(PAM_MODULE) $(COMPLETIONS)/keychainctl.fish \
		$(foreach language,$(LANGUAGES),$(CATALOGUES)/$(language)/LC_MESSAGES/keychaind.mo); do \
		test -f $$file || { echo "install: there is no $$file yet; run make first" >&2; exit 1; }; \
	done
	@DESTDIR=$(DESTDIR) scripts/install-folder check-pam $(PAMDIR) $(PREFIX)
	@foreign=$$($(if $(DESTDIR),true,scripts/foreign-files $(INSTALLED))); test -z "$$foreign" || { \
		echo "install: these files are of a package of the system: $$foreign" >&2; \
		echo "install: remove the package, or choose another PREFIX; nothing has been installed" >&2; exit 1; }
	$(INSTALL) -D -m 755 $(RELEASE) $(DESTDIR)$(BINDIR)/keychaind.new
	$(STRIP) $(DESTDIR)$(BINDIR)/keychaind.new
	$(INSTALL) -D -m 755 $(CONTROL) $(DESTDIR)$(BINDIR)/keychainctl
	$(STRIP) $(DESTDIR)$(BINDIR)/keychainctl
	$(INSTALL) -D -m 755 $(HELPER) $(DESTDIR)$(HELPERDIR)/keychaind-folders.new
	$(STRIP) $(DESTDIR)$(HELPERDIR)/keychaind-folders.new
	$(if $(wildcard $(DIALOG)),$(INSTALL) -D -m 755 $(DIALOG) $(DESTDIR)$(HELPERDIR)/keychaind-dialog)
	$(if $(wildcard $(DIALOG)),$(INSTALL) -D -m 644 dialog/keychaind-dialog.desktop \
		$(DESTDIR)$(DATADIR)/applications/keychaind-dialog.desktop)
	$(if $(wildcard $(DIALOG)),$(STRIP) $(DESTDIR)$(HELPERDIR)/keychaind-dialog, \
		@echo 'install: keychaind-dialog is left out, as make has not built it')
	$(INSTALL) -D -m 755 dbus/keychaind-start $(DESTDIR)$(HELPERDIR)/keychaind-start
	$(INSTALL) -D -m 644 dbus/keychaind.sysusers $(DESTDIR)$(SYSUSERSDIR)/keychaind.conf
	$(INSTALL) -D -m 644 dbus/keychaind.tmpfiles $(DESTDIR)$(TMPFILESDIR)/keychaind.conf
	$(INSTALL) -d $(DESTDIR)$(DATADIR)/dbus-1/services $(DESTDIR)$(DATADIR)/dbus-1/interfaces $(DESTDIR)$(UNITDIR) \
		$(DESTDIR)$(DATADIR)/man/man1 $(DESTDIR)$(PAMDIR) $(DESTDIR)$(SWITCHDIR)
	$(FILL) dbus/org.freedesktop.secrets.service.in >$(DESTDIR)$(SWITCHDIR)/org.freedesktop.secrets.service
	$(FILL) dbus/org.freedesktop.impl.portal.desktop.keychaind.service.in \
		>$(DESTDIR)$(DATADIR)/dbus-1/services/org.freedesktop.impl.portal.desktop.keychaind.service
	$(FILL) dbus/keychaind.service.in >$(DESTDIR)$(UNITDIR)/keychaind.service
	chmod 644 $(DESTDIR)$(SWITCHDIR)/org.freedesktop.secrets.service $(DESTDIR)$(UNITDIR)/keychaind.service \
		$(DESTDIR)$(DATADIR)/dbus-1/services/org.freedesktop.impl.portal.desktop.keychaind.service
	$(INSTALL) -m 644 dbus/keychaind.portal dbus/hidden.desktop $(DESTDIR)$(SWITCHDIR)
	$(INSTALL) -m 644 dbus/keychaind.pam-config $(DESTDIR)$(SWITCHDIR)/pam-config
	$(if $(filter no,$(DOMAIN)),sed -i 's/pam_keychaind.so/& group=none/' $(DESTDIR)$(SWITCHDIR)/pam-config)
	$(INSTALL) -m 644 dbus/keychaind.socket $(DESTDIR)$(UNITDIR)
	$(INSTALL) -m 644 $(PAM_MODULE) $(DESTDIR)$(PAMDIR)
	$(STRIP) --strip-unneeded $(DESTDIR)$(PAMDIR)/pam_keychaind.so
	$(INSTALL) -m 644 $(INTERFACES) $(DESTDIR)$(DATADIR)/dbus-1/interfaces
	$(INSTALL) -m 644 docs/man/keychaind.1 docs/man/keychainctl.1 $(DESTDIR)$(DATADIR)/man/man1
	$(INSTALL) -D -m 644 $(COMPLETIONS)/keychainctl.bash $(DESTDIR)$(DATADIR)/bash-completion/completions/keychainctl
	$(INSTALL) -D -m 644 $(COMPLETIONS)/keychainctl.zsh $(DESTDIR)$(DATADIR)/zsh/site-functions/_keychainctl
	$(INSTALL) -D -m 644 $(COMPLETIONS)/keychainctl.fish \
		$(DESTDIR)$(DATADIR)/fish/vendor_completions.d/keychainctl.fish
	for language in $(LANGUAGES); do \
		$(INSTALL) -D -m 644 $(CATALOGUES)/$$language/LC_MESSAGES/keychaind.mo \
			$(DESTDIR)$(DATADIR)/locale/$$language/LC_MESSAGES/keychaind.mo || exit 1; \
	done
	INSTALL=$(INSTALL) scripts/install-documents $(DESTDIR)$(DOCDIR) $(DOCUMENTS)
	@DESTDIR=$(DESTDIR) scripts/install-domain $(DOMAIN) $(DOMAINGROUP) $(BINDIR)/keychaind \
		$(HELPERDIR)/keychaind-folders
	@printf 'install: %-16s %s\n' programs $(BINDIR) 'PAM module' $(PAMDIR) 'systemd units' $(UNITDIR) \
		'for the switch' $(SWITCHDIR)
	@echo 'install: no provider has changed; each user switches with: keychainctl switch on'

FILL = sed -e 's|@BINDIR@|$(BINDIR)|g' -e 's|@HELPERDIR@|$(HELPERDIR)|g'

uninstall:
	@foreign=$$($(if $(DESTDIR),true,scripts/foreign-files $(INSTALLED))); \
	for file in $(INSTALLED); do \
		case " $$(echo $$foreign) " in \
		*" $$file "*) echo "uninstall: left $$file, which is of a package of the system" ;; \
		*) rm -f $(DESTDIR)$$file || exit 1 ;; \
		esac; \
	done
	rm -f $(DESTDIR)$(BINDIR)/keychaind.new $(DESTDIR)$(HELPERDIR)/keychaind-folders.new
	for folder in $(HELPERDIR) $(SWITCHDIR); do \
		if [ -d $(DESTDIR)$$folder ]; then rmdir --ignore-fail-on-non-empty $(DESTDIR)$$folder; fi; \
	done
	if [ -d $(DESTDIR)$(DOCDIR) ]; then find $(DESTDIR)$(DOCDIR) -depth -type d -empty -delete; fi

clean:
	$(SWIFT) package clean
