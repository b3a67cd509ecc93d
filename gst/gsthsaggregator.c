// SPDX-License-Identifier: MIT
#include "gsthsaggregator.h"

#include <string.h>

#include "gsthspool.h"

#define GST_CAT_DEFAULT gst_hs_debug

typedef struct {
    struct gst_hs_device share;
    GstHsPad *pads[HSIO_PLANE_COUNT]; ///< Under the object lock.
    bool reset;                       ///< The next frame begins a new history.
    bool pushed;                      ///< The source pad has caps and segment.
    bool told;                        ///< Of a pad or of caps in this run. Under the object lock.
} GstHsAggregatorPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE(GstHsAggregator, gst_hs_aggregator, GST_TYPE_AGGREGATOR)

static GstHsAggregatorPrivate *private_of(gpointer self)
{
    return gst_hs_aggregator_get_instance_private(GST_HS_AGGREGATOR(self));
}

struct gst_hs_device *gst_hs_aggregator_device(GstHsAggregator *self)
{
    return &private_of(self)->share;
}

GstHsPad *gst_hs_aggregator_colour_pad(GstHsAggregator *self)
{
    return private_of(self)->pads[HSIO_PLANE_COLOR];
}

const struct gst_hs_format *gst_hs_aggregator_colour(GstHsAggregator *self)
{
    GstHsPad *pad = private_of(self)->pads[HSIO_PLANE_COLOR];

    return pad->has_format ? &pad->format : NULL;
}

/** A reference to the pad of a plane, or NULL. */
static GstHsPad *get_pad(GstHsAggregator *self, int kind)
{
    GstHsPad *pad;

    GST_OBJECT_LOCK(self);
    pad = private_of(self)->pads[kind];
    if (pad)
        gst_object_ref(pad);
    GST_OBJECT_UNLOCK(self);
    return pad;
}

/**
 * Whether nothing was told of caps and pads in this run. Caps come again with every buffer, and
 * several errors may stall the application.
 */
static bool is_news(GstHsAggregator *self)
{
    GstHsAggregatorPrivate *priv = private_of(self);
    bool news;

    GST_OBJECT_LOCK(self);
    news = !priv->told;
    priv->told = true;
    GST_OBJECT_UNLOCK(self);
    return news;
}

/** Colour pauses: history ends, and the gap goes on downstream. */
static GstFlowReturn pass_gap(GstHsAggregator *self, GstHsPad *pad, GstBuffer *gap)
{
    GstHsAggregatorPrivate *priv = private_of(self);

    priv->reset = true;
    gst_aggregator_pad_drop_buffer(GST_AGGREGATOR_PAD(pad));
    if (priv->pushed && GST_BUFFER_PTS_IS_VALID(gap))
        gst_aggregator_push_src_event(
            GST_AGGREGATOR(self), gst_event_new_gap(GST_BUFFER_PTS(gap), GST_BUFFER_DURATION(gap)));
    gst_buffer_unref(gap);
    return GST_FLOW_OK;
}

/** Finds the planes of the frame. False: some have to be waited for. */
static bool pair(GstHsAggregator *self, GstHsPad *colour_pad, bool timeout,
                 struct gst_hs_pairing *pairing, GstBuffer *side[HSIO_PLANE_COUNT])
{
    const GstClockTime time = gst_hs_pad_running_time(colour_pad, GST_BUFFER_PTS(pairing->colour));
    const GstClockTime tolerance = gst_hs_pad_tolerance(&colour_pad->format, pairing->colour);

