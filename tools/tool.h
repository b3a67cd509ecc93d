// SPDX-License-Identifier: MIT
/** The sub-commands. Each takes its own argv and gives an exit code of enum tool_exit. */
#ifndef HINDSIGHT_TOOLS_TOOL_H
#define HINDSIGHT_TOOLS_TOOL_H

int tool_upscale(int argc, char **argv);
int tool_compare(int argc, char **argv);
int tool_inspect(int argc, char **argv);
int tool_bench(int argc, char **argv);
int tool_render(int argc, char **argv);
int tool_planes(int argc, char **argv);
int tool_probe(int argc, char **argv);

#endif
