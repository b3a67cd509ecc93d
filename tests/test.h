// SPDX-License-Identifier: MIT
/**
 * The test harness: one program per file, a table of named cases, run in order.
 *
 *     static void adds(struct test_rng *rng) { REQUIRE_EQ(1 + 1, 2); }
 *     static const struct test_case cases[] = {{"adds", adds}};
 *     TEST_MAIN(cases)
 *
 * Arguments pick cases by name; `--list` prints the names. A failed requirement prints the values
 * and ends the program with 1. TEST_SKIP leaves one case; if every case that ran was skipped the
 * program ends with 77, which Meson reports as skipped. HS_TEST_SEED sets the seed.
 */
#ifndef HS_TEST_H
#define HS_TEST_H

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** xorshift64*. The same seed gives the same numbers on every machine. */
struct test_rng {
    uint64_t state; ///< Never 0.
};

struct test_case {
    const char *name;
    void (*run)(struct test_rng *rng);
};

#define TEST_DEFAULT_SEED UINT64_C(0x9e3779b97f4a7c15)
#define TEST_EXIT_SKIP 77

#if defined(__GNUC__)
#define TEST_UNUSED __attribute__((unused))
#define TEST_PRINTF __attribute__((format(printf, 3, 4), noreturn))
#else
#define TEST_UNUSED
#define TEST_PRINTF
#endif

static jmp_buf test_skip_jump;

TEST_PRINTF TEST_UNUSED static void test_fail(const char *file, int line, const char *format, ...);

#include <stdarg.h>

