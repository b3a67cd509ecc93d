// SPDX-License-Identifier: MIT
/**
 * Preloaded into the programs of a sanitizer build: libraries stay loaded until the end.
 *
 * The leak checker runs when the program ends. By then the Vulkan loader has unloaded the driver,
 * so that its leaks could not be told from ours (tests/lsan.supp goes by the library).
 */
int dlclose(void *handle);

int dlclose(void *handle)
{
    (void)handle;
    return 0;
}
