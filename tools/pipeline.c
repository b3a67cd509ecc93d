// SPDX-License-Identifier: MIT
// Frames on their way: free -> reading -> ready -> submitted -> writing -> free. Item i always
// uses slot i % slots, so the number of slots bounds everything.
#include <pthread.h>
#include <stdlib.h>

#include "interrupt.h"
#include "report.h"
#include "upscale.h"

enum slot_state {
    SLOT_FREE = 0,
    SLOT_READING,
    SLOT_READY,
    SLOT_FAILED,
    SLOT_SUBMITTED,
    SLOT_WRITING,
};

struct slot {
    enum slot_state state;
    int item;
    int error;
    struct upscale_input input;
};

struct pipeline {
    const struct upscale_request *request;
    const struct upscale_plan *plan;
    struct tool_backend *backend;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct slot *slots;
    int slot_count;
    int next_read, next_write;
    int submit_end; ///< Items before it were or will be submitted.
    bool stop_reading;
    int error;
    int written;
};

static struct slot *slot_of(struct pipeline *p, int item)
{
    return &p->slots[item % p->slot_count];
}

static void set_state(struct pipeline *p, struct slot *slot, enum slot_state state)
{
    pthread_mutex_lock(&p->lock);
    slot->state = state;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static void *read_frames(void *priv)
{
    struct pipeline *p = priv;

    for (;;) {
        struct slot *slot;
        int item;

        pthread_mutex_lock(&p->lock);
        while (!p->stop_reading && p->next_read < p->plan->item_count &&
               slot_of(p, p->next_read)->state != SLOT_FREE)
            pthread_cond_wait(&p->changed, &p->lock);
        if (p->stop_reading || p->next_read == p->plan->item_count) {
            pthread_mutex_unlock(&p->lock);
            return NULL;
        }
        item = p->next_read++;
        slot = slot_of(p, item);
        slot->state = SLOT_READING;
        slot->item = item;
        // Another reader may be able to go on with the next slot.
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->lock);

        slot->error = upscale_read(p->plan, &p->plan->items[item],
                                   &p->backend->memory[item % p->slot_count], &slot->input);
        set_state(p, slot, slot->error < 0 ? SLOT_FAILED : SLOT_READY);
    }
}

static void fail(struct pipeline *p, int error)
{
    pthread_mutex_lock(&p->lock);
    if (!p->error)
        p->error = error;
    p->stop_reading = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static void *write_frames(void *priv)
{
    struct pipeline *p = priv;

    for (;;) {
        const struct upscale_item *item;
        struct slot *slot;
        int number, err;

        pthread_mutex_lock(&p->lock);
        while (p->next_write < p->submit_end && slot_of(p, p->next_write)->state != SLOT_SUBMITTED)
            pthread_cond_wait(&p->changed, &p->lock);
        if (p->next_write >= p->submit_end) {
            pthread_mutex_unlock(&p->lock);
            return NULL;
        }
        number = p->next_write++;
        slot = slot_of(p, number);
        slot->state = SLOT_WRITING;
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->lock);

        item = &p->plan->items[number];
        err = p->backend->wait(p->backend, number % p->slot_count);
        if (!err && item->write)
            err = upscale_write(p->request, p->plan, item,
                                &p->backend->memory[number % p->slot_count], slot->input.frame);
        hsio_frame_close(&slot->input.frame);
        if (err < 0) {
            fail(p, err);
        } else {
            pthread_mutex_lock(&p->lock);
            p->written += item->write;
            pthread_mutex_unlock(&p->lock);
            tool_progress_step(item->write ? item->path : "history only");
        }
        set_state(p, slot, SLOT_FREE);
    }
}

