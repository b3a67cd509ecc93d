// SPDX-License-Identifier: MIT
#include "choose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_MAX_BYTES 1024
#define ORDER_MAX 3
/** For noisy frames, with a network that reads guides. */
#define HS_CHOICE_RAY "ray"

struct search {
    const struct hs_log *log;
    char reasons[512]; ///< Why each preset so far was not taken.
    char heard[512];   ///< What the last reading said.
};

static void hear(void *priv, enum hs_log_level level, const char *msg)
{
    struct search *s = priv;
    (void)level;
    snprintf(s->heard, sizeof(s->heard), "%s", msg);
}

static void add_reason(struct search *s, const char *preset, const char *why)
{
    const size_t length = strlen(s->reasons);
    snprintf(s->reasons + length, sizeof(s->reasons) - length, "%s%s: %s", length ? "; " : "",
             preset, why);
}

/** The first folder of a ':'-separated list that holds the preset's file; false: none does. */
static bool find_in(const char *folders, const char *preset, char path[PATH_MAX_BYTES])
{
    while (folders && *folders) {
        const size_t length = strcspn(folders, ":");
        const int written =
            snprintf(path, PATH_MAX_BYTES, "%.*s/hs-%s.safetensors", (int)length, folders, preset);
        if (length && written > 0 && written < PATH_MAX_BYTES && access(path, F_OK) == 0)
            return true;
        folders += length;
        folders += *folders == ':';
    }
    return false;
}

/** Weights of a shipped preset; HS_ERR_NOMEM, or any other error with its reason noted. */
static int read_shipped(struct search *s, const char *preset, struct hs_weights **weights)
{
    const struct hs_log quiet = {hear, s, HS_LOG_ERROR};
    const char *own = getenv("HINDSIGHT_MODELS");
    const char *folders = own ? own : HS_MODELS_FOLDERS;
    char path[PATH_MAX_BYTES];
    if (!find_in(folders, preset, path)) {
        snprintf(s->heard, sizeof(s->heard), "no hs-%s.safetensors in \"%.200s\"", preset, folders);
        add_reason(s, preset, s->heard);
        return HS_ERR_IO;
    }
    int err = hs_weights_load(&quiet, path, weights);
    if (!err && strcmp((*weights)->preset, preset)) {
        snprintf(s->heard, sizeof(s->heard), "%.300s holds preset %s", path, (*weights)->preset);
        hs_weights_destroy(weights);
        err = HS_ERR_FORMAT;
    }
    if (err == HS_ERR_NOMEM)
        hs_log_message(s->log, HS_LOG_ERROR, "%s", s->heard);
    else if (err)
        add_reason(s, preset, s->heard);
    return err;
}

/** Weights of a file that the caller names; nothing takes over for it. */
static int read_named(const struct hs_log *log, const char *file, const char *preset,
                      struct hs_weights **weights)
{
    struct hs_weights *found = NULL;
    const int err = hs_weights_load(log, file, &found);
    if (err)
        return err;
    if (preset && strcmp(found->preset, preset)) {
        hs_log_message(log, HS_LOG_ERROR, "%s holds preset %s, not %s", file, found->preset,
                       preset);
        hs_weights_destroy(&found);
        return HS_ERR_INVALID;
    }
    *weights = found;
    return 0;
}

/** Presets with weights in the order in which they are tried. False: no such preset. */
static bool order_of(const char *preset, bool thorough, const char *order[ORDER_MAX])
{
    static const char *const known[] = {"fast", "quality", "best", HS_CHOICE_RAY};
    int count = 0;
    if (!preset) {
        if (thorough)
            order[count++] = "best";
        order[count++] = "quality";
    }
    for (size_t i = 0; preset && i < sizeof(known) / sizeof(known[0]); i++) {
        if (!strcmp(preset, known[i]))
            order[count++] = known[i];
    }
    order[count] = NULL;
    return count > 0 || !strcmp(preset, HS_CHOICE_PLAIN) || !strcmp(preset, HS_CHOICE_GUIDED);
}

const char *hs_choose_plain(const struct hs_model_params *params)
{
    const char *preset = params->preset;
    const bool guided =
        preset && (!strcmp(preset, HS_CHOICE_RAY) || !strcmp(preset, HS_CHOICE_GUIDED));
    return guided && !params->file ? HS_CHOICE_GUIDED : HS_CHOICE_PLAIN;
}

int hs_choose(const struct hs_log *log, const struct hs_model_params *params, bool software,
              struct hs_weights **weights)
{
    struct search search = {.log = log};
    const char *order[ORDER_MAX];
    const char *preset = params->preset;
    int err = 0, i = 0;
    if (preset && !strcmp(preset, "auto"))
        preset = NULL;
    *weights = NULL;
    if (params->file)
        return read_named(log, params->file, preset, weights);
    if (!order_of(preset, params->batch && !software, order)) {
        hs_log_message(log, HS_LOG_ERROR,
                       "no model is called \"%s\"; there are: auto, " HS_CHOICE_PLAIN
                       ", fast, quality, best, " HS_CHOICE_GUIDED ", " HS_CHOICE_RAY
                       ", and files NAME.safetensors; hindsight upscale, hsupscale and the FFmpeg "
                       "filter have oidn, too",
                       preset);
        return HS_ERR_INVALID;
    }
    for (; order[i]; i++) {
        err = read_shipped(&search, order[i], weights);
        if (!err || err == HS_ERR_NOMEM)
            break;
    }
    if (err == HS_ERR_NOMEM)
        return err;
    // A preset that was asked for by name is missed more than one that might have been there.
    if (search.reasons[0])
        hs_log_message(log, preset ? HS_LOG_WARN : HS_LOG_INFO, "%s; %s takes over", search.reasons,
                       order[i] ? order[i] : hs_choose_plain(params));
    return 0;
}
