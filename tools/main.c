// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <hindsight/hindsight.h>

#include "report.h"
#include "tool.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *text;
} commands[] = {
    {"upscale", tool_upscale, "Upscales a recorded sequence."},
    {"compare", tool_compare, "Measures sequences against a reference."},
    {"inspect", tool_inspect, "Tells what a file, a sequence or the machine's devices hold."},
    {"probe", tool_probe, "Finds out from the pictures what a sequence's numbers mean."},
    {"render", tool_render, "Renders procedural clips with references."},
    {"planes", tool_planes, "Writes the planes of a sequence as raw video."},
    {"bench", tool_bench, "Measures GPU time stage by stage."},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void print_help(FILE *file)
{
    fprintf(file, "usage: hindsight COMMAND [options]\n\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(file, "  %-10s %s\n", commands[i].name, commands[i].text);
    fprintf(file, "\nhindsight COMMAND --help tells more; hindsight --version the version.\n");
}

/** Results that did not reach stdout are a failure. */
static int finish(int code)
{
    if (!fflush(stdout) && !ferror(stdout))
        return code;
    tool_error("stdout can not be written: %s", strerror(errno));
    return code ? code : TOOL_EXIT_FAILED;
}

int main(int argc, char **argv)
{
    if (argc >= 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        print_help(stdout);
        return finish(TOOL_EXIT_DONE);
    }
    if (argc >= 2 && !strcmp(argv[1], "--version")) {
        printf("hindsight %s\n", hs_version_string());
        return finish(TOOL_EXIT_DONE);
    }
    for (size_t i = 0; argc >= 2 && i < COMMAND_COUNT; i++) {
        if (!strcmp(argv[1], commands[i].name))
            return finish(commands[i].run(argc - 1, argv + 1));
    }
    if (argc >= 2)
        tool_error("\"%s\" is not a command", argv[1]);
    print_help(stderr);
    return TOOL_EXIT_USAGE;
}