    pairing->meta = gst_hs_frame_meta_get(pairing->colour);
    if (pairing->meta)
        memcpy(pairing->planes, pairing->meta->planes, sizeof(pairing->planes));
    pairing->planes[HSIO_PLANE_COLOR] = gst_hs_plane_of(pairing->colour, &colour_pad->format);
    for (int kind = HSIO_PLANE_COLOR + 1; kind < HSIO_PLANE_COUNT; kind++) {
        GstHsPad *pad = get_pad(self, kind);
        bool ready = true;

        if (pad)
            ready = gst_hs_pad_match(pad, time, tolerance, timeout, &side[kind]);
        if (pad && ready) {
            if (side[kind] && pad->has_format)
                pairing->planes[kind] = gst_hs_plane_of(side[kind], &pad->format);
            else if (!pairing->planes[kind].buffer)
                pairing->missing |= 1u << kind;
        }
        gst_clear_object(&pad);
        if (!ready)
            return false;
    }
    return true;
}

static GstFlowReturn finish(GstHsAggregator *self, GstHsPad *pad, GstBuffer *colour, GstBuffer *out)
{
    GstHsAggregatorPrivate *priv = private_of(self);
    GstAggregator *agg = GST_AGGREGATOR(self);

    GST_BUFFER_PTS(out) = GST_BUFFER_PTS(colour);
    GST_BUFFER_DTS(out) = GST_BUFFER_DTS(colour);
    GST_BUFFER_DURATION(out) = GST_BUFFER_DURATION(colour);
    GST_BUFFER_OFFSET(out) = GST_BUFFER_OFFSET(colour);
    GST_BUFFER_OFFSET_END(out) = GST_BUFFER_OFFSET_END(colour);
    if (GST_BUFFER_IS_DISCONT(colour))
        GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_DISCONT);
    GST_OBJECT_LOCK(agg->srcpad);
    GST_AGGREGATOR_PAD(agg->srcpad)->segment.position = GST_BUFFER_PTS(out);
    GST_OBJECT_UNLOCK(agg->srcpad);
    gst_aggregator_pad_drop_buffer(GST_AGGREGATOR_PAD(pad));
    priv->pushed = true;
    return gst_aggregator_finish_buffer(agg, out);
}

static GstFlowReturn aggregate(GstAggregator *agg, gboolean timeout)
{
    GstHsAggregator *self = GST_HS_AGGREGATOR(agg);
    GstHsAggregatorPrivate *priv = private_of(self);
    GstHsPad *pad = priv->pads[HSIO_PLANE_COLOR];
    struct gst_hs_pairing pairing = {
        .colour = gst_aggregator_pad_peek_buffer(GST_AGGREGATOR_PAD(pad)),
    };
    GstBuffer *side[HSIO_PLANE_COUNT] = {0}, *out = NULL;
    GstFlowReturn flow;

    if (!pairing.colour)
        return gst_aggregator_pad_is_eos(GST_AGGREGATOR_PAD(pad)) ? GST_FLOW_EOS
                                                                  : GST_AGGREGATOR_FLOW_NEED_DATA;
    if (gst_hs_buffer_is_gap(pairing.colour))
        return pass_gap(self, pad, pairing.colour);
    if (!pad->has_format || !GST_BUFFER_PTS_IS_VALID(pairing.colour)) {
        if (is_news(self))
            GST_ELEMENT_ERROR(self, STREAM, FORMAT,
                              ("The colour buffers have no %s: put a parser or a capsfilter with "
                               "a framerate in front.",
                               pad->has_format ? "timestamps" : "caps"),
                              (NULL));
        gst_buffer_unref(pairing.colour);
        return GST_FLOW_NOT_NEGOTIATED;
    }
    if (!pair(self, pad, timeout, &pairing, side)) {
        flow = GST_AGGREGATOR_FLOW_NEED_DATA;
        goto done;
    }
    pairing.reset = priv->reset || GST_BUFFER_IS_DISCONT(pairing.colour);
    flow = GST_HS_AGGREGATOR_GET_CLASS(self)->process(self, &pairing, &out);
    for (int kind = 0; kind < HSIO_PLANE_COUNT; kind++) {
        GstHsPad *owner = side[kind] ? get_pad(self, kind) : NULL;

        if (owner)
            gst_aggregator_pad_drop_buffer(GST_AGGREGATOR_PAD(owner));
        gst_clear_object(&owner);
    }
    if (flow == GST_FLOW_OK) {
        priv->reset = false;
        if (out)
            flow = finish(self, pad, pairing.colour, out);
        else
            gst_aggregator_pad_drop_buffer(GST_AGGREGATOR_PAD(pad));
    }
done:
    for (int kind = 0; kind < HSIO_PLANE_COUNT; kind++)
        gst_clear_buffer(&side[kind]);
    gst_buffer_unref(pairing.colour);
    return flow;
}