static void test_fail(const char *file, int line, const char *format, ...)
{
    va_list args;

    fflush(stdout);
    fprintf(stderr, "%s:%d: ", file, line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    fflush(stderr);
    exit(1);
}

/** The next 64 random bits. */
TEST_UNUSED static uint64_t test_rng_next(struct test_rng *rng)
{
    rng->state ^= rng->state >> 12;
    rng->state ^= rng->state << 25;
    rng->state ^= rng->state >> 27;
    return rng->state * UINT64_C(0x2545f4914f6cdd1d);
}

/** Uniform in [0, count). `count` must not be 0. */
TEST_UNUSED static uint32_t test_rng_below(struct test_rng *rng, uint32_t count)
{
    return (uint32_t)(((test_rng_next(rng) >> 32) * count) >> 32);
}

/** Uniform in [low, high). */
TEST_UNUSED static float test_rng_float(struct test_rng *rng, float low, float high)
{
    return low + (high - low) * (float)(test_rng_next(rng) >> 40) * 0x1p-24f;
}

/** Fails the program unless `condition` holds. */
#define REQUIRE(condition)                                            \
    do {                                                              \
        if (!(condition))                                             \
            test_fail(__FILE__, __LINE__, "%s is false", #condition); \
    } while (0)

/** Like REQUIRE, with a printf message about what was seen. */
#define REQUIRE_MSG(condition, ...)                                   \
    do {                                                              \
        if (!(condition)) {                                           \
            fflush(stdout);                                           \
            fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);           \
            fprintf(stderr, __VA_ARGS__);                             \
            fprintf(stderr, "\n");                                    \
            test_fail(__FILE__, __LINE__, "%s is false", #condition); \
        }                                                             \
    } while (0)

#define TEST_COMPARE(a, op, b, type, format)                                                      \
    do {                                                                                          \
        const type test_a = (type)(a), test_b = (type)(b);                                        \
        if (!(test_a op test_b))                                                                  \
            test_fail(__FILE__, __LINE__, "%s " #op " %s is false: %" format " and %" format, #a, \
                      #b, test_a, test_b);                                                        \
    } while (0)

/** Signed integers, error codes and enums; both sides must fit int64_t. */
#define REQUIRE_EQ(a, b) TEST_COMPARE(a, ==, b, int64_t, PRId64)
#define REQUIRE_NE(a, b) TEST_COMPARE(a, !=, b, int64_t, PRId64)
#define REQUIRE_LT(a, b) TEST_COMPARE(a, <, b, int64_t, PRId64)
#define REQUIRE_LE(a, b) TEST_COMPARE(a, <=, b, int64_t, PRId64)
#define REQUIRE_GT(a, b) TEST_COMPARE(a, >, b, int64_t, PRId64)
#define REQUIRE_GE(a, b) TEST_COMPARE(a, >=, b, int64_t, PRId64)
/** Bit patterns. */
#define REQUIRE_HEX(a, b) TEST_COMPARE(a, ==, b, uint64_t, PRIx64)
/** Floating point, bounded above; false for NaN. */
#define REQUIRE_FLOAT_LE(a, b) TEST_COMPARE(a, <=, b, double, ".9g")

/** Floating point within `tolerance`; NaN is near to nothing, an infinity only to itself. */
#define REQUIRE_NEAR(a, b, tolerance)                                                          \
    do {                                                                                       \
        const double test_a = (double)(a), test_b = (double)(b), test_t = (double)(tolerance); \
        if (!(test_a == test_b || fabs(test_a - test_b) <= test_t))                            \
            test_fail(__FILE__, __LINE__,                                                      \
                      "%s near %s is false: %.9g and %.9g differ by %.3g > "                   \
                      "%.3g",                                                                  \
                      #a, #b, test_a, test_b, fabs(test_a - test_b), test_t);                  \
    } while (0)

#define REQUIRE_STR(a, b)                                                                     \
    do {                                                                                      \
        const char *test_a = (a), *test_b = (b);                                              \
        if (!test_a || !test_b || strcmp(test_a, test_b))                                     \
            test_fail(__FILE__, __LINE__, "%s equals %s is false: \"%s\" and \"%s\"", #a, #b, \
                      test_a ? test_a : "(null)", test_b ? test_b : "(null)");                \
    } while (0)

/** Byte-wise; names the first byte that differs. */
#define REQUIRE_MEM(a, b, size_bytes)                                                             \
    do {                                                                                          \
        const unsigned char *test_a = (const void *)(a), *test_b = (const void *)(b);             \
        for (size_t test_i = 0; test_i < (size_t)(size_bytes); test_i++) {                        \
            if (test_a[test_i] != test_b[test_i])                                                 \
                test_fail(__FILE__, __LINE__, "%s equals %s is false at byte %zu: %02x and %02x", \
                          #a, #b, test_i, test_a[test_i], test_b[test_i]);                        \
        }                                                                                         \
    } while (0)

/** Leaves the current case; what it holds is not freed, so skip before creating anything. */
#define TEST_SKIP(reason)               \
    do {                                \
        printf("skip: %s\n", (reason)); \
        longjmp(test_skip_jump, 1);     \
    } while (0)

TEST_UNUSED static uint64_t test_seed(void)
{
    const char *text = getenv("HS_TEST_SEED");
    const uint64_t seed = text ? strtoull(text, NULL, 0) : TEST_DEFAULT_SEED;

    return seed ? seed : TEST_DEFAULT_SEED;
}

TEST_UNUSED static bool test_wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], name))
            return true;
    }
    return argc < 2;
}

TEST_UNUSED static int test_run(const struct test_case *cases, size_t count, int argc, char **argv)
{
    const uint64_t seed = test_seed();
    volatile size_t ran = 0, skipped = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 2 && !strcmp(argv[1], "--list")) {
        for (size_t i = 0; i < count; i++)
            printf("%s\n", cases[i].name);
        return 0;
    }
    printf("seed 0x%" PRIx64 "\n", seed);
    for (volatile size_t i = 0; i < count; i++) {
        // Each case starts from the seed, so that it gives the same numbers when run alone.
        struct test_rng rng = {seed};

        if (!test_wanted(cases[i].name, argc, argv))
            continue;
        printf("case %s\n", cases[i].name);
        ran++;
        if (setjmp(test_skip_jump))
            skipped++;
        else
            cases[i].run(&rng);
    }
    if (!ran) {
        fprintf(stderr, "no such case\n");
        return 1;
    }
    printf("%zu cases, %zu skipped\n", ran, skipped);
    return skipped == ran ? TEST_EXIT_SKIP : 0;
}

#define TEST_MAIN(cases)                                                        \
    int main(int argc, char **argv)                                             \
    {                                                                           \
        return test_run(cases, sizeof(cases) / sizeof((cases)[0]), argc, argv); \
    }

#endif
