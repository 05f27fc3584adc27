# shellcheck shell=bash disable=SC2154,SC1091
# Applications of the real Flatpak, from local files alone: with its proxy, and with the whole bus.

own_home
own_bus
source "$scripts/support.sh"
if ! command -v flatpak >/dev/null || ! bwrap --ro-bind / / --unshare-user true 2>/dev/null; then
    skip "flatpak is not installed, or there are no user namespaces"
    return
fi

# A runtime with this machine's Python, and no more.
runtime=$work/runtime-files libraries=$work/runtime-files/usr/lib/x86_64-linux-gnu
version=$(/usr/bin/python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
mkdir -p "$runtime"/usr/{bin,lib64,lib/python3/dist-packages} "$runtime"/{files,var,export} "$libraries"
copy_libraries() { ldd "$@" 2>/dev/null | grep -o '/[^ )]*[^: )]' | sort -u | xargs -I{} cp -Ln {} "$libraries/"; }
cp -L "/usr/bin/$version" /usr/bin/dash "$runtime/usr/bin/"
ln -s "$version" "$runtime/usr/bin/python3"
ln -s dash "$runtime/usr/bin/sh"
cp -r "/usr/lib/$version" "$runtime/usr/lib/"
cp -r /usr/lib/python3/dist-packages/jeepney "$runtime/usr/lib/python3/dist-packages/"
copy_libraries "/usr/bin/$version" /usr/bin/dash "$runtime/usr/lib/$version"/lib-dynload/*.so
cp -L /lib64/ld-linux-x86-64.so.2 "$runtime/usr/lib64/"
platform=org.example.Platform/x86_64/1
printf '[Runtime]\nname=org.example.Platform\nruntime=%s\nsdk=%s\n' "$platform" "$platform" >"$runtime/metadata"
flatpak build-export --disable-fsync --runtime "$work/repository" "$runtime" 1 &>"$work/export.log"

# application ID PERMISSION...: an application with the interpreter of expressions.
application() {
    local folder=$work/$1
    mkdir -p "$folder"/{files/bin,export}
    cp "$scripts"/{sandboxed,secrets_client}.py "$folder/files/"
    printf '#!/bin/sh\nexec /usr/bin/python3 /app/sandboxed.py\n' >"$folder/files/bin/run"
    chmod 755 "$folder/files/bin/run"
    { printf '[Application]\nname=%s\nruntime=%s\ncommand=run\n' "$1" "$platform"; printf '\n%s\n' "${@:2}"; } \
        >"$folder/metadata"
    flatpak build-export --disable-fsync "$work/repository" "$folder" 1 &>>"$work/export.log"
}
application org.example.Proxied '[Session Bus Policy]' 'org.freedesktop.secrets=talk'
application org.example.Open '[Context]' 'sockets=session-bus;'

start_daemon
# What is installed before the first start has seen all items, and sees them until a person decides.
gdbus call --session --timeout 120 --dest org.freedesktop.secrets --object-path /org/freedesktop/secrets/sandboxes \
    --method org.keychaind.Sandboxes1.List >"$work/list"
flatpak --user remote-add --no-gpg-verify local "$work/repository" &>"$work/install.log"
flatpak --user install -y --noninteractive local org.example.Platform//1 org.example.Proxied//1 org.example.Open//1 \
    &>>"$work/install.log"
attack flatpaks
