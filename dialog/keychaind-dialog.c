/*
 * keychaind-dialog: asks for a password or a yes in a window, and shows the state of a fingerprint reader.
 *
 * Its standard input and output are a socket, on which it speaks as a pinentry does: lines of at most 1000 bytes, in
 * UTF-8 with percent escapes. Besides the commands of a pinentry there are
 *
 *   SETHEADLINE text                                        large, above the text of SETDESC
 *   SETDETAILSLABEL label, SETDETAILS text                  folded at first
 *   SETREADER none|waiting|unrecognised|recognised|locked   a picture beside the text, which says the same
 *   SETDELAY seconds                                        counted down; until then OK and the fields are off
 *   SETWAIT text                                            with that of SETERROR; has U+FFFC in place of the seconds
 *   SETCHOICE label                                         a checkbox; if it is on, `S CHOSEN` comes before OK
 *
 * `S SHOWN` says that the window is on the screen; from then on until the answer, `S ACTIVE` and `S INACTIVE` say
 * whether it has the keyboard, which it has not at first. A SET command during a question changes the window and is not
 * answered; nor is one after it, before RESET, because it may have crossed the answer. Any other command during a
 * question ends the program, as does the end of input.
 *
 * It has no words of its own: a button without a label does not exist. The labels of buttons, details and the choice
 * have mnemonics, as in `_x`, where `__` is an underscore. All other text is plain.
 *
 * It replaces its environment, so that the user's files load no code and change no looks. GTK 4 cannot grab the
 * keyboard; on X11 every program can read it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <glib-unix.h>
#include <gtk/gtk.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef VERSION
#define VERSION "unknown"
#endif

enum { LINE_LIMIT = 1000, PASSWORD_LIMIT = 2048, SECONDS_LIMIT = 86400 };

// Codes of libgpg-error, from the sources that a pinentry names: itself, and its Assuan library.
enum code {
    SUCCESS = 0,
    TIMEOUT = 5 << 24 | 62,
    NO_DISPLAY = 5 << 24 | 86,
    CANCELLED = 5 << 24 | 99,
    NOT_CONFIRMED = 5 << 24 | 114,
    LINE_TOO_LONG = 32 << 24 | 263,
    UNKNOWN_COMMAND = 32 << 24 | 275,
    BAD_PARAMETER = 32 << 24 | 280,
};

enum text {
    TITLE, HEADLINE, DESCRIPTION, DETAILS_LABEL, DETAILS, PROMPT, REPEAT, ERROR, WAIT, REPEAT_ERROR, OK, NOT_OK, CANCEL,
    CHOICE, TEXT_COUNT
};
static const char *const text_commands[TEXT_COUNT] = {
    "SETTITLE", "SETHEADLINE", "SETDESC", "SETDETAILSLABEL", "SETDETAILS", "SETPROMPT", "SETREPEAT", "SETERROR",
    "SETWAIT", "SETREPEATERROR", "SETOK", "SETNOTOK", "SETCANCEL", "SETCHOICE",
};

enum reader { NONE, WAITING, UNRECOGNISED, RECOGNISED, LOCKED, READER_COUNT };
static const char *const reader_names[READER_COUNT] = {"none", "waiting", "unrecognised", "recognised", "locked"};

static struct {
    char *texts[TEXT_COUNT];
    enum reader reader;
    unsigned timeout;
    gint64 delayed_until; // on the monotonic clock, in microseconds
} settings;

// The open question, or the last one.
static struct {
    bool is_open, is_shown, is_active, is_answered, asks_password, has_one_button, is_unequal, is_delayed;
    GtkWidget *window, *reader, *content, *content_scroller;
    GtkWidget *texts, *texts_scroller, *headline, *description, *details, *details_label, *details_text;
    GtkWidget *error, *prompts[2], *fields[2], *choice, *choice_label, *cancel, *not_ok, *ok;
    guint timeout, ticking;
    gint64 touched; // when the picture of the reader began to shake
} question;

// MARK: Answers

static void put(const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(STDOUT_FILENO, bytes, count);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) exit(0);
        bytes += written;
        count -= written;
    }
}

static void say(const char *line) { put(line, strlen(line)); }

static void answer(enum code code) {
    char line[60];
    snprintf(line, sizeof line, code == SUCCESS ? "OK\n" : "ERR %u keychaind-dialog\n", code);
    say(line);
}

static void answer_password(const char *password) {
    static char line[LINE_LIMIT + 1] = "D ";
    mlock(line, sizeof line);
    while (*password) {
        size_t count = strlen("D ");
        for (; *password && count + strlen("%XX") <= LINE_LIMIT; password++) {
            bool is_escaped = *password == '%' || (unsigned char)*password < 0x20;
            if (is_escaped) count += sprintf(line + count, "%%%02X", *password);
            else line[count++] = *password;
        }
        line[count++] = '\n';
        put(line, count);
    }
    explicit_bzero(line + strlen("D "), sizeof line - strlen("D "));
}

// MARK: The question

static bool has(enum text text) { return settings.texts[text] && *settings.texts[text]; }

static const char *get(enum text text) { return has(text) ? settings.texts[text] : ""; }

static const char *entered(int index) { return gtk_editable_get_text(GTK_EDITABLE(question.fields[index])); }

static bool repeats(void) { return question.asks_password && has(REPEAT); }

static gint64 delay(void) { return MAX(0, settings.delayed_until - g_get_monotonic_time()); }

static void focus_field(int index) {
    gtk_text_grab_focus_without_selecting(GTK_TEXT(gtk_editable_get_delegate(GTK_EDITABLE(question.fields[index]))));
}

static void finish(enum code code) {
    if (!question.is_open) return;
    if (question.timeout) g_source_remove(question.timeout);
    if (question.ticking) g_source_remove(question.ticking);
    question.timeout = question.ticking = 0;
    question.is_open = false;
    question.is_answered = true;
    if (code == SUCCESS) {
        // Stays until the answer is checked, so that what is typed meanwhile reaches no other window.
        gtk_widget_set_sensitive(gtk_window_get_child(GTK_WINDOW(question.window)), FALSE);
        for (int index = 0; index < 2; index++) gtk_editable_set_text(GTK_EDITABLE(question.fields[index]), "");
    } else {
        gtk_window_destroy(GTK_WINDOW(question.window));
        question.window = NULL;
    }
    answer(code);
}

static void set_text(GtkWidget *label, const char *text) {
    gtk_label_set_text(GTK_LABEL(label), text);
    gtk_widget_set_visible(label, *text != 0);
}

static void set_button(GtkWidget *button, enum text text, bool is_possible) {
    gtk_label_set_text_with_mnemonic(GTK_LABEL(gtk_button_get_child(GTK_BUTTON(button))), get(text));
    gtk_widget_set_visible(button, is_possible && has(text));
}

static void describe(GtkWidget *widget, enum text text) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, get(text), -1);
}

// As high as the content in this width, up to a limit. GTK's own limit takes the height in another width.
static void fit(GtkWidget *scroller, GtkWidget *content, int width, int limit) {
    int height;
    gtk_widget_measure(content, GTK_ORIENTATION_VERTICAL, width, NULL, &height, NULL, NULL);
    gtk_scrolled_window_set_min_content_height(GTK_SCROLLED_WINDOW(scroller), MIN(height, limit));
}

static void fit_all(void) {
    int width;
    gtk_widget_measure(question.content, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &width, NULL, NULL);
    fit(question.texts_scroller, question.texts, width, 280);
    fit(question.content_scroller, question.content, width, 540);
}

static gboolean tick(gpointer unused);

// Shows the settings.
static void update(void) {
    gtk_window_set_title(GTK_WINDOW(question.window), get(TITLE));
    set_text(question.headline, get(HEADLINE));
    set_text(question.description, get(DESCRIPTION));
    gtk_label_set_text_with_mnemonic(GTK_LABEL(question.details_label), get(DETAILS_LABEL));
    set_text(question.details_text, get(DETAILS));
    gtk_widget_set_visible(question.details, has(DETAILS));

    bool fits = true, is_delayed = delay() > 0, was_delayed = question.is_delayed;
    question.is_delayed = is_delayed;
    int rest = (int)((delay() + 999999) / 1000000);
    const char *error = get(question.is_unequal ? REPEAT_ERROR : ERROR);
    g_autofree char *time = g_strdup_printf("%d:%02d", rest / 60, rest % 60);
    g_auto(GStrv) around = g_strsplit(get(WAIT), "\ufffc", -1);
    g_autofree char *wait = g_strjoinv(time, around);
    g_autofree char *delayed = g_strdup_printf("%s%s%s", error, *error && *wait ? " " : "", wait);
    set_text(question.error, is_delayed ? delayed : error);
    if (is_delayed && !question.ticking) question.ticking = g_timeout_add(200, tick, NULL);

    for (int index = 0; index < 2; index++) {
        enum text prompt = index == 0 ? PROMPT : REPEAT;
        bool exists = index == 0 ? question.asks_password : repeats();
        set_text(question.prompts[index], exists ? get(prompt) : "");
        gtk_widget_set_visible(question.fields[index], exists);
        // Not insensitive: the focus stays.
        gtk_editable_set_editable(GTK_EDITABLE(question.fields[index]), !is_delayed);
        describe(question.fields[index], prompt);
        fits = fits && strlen(entered(index)) <= PASSWORD_LIMIT;
    }
    gtk_widget_set_visible(gtk_widget_get_parent(question.fields[0]), question.asks_password);
    gtk_label_set_text_with_mnemonic(GTK_LABEL(question.choice_label), get(CHOICE));
    gtk_widget_set_visible(question.choice, has(CHOICE));

    set_button(question.cancel, CANCEL, !question.has_one_button);
    set_button(question.not_ok, NOT_OK, !question.has_one_button && !question.asks_password);
    set_button(question.ok, OK, true);
    gtk_widget_set_sensitive(question.ok, !is_delayed && fits);

    gtk_widget_set_visible(question.reader, settings.reader != NONE);
    gtk_widget_queue_draw(question.reader);
    fit_all();
    if (was_delayed && !is_delayed && question.asks_password) focus_field(0);
}

static gboolean tick(gpointer unused) {
    (void)unused;
    update();
    if (question.is_delayed) return G_SOURCE_CONTINUE;
    question.ticking = 0;
    return G_SOURCE_REMOVE;
}

static gboolean on_timeout(gpointer unused) {
    (void)unused;
    question.timeout = 0;
    finish(TIMEOUT);
    return G_SOURCE_REMOVE;
}

static void on_cancel(void) { finish(CANCELLED); }

static void on_not_ok(void) { finish(NOT_CONFIRMED); }

static void on_ok(void) {
    if (!question.is_open || !has(OK) || delay() > 0) return;
    if (repeats() && strcmp(entered(0), entered(1)) != 0) {
        question.is_unequal = true;
        update();
        return focus_field(1);
    }
    if (repeats()) say("S PIN_REPEATED\n");
    if (has(CHOICE) && gtk_check_button_get_active(GTK_CHECK_BUTTON(question.choice))) say("S CHOSEN\n");
    if (question.asks_password) answer_password(entered(0));
    finish(SUCCESS);
}

static gboolean on_close(void) {
    finish(CANCELLED);
    return TRUE;
}

static gboolean on_key(GtkEventControllerKey *controller, guint key) {
    (void)controller;
    return key == GDK_KEY_Escape && on_close();
}

static void on_enter(GtkWidget *field) {
    if (field == question.fields[0] && repeats() && !*entered(1)) focus_field(1);
    else gtk_widget_activate_default(question.window);
}

// GTK would toggle the checkbox.
static gboolean on_choice_key(GtkEventControllerKey *controller, guint key) {
    (void)controller;
    bool is_enter = key == GDK_KEY_Return || key == GDK_KEY_KP_Enter || key == GDK_KEY_ISO_Enter;
    if (!is_enter || !question.asks_password) return FALSE;
    gtk_widget_activate_default(question.window);
    return TRUE;
}

static void on_edit(void) {
    if (!question.is_open) return;
    question.is_unequal = question.is_unequal && strcmp(entered(0), entered(1)) != 0;
    update();
}

// Nothing of a password that is shown can be selected, so that no clipboard gets it.
static void on_selection(GObject *text) {
    if (gtk_text_get_visibility(GTK_TEXT(text)) && gtk_editable_get_selection_bounds(GTK_EDITABLE(text), NULL, NULL))
        gtk_editable_set_position(GTK_EDITABLE(text), gtk_editable_get_position(GTK_EDITABLE(text)));
}

static gboolean refuse_inspector(void) { return TRUE; }

// Not on another desktop, nor minimised, if GTK knows that: it has the property since 4.12.
static bool is_active(void) {
    gboolean is_suspended = FALSE;
    if (g_object_class_find_property(G_OBJECT_GET_CLASS(question.window), "suspended"))
        g_object_get(question.window, "suspended", &is_suspended, NULL);
    return gtk_window_is_active(GTK_WINDOW(question.window)) && !is_suspended;
}

static void on_activity(void) {
    if (!question.is_open || !question.is_shown || question.is_active == is_active()) return;
    question.is_active = !question.is_active;
    say(question.is_active ? "S ACTIVE\n" : "S INACTIVE\n");
}

// A frame has been drawn.
static void on_paint(GdkFrameClock *clock) {
    if (!question.is_open || !gdk_surface_get_mapped(gtk_native_get_surface(GTK_NATIVE(question.window)))) return;
    g_signal_handlers_disconnect_by_func(clock, on_paint, NULL);
    if (!question.is_shown) say("S SHOWN\n");
    question.is_shown = true;
    on_activity();
}

static void on_map(GtkWidget *window) {
    g_signal_connect(gtk_widget_get_frame_clock(window), "after-paint", G_CALLBACK(on_paint), NULL);
}

// MARK: The picture of the reader

static const double shaking = 500000; // microseconds

static gboolean shake(GtkWidget *reader, GdkFrameClock *clock, gpointer unused) {
    (void)clock, (void)unused;
    gtk_widget_queue_draw(reader);
    return g_get_monotonic_time() - question.touched < shaking;
}

static void draw_lines(cairo_t *cairo, int count, const double points[][2]) {
    for (int index = 0; index < count; index++) {
        if (index % 3 == 0) cairo_move_to(cairo, points[index][0], points[index][1]);
        else cairo_line_to(cairo, points[index][0], points[index][1]);
    }
}

static void draw_badge(cairo_t *cairo, enum reader reader) {
    static const double colours[READER_COUNT][3] = {
        [UNRECOGNISED] = {0.75, 0.11, 0.16}, [RECOGNISED] = {0.15, 0.55, 0.30}, [LOCKED] = {0.45, 0.45, 0.48}};
    // With a gap around it.
    cairo_set_operator(cairo, CAIRO_OPERATOR_CLEAR);
    cairo_arc(cairo, 47, 47, 15, 0, 2 * G_PI);
    cairo_fill(cairo);
    cairo_set_operator(cairo, CAIRO_OPERATOR_OVER);
    cairo_set_source_rgb(cairo, colours[reader][0], colours[reader][1], colours[reader][2]);
    cairo_arc(cairo, 47, 47, 13, 0, 2 * G_PI);
    cairo_fill(cairo);
    cairo_set_source_rgb(cairo, 1, 1, 1);
    if (reader == RECOGNISED) {
        draw_lines(cairo, 3, (const double[][2]){{41, 47.5}, {45.5, 52}, {53, 43}});
    } else if (reader == UNRECOGNISED) {
        draw_lines(cairo, 5, (const double[][2]){{42.5, 42.5}, {47, 47}, {51.5, 51.5}, {51.5, 42.5}, {42.5, 51.5}});
    } else {
        cairo_rectangle(cairo, 41.5, 46, 11, 8);
        cairo_fill(cairo);
        cairo_arc(cairo, 47, 45, 3.5, G_PI, 0);
        cairo_set_line_width(cairo, 2);
    }
    cairo_stroke(cairo);
}

static void draw_reader(GtkDrawingArea *area, cairo_t *cairo, int width, int height, gpointer unused) {
    (void)width, (void)height, (void)unused;
    // Ridges of a fingertip: half circles that go on downwards.
    static const double radii[] = {3.5, 9.5, 15.5, 21.5}, left[] = {8, 20, 14, 4}, right[] = {20, 12, 20, 8};
    GdkRGBA colour;
    gtk_style_context_get_color(gtk_widget_get_style_context(GTK_WIDGET(area)), &colour);
    double time = (double)(g_get_monotonic_time() - question.touched) / shaking;
    if (time < 1) cairo_translate(cairo, 4 * sin(time * 6 * G_PI) * (1 - time), 0);
    cairo_push_group(cairo);
    cairo_set_source_rgba(cairo, colour.red, colour.green, colour.blue, settings.reader == LOCKED ? 0.45 : 0.85);
    cairo_set_line_width(cairo, 3);
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    for (int index = 0; index < 4; index++) {
        cairo_move_to(cairo, 30 - radii[index], 32 + left[index]);
        cairo_arc(cairo, 30, 32, radii[index], G_PI, 0);
        cairo_line_to(cairo, 30 + radii[index], 32 + right[index]);
        cairo_stroke(cairo);
    }
    if (settings.reader > WAITING) draw_badge(cairo, settings.reader);
    cairo_pop_group_to_source(cairo);
    cairo_paint(cairo);
}

// MARK: The window

static GtkWidget *add(GtkWidget *box, GtkWidget *child) {
    gtk_box_append(GTK_BOX(box), child);
    return child;
}

static GtkWidget *new_label(const char *style) {
    // A hyphen would seem to be of the text, such as of a path.
    g_autoptr(PangoAttrList) attributes = pango_attr_list_new();
    pango_attr_list_insert(attributes, pango_attr_insert_hyphens_new(FALSE));
    return g_object_new(GTK_TYPE_LABEL, "wrap", TRUE, "wrap-mode", PANGO_WRAP_WORD_CHAR, "max-width-chars", 60,
        "xalign", 0.0, "attributes", attributes, "css-classes", (const char *[]){style, NULL}, NULL);
}

static GtkWidget *new_line(int width) {
    return g_object_new(GTK_TYPE_LABEL, "ellipsize", PANGO_ELLIPSIZE_END, "max-width-chars", width,
        "single-line-mode", TRUE, NULL);
}

static GtkWidget *new_button(GCallback on_click) {
    GtkWidget *button = g_object_new(GTK_TYPE_BUTTON, "child", new_line(24), NULL);
    gtk_label_set_mnemonic_widget(GTK_LABEL(gtk_button_get_child(GTK_BUTTON(button))), button);
    g_signal_connect(button, "clicked", on_click, NULL);
    return button;
}

static GtkWidget *new_scroller(GtkWidget *child) {
    return g_object_new(GTK_TYPE_SCROLLED_WINDOW, "hscrollbar-policy", GTK_POLICY_NEVER,
        "propagate-natural-width", TRUE, "child", child, NULL);
}

static GtkWidget *new_texts(void) {
    GtkWidget *texts = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);
    question.headline = add(texts, new_label("title-3"));
    gtk_label_set_max_width_chars(GTK_LABEL(question.headline), 40);
    question.description = add(texts, new_label(NULL));
    question.details_label = new_line(60);
    question.details = add(texts, gtk_expander_new(NULL));
    gtk_expander_set_label_widget(GTK_EXPANDER(question.details), question.details_label);
    gtk_label_set_mnemonic_widget(GTK_LABEL(question.details_label), question.details);
    question.details_text = new_label("dim-label");
    gtk_widget_set_margin_top(question.details_text, 6);
    gtk_expander_set_child(GTK_EXPANDER(question.details), question.details_text);
    g_signal_connect(question.details, "notify::expanded", G_CALLBACK(fit_all), NULL);
    return texts;
}

static GtkWidget *new_fields(void) {
    GtkWidget *grid = g_object_new(GTK_TYPE_GRID, "row-spacing", 6, "column-spacing", 12, NULL);
    for (int index = 0; index < 2; index++) {
        question.prompts[index] = new_label(NULL);
        gtk_label_set_max_width_chars(GTK_LABEL(question.prompts[index]), 24);
        gtk_grid_attach(GTK_GRID(grid), question.prompts[index], 0, index, 1, 1);
        GtkWidget *field = g_object_new(GTK_TYPE_PASSWORD_ENTRY, "show-peek-icon", TRUE, "hexpand", TRUE, NULL);
        question.fields[index] = field;
        gtk_grid_attach(GTK_GRID(grid), field, 1, index, 1, 1);
        GtkEditable *text = gtk_editable_get_delegate(GTK_EDITABLE(field));
        // The fields keep their text in locked memory, which a history of changes would not.
        g_object_set(text, "enable-undo", FALSE, "input-hints", GTK_INPUT_HINT_PRIVATE | GTK_INPUT_HINT_NO_EMOJI, NULL);
        g_signal_connect(text, "notify::selection-bound", G_CALLBACK(on_selection), NULL);
        g_signal_connect(text, "notify::visibility", G_CALLBACK(on_selection), NULL);
        g_signal_connect(field, "changed", G_CALLBACK(on_edit), NULL);
        g_signal_connect(field, "activate", G_CALLBACK(on_enter), NULL);
    }
    return grid;
}

static GtkWidget *new_content(void) {
    GtkWidget *content = gtk_box_new(GTK_ORIENTATION_VERTICAL, 18);
    gtk_widget_set_size_request(content, 440, -1);
    question.texts = new_texts();
    question.texts_scroller = add(content, new_scroller(question.texts));
    question.error = add(content, new_label("error"));
    add(content, new_fields());
    question.choice = add(content, gtk_check_button_new());
    GtkEventController *keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_choice_key), NULL);
    gtk_widget_add_controller(question.choice, keys);
    question.choice_label = new_label(NULL);
    gtk_label_set_mnemonic_widget(GTK_LABEL(question.choice_label), question.choice);
    gtk_check_button_set_child(GTK_CHECK_BUTTON(question.choice), question.choice_label);
    return content;
}

static GtkWidget *new_buttons(void) {
    GtkWidget *buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    question.cancel = add(buttons, new_button(G_CALLBACK(on_cancel)));
    gtk_widget_set_hexpand(add(buttons, gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0)), TRUE);
    question.not_ok = add(buttons, new_button(G_CALLBACK(on_not_ok)));
    question.ok = add(buttons, new_button(G_CALLBACK(on_ok)));
    if (!question.has_one_button) gtk_widget_add_css_class(question.ok, "suggested-action");
    return buttons;
}

static GtkWidget *new_window(void) {
    GtkWidget *window = g_object_new(GTK_TYPE_WINDOW, "resizable", FALSE, NULL);
    GtkEventController *keys = gtk_event_controller_key_new();
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), NULL);
    gtk_widget_add_controller(window, keys);
    g_signal_connect(window, "close-request", G_CALLBACK(on_close), NULL);
    g_signal_connect(window, "enable-debugging", G_CALLBACK(refuse_inspector), NULL);
    g_signal_connect(window, "map", G_CALLBACK(on_map), NULL);
    // "notify" for each property, as GTK before 4.12 lacks one.
    g_signal_connect(window, "notify", G_CALLBACK(on_activity), NULL);
    return window;
}

static void ask(bool asks_password, bool has_one_button) {
    GtkWidget *window = question.window; // of an answer that was not the last one
    memset(&question, 0, sizeof question);
    question.is_open = true;
    question.asks_password = asks_password;
    question.has_one_button = has_one_button;
    question.touched = G_MININT64 / 2;
    GtkWidget *box = g_object_new(GTK_TYPE_BOX, "orientation", GTK_ORIENTATION_VERTICAL, "spacing", 18,
        "margin-top", 18, "margin-bottom", 18, "margin-start", 18, "margin-end", 18, NULL);
    GtkWidget *upper = add(box, gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 18));
    question.reader = add(upper, g_object_new(GTK_TYPE_DRAWING_AREA, "accessible-role", GTK_ACCESSIBLE_ROLE_PRESENTATION,
        "content-width", 64, "content-height", 64, "valign", GTK_ALIGN_START, NULL));
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(question.reader), draw_reader, NULL, NULL);
    question.content = new_content();
    question.content_scroller = add(upper, new_scroller(question.content));
    gtk_widget_set_hexpand(question.content_scroller, TRUE);
    add(box, new_buttons());
    question.window = window ? window : new_window();
    g_object_set(question.window, "child", box, "default-widget", asks_password ? question.ok : NULL, NULL);
    if (window) on_map(window);

    update();
    if (settings.timeout) question.timeout = g_timeout_add_seconds(settings.timeout, on_timeout, NULL);
    if (asks_password) focus_field(0);
    // What somebody is typing into another window says no yes.
    else gtk_widget_grab_focus(has(CANCEL) && !has_one_button ? question.cancel : question.ok);
    gtk_window_present(GTK_WINDOW(question.window));
}

// MARK: Commands

// Decodes in place; false if an escape is incomplete or a NUL.
static bool decode(char *text) {
    char *end = text;
    for (; *text; text++) {
        *end = *text;
        if (*text == '%') {
            int high = g_ascii_xdigit_value(text[1]), low = high < 0 ? -1 : g_ascii_xdigit_value(text[2]);
            if (low < 0 || (high == 0 && low == 0)) return false;
            *end = (char)(high << 4 | low);
            text += 2;
        }
        end++;
    }
    *end = 0;
    return true;
}

static bool is_same(const char *word, const char *other) { return g_ascii_strcasecmp(word, other) == 0; }

static enum code set_reader(const char *name) {
    int reader = 0;
    while (reader < READER_COUNT && strcmp(name, reader_names[reader]) != 0) reader++;
    if (reader == READER_COUNT) return BAD_PARAMETER;
    settings.reader = reader;
    if (question.is_open && reader == UNRECOGNISED) {
        question.touched = g_get_monotonic_time();
        gtk_widget_add_tick_callback(question.reader, shake, NULL, NULL);
    }
    return SUCCESS;
}

static enum code set_time(const char *command, const char *value) {
    guint64 seconds;
    if (!g_ascii_string_to_unsigned(value, 10, 0, SECONDS_LIMIT, &seconds, NULL)) return BAD_PARAMETER;
    if (is_same(command, "SETDELAY")) {
        settings.delayed_until = g_get_monotonic_time() + (gint64)seconds * 1000000;
        return SUCCESS;
    }
    settings.timeout = (unsigned)seconds;
    if (question.timeout) g_source_remove(question.timeout);
    question.timeout = question.is_open && seconds ? g_timeout_add_seconds(settings.timeout, on_timeout, NULL) : 0;
    return SUCCESS;
}

static enum code set(const char *command, char *value) {
    if (!decode(value) || !g_utf8_validate(value, -1, NULL)) return BAD_PARAMETER;
    if (is_same(command, "SETREADER")) return set_reader(value);
    if (is_same(command, "SETDELAY") || is_same(command, "SETTIMEOUT")) return set_time(command, value);
    int text = 0;
    while (text < TEXT_COUNT && !is_same(command, text_commands[text])) text++;
    if (text == TEXT_COUNT) return UNKNOWN_COMMAND;
    g_free(settings.texts[text]);
    settings.texts[text] = g_strdup(value);
    return SUCCESS;
}

static void reset(void) {
    for (int text = 0; text < TEXT_COUNT; text++) g_free(settings.texts[text]);
    memset(&settings, 0, sizeof settings);
    question.is_answered = false;
}

static void set_option(const char *option) {
    static const char *const from_right[] = {"ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi", NULL};
    static const char name[] = "lc-messages=";
    if (!g_str_has_prefix(option, name)) return;
    const char *locale = option + strlen(name);
    g_autofree char *language = g_strndup(locale, strcspn(locale, "_.@"));
    bool is_from_right = g_strv_contains(from_right, language);
    gtk_widget_set_default_direction(is_from_right ? GTK_TEXT_DIR_RTL : GTK_TEXT_DIR_LTR);
    // For GTK's menu of a field. It is the name of a folder.
    if (!strchr(locale, '/')) setenv("LANGUAGE", locale, 1);
}

static enum code inform(const char *what) {
    char line[40];
    if (strcmp(what, "flavor") == 0) snprintf(line, sizeof line, "D keychaind\n");
    else if (strcmp(what, "version") == 0) snprintf(line, sizeof line, "D %s\n", VERSION);
    else if (strcmp(what, "pid") == 0) snprintf(line, sizeof line, "D %d\n", getpid());
    else return BAD_PARAMETER;
    say(line);
    return SUCCESS;
}

static void refuse(enum code code) {
    if (question.is_open) exit(1);
    answer(code);
}

static void obey(char *line, size_t length) {
    // A NUL is refused here, too.
    if (!g_utf8_validate(line, (gssize)length, NULL)) return refuse(BAD_PARAMETER);
    char *value = strchrnul(line, ' ');
    if (*value) *value++ = 0;
    if (is_same(line, "BYE")) {
        if (!question.is_open) say("OK closing connection\n");
        exit(0);
    }
    if (g_ascii_strncasecmp(line, "SET", 3) == 0) {
        enum code code = set(line, value);
        if (question.is_answered) return;
        if (code != SUCCESS) return refuse(code);
        return question.is_open ? update() : answer(SUCCESS);
    }
    if (question.is_open) return refuse(UNKNOWN_COMMAND);
    if (!*line || *line == '#') return;
    if (is_same(line, "GETPIN")) return ask(true, false);
    if (is_same(line, "CONFIRM")) return ask(false, strcmp(value, "--one-button") == 0);
    if (is_same(line, "MESSAGE")) return ask(false, true);
    if (is_same(line, "GETINFO")) return answer(inform(value));
    if (is_same(line, "RESET")) reset();
    else if (is_same(line, "OPTION")) set_option(value);
    else return answer(UNKNOWN_COMMAND);
    answer(SUCCESS);
}

static gboolean on_input(gint input, GIOCondition condition, gpointer unused) {
    (void)condition, (void)unused;
    // A line with CR LF.
    static char buffer[LINE_LIMIT + 2];
    static size_t used;
    static bool is_too_long;
    ssize_t count = read(input, buffer + used, sizeof buffer - used);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return G_SOURCE_CONTINUE;
    if (count <= 0) exit(0);
    used += count;
    for (char *end; (end = memchr(buffer, '\n', used));) {
        size_t length = end - buffer, next = length + 1;
        if (length > 0 && buffer[length - 1] == '\r') length--;
        buffer[length] = 0;
        if (!is_too_long && length > LINE_LIMIT) refuse(LINE_TOO_LONG);
        else if (!is_too_long) obey(buffer, length);
        is_too_long = false;
        used -= next;
        memmove(buffer, buffer + next, used);
    }
    if (used < sizeof buffer) return G_SOURCE_CONTINUE;
    if (!is_too_long) refuse(LINE_TOO_LONG);
    is_too_long = true;
    used = 0;
    return G_SOURCE_CONTINUE;
}

// MARK: Start

static void replace_environment(void) {
    static const char *const kept[] = {"DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "XAUTHORITY", "XDG_RUNTIME_DIR",
        "XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID", "GDK_SCALE", "GDK_DPI_SCALE", "LANG", "LANGUAGE", "LC_ALL",
        "LC_CTYPE", "LC_MESSAGES", "KEYCHAIND_DIALOG_ACCESSIBLE", "DBUS_SESSION_BUS_ADDRESS", "AT_SPI_BUS_ADDRESS"};
    static const char *const fixed[][2] = {{"PATH", "/usr/bin:/bin"}, {"HOME", "/dev/null"},
        {"XDG_CONFIG_HOME", "/dev/null"}, {"XDG_DATA_HOME", "/dev/null"}, {"XDG_CACHE_HOME", "/dev/null"},
        {"GDK_BACKEND", "wayland,x11"}, {"GSETTINGS_BACKEND", "memory"}, {"GIO_USE_VFS", "local"},
        {"GTK_USE_PORTAL", "0"}, {"GSK_RENDERER", "cairo"}};
    char *values[G_N_ELEMENTS(kept)];
    for (size_t index = 0; index < G_N_ELEMENTS(kept); index++) values[index] = getenv(kept[index]);
    clearenv(); // leaves the values where they are
    for (size_t index = 0; index < G_N_ELEMENTS(kept); index++)
        if (values[index]) setenv(kept[index], values[index], 1);
    for (size_t index = 0; index < G_N_ELEMENTS(fixed); index++) setenv(fixed[index][0], fixed[index][1], 1);
    // GTK wants the folder for Wayland, also where it is given the connection.
    if (getenv("WAYLAND_SOCKET")) setenv("XDG_RUNTIME_DIR", "/dev/null", 1);
    // OpenGL and Vulkan would need 40 MB more, and a tenth of a second.
    if (gtk_get_minor_version() < 16) setenv("GDK_DEBUG", "gl-disable,vulkan-disable", 1);
    else setenv("GDK_DISABLE", "gl,vulkan", 1);
    if (g_strcmp0(getenv("KEYCHAIND_DIALOG_ACCESSIBLE"), "1") == 0) return;
    setenv("GTK_A11Y", "none", 1);
    // Without an address, GLib would take the bus in XDG_RUNTIME_DIR.
    setenv("DBUS_SESSION_BUS_ADDRESS", "disabled:", 1);
    unsetenv("AT_SPI_BUS_ADDRESS");
}

int main(int count, char **arguments) {
    if (count > 1 && strcmp(arguments[1], "--version") == 0) {
        puts("keychaind-dialog " VERSION);
        return 0;
    }
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_DUMPABLE, 0);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    replace_environment();
    g_set_prgname("keychaind-dialog");
    if (!gtk_init_check()) {
        answer(NO_DISPLAY);
        return 69;
    }
    // Not those of an X server, which the user's programs make. The fonts are GNOME's and Plasma's.
    g_object_set(gtk_settings_get_default(), "gtk-theme-name", "Default", "gtk-icon-theme-name", "hicolor",
        "gtk-font-name", "Adwaita Sans, Cantarell, Noto Sans, Sans 11",
        "gtk-decoration-layout", ":close", NULL);
    say("OK Pleased to meet you\n");
    g_unix_fd_add(STDIN_FILENO, G_IO_IN | G_IO_HUP | G_IO_ERR, on_input, NULL);
    g_main_loop_run(g_main_loop_new(NULL, FALSE));
}
