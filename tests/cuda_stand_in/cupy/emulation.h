// The part of CUDA C++ that kernels.cu uses, for g++: put before the kernels. runtime.cpp runs the threads.
#pragma once
#include <math.h>
#include <string.h>

#include <type_traits>
#include <utility>

struct uint3 { unsigned x, y, z; };
struct alignas(8) int2 { int x, y; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(16) uint4 { unsigned x, y, z, w; };

namespace stand_in {
constexpr unsigned THREADS = 1024, WARP = 32;

extern char shared[];                          // dynamic shared memory of the block that runs
extern unsigned long long lanes[2][THREADS];   // values that the lanes of a warp exchange
extern unsigned char turn[THREADS];            // which half of `lanes` a thread uses next
void wait_for_warp();
int launch(const unsigned* shape, unsigned bytes, int backwards, void (*thread)(void**), void** given);
}  // namespace stand_in

extern uint3 threadIdx, blockIdx, blockDim, gridDim;
void __syncthreads();

// The headers of the system use some of these words, so they come after all headers. Of kernels and functions that are
// static or inline, g++ compiles only those that the chosen kernel needs.
#define __global__ static
#define __device__ inline
#define __host__
#define __shared__ static  // blocks run one after the other
#define __launch_bounds__(...)
#define __forceinline__
#define __noinline__

inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
template <typename N> inline N __ldg(const N* from) { return *from; }
inline int __ffs(unsigned x) { return __builtin_ffs((int)x); }
inline long long __double2ll_rn(double x) { return llrint(x); }

inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
    for (int shift = 0; shift < 32; shift += 8) sum += (a >> shift & 255) * (b >> shift & 255);
    return sum;
}

template <typename A, typename B> inline std::common_type_t<A, B> min(A a, B b) {
    const std::common_type_t<A, B> x = a, y = b;
    return y < x ? y : x;
}
template <typename A, typename B> inline std::common_type_t<A, B> max(A a, B b) {
    const std::common_type_t<A, B> x = a, y = b;
    return x < y ? y : x;
}

// Only one thread runs at a time. The second type is not deduced, as with the overloads of CUDA.
template <typename N> using Same = std::common_type_t<N>;
template <typename N> inline N atomicAdd(N* at, Same<N> x) {
    static_assert(sizeof(N) > 2 && !std::is_same_v<N, long long>, "CUDA has no such atomicAdd");
    const N before = *at;
    *at = before + x;
    return before;
}
template <typename N> inline N atomicMax(N* at, Same<N> x) {
    const N before = *at;
    *at = max(before, x);
    return before;
}
template <typename N> inline N atomicMin(N* at, Same<N> x) {
    const N before = *at;
    *at = min(before, x);
    return before;
}
template <typename N> inline N atomicCAS(N* at, Same<N> expected, Same<N> x) {
    const N before = *at;
    if (before == expected) *at = x;
    return before;
}

template <typename N> inline N __shfl_xor_sync(unsigned, N x, int step) {
    const unsigned me = threadIdx.x;
    auto& values = stand_in::lanes[stand_in::turn[me] ^= 1];  // the other half may not yet be read by all
    memcpy(values + me, &x, sizeof x);
    stand_in::wait_for_warp();
    memcpy(&x, values + (me ^ (unsigned)step), sizeof x);
    return x;
}

// --- calls from Python -----------------------------------------------------------------------------------------------

namespace stand_in {
// A type in the letters of numpy, with p before it for a pointer; s for a structure.
template <typename N> struct Name {
    static void write(char*& to) {
        if (std::is_pointer_v<N>) *to++ = 'p';
        typedef std::remove_cv_t<std::remove_pointer_t<N>> Value;
        *to++ = std::is_same_v<Value, bool>        ? 'b'
                : std::is_floating_point_v<Value> ? 'f'
                : std::is_class_v<Value>          ? 's'
                : std::is_unsigned_v<Value>       ? 'u'
                                                  : 'i';
        if (sizeof(Value) > 9) *to++ = '0' + sizeof(Value) / 10;
        *to++ = '0' + sizeof(Value) % 10;
        *to++ = ' ';
    }
};

template <auto kernel, typename Kind> struct Call;
template <auto kernel, typename... A> struct Call<kernel, void (*)(A...)> {
    template <size_t... I> static void spread(void** given, std::index_sequence<I...>) { kernel(*(A*)given[I]...); }
    static void thread(void** given) { spread(given, std::index_sequence_for<A...>()); }
    static const char* signature() {
        static char text[8 * sizeof...(A) + 1];
        char* end = text;
        (Name<A>::write(end), ...);
        *end = 0;
        return text;
    }
};
}  // namespace stand_in

#define STAND_IN(...)                                                                                       \
    typedef stand_in::Call<&__VA_ARGS__, decltype(&__VA_ARGS__)> Chosen;                                    \
    extern "C" const char* signature() { return Chosen::signature(); }                                      \
    extern "C" int launch(const unsigned* shape, unsigned bytes, int backwards, void** given) {             \
        return stand_in::launch(shape, bytes, backwards, Chosen::thread, given);                            \
    }
