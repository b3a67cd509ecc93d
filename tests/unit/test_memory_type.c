// SPDX-License-Identifier: MIT
// The choice of a memory type, on made-up devices.
#include "hsmemory.h"
#include "tests/test.h"

#define LOCAL VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
#define HOST (VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)
#define CACHED VK_MEMORY_PROPERTY_HOST_CACHED_BIT

static const VkPhysicalDeviceMemoryProperties discrete = {
    .memoryTypeCount = 4,
    .memoryTypes = {{0, 1}, {LOCAL, 0}, {HOST, 1}, {HOST | CACHED, 1}},
};

static void choice(struct test_rng *rng)
{
    static const struct {
        uint32_t bits;
        VkMemoryPropertyFlags wanted, liked;
        int type;
    } table[] = {
        {0xf, 0, 0, 0},         {0xf, 0, LOCAL, 1},      {0xd, 0, LOCAL, 0},
        {0xd, LOCAL, 0, -1},    {0xf, HOST, 0, 2},       {0xf, HOST, CACHED, 3},
        {0x7, HOST, CACHED, 2}, {0x3, HOST, CACHED, -1}, {0xf, HOST, LOCAL, 2},
        {0, 0, 0, -1},          {0xfffffff0, 0, 0, -1},
    };

    (void)rng;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const int type =
            hsmemory_type_find(&discrete, table[i].bits, table[i].wanted, table[i].liked);

        REQUIRE_MSG(type == table[i].type, "row %zu gave %d", i, type);
    }
}

/** Taking away what was found visits every type that will do, the liked ones first. */
static void order(struct test_rng *rng)
{
    static const int expected[] = {3, 2, -1};
    uint32_t bits = 0xf;

    (void)rng;
    for (int i = 0; i < 3; i++) {
        const int type = hsmemory_type_find(&discrete, bits, HOST, CACHED);

        REQUIRE_EQ(type, expected[i]);
        if (type >= 0)
            bits &= ~(1u << type);
    }
}

static const struct test_case cases[] = {
    {"choice", choice},
    {"order", order},
};
TEST_MAIN(cases)
