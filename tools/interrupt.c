// SPDX-License-Identifier: MIT
#include "interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "report.h"

/** Signals belong to the process, and so does this. */
static struct {
    pthread_t thread;
    bool running;
    sigset_t signals, before;
    atomic_bool interrupted, ending;
    pthread_mutex_t lock;
    void (*cb)(void *priv);
    void *priv;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *watch(void *priv)
{
    (void)priv;
    for (;;) {
        int number;

        if (sigwait(&state.signals, &number))
            continue;
        if (number == SIGUSR1 && atomic_load(&state.ending))
            return NULL;
        if (number == SIGUSR1)
            continue;
        if (atomic_exchange(&state.interrupted, true))
            _exit(TOOL_EXIT_INTERRUPTED);
        pthread_mutex_lock(&state.lock);
        if (state.cb)
            state.cb(state.priv);
        pthread_mutex_unlock(&state.lock);
    }
}

void tool_interrupt_begin(void)
{
    sigemptyset(&state.signals);
    sigaddset(&state.signals, SIGINT);
    sigaddset(&state.signals, SIGTERM);
    sigaddset(&state.signals, SIGHUP);
    sigaddset(&state.signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &state.signals, &state.before);
    state.running = !pthread_create(&state.thread, NULL, watch, NULL);
    if (!state.running)
        pthread_sigmask(SIG_SETMASK, &state.before, NULL);
}

void tool_interrupt_end(void)
{
    if (!state.running)
        return;
    atomic_store(&state.ending, true);
    pthread_kill(state.thread, SIGUSR1);
    pthread_join(state.thread, NULL);
    pthread_sigmask(SIG_SETMASK, &state.before, NULL);
    state.running = false;
}

bool tool_interrupted(void)
{
    return atomic_load(&state.interrupted);
}

void tool_interrupt_notify(void (*cb)(void *priv), void *priv)
{
    pthread_mutex_lock(&state.lock);
    state.cb = cb;
    state.priv = priv;
    pthread_mutex_unlock(&state.lock);
}
