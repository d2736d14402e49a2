/* terminal.c: see terminal.h.
 *
 * What was sent is kept as a canvas of our own: only cells that differ go to ncurses, straight into
 * the screen that it is to make (its stdscr is there for keys alone), and it sends the least for
 * them. A crash cannot ask ncurses any more: what restores the terminal is
 * taken from terminfo at the start and written by the handler. */
#include "monitor/terminal.h"

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <vitals/clock.h>
#include <wchar.h>

#include "util/utf8.h"
#include "view/theme.h"

enum {
    ESCAPE_DELAY_MS = 25,
    MOUSE_RUN = 8, /* events that ncurses keeps */
    RESTORE = 512,
    BASIC_COLORS = 8,
    PAIRS = INK_FRAME,
    NAME = 64,
    CODE_PASTE_BEGIN = KEY_MAX + 1,
    CODE_PASTE_END
};

/* Bracketed paste on and off; ncurses 6.4 does not know it. */
#define PASTE_ON  "\033[?2004h"
#define PASTE_OFF "\033[?2004l"
#define MOUSE_OFF "\033[?1000l\033[?1002l\033[?1003l\033[?1006l"

static struct {
    SCREEN *screen;
    struct canvas sent;
    bool pairs[PAIRS];     /* that are defined; 0: that of text without a color */
    const uint32_t *ramps; /* NULL: it has a palette alone */
    struct termios found;
    bool has_found;
    bool mouse;                        /* is ours, not the terminal's own for marking */
    struct input_event run[MOUSE_RUN]; /* of the mouse, to be read yet; the newest is the first */
    size_t run_count;
    char notice[128];      /* of terminal_notice */
    uint64_t reply_end_ns; /* a reply to the query is awaited until then; 0: none is */
    bool queried;
    int background; /* 1: light, 0: dark, -1: unknown */
    bool pasting;
    bool resized; /* to be read yet: it came within a sequence */
    char restore[RESTORE];
    size_t restore_size;
} terminal;