/** In live pipelines planes are waited for until the colour's time, and the latency. */
static GstClockTime get_next_time(GstAggregator *agg)
{
    GstHsPad *pad = private_of(agg)->pads[HSIO_PLANE_COLOR];
    GstBuffer *buffer = gst_aggregator_pad_peek_buffer(GST_AGGREGATOR_PAD(pad));
    GstClockTime time = GST_CLOCK_TIME_NONE;

    if (buffer && GST_BUFFER_PTS_IS_VALID(buffer))
        time = gst_hs_pad_running_time(pad, GST_BUFFER_PTS(buffer));
    gst_clear_buffer(&buffer);
    return time;
}

static gboolean take_caps(GstHsAggregator *self, GstHsPad *pad, GstEvent *event)
{
    char *why;
    GstCaps *caps;

    gst_event_parse_caps(event, &caps);
    why = gst_hs_format_refusal(caps, pad->kind, GST_HS_AGGREGATOR_GET_CLASS(self)->least_side);
    if (why) {
        if (is_news(self))
            GST_ELEMENT_ERROR(self, STREAM, WRONG_TYPE,
                              ("Pad %s can not take its input: %s.", GST_PAD_NAME(pad), why),
                              (NULL));
        g_free(why);
        pad->has_format = false;
        return FALSE;
    }
    pad->has_format = gst_hs_format_parse(&pad->format, caps, pad->kind);
    gst_caps_replace(&pad->caps, caps);
    if (pad->kind == HSIO_PLANE_COLOR) {
        if (GST_HS_AGGREGATOR_GET_CLASS(self)->colour_changed)
            GST_HS_AGGREGATOR_GET_CLASS(self)->colour_changed(self, &pad->format);
        gst_pad_mark_reconfigure(GST_AGGREGATOR(self)->srcpad);
    }
    return TRUE;
}

static gboolean sink_event(GstAggregator *agg, GstAggregatorPad *base, GstEvent *event)
{
    GstHsPad *pad = GST_HS_PAD(base);
    const GstSegment *segment;

    switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_CAPS:
        if (!take_caps(GST_HS_AGGREGATOR(agg), pad, event)) {
            gst_event_unref(event);
            return FALSE;
        }
        break;
    case GST_EVENT_SEGMENT:
        if (pad->kind == HSIO_PLANE_COLOR) {
            gst_event_parse_segment(event, &segment);
            gst_aggregator_update_segment(agg, segment);
            private_of(agg)->reset = true;
        }
        break;
    default:
        break;
    }
    return GST_AGGREGATOR_CLASS(gst_hs_aggregator_parent_class)->sink_event(agg, base, event);
}

/** A pad without a peer would be waited for without end, and silently. */
static bool check_links(GstHsAggregator *self)
{
    GstHsPad *loose = NULL;

    for (int kind = 0; kind < HSIO_PLANE_COUNT && !loose; kind++) {
        loose = get_pad(self, kind);
        if (loose && gst_pad_is_linked(GST_PAD(loose)))
            gst_clear_object(&loose);
    }
    if (!loose)
        return true;
    if (is_news(self))
        GST_ELEMENT_ERROR(self, CORE, PAD,
                          ("Data comes, but pad %s is not linked and would be waited for: link it "
                           "before%s.",
                           GST_PAD_NAME(loose),
                           loose->kind == HSIO_PLANE_COLOR ? "" : ", or release it"),
                          (NULL));
    gst_object_unref(loose);
    return false;
}

