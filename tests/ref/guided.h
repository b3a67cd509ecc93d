// SPDX-License-Identifier: MIT
/** Guides for the fixture's planes: surfaces that move with them. */
#ifndef HS_TESTS_GUIDED_H
#define HS_TESTS_GUIDED_H

#include "stages.h"
#include "tests/test.h"

/** How guides are stored; zeros: as the engine takes them by default. */
struct guide_form {
    struct hs_guide_params params;
    /** Normals lie across the view. */
    bool grazing;
    /** Each one changes a plane's values. */
    bool other_diffuse, other_specular, other_normal, other_roughness, other_hit;
};

enum guide {
    GUIDE_DIFFUSE,
    GUIDE_SPECULAR,
    GUIDE_NORMAL,
    GUIDE_ROUGHNESS,
    GUIDE_HIT,
    GUIDE_COUNT,
};

struct guides {
    struct vkdev_image images[GUIDE_COUNT];
};

/** Planes as `form` wants them, for a camera (NULL: view space is world space) and a time. */
void guides_create(struct fixture *fx, const struct guide_form *form,
                   const struct hs_camera *camera, uint32_t width, uint32_t height, int time,
                   struct guides *guides);
void guides_destroy(struct fixture *fx, struct guides *guides);

/** Lends those guides whose bit is set in `mask` to a frame, with the form's parameters. */
void guides_lend(const struct guides *guides, const struct guide_form *form, int mask,
                 struct hs_frame *frame);

/** What was lent, as the reference takes it. */
void guides_read(struct fixture *fx, const struct guides *guides, int mask,
                 struct hs_ref_inputs *in);
void guides_finish(struct hs_ref_inputs *in);

/** A camera that steps and turns. */
struct hs_camera guides_camera(int time);
/** The fixture's colour times the albedo, with noise and a few fireflies. */
void guides_make_noisy(struct fixture *fx, const struct vkdev_image *colour,
                       const struct guides *guides, bool ldr, struct test_rng *rng);

#endif