static const int CRASHES[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { CRASH_COUNT = sizeof CRASHES / sizeof CRASHES[0], CRASH_STACK = 65536 };
static struct sigaction before[CRASH_COUNT];

/* Only what may be called in a handler. */
static void crash(int number)
{
    size_t done = 0;
    while (done < terminal.restore_size) {
        ssize_t wrote = write(STDOUT_FILENO, terminal.restore + done, terminal.restore_size - done);
        if (wrote <= 0)
            break;
        done += (size_t)wrote;
    }
    if (terminal.has_found)
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &terminal.found);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

/* A capability without its padding, "$<5>", of which NULL has nothing; gives its size. */
static size_t strip_padding(const char *text, char *out, size_t capacity)
{
    size_t used = 0;
    while (text != NULL && *text != '\0' && used < capacity) {
        if (text[0] == '$' && text[1] == '<' && strchr(text, '>') != NULL)
            text = strchr(text, '>') + 1;
        else
            out[used++] = *text++;
    }
    return used;
}

static void add_restore(const char *text)
{
    terminal.restore_size += strip_padding(text, terminal.restore + terminal.restore_size,
                                           RESTORE - 1 - terminal.restore_size);
}

static const char *capability(const char *name)
{
    char *value = tigetstr(name);
    return value == (char *)-1 ? NULL : value;
}

void terminal_send(const char *text)
{
    (void)fflush(stdout);
    ssize_t ignored = write(STDOUT_FILENO, text, strlen(text));
    (void)ignored;
}

/* Every event that ncurses can report must be in the mask, also those that we ignore: after one
 * that is not, ncurses 6.4 waits in read(2) for another, also with nodelay (_nc_wgetch repeats
 * while _nc_mouse_parse finds nothing). Clicks stay out, so that it never makes one of a press and
 * a release. */
void terminal_mouse(bool wanted)
{
#define BUTTON(number) \
    NCURSES_MOUSE_MASK(number, (mmask_t)(NCURSES_BUTTON_PRESSED | NCURSES_BUTTON_RELEASED))
    const mmask_t ALL = BUTTON(1) | BUTTON(2) | BUTTON(3) | BUTTON(4) | BUTTON(5) | BUTTON_SHIFT |
                        BUTTON_CTRL | BUTTON_ALT | REPORT_MOUSE_POSITION;
#undef BUTTON
    if (terminal.mouse != wanted)
        (void)mousemask(wanted ? ALL : 0, NULL);
    terminal.mouse = wanted;
}

static void set_modes(void)
{
    /* Pastes, and keys that terminals send with any TERM: cursor keys outside of their
     * application mode, Home and End of tmux and of rxvt. */
    // clang-format off
    static const struct {
        const char *sequence;
        int code;
    } KEYS[] = {
        {"\033[200~", CODE_PASTE_BEGIN}, {"\033[201~", CODE_PASTE_END},
        {"\033[1;2D", KEY_SLEFT}, {"\033[1;2C", KEY_SRIGHT},
        {"\033[A", KEY_UP}, {"\033[B", KEY_DOWN}, {"\033[C", KEY_RIGHT}, {"\033[D", KEY_LEFT},
        {"\033[H", KEY_HOME}, {"\033[F", KEY_END}, {"\033[1~", KEY_HOME}, {"\033[4~", KEY_END},
        {"\033[7~", KEY_HOME}, {"\033[8~", KEY_END}};
    // clang-format on
    (void)raw(); /* ^C, ^Z, ^S and ^\ are keys */
    (void)noecho();
    (void)nonl();
    (void)nodelay(stdscr, TRUE);
    (void)keypad(stdscr, TRUE);
    (void)meta(stdscr, TRUE);
    (void)typeahead(-1); /* drawing goes on while keys wait */
    (void)curs_set(0);
    for (size_t i = 0; i < ARRAY_COUNT(KEYS); i++)
        (void)define_key(KEYS[i].sequence, KEYS[i].code);
    (void)mouseinterval(0);
    terminal.mouse = false;
    terminal_mouse(true);
    if (has_colors()) {
        (void)start_color();
        (void)use_default_colors();
    }
}

/* "TERM=xterm", or "TERM". */
static const char *name_of(const char *term, char out[static NAME])
{
    static const char VARIABLE[] = "TERM=";
    memcpy(out, VARIABLE, sizeof VARIABLE);
    if (term == NULL)
        out[sizeof VARIABLE - 2] = '\0';
    else
        (void)vitals_text_format((vitals_text){term, strlen(term)}, VITALS_TEXT_TERMINAL,
                                 out + sizeof VARIABLE - 1, NAME - sizeof VARIABLE + 1);
    return out;
}

static int refuse(vitals_error *error, const char *term, const char *why)
{
    char name[NAME];
    *error = (vitals_error){.code = VITALS_EUNSUPPORTED};
    (void)snprintf(error->message, sizeof error->message, "%s %s", name_of(term, name), why);
    return VITALS_EUNSUPPORTED;
}

/* ncurses tells a terminal which mode its keys are in only when it is first asked for one, and
 * again after a stop: until then an arrow would come as another. */
static void begin_keys(void)
{
    char text[64];
    text[strip_padding(capability("smkx"), text, sizeof text - 1)] = '\0';
    terminal_send(text);
    terminal_send(PASTE_ON);
}

#if NCURSES_EXT_COLORS
/* The entry of any color for a terminal, by the name of its entry of 256: none for one that is
 * named as having less, "xterm-mono". Many call themselves xterm, and some of them misread the
 * colons between the parts of a color in xterm-direct; vte-direct is the same with semicolons. */
static bool direct_name(const char *term, char out[static NAME])
{
    static const char *const SUFFIXES[] = {"", "-256color", "-direct", "-kitty", "-ghostty"};
    size_t size = strcspn(term, "-");
    bool known = false, xterm = size == 5 && strncmp(term, "xterm", size) == 0;
    for (size_t i = 0; i < ARRAY_COUNT(SUFFIXES); i++)
        known = known || strcmp(term + size, SUFFIXES[i]) == 0;
    (void)snprintf(out, NAME, "%.*s-direct", xterm ? 3 : (int)size, xterm ? "vte" : term);
    return known && size < NAME / 2;
}
#endif

/* Until a program has come back from endwin once, ncurses 6.4 takes it for one that only places the
 * cursor, and writes at each move of it: 24 writes for a screen instead of one. */
int terminal_open(const char *term, const uint32_t *ramps, vitals_error *error)
{
    /* The most capable first, where terminfo has no entry for TERM: new terminals name themselves
     * (xterm-kitty, foot), and ssh takes the name to machines without the entry. */
    static const char *const COMMON[] = {"xterm-256color", "xterm", "vt100", "ansi"};
    static const char *const RESTORES[] = {"sgr0", "cnorm", "rmkx", "rmcup"};
    static char crash_stack[CRASH_STACK];
    char name[NAME];
    memset(&terminal, 0, sizeof terminal);
    terminal.background = -1;
    if (term == NULL || term[0] == '\0')
        return refuse(error, NULL, "is not set; try TERM=xterm-256color vitals");
    (void)setlocale(LC_CTYPE, "");
    terminal.has_found = tcgetattr(STDIN_FILENO, &terminal.found) == 0;
    (void)set_escdelay(ESCAPE_DELAY_MS);
#if NCURSES_EXT_COLORS
    if (ramps != NULL && direct_name(term, name)) {
        terminal.screen = newterm(name, stdout, stdin);
        terminal.ramps = terminal.screen != NULL ? ramps : NULL;
    }
#endif
    if (terminal.screen == NULL)
        terminal.screen = newterm(term, stdout, stdin);
    for (size_t i = 0; terminal.screen == NULL && i < ARRAY_COUNT(COMMON); i++) {
        (void)snprintf(terminal.notice, sizeof terminal.notice,
                       "%s has no terminfo entry; using %s", name_of(term, name), COMMON[i]);
        terminal.screen = newterm(COMMON[i], stdout, stdin);
    }
    if (terminal.screen == NULL)
        return refuse(error, term,
                      "has no terminfo entry, nor have xterm-256color, xterm, vt100 and ansi; "
                      "install them (Debian: ncurses-base)");
    if (capability("cup") == NULL || capability("clear") == NULL) {
        (void)endwin();
        delscreen(terminal.screen);
        terminal.screen = NULL;
        return refuse(error, term,
                      "is a terminal that cannot move its cursor; try TERM=xterm-256color vitals");
    }
    (void)wresize(stdscr, 1, 1); /* of the three copies of the screen that ncurses makes one less */

    add_restore(MOUSE_OFF PASTE_OFF);
    for (size_t i = 0; i < ARRAY_COUNT(RESTORES); i++)
        add_restore(capability(RESTORES[i]));
    add_restore("\r\n");
    (void)sigaltstack(&(stack_t){.ss_sp = crash_stack, .ss_size = sizeof crash_stack}, NULL);
    for (size_t i = 0; i < CRASH_COUNT; i++) {
        struct sigaction action = {.sa_handler = crash,
                                   .sa_flags = (int)(SA_RESETHAND | SA_NODEFER | SA_ONSTACK)};
        (void)sigaction(CRASHES[i], &action, &before[i]);
    }

    set_modes();
    (void)endwin();
    (void)refresh();
    begin_keys();
    return 0;
}

static uint64_t now_ns(void)
{
    const vitals_clock *clock = vitals_clock_system();
    return clock->monotonic_ns(clock->data);
}

static bool reply_is_awaited(void)
{
    return terminal.reply_end_ns != 0 && now_ns() < terminal.reply_end_ns;
}

/* Waits for input. Returns false if none came in time, or none will come. */
static bool wait_for_input(int milliseconds)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    int got = poll(&input, 1, milliseconds);
    return got < 0 ? errno == EINTR : got > 0 && !(input.revents & (POLLHUP | POLLERR));
}

