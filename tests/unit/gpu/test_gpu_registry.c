/* Which back ends there are, and which a list of names means. */
#include "check.h"

#include "gpu/backend.h"

static const struct gpu_backend *find(const char *name)
{
    for (size_t i = 0; gpu_backends[i]; i++) {
        if (strcmp(gpu_backends[i]->name, name) == 0)
            return gpu_backends[i];
    }
    CHECK_FAIL("no back end %s", name);
}

static void every_back_end_is_whole(void)
{
    for (size_t i = 0; gpu_backends[i]; i++) {
        const struct gpu_backend *backend = gpu_backends[i];
        CHECK_CASE(backend->name);
        CHECK(backend->name[0] != '\0');
        CHECK(backend->open && backend->scan && backend->sample && backend->processes);
        CHECK(backend->diagnose && backend->close);
    }
}

static void a_list_chooses_back_ends(void)
{
    static const struct {
        const char *list;
        bool nvidia, demo;
    } cases[] = {
        {NULL, true, false},      {"", false, false},           {"demo", false, true},
        {"nvidia", true, false},  {"nvidia,demo", true, true},  {" demo , nvidia ", true, true},
        {",,demo,", false, true}, {"nvidiademo", false, false}, {"Demo", false, false},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        CHECK_CASE(cases[i].list ? cases[i].list : "(default)");
        CHECK_INT(gpu_backend_enabled(find("nvidia"), cases[i].list), cases[i].nvidia);
        CHECK_INT(gpu_backend_enabled(find("demo"), cases[i].list), cases[i].demo);
    }
}

static void an_unknown_name_is_pointed_at(void)
{
    struct span unknown = {0};
    CHECK(gpu_backends_known(NULL, &unknown));
    CHECK(gpu_backends_known("", &unknown));
    CHECK(gpu_backends_known("nvidia, demo", &unknown));
    CHECK_FALSE(gpu_backends_known("nvidia,voodoo ,demo", &unknown));
    CHECK_BYTES(unknown.bytes, unknown.size, "voodoo", 6);
}

static void the_names_are_told_and_cut_where_room_ends(void)
{
    char names[64], few[10];
    gpu_backends_names(names, sizeof(names));
    CHECK_STR(names, "nvidia, amd, intel, drm, demo");
    gpu_backends_names(few, sizeof(few));
    CHECK_INT(strlen(few) < sizeof(few), true);
}

static const check_test tests[] = {
    {"every back end is whole", every_back_end_is_whole},
    {"a list chooses back ends", a_list_chooses_back_ends},
    {"an unknown name is pointed at", an_unknown_name_is_pointed_at},
    {"the names are told and cut where room ends", the_names_are_told_and_cut_where_room_ends},
};
CHECK_TESTS(tests)
