// SPDX-License-Identifier: MIT
/** Log callback. The library prints nothing by itself. */
#ifndef HINDSIGHT_LOG_H
#define HINDSIGHT_LOG_H

#ifdef __cplusplus
extern "C" {
#endif

enum hs_log_level {
    HS_LOG_NONE = 0,  ///< Nothing.
    HS_LOG_ERROR = 1, ///< A call failed; says why.
    HS_LOG_WARN = 2,  ///< It works, but probably not as meant.
    HS_LOG_INFO = 3,  ///< What was chosen and why: device, path, model.
    HS_LOG_DEBUG = 4, ///< Details of creation.
    HS_LOG_TRACE = 5, ///< Per frame.
};

/**
 * Where messages go. A NULL pointer to it, or a NULL `cb`, means silence.
 *
 * Thread: `cb` may be called from every thread that calls the library.
 * Since: 1.
 */
struct hs_log {
    /** One line without a newline; `msg` lives for the call. */
    void (*cb)(void *priv, enum hs_log_level level, const char *msg);
    /** Passed to `cb`. */
    void *priv;
    /** Messages above this level are dropped. 0 (HS_LOG_NONE) drops all. */
    enum hs_log_level level;
};

/**
 * Formats a message and hands it to the callback if its level is wanted.
 *
 * Thread: safe if the callback is.
 * Cost: formats into a stack buffer of 1 KiB; longer messages are cut.
 * Since: 1.
 */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void hs_log_message(const struct hs_log *log, enum hs_log_level level, const char *format, ...);

#ifdef __cplusplus
}
#endif
#endif