/* Takes a reply that is under way: after the end it would be typed into the shell. */
static void await_reply(void)
{
    enum { MOST_NS = 100000000, TURN_MS = 10 };
    struct input_event unused;
    uint64_t end_ns = now_ns() + MOST_NS;
    while (reply_is_awaited() && now_ns() < end_ns) {
        if (terminal_read(&unused) == 0)
            (void)wait_for_input(TURN_MS);
    }
    terminal.reply_end_ns = 0;
}

void terminal_close(void)
{
    if (terminal.screen == NULL)
        return;
    await_reply();
    terminal_send(PASTE_OFF);
    (void)mousemask(0, NULL);
    (void)endwin();
    delscreen(terminal.screen);
    for (size_t i = 0; i < CRASH_COUNT; i++)
        (void)sigaction(CRASHES[i], &before[i], NULL);
    if (terminal.has_found)
        (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal.found);
    canvas_done(&terminal.sent);
    terminal.screen = NULL;
}

void terminal_suspend(void)
{
    await_reply();
    terminal_send(PASTE_OFF);
    (void)endwin();
    if (terminal.has_found)
        (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal.found);
}

void terminal_resume(void)
{
    (void)endwin(); /* so that refresh sets all modes, whatever changed them */
    (void)refresh();
    (void)raw();
    (void)noecho();
    (void)nonl();
    begin_keys();
    terminal_forget();
}