/** Waits until an item has been read. False: stop before it. */
static bool wait_for_item(struct pipeline *p, int item)
{
    struct slot *slot = slot_of(p, item);
    bool ready;

    pthread_mutex_lock(&p->lock);
    while (!p->error && !tool_interrupted() &&
           !(slot->item == item && (slot->state == SLOT_READY || slot->state == SLOT_FAILED)))
        pthread_cond_wait(&p->changed, &p->lock);
    if (!p->error && !tool_interrupted() && slot->state == SLOT_FAILED)
        p->error = slot->error;
    ready = !p->error && !tool_interrupted();
    pthread_mutex_unlock(&p->lock);
    return ready;
}

static int submit_item(struct pipeline *p, int number, struct upscale_watch *watch)
{
    const struct upscale_item *item = &p->plan->items[number];
    struct slot *slot = slot_of(p, number);
    const struct tool_frame_options options = {
        .frame.auto_exposure = p->request->auto_exposure,
        .frame.exposure =
            p->request->exposure > 0 ? (float)p->request->exposure : slot->input.exposure,
        .frame.sharpness = (float)p->request->sharpness,
        .frame.firefly_clamp = (float)p->request->firefly_clamp,
        .frame.look = p->request->look,
        .frame.reset = item->reset,
        .read_back = item->write,
    };
    int err;

    upscale_watch_frame(watch, &slot->input);
    tool_capture_begin();
    err = p->backend->submit(p->backend, number % p->slot_count, hsio_frame_info(slot->input.frame),
                             &options);
    const char *why = tool_capture_end();
    if (err < 0)
        tool_error("frame %lld: %s", (long long)item->number, *why ? why : hs_error_string(err));
    return err;
}

static void submit_frames(struct pipeline *p, struct upscale_watch *watch)
{
    int number, err = 0;

    for (number = 0; number < p->plan->item_count; number++) {
        if (!wait_for_item(p, number))
            break;
        err = submit_item(p, number, watch);
        if (err < 0) {
            fail(p, err);
            break;
        }
        set_state(p, slot_of(p, number), SLOT_SUBMITTED);
    }
    pthread_mutex_lock(&p->lock);
    p->submit_end = number;
    p->stop_reading = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static void on_interrupt(void *priv)
{
    struct pipeline *p = priv;

    pthread_mutex_lock(&p->lock);
    p->stop_reading = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

int upscale_pipeline_run(const struct upscale_request *request, const struct upscale_plan *plan,
                         struct tool_backend *backend, int jobs, struct upscale_result *result)
{
    struct pipeline p = {
        .request = request,
        .plan = plan,
        .backend = backend,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER,
        .slot_count = plan->setup.slots,
        .submit_end = plan->item_count,
    };
    struct upscale_watch watch = {0};
    pthread_t *threads = calloc(2 * (size_t)jobs, sizeof(*threads));
    int started = 0;

    p.slots = calloc((size_t)p.slot_count, sizeof(*p.slots));
    if (!threads || !p.slots) {
        p.error = HS_ERR_NOMEM;
        goto end;
    }
    for (int i = 0; i < p.slot_count; i++)
        p.slots[i].item = -1;
    for (; started < 2 * jobs; started++) {
        // Readers and writers in turn: one of each is enough.
        if (pthread_create(&threads[started], NULL, started % 2 ? write_frames : read_frames, &p))
            break;
    }
    tool_progress_start(plan->item_count);
    tool_interrupt_notify(on_interrupt, &p);
    if (started >= 2) {
        submit_frames(&p, &watch);
    } else {
        tool_error("no threads can be started");
        p.submit_end = 0;
        fail(&p, HS_ERR_NOMEM);
    }
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    tool_interrupt_notify(NULL, NULL);
    tool_progress_stop();
    for (int i = 0; i < p.slot_count; i++)
        hsio_frame_close(&p.slots[i].input.frame);
end:
    free(p.slots);
    free(threads);
    result->written = p.written;
    result->interrupted = tool_interrupted() && p.submit_end < plan->item_count;
    result->bad_frames = watch.bad_frames;
    result->bad_pixels = watch.bad_pixels;
    result->bad_motion_frames = watch.bad_motion_frames;
    result->bad_vectors = watch.bad_vectors;
    return p.error;
}
