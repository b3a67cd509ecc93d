// SPDX-License-Identifier: MIT
/**
 * Decode, filter, encode: the shortest whole program around hindsight/avfilter.h.
 *
 *     upscale [-s OPTION=VALUE]... COLOUR [DEPTH [MOTION [REACTIVE]]] OUT
 *
 * Inputs are what libavformat opens, "-" for one that is absent. Options of the demuxer stand
 * behind the name: depth.raw,f=rawvideo,pixel_format=grayf32le,video_size=960x540,framerate=24
 */
#include <stdio.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/opt.h>

#include <hindsight/avfilter.h>

struct source {
    AVFormatContext *format;
    AVCodecContext *codec;
    int stream;
};

struct sink {
    AVFormatContext *format;
    AVCodecContext *codec;
    AVStream *stream;
};

static int fail(const char *what, int err)
{
    fprintf(stderr, "%s: %s\n", what, av_err2str(err));
    return err;
}

static int open_source(struct source *source, char *text)
{
    char *extra = strchr(text, ',');
    const AVInputFormat *demuxer = NULL;
    const AVDictionaryEntry *name;
    const AVCodec *codec = NULL;
    AVDictionary *dict = NULL;
    int err = 0;

    if (extra) {
        *extra++ = 0;
        err = av_dict_parse_string(&dict, extra, "=", ",", 0);
    }
    name = av_dict_get(dict, "f", NULL, 0);
    if (name)
        demuxer = av_find_input_format(name->value);
    av_dict_set(&dict, "f", NULL, 0);
    if (err >= 0)
        err = avformat_open_input(&source->format, text, demuxer, &dict);
    av_dict_free(&dict);
    if (err >= 0)
        err = avformat_find_stream_info(source->format, NULL);
    if (err >= 0)
        err = av_find_best_stream(source->format, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
    if (err < 0)
        return fail(text, err);
    source->stream = err;
    source->codec = avcodec_alloc_context3(codec);
    if (!source->codec)
        return fail(text, AVERROR(ENOMEM));
    err = avcodec_parameters_to_context(source->codec,
                                        source->format->streams[source->stream]->codecpar);
    if (err >= 0)
        err = avcodec_open2(source->codec, codec, NULL);
    return err < 0 ? fail(text, err) : 0;
}

/** The next frame, or AVERROR_EOF. */
static int read_frame(struct source *source, AVPacket *packet, AVFrame *frame)
{
    for (;;) {
        int err = avcodec_receive_frame(source->codec, frame);

        if (err != AVERROR(EAGAIN)) {
            frame->pts = frame->best_effort_timestamp;
            return err;
        }
        do {
            av_packet_unref(packet);
            err = av_read_frame(source->format, packet);
        } while (err >= 0 && packet->stream_index != source->stream);
        if (err < 0 && err != AVERROR_EOF)
            return err;
        err = avcodec_send_packet(source->codec, err < 0 ? NULL : packet);
        if (err < 0)
            return err;
    }
}

/** The encoder is known when the first frame is. */
static int open_sink(struct sink *sink, const char *path, const AVFrame *frame,
                     AVRational time_base, AVRational rate)
{
    const AVCodec *codec;
    int err = avformat_alloc_output_context2(&sink->format, NULL, NULL, path);

    if (err < 0)
        return fail(path, err);
    codec = avcodec_find_encoder(
        av_guess_codec(sink->format->oformat, NULL, path, NULL, AVMEDIA_TYPE_VIDEO));
    sink->codec = codec ? avcodec_alloc_context3(codec) : NULL;
    sink->stream = avformat_new_stream(sink->format, NULL);
    if (!sink->codec || !sink->stream)
        return fail(path, codec ? AVERROR(ENOMEM) : AVERROR_ENCODER_NOT_FOUND);
    sink->codec->width = frame->width;
    sink->codec->height = frame->height;
    sink->codec->pix_fmt = (enum AVPixelFormat)frame->format;
    sink->codec->sample_aspect_ratio = frame->sample_aspect_ratio;
    sink->codec->color_trc = frame->color_trc;
    sink->codec->color_primaries = frame->color_primaries;
    sink->codec->time_base = time_base;
    sink->codec->framerate = rate;
    err = avcodec_open2(sink->codec, codec, NULL);
    if (err >= 0)
        err = avcodec_parameters_from_context(sink->stream->codecpar, sink->codec);
    sink->stream->time_base = time_base;
    if (err >= 0 && !(sink->format->oformat->flags & AVFMT_NOFILE))
        err = avio_open(&sink->format->pb, path, AVIO_FLAG_WRITE);
    if (err >= 0)
        err = avformat_write_header(sink->format, NULL);
    return err < 0 ? fail(path, err) : 0;
}

/** `frame` NULL: writes what the encoder still holds. */
static int write_frame(struct sink *sink, AVPacket *packet, const AVFrame *frame)
{
    int err = avcodec_send_frame(sink->codec, frame);

    while (err >= 0) {
        err = avcodec_receive_packet(sink->codec, packet);
        if (err == AVERROR(EAGAIN) || err == AVERROR_EOF)
            return 0;
        if (err < 0)
            break;
        av_packet_rescale_ts(packet, sink->codec->time_base, sink->stream->time_base);
        packet->stream_index = 0;
        err = av_interleaved_write_frame(sink->format, packet);
    }
    return fail("encoding", err);
}

static int run(struct hs_avfilter *filter, struct source *sources, struct sink *sink,
               const char *path, AVPacket *packet, AVFrame *frame)
{
    struct source *colour = &sources[HS_AVFILTER_COLOUR];
    const AVStream *first = colour->format->streams[colour->stream];

    for (;;) {
        int input = hs_avfilter_wanted(filter), err;

        if (input >= 0) {
            err = read_frame(&sources[input], packet, frame);
            if (err < 0 && err != AVERROR_EOF)
                return fail("decoding", err);
            err =
                hs_avfilter_send(filter, (enum hs_avfilter_input)input, err < 0 ? NULL : frame,
                                 sources[input].format->streams[sources[input].stream]->time_base);
            av_frame_unref(frame);
        } else {
            err = hs_avfilter_receive(filter, frame);
            if (err == AVERROR_EOF)
                return 0;
            // A plane's frames were all too old: another one is wanted now.
            if (err == AVERROR(EAGAIN))
                continue;
            if (err >= 0 && !sink->codec)
                err = open_sink(sink, path, frame, first->time_base, first->avg_frame_rate);
            if (err >= 0)
                err = write_frame(sink, packet, frame);
            av_frame_unref(frame);
        }
        if (err < 0)
            return err;
    }
}

static int upscale(struct hs_avfilter *filter, int count, char **inputs, const char *path,
                   struct source *sources, struct sink *sink)
{
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    unsigned mask = 0;
    int err = packet && frame ? 0 : AVERROR(ENOMEM);

    for (int i = 0; err >= 0 && i < count; i++) {
        if (!strcmp(inputs[i], "-"))
            continue;
        mask |= 1u << i;
        err = open_source(&sources[i], inputs[i]);
    }
    hs_avfilter_set_inputs(filter, mask);
    if (err >= 0)
        err = hs_avfilter_open(filter, NULL);
    if (err >= 0)
        err = run(filter, sources, sink, path, packet, frame);
    if (err >= 0 && sink->codec)
        err = write_frame(sink, packet, NULL);
    if (err >= 0 && sink->codec)
        err = av_write_trailer(sink->format);
    av_packet_free(&packet);
    av_frame_free(&frame);
    return err;
}

int main(int argc, char **argv)
{
    struct hs_avfilter *filter = hs_avfilter_alloc();
    struct source sources[HS_AVFILTER_INPUTS] = {0};
    struct sink sink = {0};
    int at = 1, err = filter ? 0 : AVERROR(ENOMEM);

    for (; err >= 0 && at + 1 < argc && !strcmp(argv[at], "-s"); at += 2) {
        char *equal = strchr(argv[at + 1], '=');

        if (equal)
            *equal = 0;
        err = av_opt_set(filter, argv[at + 1], equal ? equal + 1 : "", 0);
        if (err < 0)
            fail(argv[at + 1], err);
    }
    if (argc - at < 2 || argc - at > HS_AVFILTER_INPUTS + 1) {
        fprintf(stderr, "usage: %s [-s OPTION=VALUE]... COLOUR [DEPTH [MOTION [REACTIVE]]] OUT\n",
                argv[0]);
        err = AVERROR(EINVAL);
    }
    if (err >= 0)
        err = upscale(filter, argc - at - 1, argv + at, argv[argc - 1], sources, &sink);
    hs_avfilter_free(&filter);
    for (int i = 0; i < HS_AVFILTER_INPUTS; i++) {
        avcodec_free_context(&sources[i].codec);
        avformat_close_input(&sources[i].format);
    }
    if (sink.format && !(sink.format->oformat->flags & AVFMT_NOFILE))
        avio_closep(&sink.format->pb);
    avcodec_free_context(&sink.codec);
    avformat_free_context(sink.format);
    return err < 0;
}