const char *terminal_notice(void)
{
    return terminal.notice[0] != '\0' ? terminal.notice : NULL;
}

int terminal_descriptor(void)
{
    return STDIN_FILENO;
}

void terminal_size(int *width, int *height)
{
    struct winsize size;
    *width = COLS;
    *height = LINES;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
        *width = size.ws_col;
        *height = size.ws_row;
    }
    if (*width != COLS || *height != LINES) {
        (void)resizeterm(*height, *width);
        terminal_forget();
    }
}

int terminal_colors(void)
{
    return has_colors() ? COLORS : 0;
}

/* Nearly every terminal replies to the second query, which ends the wait for the first reply. */
void terminal_query_background(void)
{
    enum { MOST_NS = 2000000000 };
    if (terminal_colors() < 256)
        return;
    terminal_send("\033]11;?\033\\\033[c");
    terminal.queried = true;
    terminal.reply_end_ns = now_ns() + MOST_NS;
}

int terminal_background(void)
{
    return terminal.background;
}

void terminal_set_ramps(const uint32_t *ramps)
{
    terminal.ramps = ramps;
    memset(terminal.pairs + INK_LOAD, 0,
           sizeof terminal.pairs - INK_LOAD * sizeof terminal.pairs[0]);
    terminal_forget();
}

bool terminal_is_direct(void)
{
    return terminal.ramps != NULL;
}

void terminal_forget(void)
{
    terminal.sent.width = 0;
    (void)clearok(curscr, TRUE);
}

/* The next character of a sequence; while a reply is awaited its parts may be 100 ms apart. Returns
 * false at its end. Another key stays to be read. */
static bool next_of_sequence(wint_t *code)
{
    enum { PART_MS = 100 };
    for (;;) {
        int kind = get_wch(code);
        if (kind == OK)
            return true;
        if (kind == KEY_CODE_YES && *code != KEY_RESIZE) {
            (void)ungetch((int)*code);
            return false;
        }
        terminal.resized = terminal.resized || kind == KEY_CODE_YES;
        if (kind == ERR && !(reply_is_awaited() && wait_for_input(PART_MS)))
            return false;
    }
}

/* An unknown escape sequence must not become keys: its bytes are dropped up to the last one. Alt
 * and a bracket alone are a key. */
