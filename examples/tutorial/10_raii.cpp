/* 10_raii.cpp: the same in C++: unique_ptr frees, an exception carries the message. */
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vitals/vitals.h>

template <auto function> struct calls {
    template <class T> void operator()(T *object) const
    {
        function(object);
    }
};
using context = std::unique_ptr<vitals_context, calls<vitals_context_free>>;
using snapshot = std::unique_ptr<vitals_snapshot, calls<vitals_snapshot_unref>>;

/* Calls a function whose last arguments are an output and an error; throws where it fails. */
template <class Owner, class Function, class... Arguments>
Owner made(Function function, Arguments... arguments)
{
    typename Owner::pointer out = nullptr;
    vitals_error error;
    if (function(arguments..., &out, &error) < 0)
        throw std::runtime_error(error.message);
    return Owner(out);
}

int main()
try {
    auto all = made<context>(vitals_context_new, nullptr);
    auto now = made<snapshot>(vitals_snapshot_take, all.get(), unsigned(VITALS_SET_MACHINE));
    const vitals_row *cpu = nullptr;
    int count = 0;
    while ((cpu = vitals_snapshot_next(now.get(), VITALS_TABLE_CPU, cpu)) != nullptr)
        count++;
    std::printf("%d CPUs\n", count);
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
