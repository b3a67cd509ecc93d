// SPDX-License-Identifier: MIT
// Fused forward and backward of pipeline.py, which says what is computed and why. One source for
// nvcc and, for tests, for a C++ compiler. One thread an output pixel, ordered token by token:
// pixel s = x + 2 * y of a token. Numbers are those of constants.py.
#include "ops_resolve.cuh"

#ifdef __CUDACC__
#define LAUNCH(name, function, params, ...)                                             \
    __global__ void __launch_bounds__(128) run_##name params                            \
    {                                                                                   \
        const int n = (int)(blockIdx.x * 128 + threadIdx.x);                            \
        if (n < count)                                                                  \
            function(__VA_ARGS__, n);                                                   \
    }
#define RUN(name, ...)                                                                  \
    run_##name<<<(count + 127) / 128, 128, 0, (cudaStream_t)stream>>>(__VA_ARGS__, count); \
    return (int)cudaGetLastError();
#else
#define LAUNCH(name, function, params, ...)                                             \
    static void run_##name params                                                       \
    {                                                                                   \
        for (int n = 0; n < count; n++)                                                 \
            function(__VA_ARGS__, n);                                                   \
    }
#define RUN(name, ...)                                                                  \
    (void)stream;                                                                       \
    run_##name(__VA_ARGS__, count);                                                     \
    return 0;
#endif

#define COUNT const int count = f->batch * f->out_height * f->out_width
LAUNCH(reproject, reproject, (Frame f, const float *a, float *b, int count), f, a, b)
extern "C" int hs_reproject(const Frame *f, void *stream, const float *history, float *moved)
{
    COUNT;
    RUN(reproject, *f, history, moved)
}

// The operations of one kind of network; `suffix` is of their names.
#define OPERATIONS(Net, suffix)                                                         \
    LAUNCH(reproject_back##suffix, reproject_back<Net>,                                 \
           (Frame f, const float *a, const IO *b, const float *c, float *d, int count), \
           f, a, b, c, d)                                                               \
    LAUNCH(features##suffix, features<Net>, (Frame f, const float *a, IO *b, int count), \
           f, a, b)                                                                     \
    LAUNCH(resolve##suffix, resolve<Net>,                                               \
           (Frame f, const float *a, const IO *b, float *c, int count), f, a, b, c)     \
    LAUNCH(resolve_back##suffix, resolve_back<Net>,                                     \
           (Frame f, const float *a, const IO *b, const float *c, IO *d, float *e,      \
            int count), f, a, b, c, d, e)                                               \
    extern "C" int hs_features##suffix(const Frame *f, void *stream, const float *moved, \
                                       IO *out)                                         \
    {                                                                                   \
        COUNT;                                                                          \
        RUN(features##suffix, *f, moved, out)                                           \
    }                                                                                   \
    extern "C" int hs_reproject_back##suffix(const Frame *f, void *stream,              \
                                             const float *history, const IO *g_features, \
                                             const float *g_moved, float *g_history)    \
    {                                                                                   \
        COUNT;                                                                          \
        RUN(reproject_back##suffix, *f, history, g_features, g_moved, g_history)        \
    }                                                                                   \
    extern "C" int hs_resolve##suffix(const Frame *f, void *stream, const float *moved, \
                                      const IO *head, float *history)                   \
    {                                                                                   \
        COUNT;                                                                          \
        RUN(resolve##suffix, *f, moved, head, history)                                  \
    }                                                                                   \
    extern "C" int hs_resolve_back##suffix(const Frame *f, void *stream,                \
                                           const float *moved, const IO *head,          \
                                           const float *g_history, IO *g_head,          \
                                           float *g_moved)                              \
    {                                                                                   \
        COUNT;                                                                          \
        RUN(resolve_back##suffix, *f, moved, head, g_history, g_head, g_moved)          \
    }

OPERATIONS(Plain, )
OPERATIONS(Ray, _ray)