static bool swallow_control(void)
{
    wint_t code;
    bool any = false, private = false;
    while (next_of_sequence(&code)) {
        if (code < ' ') {
            (void)unget_wch((wchar_t)code);
            break;
        }
        private = private || (!any && code == '?');
        any = true;
        if (code >= 0x40 && code <= 0x7e) {
            terminal.reply_end_ns = private && code == 'c' ? 0 : terminal.reply_end_ns;
            break;
        }
    }
    return any;
}

/* Drops "\033]11;...\033\\", or with \a at its end, of which "\033]" has been read, and takes the
 * reply to our query from it. Returns false if no number follows: Alt and a bracket are a key. */
static bool swallow_command(void)
{
    enum { SIZE_MOST = 4096 };
    char text[48];
    size_t size = 0;
    wint_t code, last;
    for (int i = 0; i < SIZE_MOST && next_of_sequence(&code); i++) {
        bool ends = code == '\a';
        if (code == INPUT_ESCAPE && next_of_sequence(&last)) {
            ends = last == '\\';
            if (!ends)
                (void)unget_wch((wchar_t)last);
        }
        if (ends) {
            text[size] = '\0';
            int background = terminal.queried && !terminal.pasting ? theme_reply(text) : -1;
            terminal.background = background >= 0 ? background : terminal.background;
            return true;
        }
        if (code < ' ' || (size == 0 && (code < '0' || code > '9'))) {
            (void)unget_wch((wchar_t)code);
            break;
        }
        text[size] = code < 0x80 ? (char)code : '?';
        size += size + 1 < sizeof text;
    }
    return size > 0;
}

/* Keys of ncurses in our terms. */
// clang-format off
static const uint32_t CODES[][2] = {
    {KEY_UP, INPUT_UP}, {KEY_DOWN, INPUT_DOWN}, {KEY_LEFT, INPUT_LEFT}, {KEY_RIGHT, INPUT_RIGHT},
    {KEY_PPAGE, INPUT_PAGE_UP}, {KEY_NPAGE, INPUT_PAGE_DOWN}, {KEY_HOME, INPUT_HOME},
    {KEY_END, INPUT_END}, {KEY_BTAB, INPUT_BACK_TAB}, {KEY_ENTER, INPUT_ENTER},
    {KEY_BACKSPACE, INPUT_BACKSPACE}, {KEY_F(5), INPUT_F5}, {KEY_F(1), INPUT_F1}, {KEY_F(2), INPUT_F2}, {KEY_F(3), INPUT_F3},
    {KEY_F(4), INPUT_F4}, {KEY_F(6), INPUT_F6}, {KEY_F(7), INPUT_F7}, {KEY_F(8), INPUT_F8},
    {KEY_F(9), INPUT_F9}, {KEY_F(10), INPUT_F10}, {KEY_SLEFT, INPUT_SHIFT_LEFT},
    {KEY_SRIGHT, INPUT_SHIFT_RIGHT}, {KEY_RESIZE, INPUT_SIZE},
    {CODE_PASTE_BEGIN, INPUT_PASTE_BEGIN}, {CODE_PASTE_END, INPUT_PASTE_END}};
// clang-format on

/* All events of one read come as one KEY_MOUSE; getmouse gives the newest first. Presses of a
 * button or a wheel are kept; a release or a motion does nothing here. */
static void read_mouse(void)
{
    MEVENT event;
    for (int i = 0; i < MOUSE_RUN && getmouse(&event) == OK && event.id >= 0; i++) {
        bool shift = event.bstate & BUTTON_SHIFT;
        struct input_event *out = &terminal.run[terminal.run_count];
        *out = (struct input_event){.x = event.x, .y = event.y, .fast = event.bstate & BUTTON_CTRL};
        if (event.bstate & BUTTON4_PRESSED)
            out->code = shift ? INPUT_WHEEL_LEFT : INPUT_WHEEL_UP;
        else if (event.bstate & BUTTON5_PRESSED)
            out->code = shift ? INPUT_WHEEL_RIGHT : INPUT_WHEEL_DOWN;
        else if (event.bstate & (BUTTON1_PRESSED | BUTTON3_PRESSED))
            out->code = INPUT_CLICK;
        terminal.run_count += out->code != INPUT_NONE;
    }
}