/** As events come in, before they queue up behind what waits. */
static GstFlowReturn sink_event_pre_queue(GstAggregator *agg, GstAggregatorPad *pad,
                                          GstEvent *event)
{
    if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT && !check_links(GST_HS_AGGREGATOR(agg))) {
        gst_event_unref(event);
        return GST_FLOW_ERROR;
    }
    return GST_AGGREGATOR_CLASS(gst_hs_aggregator_parent_class)
        ->sink_event_pre_queue(agg, pad, event);
}

static gboolean sink_query(GstAggregator *agg, GstAggregatorPad *pad, GstQuery *query)
{
    if (gst_hs_device_query(&private_of(agg)->share, GST_ELEMENT(agg), query))
        return TRUE;
    if (GST_QUERY_TYPE(query) == GST_QUERY_ACCEPT_CAPS)
        gst_hs_caps_answer_accept(query, GST_PAD(pad));
    else if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS)
        gst_hs_caps_answer(query, gst_pad_get_pad_template_caps(GST_PAD(pad)));
    else
        return GST_AGGREGATOR_CLASS(gst_hs_aggregator_parent_class)->sink_query(agg, pad, query);
    return TRUE;
}

static gboolean src_query(GstAggregator *agg, GstQuery *query)
{
    return gst_hs_device_query(&private_of(agg)->share, GST_ELEMENT(agg), query) ||
           GST_AGGREGATOR_CLASS(gst_hs_aggregator_parent_class)->src_query(agg, query);
}

/** Offers vulkanupload a pool whose images can be used as they are. */
static gboolean propose_allocation(GstAggregator *agg, GstAggregatorPad *pad, GstQuery *decide,
                                   GstQuery *query)
{
    struct gst_hs_device *share = &private_of(agg)->share;
    struct gst_hs_format format;
    GstBufferPool *pool;
    GstCaps *caps;

    (void)decide;
    gst_query_parse_allocation(query, &caps, NULL);
    if (!caps || !gst_hs_format_parse(&format, caps, GST_HS_PAD(pad)->kind))
        return FALSE;
    gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
    if (!format.video || !format.vulkan || !share->device)
        return TRUE;
    pool = gst_hs_pool_new_video(share->device, caps,
                                 VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                                     VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                                 false);
    if (!pool)
        return FALSE;
    gst_query_add_allocation_pool(query, pool, (guint)format.info.size, 0, 0);
    gst_object_unref(pool);
    return TRUE;
}

static GstAggregatorPad *create_new_pad(GstAggregator *agg, GstPadTemplate *template,
                                        const gchar *name, const GstCaps *caps)
{
    GstHsAggregatorPrivate *priv = private_of(agg);
    const char *plane = GST_PAD_TEMPLATE_NAME_TEMPLATE(template);
    int kind = hsio_plane_from_name(plane);
    GstHsPad *pad;
    bool taken;

    (void)name;
    (void)caps;
    if (kind <= HSIO_PLANE_COLOR)
        return NULL;
    pad = g_object_new(GST_TYPE_HS_PAD, "name", plane, "direction", GST_PAD_SINK, "template",
                       template, NULL);
    pad->kind = (enum hsio_plane)kind;
    GST_OBJECT_LOCK(agg);
    taken = priv->pads[kind];
    if (!taken)
        priv->pads[kind] = pad;
    GST_OBJECT_UNLOCK(agg);
    if (taken) {
        GST_WARNING_OBJECT(agg, "there is a pad %s already", plane);
        gst_object_unref(gst_object_ref_sink(pad));
        return NULL;
    }
    return GST_AGGREGATOR_PAD(pad);
}

static void release_pad(GstElement *element, GstPad *pad)
{
    GstHsAggregatorPrivate *priv = private_of(element);

    GST_OBJECT_LOCK(element);
    for (int kind = HSIO_PLANE_COLOR + 1; kind < HSIO_PLANE_COUNT; kind++) {
        if ((GstPad *)priv->pads[kind] == pad)
            priv->pads[kind] = NULL;
    }
    GST_OBJECT_UNLOCK(element);
    GST_ELEMENT_CLASS(gst_hs_aggregator_parent_class)->release_pad(element, pad);
}

