/*
 * keychaind-dialog: a window that asks for a password or a yes, and shows the state of a fingerprint reader.
 *
 * keychaind starts it with a socket as standard input and output, on which it speaks as a pinentry does: lines of at
 * most 1000 bytes, percent-encoded, in UTF-8. Beside a pinentry's commands there are
 *
 *   SETHEADLINE text                     large, above the text of SETDESC
 *   SETDETAILSLABEL label, SETDETAILS text   folded
 *   SETREADER none|waiting|unrecognised|recognised|locked   a picture; SETREADERTEXT describes it
 *   SETDELAY seconds                     until then nothing can be entered; the rest is counted down
 *   SETCHOICE label                      a checkbox; `S CHOSEN` comes before OK if it is on
 *
 * `S SHOWN` says that the window of a question is on the screen. From the question on, SET commands change the window at
 * once and have no answer, also those that cross the question's answer, until RESET. Any other command during a
 * question, and the end of input, end the program.
 *
 * It has no words of its own: a button without a label is missing, and cannot be pressed. Labels of buttons, details
 * and the choice have mnemonics, `_x`; all other text is plain.
 *
 * The user's files and other programs of the session do not change it: its environment is replaced. There is no grab of
 * the keyboard, which GTK 4 and Wayland do not have.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <glib-unix.h>
#include <gtk/gtk.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef VERSION
#define VERSION "unknown"
#endif

enum { LINE_LIMIT = 1000, PASSWORD_LIMIT = 2048, SECONDS_LIMIT = 86400 };

// Codes of libgpg-error, with the sources that a pinentry has: itself, or its library of Assuan.
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
    TITLE, HEADLINE, DESCRIPTION, DETAILS_LABEL, DETAILS, PROMPT, ERROR, OK, NOT_OK, CANCEL, REPEAT, REPEAT_ERROR,
    CHOICE, READER_TEXT, TEXT_COUNT
};
static const char *const text_commands[TEXT_COUNT] = {
    "SETTITLE", "SETHEADLINE", "SETDESC", "SETDETAILSLABEL", "SETDETAILS", "SETPROMPT", "SETERROR", "SETOK",
    "SETNOTOK", "SETCANCEL", "SETREPEAT", "SETREPEATERROR", "SETCHOICE", "SETREADERTEXT",
};

enum reader { NONE, WAITING, UNRECOGNISED, RECOGNISED, LOCKED, READER_COUNT };
static const char *const reader_names[READER_COUNT] = {"none", "waiting", "unrecognised", "recognised", "locked"};

static struct {
    char *texts[TEXT_COUNT];
    enum reader reader;
    unsigned timeout;
    gint64 delayed_until; // microseconds of the monotonic clock
} settings;

// The question whose window is open, or was the last one before a RESET.
static struct {
    bool open, answered, asks_password, has_one_button, is_unequal;
    GtkWidget *window, *reader, *headline, *description, *details, *details_text, *error_row, *error, *countdown;
    GtkWidget *prompts[2], *fields[2], *choice, *choice_label, *cancel, *not_ok, *ok;
    guint timeout, countdown_timer;
    gint64 touched; // when the reader's picture began to shake
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

static const char *explanation(enum code code) {
    switch (code) {
    case TIMEOUT: return "Timeout <Pinentry>";
    case NO_DISPLAY: return "No display <Pinentry>";
    case CANCELLED: return "Operation cancelled <Pinentry>";
    case NOT_CONFIRMED: return "Not confirmed <Pinentry>";
    case LINE_TOO_LONG: return "Line too long <User defined source 1>";
    case UNKNOWN_COMMAND: return "Unknown IPC command <User defined source 1>";
    default: return "IPC parameter error <User defined source 1>";
    }
}

static void answer(enum code code) {
    char line[100];
    if (code == SUCCESS) return say("OK\n");
    snprintf(line, sizeof line, "ERR %d %s\n", code, explanation(code));
    say(line);
}

static void answer_data(const char *data) {
    static char line[LINE_LIMIT + 1];
    mlock(line, sizeof line);
    while (*data) {
        size_t count = 2;
        memcpy(line, "D ", 2);
        for (; *data && count + 3 <= LINE_LIMIT; data++) {
            if (*data == '%' || (unsigned char)*data < 0x20)
                count += sprintf(line + count, "%%%02X", (unsigned char)*data);
            else
                line[count++] = *data;
        }
        line[count++] = '\n';
        put(line, count);
    }
    explicit_bzero(line, sizeof line);
}

// MARK: The question

static const char *entered(int index) { return gtk_editable_get_text(GTK_EDITABLE(question.fields[index])); }

static bool has_text(enum text text) { return settings.texts[text] && *settings.texts[text]; }

static const char *text_of(enum text text) { return has_text(text) ? settings.texts[text] : ""; }

static void close_window(void) {
    if (question.timeout) g_source_remove(question.timeout);
    if (question.countdown_timer) g_source_remove(question.countdown_timer);
    question.timeout = question.countdown_timer = 0;
    question.open = false;
    question.answered = true;
    // Wipes the fields.
    gtk_window_destroy(GTK_WINDOW(question.window));
}

static void finish(enum code code) {
    if (!question.open) return;
    close_window();
    answer(code);
}

static gboolean on_timeout(gpointer unused) {
    (void)unused;
    question.timeout = 0;
    finish(TIMEOUT);
    return G_SOURCE_REMOVE;
}

static bool is_delayed(void) { return g_get_monotonic_time() < settings.delayed_until; }

static void focus_field(int index) {
    GtkEditable *text = gtk_editable_get_delegate(GTK_EDITABLE(question.fields[index]));
    gtk_text_grab_focus_without_selecting(GTK_TEXT(text));
}

static void set_text(GtkWidget *label, const char *text) {
    gtk_label_set_text(GTK_LABEL(label), text);
    gtk_widget_set_visible(label, *text != 0);
}

static void set_button(GtkWidget *button, enum text text, bool is_possible) {
    gtk_button_set_label(GTK_BUTTON(button), text_of(text));
    gtk_widget_set_visible(button, is_possible && has_text(text));
}

static void describe(GtkWidget *widget, const char *text) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}

static void update(void);

static gboolean on_countdown(gpointer unused) {
    (void)unused;
    if (is_delayed()) {
        char rest[20];
        gint64 seconds = (settings.delayed_until - g_get_monotonic_time() + 999999) / 1000000;
        snprintf(rest, sizeof rest, "%d:%02d", (int)seconds / 60, (int)seconds % 60);
        gtk_label_set_text(GTK_LABEL(question.countdown), rest);
        return G_SOURCE_CONTINUE;
    }
    question.countdown_timer = 0;
    update();
    if (question.asks_password) focus_field(0);
    return G_SOURCE_REMOVE;
}

// Shows the settings.
static void update(void) {
    bool delayed = is_delayed(), repeats = question.asks_password && has_text(REPEAT);
    gtk_window_set_title(GTK_WINDOW(question.window), text_of(TITLE));
    set_text(question.headline, text_of(HEADLINE));
    set_text(question.description, text_of(DESCRIPTION));
    gtk_expander_set_label(GTK_EXPANDER(question.details), text_of(DETAILS_LABEL));
    gtk_widget_set_visible(question.details, has_text(DETAILS));
    set_text(question.details_text, text_of(DETAILS));

    set_text(question.error, text_of(question.is_unequal ? REPEAT_ERROR : ERROR));
    gtk_widget_set_visible(question.countdown, delayed);
    gtk_widget_set_visible(question.error_row, delayed || gtk_widget_get_visible(question.error));
    if (delayed && !question.countdown_timer) question.countdown_timer = g_timeout_add(200, on_countdown, NULL);
    if (delayed) on_countdown(NULL);

    bool fits = true;
    for (int index = 0; index < 2; index++) {
        enum text prompt = index == 0 ? PROMPT : REPEAT;
        bool exists = index == 0 ? question.asks_password : repeats;
        set_text(question.prompts[index], exists ? text_of(prompt) : "");
        gtk_widget_set_visible(question.fields[index], exists);
        gtk_widget_set_sensitive(question.fields[index], !delayed);
        describe(question.fields[index], text_of(prompt));
        fits = fits && strlen(entered(index)) <= PASSWORD_LIMIT;
    }
    gtk_label_set_text_with_mnemonic(GTK_LABEL(question.choice_label), text_of(CHOICE));
    gtk_widget_set_visible(question.choice, has_text(CHOICE));

    set_button(question.cancel, CANCEL, !question.has_one_button);
    set_button(question.not_ok, NOT_OK, !question.asks_password && !question.has_one_button);
    set_button(question.ok, OK, true);
    gtk_widget_set_sensitive(question.ok, !delayed && fits);

    gtk_widget_set_visible(question.reader, settings.reader != NONE);
    gtk_widget_set_tooltip_text(question.reader, has_text(READER_TEXT) ? text_of(READER_TEXT) : NULL);
    describe(question.reader, text_of(READER_TEXT));
    gtk_widget_queue_draw(question.reader);
}

static void on_cancel(void) { finish(CANCELLED); }

static void on_not_ok(void) { finish(NOT_CONFIRMED); }

static gboolean on_close_request(void) {
    finish(CANCELLED);
    return TRUE;
}

static gboolean refuse_inspector(void) { return TRUE; }

static gboolean on_key(GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state) {
    (void)controller, (void)code, (void)state;
    if (key != GDK_KEY_Escape) return FALSE;
    finish(CANCELLED);
    return TRUE;
}

static void on_ok(void) {
    if (!question.open || is_delayed()) return;
    bool repeats = gtk_widget_get_visible(question.fields[1]);
    if (repeats && strcmp(entered(0), entered(1)) != 0) {
        question.is_unequal = true;
        update();
        return focus_field(1);
    }
    if (repeats) say("S PIN_REPEATED\n");
    if (has_text(CHOICE) && gtk_check_button_get_active(GTK_CHECK_BUTTON(question.choice))) say("S CHOSEN\n");
    if (question.asks_password) answer_data(entered(0));
    finish(SUCCESS);
}

static void on_enter(GtkWidget *field) {
    if (field == question.fields[0] && gtk_widget_get_visible(question.fields[1]) && !*entered(1))
        focus_field(1);
    else
        gtk_widget_activate_default(question.window);
}

static void on_edit(void) {
    if (question.is_unequal && strcmp(entered(0), entered(1)) == 0) question.is_unequal = false;
    update();
}

// Without a selection, a password that is shown cannot be copied, dragged, or taken as the primary selection.
static void on_selection(GObject *text) {
    int start, end;
    if (gtk_text_get_visibility(GTK_TEXT(text)) && gtk_editable_get_selection_bounds(GTK_EDITABLE(text), &start, &end))
        gtk_editable_set_position(GTK_EDITABLE(text), gtk_editable_get_position(GTK_EDITABLE(text)));
}

// A frame has been drawn.
static void on_paint(GdkFrameClock *clock) {
    if (!question.open || !gdk_surface_get_mapped(gtk_native_get_surface(GTK_NATIVE(question.window)))) return;
    g_signal_handlers_disconnect_by_func(clock, on_paint, NULL);
    say("S SHOWN\n");
}

static void on_map(GtkWidget *window) {
    GdkFrameClock *clock = gtk_widget_get_frame_clock(window);
    g_signal_connect(clock, "after-paint", G_CALLBACK(on_paint), NULL);
}

// MARK: The picture of the reader

static gboolean shake(GtkWidget *widget, GdkFrameClock *clock, gpointer unused) {
    (void)clock, (void)unused;
    gtk_widget_queue_draw(widget);
    return g_get_monotonic_time() - question.touched < 500000;
}

static void draw_badge(cairo_t *cairo, enum reader reader) {
    static const double colours[READER_COUNT][3] = {
        [UNRECOGNISED] = {0.75, 0.11, 0.16}, [RECOGNISED] = {0.15, 0.55, 0.30}, [LOCKED] = {0.45, 0.45, 0.48}};
    // A gap around the badge.
    cairo_set_operator(cairo, CAIRO_OPERATOR_CLEAR);
    cairo_arc(cairo, 47, 47, 15, 0, 2 * G_PI);
    cairo_fill(cairo);
    cairo_set_operator(cairo, CAIRO_OPERATOR_OVER);
    cairo_set_source_rgb(cairo, colours[reader][0], colours[reader][1], colours[reader][2]);
    cairo_arc(cairo, 47, 47, 13, 0, 2 * G_PI);
    cairo_fill(cairo);
    cairo_set_source_rgb(cairo, 1, 1, 1);
    if (reader == RECOGNISED) {
        cairo_move_to(cairo, 41, 47.5);
        cairo_line_to(cairo, 45.5, 52);
        cairo_line_to(cairo, 53, 43);
    } else if (reader == UNRECOGNISED) {
        cairo_move_to(cairo, 42.5, 42.5);
        cairo_line_to(cairo, 51.5, 51.5);
        cairo_move_to(cairo, 51.5, 42.5);
        cairo_line_to(cairo, 42.5, 51.5);
    } else {
        cairo_rectangle(cairo, 41.5, 46, 11, 8);
        cairo_fill(cairo);
        cairo_arc(cairo, 47, 45, 3.5, G_PI, 0);
        cairo_line_to(cairo, 50.5, 46.5);
        cairo_move_to(cairo, 43.5, 45);
        cairo_line_to(cairo, 43.5, 46.5);
        cairo_set_line_width(cairo, 2);
    }
    cairo_stroke(cairo);
}

static void draw_reader(GtkDrawingArea *area, cairo_t *cairo, int width, int height, gpointer unused) {
    (void)unused;
    // The ridges of a fingertip: half circles, continued downwards on the left and on the right.
    static const double radii[] = {3.5, 9.5, 15.5, 21.5}, left[] = {8, 20, 14, 4}, right[] = {20, 12, 20, 8};
    GdkRGBA colour;
    gtk_style_context_get_color(gtk_widget_get_style_context(GTK_WIDGET(area)), &colour);
    double time = (g_get_monotonic_time() - question.touched) / 500000.0;
    cairo_translate(cairo, width / 2.0 - 32 + (time < 1 ? 4 * sin(time * 6 * G_PI) * (1 - time) : 0), height / 2.0 - 32);
    cairo_push_group(cairo);
    cairo_set_source_rgba(cairo, colour.red, colour.green, colour.blue, settings.reader == LOCKED ? 0.45 : 0.85);
    cairo_set_line_width(cairo, 3);
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    for (int index = 0; index < 4; index++) {
        cairo_move_to(cairo, 30 - radii[index], 32 + left[index]);
        cairo_line_to(cairo, 30 - radii[index], 32);
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

static GtkWidget *new_label(const char *class) {
    GtkWidget *label = gtk_label_new(NULL);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
    gtk_label_set_max_width_chars(GTK_LABEL(label), 60);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    if (class) gtk_widget_add_css_class(label, class);
    return label;
}

static GtkWidget *new_button(GCallback on_click) {
    GtkWidget *button = gtk_button_new_with_mnemonic("");
    GtkLabel *label = GTK_LABEL(gtk_button_get_child(GTK_BUTTON(button)));
    gtk_label_set_ellipsize(label, PANGO_ELLIPSIZE_END);
    gtk_label_set_max_width_chars(label, 30);
    gtk_label_set_single_line_mode(label, TRUE);
    g_signal_connect(button, "clicked", on_click, NULL);
    return button;
}

// As high as its content, up to a limit.
static GtkWidget *new_scroller(GtkWidget *child, int height) {
    GtkWidget *scroller = gtk_scrolled_window_new();
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_propagate_natural_width(GTK_SCROLLED_WINDOW(scroller), TRUE);
    gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(scroller), TRUE);
    gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(scroller), height);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), child);
    return scroller;
}

static GtkWidget *new_field(void) {
    GtkWidget *field = gtk_password_entry_new();
    gtk_password_entry_set_show_peek_icon(GTK_PASSWORD_ENTRY(field), TRUE);
    gtk_widget_set_hexpand(field, TRUE);
    GtkEditable *text = gtk_editable_get_delegate(GTK_EDITABLE(field));
    gtk_editable_set_enable_undo(text, FALSE);
    gtk_text_set_input_hints(GTK_TEXT(text), GTK_INPUT_HINT_PRIVATE | GTK_INPUT_HINT_NO_EMOJI);
    g_signal_connect(text, "notify::selection-bound", G_CALLBACK(on_selection), NULL);
    g_signal_connect(text, "notify::visibility", G_CALLBACK(on_selection), NULL);
    g_signal_connect(field, "changed", G_CALLBACK(on_edit), NULL);
    g_signal_connect(field, "activate", G_CALLBACK(on_enter), NULL);
    return field;
}

static GtkWidget *new_texts(void) {
    GtkWidget *texts = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);
    question.headline = add(texts, new_label("title-3"));
    question.description = add(texts, new_label(NULL));
    question.details = add(texts, gtk_expander_new_with_mnemonic(""));
    question.details_text = new_label("dim-label");
    gtk_widget_set_margin_top(question.details_text, 6);
    gtk_expander_set_child(GTK_EXPANDER(question.details), question.details_text);
    return texts;
}

static GtkWidget *new_entries(void) {
    GtkWidget *grid = gtk_grid_new();
    gtk_grid_set_row_spacing(GTK_GRID(grid), 6);
    gtk_grid_set_column_spacing(GTK_GRID(grid), 12);
    for (int index = 0; index < 2; index++) {
        GtkWidget *prompt = question.prompts[index] = new_label(NULL);
        gtk_label_set_max_width_chars(GTK_LABEL(prompt), 24);
        gtk_grid_attach(GTK_GRID(grid), prompt, 0, index, 1, 1);
        question.fields[index] = new_field();
        gtk_grid_attach(GTK_GRID(grid), question.fields[index], 1, index, 1, 1);
    }
    return grid;
}

static GtkWidget *new_content(void) {
    GtkWidget *content = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 18);
    question.reader = add(content, g_object_new(GTK_TYPE_DRAWING_AREA, "accessible-role", GTK_ACCESSIBLE_ROLE_IMG,
        "content-width", 64, "content-height", 64, "valign", GTK_ALIGN_START, NULL));
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(question.reader), draw_reader, NULL, NULL);

    GtkWidget *column = add(content, gtk_box_new(GTK_ORIENTATION_VERTICAL, 18));
    gtk_widget_set_size_request(column, 400, -1);
    gtk_widget_set_hexpand(column, TRUE);
    add(column, new_scroller(new_texts(), 300));
    question.error_row = add(column, gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12));
    question.error = add(question.error_row, new_label("error"));
    gtk_widget_set_hexpand(question.error, TRUE);
    question.countdown = add(question.error_row, gtk_label_new(NULL));
    gtk_widget_set_valign(question.countdown, GTK_ALIGN_START);
    add(column, new_entries());
    question.choice = add(column, gtk_check_button_new());
    question.choice_label = new_label(NULL);
    gtk_check_button_set_child(GTK_CHECK_BUTTON(question.choice), question.choice_label);
    gtk_label_set_mnemonic_widget(GTK_LABEL(question.choice_label), question.choice);
    return content;
}

static GtkWidget *new_buttons(void) {
    GtkWidget *buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    question.cancel = add(buttons, new_button(G_CALLBACK(on_cancel)));
    GtkWidget *gap = add(buttons, gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0));
    gtk_widget_set_hexpand(gap, TRUE);
    question.not_ok = add(buttons, new_button(G_CALLBACK(on_not_ok)));
    question.ok = add(buttons, new_button(G_CALLBACK(on_ok)));
    gtk_widget_add_css_class(question.ok, "suggested-action");
    return buttons;
}

static void ask(bool asks_password, bool has_one_button) {
    memset(&question, 0, sizeof question);
    question.open = true;
    question.asks_password = asks_password;
    question.has_one_button = has_one_button;
    question.touched = G_MININT64 / 2;
    question.window = gtk_window_new();
    gtk_window_set_resizable(GTK_WINDOW(question.window), FALSE);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 18);
    gtk_widget_set_margin_top(box, 18);
    gtk_widget_set_margin_bottom(box, 18);
    gtk_widget_set_margin_start(box, 18);
    gtk_widget_set_margin_end(box, 18);
    add(box, new_scroller(new_content(), 540));
    add(box, new_buttons());
    gtk_window_set_child(GTK_WINDOW(question.window), box);
    gtk_window_set_default_widget(GTK_WINDOW(question.window), question.ok);

    GtkEventController *keys = gtk_event_controller_key_new();
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), NULL);
    gtk_widget_add_controller(question.window, keys);
    g_signal_connect(question.window, "close-request", G_CALLBACK(on_close_request), NULL);
    g_signal_connect(question.window, "map", G_CALLBACK(on_map), NULL);
    g_signal_connect(question.window, "enable-debugging", G_CALLBACK(refuse_inspector), NULL);

    update();
    if (settings.timeout) question.timeout = g_timeout_add_seconds(settings.timeout, on_timeout, NULL);
    if (asks_password) focus_field(0);
    else gtk_widget_grab_focus(gtk_widget_get_visible(question.ok) ? question.ok : question.cancel);
    gtk_window_present(GTK_WINDOW(question.window));
}

// MARK: Commands

// Decodes in place; false if an escape is incomplete.
static bool decode(char *text) {
    char *end = text;
    for (; *text; text++) {
        if (*text != '%') {
            *end++ = *text;
            continue;
        }
        int high = g_ascii_xdigit_value(text[1]), low = high < 0 ? -1 : g_ascii_xdigit_value(text[2]);
        if (low < 0 || high + low == 0) return false;
        *end++ = (char)(high << 4 | low);
        text += 2;
    }
    *end = 0;
    return true;
}

static bool parse_seconds(const char *text, guint64 *seconds) {
    return g_ascii_string_to_unsigned(text, 10, 0, SECONDS_LIMIT, seconds, NULL);
}

static enum code set(const char *command, char *value) {
    guint64 seconds;
    if (!decode(value) || !g_utf8_validate(value, -1, NULL)) return BAD_PARAMETER;
    for (int text = 0; text < TEXT_COUNT; text++) {
        if (g_ascii_strcasecmp(command, text_commands[text]) != 0) continue;
        g_free(settings.texts[text]);
        settings.texts[text] = g_strdup(value);
        return SUCCESS;
    }
    if (g_ascii_strcasecmp(command, "SETREADER") == 0) {
        for (int reader = 0; reader < READER_COUNT; reader++) {
            if (strcmp(value, reader_names[reader]) != 0) continue;
            settings.reader = reader;
            if (question.open && reader == UNRECOGNISED) {
                question.touched = g_get_monotonic_time();
                gtk_widget_add_tick_callback(question.reader, shake, NULL, NULL);
            }
            return SUCCESS;
        }
        return BAD_PARAMETER;
    }
    if (g_ascii_strcasecmp(command, "SETDELAY") == 0) {
        if (!parse_seconds(value, &seconds)) return BAD_PARAMETER;
        settings.delayed_until = seconds ? g_get_monotonic_time() + (gint64)seconds * 1000000 : 0;
        return SUCCESS;
    }
    if (g_ascii_strcasecmp(command, "SETTIMEOUT") == 0) {
        if (!parse_seconds(value, &seconds)) return BAD_PARAMETER;
        settings.timeout = seconds;
        if (question.timeout) g_source_remove(question.timeout);
        question.timeout = question.open && seconds ? g_timeout_add_seconds(seconds, on_timeout, NULL) : 0;
        return SUCCESS;
    }
    return UNKNOWN_COMMAND;
}

static void reset(void) {
    for (int text = 0; text < TEXT_COUNT; text++) g_free(settings.texts[text]);
    memset(&settings, 0, sizeof settings);
    question.answered = false;
}

// The language decides the direction. GTK looks for its own few texts below a folder of this name.
static void set_language(const char *locale) {
    static const char *const from_right[] = {"ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi", NULL};
    size_t length = strcspn(locale, "_.@");
    g_autofree char *language = g_strndup(locale, length);
    gtk_widget_set_default_direction(
        g_strv_contains(from_right, language) ? GTK_TEXT_DIR_RTL : GTK_TEXT_DIR_LTR);
    if (!strchr(locale, '/')) setenv("LANGUAGE", locale, 1);
}

static enum code option(char *text) {
    static const char name[] = "lc-messages=";
    if (g_str_has_prefix(text, name)) set_language(text + strlen(name));
    return SUCCESS;
}

static enum code inform(const char *what) {
    char line[40];
    if (strcmp(what, "flavor") == 0) say("D keychaind\n");
    else if (strcmp(what, "version") == 0) say("D " VERSION "\n");
    else if (strcmp(what, "pid") == 0) snprintf(line, sizeof line, "D %d\n", getpid()), say(line);
    else return BAD_PARAMETER;
    return SUCCESS;
}

static void obey(char *line, size_t length) {
    // Refuses NUL, too.
    if (!g_utf8_validate(line, (gssize)length, NULL)) {
        if (question.open) exit(1);
        return answer(BAD_PARAMETER);
    }
    char *value = strchrnul(line, ' ');
    if (*value) *value++ = 0;
    if (g_ascii_strcasecmp(line, "BYE") == 0) {
        if (!question.open) say("OK closing connection\n");
        exit(0);
    }
    if (g_ascii_strncasecmp(line, "SET", 3) == 0) {
        enum code code = set(line, value);
        if (question.open && code != SUCCESS) exit(1);
        if (question.open) update();
        else if (!question.answered) answer(code);
        return;
    }
    if (question.open) exit(1);
    if (g_ascii_strcasecmp(line, "GETPIN") == 0) return ask(true, false);
    if (g_ascii_strcasecmp(line, "CONFIRM") == 0) return ask(false, strcmp(value, "--one-button") == 0);
    if (g_ascii_strcasecmp(line, "MESSAGE") == 0) return ask(false, true);
    if (g_ascii_strcasecmp(line, "RESET") == 0) return reset(), answer(SUCCESS);
    if (g_ascii_strcasecmp(line, "OPTION") == 0) return answer(option(value));
    if (g_ascii_strcasecmp(line, "GETINFO") == 0) return answer(inform(value));
    if (*line && *line != '#') answer(UNKNOWN_COMMAND);
}

static gboolean on_input(gint descriptor, GIOCondition condition, gpointer unused) {
    (void)condition, (void)unused;
    // A line with CR LF, and a NUL in place of its end.
    static char buffer[LINE_LIMIT + 2];
    static size_t used;
    static bool is_too_long;
    ssize_t count = read(descriptor, buffer + used, sizeof buffer - used);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return G_SOURCE_CONTINUE;
    if (count <= 0) exit(0);
    used += count;
    for (char *end; (end = memchr(buffer, '\n', used));) {
        size_t next = end + 1 - buffer, length = end - buffer;
        if (length > 0 && buffer[length - 1] == '\r') length--;
        buffer[length] = 0;
        if (is_too_long) is_too_long = false;
        else if (length <= LINE_LIMIT) obey(buffer, length);
        used -= next;
        memmove(buffer, buffer + next, used);
    }
    if (used == sizeof buffer) {
        if (question.open) exit(1);
        if (!is_too_long) answer(LINE_TOO_LONG);
        is_too_long = true;
        used = 0;
    }
    return G_SOURCE_CONTINUE;
}

// MARK: Start

// All that could load code, styles or settings of the user goes.
static void replace_environment(void) {
    static const char *const kept[] = {"DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "XAUTHORITY", "XDG_RUNTIME_DIR",
        "XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID", "GDK_SCALE", "GDK_DPI_SCALE", "LANG", "LANGUAGE", "LC_ALL",
        "LC_CTYPE", "LC_MESSAGES"};
    static const char *const buses[] = {"DBUS_SESSION_BUS_ADDRESS", "AT_SPI_BUS_ADDRESS"};
    static const char *const set[][2] = {
        {"HOME", "/nonexistent"}, {"XDG_CONFIG_HOME", "/nonexistent"}, {"XDG_DATA_HOME", "/nonexistent"},
        {"XDG_CACHE_HOME", "/nonexistent"}, {"PATH", "/usr/bin:/bin"}, {"GSETTINGS_BACKEND", "memory"},
        {"GIO_USE_VFS", "local"}, {"GTK_USE_PORTAL", "0"}, {"GDK_BACKEND", "wayland,x11"},
        // Faster to start than OpenGL and Vulkan.
        {"GSK_RENDERER", "cairo"}, {"GDK_DISABLE", "gl,vulkan"},
    };
    const char *values[G_N_ELEMENTS(kept)], *bus_values[G_N_ELEMENTS(buses)];
    const char *accessible = getenv("KEYCHAIND_DIALOG_ACCESSIBLE");
    bool is_accessible = accessible && strcmp(accessible, "1") == 0;
    for (size_t index = 0; index < G_N_ELEMENTS(kept); index++) values[index] = getenv(kept[index]);
    for (size_t index = 0; index < G_N_ELEMENTS(buses); index++) bus_values[index] = getenv(buses[index]);
    // The strings stay where they are.
    clearenv();
    for (size_t index = 0; index < G_N_ELEMENTS(kept); index++)
        if (values[index]) setenv(kept[index], values[index], 1);
    for (size_t index = 0; index < G_N_ELEMENTS(set); index++) setenv(set[index][0], set[index][1], 1);
    if (!is_accessible) {
        setenv("GTK_A11Y", "none", 1);
        // Without an address GLib takes the bus of XDG_RUNTIME_DIR.
        setenv("DBUS_SESSION_BUS_ADDRESS", "disabled:", 1);
    }
    for (size_t index = 0; is_accessible && index < G_N_ELEMENTS(buses); index++)
        if (bus_values[index]) setenv(buses[index], bus_values[index], 1);
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
    // What an X server's settings say is a program's of the user, too.
    g_object_set(gtk_settings_get_default(), "gtk-theme-name", "Default", "gtk-icon-theme-name", "hicolor",
        "gtk-application-prefer-dark-theme", FALSE, NULL);
    say("OK Pleased to meet you\n");
    g_unix_fd_add(STDIN_FILENO, G_IO_IN | G_IO_HUP | G_IO_ERR, on_input, NULL);
    g_main_loop_run(g_main_loop_new(NULL, FALSE));
}