int terminal_read(struct input_event *out)
{
    wint_t code;
    int kind;
again:
    if (terminal.resized) {
        terminal.resized = false;
        *out = (struct input_event){.code = INPUT_SIZE};
        return 1;
    }
    while (terminal.run_count == 0) {
        kind = get_wch(&code);
        if (kind == ERR)
            return 0;
        if (kind != KEY_CODE_YES || code != KEY_MOUSE)
            break;
        read_mouse();
    }
    if (terminal.run_count > 0) {
        *out = terminal.run[--terminal.run_count];
        return 1;
    }
    *out = (struct input_event){.code = code};
    if (kind == KEY_CODE_YES) {
        out->code = INPUT_NONE;
        for (size_t i = 0; i < ARRAY_COUNT(CODES); i++)
            out->code = CODES[i][0] == code ? CODES[i][1] : out->code;
        terminal.pasting = code == CODE_PASTE_BEGIN || (terminal.pasting && code != CODE_PASTE_END);
        return 1;
    }
    if (code != INPUT_ESCAPE)
        return 1;
    kind = get_wch(&code); /* Alt sends an escape before its character */
    if (kind == ERR && reply_is_awaited() && wait_for_input(ESCAPE_DELAY_MS))
        kind = get_wch(&code);
    if (kind == OK && ((code == '[' && swallow_control()) || (code == ']' && swallow_command())))
        goto again;
    if (kind == OK && code != INPUT_ESCAPE)
        out->code = INPUT_ALT | code;
    else if (kind == OK)
        (void)unget_wch((wchar_t)code);
    else if (kind == KEY_CODE_YES)
        (void)ungetch((int)code);
    return 1;
}

/* The pair of any color; the first eight are the terminal's own. */
static short direct_pair(unsigned color)
{
    enum { OWN = 8 };
#if NCURSES_EXT_COLORS
    uint32_t rgb = color >= INK_LOAD ? terminal.ramps[color - INK_LOAD] : theme_palette(color - 1);
    if (!terminal.pairs[color])
        (void)init_extended_pair((int)color,
                                 (int)(color <= OWN ? color - 1
                                       : rgb < OWN  ? OWN
                                                    : rgb),
                                 -1);
#endif
    terminal.pairs[color] = true;
    return (short)color;
}

/* The pair of colors of a style; on a terminal without 256 the nearest of eight. */
static short pair_of(ink style)
{
    unsigned color = style & STYLE_COLORS;
    if (!has_colors())
        return 0;
    /* With pair 0 ncurses would end all attributes to end a color, in twice the bytes. */
    if (color == 0) {
        int plain = PAIRS < COLOR_PAIRS ? PAIRS : COLOR_PAIRS - 1;
        terminal.pairs[0] = terminal.pairs[0] || init_pair((short)plain, -1, -1) == OK;
        return (short)(terminal.pairs[0] ? plain : 0);
    }
    if (terminal.ramps != NULL)
        return color < PAIRS ? direct_pair(color) : 0;
    unsigned number = color - 1;
    if ((int)color > COLORS && number < 16)
        number %= BASIC_COLORS;
    else if ((int)color > COLORS && number >= 232)
        number = number < 244 ? 0 : 7;
    else if ((int)color > COLORS) { /* a cube of six steps a side */
        unsigned cube = number - 16;
        number = (cube / 36 >= 2) | (unsigned)(cube / 6 % 6 >= 2) << 1 |
                 (unsigned)(cube % 6 >= 2) << 2;
    }
    unsigned pair = number + 1;
    if (pair >= PAIRS || (int)pair >= COLOR_PAIRS)
        return 0;
    if (!terminal.pairs[pair]) {
        (void)init_pair((short)pair, (short)number, -1);
        terminal.pairs[pair] = true;
    }
    return (short)pair;
}