static GstFlowReturn flush(GstAggregator *agg)
{
    private_of(agg)->reset = true;
    return GST_FLOW_OK;
}

static gboolean start(GstAggregator *agg)
{
    GstHsAggregatorPrivate *priv = private_of(agg);

    priv->reset = true;
    priv->pushed = false;
    GST_OBJECT_LOCK(agg);
    priv->told = false;
    GST_OBJECT_UNLOCK(agg);
    return TRUE;
}

static gboolean stop(GstAggregator *agg)
{
    GstHsAggregatorPrivate *priv = private_of(agg);

    GST_OBJECT_LOCK(agg);
    for (int kind = 0; kind < HSIO_PLANE_COUNT; kind++) {
        if (priv->pads[kind])
            priv->pads[kind]->has_format = false;
    }
    GST_OBJECT_UNLOCK(agg);
    return TRUE;
}

static GstStateChangeReturn change_state(GstElement *element, GstStateChange transition)
{
    struct gst_hs_device *share = &private_of(element)->share;
    GstStateChangeReturn result;

    if (transition == GST_STATE_CHANGE_NULL_TO_READY &&
        GST_HS_AGGREGATOR_GET_CLASS(element)->needs_device &&
        !gst_hs_device_require(share, element))
        return GST_STATE_CHANGE_FAILURE;
    result = GST_ELEMENT_CLASS(gst_hs_aggregator_parent_class)->change_state(element, transition);
    if (transition == GST_STATE_CHANGE_READY_TO_NULL)
        gst_hs_device_clear(share);
    return result;
}

static void set_context(GstElement *element, GstContext *context)
{
    gst_hs_device_set_context(&private_of(element)->share, element, context);
    GST_ELEMENT_CLASS(gst_hs_aggregator_parent_class)->set_context(element, context);
}

static void finalize(GObject *object)
{
    gst_hs_device_finish(&private_of(object)->share);
    G_OBJECT_CLASS(gst_hs_aggregator_parent_class)->finalize(object);
}

static void gst_hs_aggregator_init(GstHsAggregator *self)
{
    gst_hs_device_init(&private_of(self)->share);
}

/** Here and not in init, for the templates are those of the subclass. */
static void constructed(GObject *self)
{
    GstHsAggregatorPrivate *priv = private_of(self);
    GstPadTemplate *template =
        gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(self), "sink");

    G_OBJECT_CLASS(gst_hs_aggregator_parent_class)->constructed(self);
    priv->pads[HSIO_PLANE_COLOR] = g_object_new(GST_TYPE_HS_PAD, "name", "sink", "direction",
                                                GST_PAD_SINK, "template", template, NULL);
    priv->pads[HSIO_PLANE_COLOR]->kind = HSIO_PLANE_COLOR;
    gst_element_add_pad(GST_ELEMENT(self), GST_PAD(priv->pads[HSIO_PLANE_COLOR]));
}

static void gst_hs_aggregator_class_init(GstHsAggregatorClass *class)
{
    GstElementClass *element = GST_ELEMENT_CLASS(class);
    GstAggregatorClass *agg = GST_AGGREGATOR_CLASS(class);

    class->needs_device = true;
    class->least_side = GST_HS_SIDE_LEAST;
    G_OBJECT_CLASS(class)->constructed = constructed;
    G_OBJECT_CLASS(class)->finalize = finalize;
    element->change_state = change_state;
    element->set_context = set_context;
    element->release_pad = release_pad;
    agg->aggregate = aggregate;
    agg->get_next_time = get_next_time;
    agg->sink_event = sink_event;
    agg->sink_event_pre_queue = sink_event_pre_queue;
    agg->sink_query = sink_query;
    agg->src_query = src_query;
    agg->propose_allocation = propose_allocation;
    agg->create_new_pad = create_new_pad;
    agg->flush = flush;
    agg->start = start;
    agg->stop = stop;
}
