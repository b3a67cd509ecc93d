// SPDX-License-Identifier: MIT
#include "report.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <hindsight/error.h>

#include "hsio.h"

#define BAR_WIDTH 24

/** stderr belongs to the process, and so does this. */
static struct {
    pthread_mutex_t lock;
    bool quiet, verbose;
    bool bar; ///< A bar stands on the current line.
    bool terminal;
    int done, total;
    double start, shown;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/** A text that is written when it is whole. */
struct output {
    struct output *next;
    FILE *file;
    char *text;
    size_t bytes;
};

static struct {
    pthread_mutex_t lock;
    struct output *first;
} outputs = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local bool capturing;
static _Thread_local char captured[1024];

double tool_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void tool_report_level(bool quiet, bool verbose)
{
    state.quiet = quiet;
    state.verbose = verbose;
}

static void draw_bar(void)
{
    double seconds = tool_seconds() - state.start;
    double rate = seconds > 0 ? state.done / seconds : 0;
    int filled = state.total ? state.done * BAR_WIDTH / state.total : 0;
    char bar[BAR_WIDTH + 1];

    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR_WIDTH] = 0;
    fprintf(stderr, "\r[%s] %d/%d", bar, state.done, state.total);
    if (rate > 0)
        fprintf(stderr, "  %.*f frames/s  %.0f s left", rate < 10 ? 2 : 0, rate,
                (state.total - state.done) / rate);
    fprintf(stderr, "\033[K");
    fflush(stderr);
    state.bar = true;
}

/** Names and words come from files that may be anybody's: no commands to the terminal. */
static void disarm(char *text)
{
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;

        if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
            *text = '?';
    }
}

static void print_line(const char *kind, const char *text)
{
    pthread_mutex_lock(&state.lock);
    if (state.bar)
        fprintf(stderr, "\r\033[K");
    fprintf(stderr, "hindsight: %s%s\n", kind, text);
    if (state.bar)
        draw_bar();
    pthread_mutex_unlock(&state.lock);
}

#define PRINT_FORMATTED(kind, format)                \
    do {                                             \
        char text[2048];                             \
        va_list args;                                \
        va_start(args, format);                      \
        vsnprintf(text, sizeof(text), format, args); \
        va_end(args);                                \
        disarm(text);                                \
        print_line(kind, text);                      \
    } while (0)

void tool_error(const char *format, ...)
{
    PRINT_FORMATTED("error: ", format);
}

void tool_warn(const char *format, ...)
{
    PRINT_FORMATTED("warning: ", format);
}

void tool_info(const char *format, ...)
{
    if (!state.quiet)
        PRINT_FORMATTED("", format);
}

static void on_log(void *priv, enum hs_log_level level, const char *msg)
{
    (void)priv;
    if (level == HS_LOG_ERROR && capturing) {
        size_t length = strlen(captured);

        snprintf(captured + length, sizeof(captured) - length, "%s%s", length ? "; " : "", msg);
    } else if (level == HS_LOG_ERROR) {
        tool_error("%s", msg);
    } else if (level == HS_LOG_WARN) {
        tool_warn("%s", msg);
    } else {
        tool_info("%s", msg);
    }
}

const struct hs_log *tool_log(void)
{
    static const struct hs_log normal = {on_log, NULL, HS_LOG_WARN};
    static const struct hs_log verbose = {on_log, NULL, HS_LOG_INFO};

    return state.verbose ? &verbose : &normal;
}

void tool_capture_begin(void)
{
    capturing = true;
    captured[0] = 0;
}

const char *tool_capture_end(void)
{
    capturing = false;
    return captured;
}

void tool_progress_start(int total)
{
    pthread_mutex_lock(&state.lock);
    state.total = total;
    state.done = 0;
    state.start = tool_seconds();
    state.shown = 0;
    state.terminal = isatty(STDERR_FILENO);
    if (!state.quiet && state.terminal)
        draw_bar();
    pthread_mutex_unlock(&state.lock);
}

void tool_progress_step(const char *what)
{
    double now = tool_seconds();

    pthread_mutex_lock(&state.lock);
    state.done++;
    if (!state.quiet && !state.terminal)
        fprintf(stderr, "%d/%d %s\n", state.done, state.total, what);
    if (state.bar && (now - state.shown > 0.1 || state.done == state.total)) {
        draw_bar();
        state.shown = now;
    }
    pthread_mutex_unlock(&state.lock);
}

void tool_progress_stop(void)
{
    pthread_mutex_lock(&state.lock);
    if (state.bar)
        fputc('\n', stderr);
    state.bar = false;
    pthread_mutex_unlock(&state.lock);
}

void tool_json_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c < 0x20)
            fprintf(file, "\\u%04x", c);
        else
            fputc(c, file);
    }
    fputc('"', file);
}

void tool_json_number(FILE *file, double value)
{
    if (isfinite(value))
        fprintf(file, "%.9g", value);
    else
        fputs("null", file);
}

/** Pipes and devices are written to, not replaced. */
static bool is_special(const char *path)
{
    struct stat st;

    return !stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static FILE *open_whole(void)
{
    struct output *output = calloc(1, sizeof(*output));

    if (!output)
        return NULL;
    output->file = open_memstream(&output->text, &output->bytes);
    if (!output->file) {
        free(output);
        return NULL;
    }
    pthread_mutex_lock(&outputs.lock);
    output->next = outputs.first;
    outputs.first = output;
    pthread_mutex_unlock(&outputs.lock);
    return output->file;
}

/** Takes a file's text out of the list; NULL: it is none of these. */
static struct output *take_output(const FILE *file)
{
    struct output **at = &outputs.first, *found;

    pthread_mutex_lock(&outputs.lock);
    while (*at && (*at)->file != file)
        at = &(*at)->next;
    found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&outputs.lock);
    return found;
}

FILE *tool_output_open(const char *path)
{
    FILE *file = !strcmp(path, "-") ? stdout : is_special(path) ? fopen(path, "w") : open_whole();

    if (!file)
        tool_error("%s can not be written: %s", path, strerror(errno));
    return file;
}

int tool_output_close(FILE *file, const char *path)
{
    struct output *output = take_output(file);
    bool bad = ferror(file) != 0;
    int err;

    bad |= (file == stdout ? fflush(file) : fclose(file)) != 0;
    if (bad)
        tool_error("%s can not be written: %s", path, strerror(errno));
    err = bad ? HS_ERR_IO : 0;
    if (output && !err)
        err = hsio_write_text(path, output->text, output->bytes, tool_log());
    if (output)
        free(output->text);
    free(output);
    return err;
}