/* A cell in ncurses' form. A character to which the C library gives another width would move the
 * rest of the row, so it is not shown. */
static void convert(const struct cell *cell, int columns, cchar_t *out)
{
    static const struct {
        unsigned flag;
        attr_t attribute;
    } FLAGS[] = {{STYLE_BOLD, WA_BOLD},
                 {STYLE_DIM, WA_DIM},
                 {STYLE_REVERSE, WA_REVERSE},
                 {STYLE_UNDERLINE, WA_UNDERLINE}};
    wchar_t wide[CCHARW_MAX + 1];
    size_t count = 0, size;
    const char *text = cell->text, *end = text + strlen(text);
    for (; text < end && count < CCHARW_MAX; count++, text += size) {
        uint32_t code = utf8_decode(text, end, &size);
        if (code == UTF8_BROKEN)
            break;
        wide[count] = (wchar_t)code;
    }
    wide[count] = L'\0';
    if (count == 0 || wcwidth(wide[0]) != columns)
        wcscpy(wide, L"?");
    for (size_t i = 1; wide[0] != L'?' && i < count; i++) {
        if (wcwidth(wide[i]) != 0)
            wide[i] = L'\0';
    }
    attr_t attributes = WA_NORMAL;
    for (size_t i = 0; i < ARRAY_COUNT(FLAGS); i++)
        attributes |= cell->style & FLAGS[i].flag ? FLAGS[i].attribute : 0;
    (void)setcchar(out, wide, attributes, pair_of(cell->style), NULL);
}

static bool is_equal(const struct cell *a, const struct cell *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* Blanks take the style of the character before them if that saves a change: it does not show. */
static void join_blanks(struct cell *row, int width)
{
    enum { FEW = 2, SEEN = STYLE_REVERSE | STYLE_UNDERLINE }; /* on a blank */
    for (int x = 0, last = -1; x < width; x++) {
        if (strcmp(row[x].text, " ") == 0 && (row[x].style & SEEN) == 0)
            continue;
        bool joins = last >= 0 && (row[last].style & SEEN) == 0 &&
                     (row[last].style == row[x].style || x - last <= FEW + 1);
        for (int blank = last + 1; joins && blank < x; blank++)
            row[blank].style = row[last].style;
        last = x;
    }
}

void terminal_show(struct canvas *canvas)
{
    bool all = terminal.sent.width != canvas->width || terminal.sent.height != canvas->height;
    if (all && canvas_resize(&terminal.sent, canvas->width, canvas->height) < 0)
        return;
    if (all)
        (void)werase(newscr);
    for (int y = 0; y < canvas->height; y++) {
        struct cell *sent = &terminal.sent.cells[(size_t)y * (size_t)canvas->width];
        struct cell *row = canvas_at(canvas, 0, y);
        join_blanks(row, canvas->width);
        if (!all && memcmp(row, sent, (size_t)canvas->width * sizeof *row) == 0)
            continue;
        for (int x = 0; x < canvas->width; x++) {
            cchar_t wide;
            int columns = x + 1 < canvas->width && row[x + 1].text[0] == '\0' ? 2 : 1;
            if (row[x].text[0] == '\0' || /* goes with its left half */
                (!all && is_equal(&row[x], &sent[x]) &&
                 (columns < 2 || is_equal(&row[x + 1], &sent[x + 1]))))
                continue;
            convert(&row[x], columns, &wide);
            (void)mvwadd_wch(newscr, y, x, &wide);
            if (columns == 2 && wcwidth((wchar_t)0x3000) != 2)
                (void)mvwaddch(newscr, y, x + 1, ' ');
        }
        memcpy(sent, row, (size_t)canvas->width * sizeof *row);
    }
    (void)doupdate();
}
