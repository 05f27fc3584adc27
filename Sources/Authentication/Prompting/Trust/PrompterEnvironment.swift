import Desktop

/// Judges the environment that a prompter was started in.
enum PrompterEnvironment {
    /// Why the program may run other code than its own, or show its dialog where nobody sees it; nil if nothing speaks for that.
    static func objection(in folder: ProcessFolder) -> String? {
        guard let content = folder.read("environ", limit: longest), content.count < longest else {
            return "its environment cannot be seen"
        }
        for variable in content.split(separator: 0) {
            let pair = String(decoding: variable, as: UTF8.self).split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { continue }
            let name = String(pair[0])
            if isHostile(name, pair[1]) { return "it was started with \(PromptText.name(name)) in its environment" }
        }
        return nil
    }

    private static func isHostile(_ name: String, _ value: Substring) -> Bool {
        if name.hasPrefix("LD_") || codeNames.contains(name) { return true }
        if name == "BROADWAY_DISPLAY" { return true }
        guard let screens = screens[name] else { return false }
        return !value.split { $0 == "," || $0 == ";" }
            .allSatisfy { choice in
                screens.contains { choice == $0 || choice.hasPrefix($0 + ":") || choice.hasPrefix($0 + "-") }
            }
    }

    /// What has programs load code, beside the dynamic loader's own variables.
    private static let codeNames: Set<String> = [
        "GBM_BACKENDS_PATH", "GCONV_PATH", "GDK_PIXBUF_MODULEDIR", "GDK_PIXBUF_MODULE_FILE", "GIO_EXTRA_MODULES",
        "GIO_MODULE_DIR", "GI_TYPELIB_PATH", "GJS_PATH", "GTK3_MODULES", "GTK_DATA_PREFIX", "GTK_EXE_PREFIX",
        "GTK_IM_MODULE_FILE", "GTK_MODULES", "GTK_PATH", "LIBGL_DRIVERS_PATH", "LOCPATH", "PANGO_RC_FILE",
        "QML2_IMPORT_PATH", "QML_IMPORT_PATH", "QT_PLUGIN_PATH", "QT_QPA_GENERIC_PLUGINS",
        "QT_QPA_PLATFORM_PLUGIN_PATH", "VK_ADD_LAYER_PATH", "VK_DRIVER_FILES", "VK_ICD_FILENAMES",
        "VK_INSTANCE_LAYERS", "VK_LAYER_PATH", "__EGL_VENDOR_LIBRARY_DIRS", "__EGL_VENDOR_LIBRARY_FILENAMES",
    ]

    /// What says where windows are shown, with the places that are screens.
    private static let screens: [String: Set<String>] = [
        "GDK_BACKEND": ["*", "wayland", "x11"],
        "QT_QPA_PLATFORM": ["wayland", "xcb"],
    ]

    /// How much is read, in bytes: more than environments have.
    private static let longest = 2 << 20
}
