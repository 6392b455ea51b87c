// Runs a kernel on the CPU: block after block, the threads of a block as fibers that switch at barriers.
#include <setjmp.h>
#include <stdlib.h>
#include <ucontext.h>

#include "emulation.h"

uint3 threadIdx, blockIdx, blockDim, gridDim;

namespace stand_in {
namespace {
constexpr unsigned LARGEST = 256 << 10, GUARD = 256, STACK = 64 << 10;
constexpr char UNSET = (char)0xa5, UNTOUCHED = 0x5c;

enum State : unsigned char { UNSTARTED, READY, AT_WARP, AT_BLOCK, DONE };
enum Error { NONE, BLOCK_DIVERGED, WARP_DIVERGED, SHARED_OVERRUN };

struct Fiber {
    ucontext_t start;
    jmp_buf place;
    char* stack;
    bool begun;
} fibers[THREADS];

jmp_buf home;
State states[THREADS];
unsigned current, idle[THREADS], many_idle, fiber_of[THREADS];
void (*body)(void**);
void** arguments;

void leave(State state) {
    states[current] = state;
    if (!_setjmp(fibers[fiber_of[current]].place)) _longjmp(home, 1);
}

void run_threads() {
    for (;;) {
        body(arguments);
        idle[many_idle++] = fiber_of[current];
        leave(DONE);
    }
}

// Runs a thread up to its next barrier, or to its end.
void resume(unsigned thread) {
    current = thread;
    threadIdx.x = thread;
    if (states[thread] == UNSTARTED) fiber_of[thread] = idle[--many_idle];
    Fiber& fiber = fibers[fiber_of[thread]];
    if (_setjmp(home)) return;
    if (fiber.begun) _longjmp(fiber.place, 1);
    fiber.begun = true;
    if (!fiber.stack) fiber.stack = (char*)malloc(STACK);
    getcontext(&fiber.start);
    fiber.start.uc_stack.ss_sp = fiber.stack;
    fiber.start.uc_stack.ss_size = STACK;
    makecontext(&fiber.start, run_threads, 0);
    setcontext(&fiber.start);
}

// Runs the threads of a warp until each is at a barrier of the block or at its end.
Error run_warp(unsigned first, unsigned last, bool backwards) {
    for (;;) {
        unsigned waiting = 0;
        for (unsigned i = first; i < last; i++) {
            const unsigned thread = backwards ? last - 1 - (i - first) : i;
            if (states[thread] < AT_WARP) resume(thread);
            waiting += states[thread] == AT_WARP;
        }
        if (!waiting) return NONE;
        if (waiting < WARP) return WARP_DIVERGED;
        for (unsigned i = first; i < last; i++) states[i] = READY;
    }
}

Error run_block(unsigned threads, bool backwards) {
    memset(states, UNSTARTED, threads);
    for (;;) {
        for (unsigned i = 0; i < threads; i += WARP) {
            const unsigned first = backwards ? (threads - 1 - i) / WARP * WARP : i;
            const Error error = run_warp(first, first + WARP < threads ? first + WARP : threads, backwards);
            if (error) return error;
        }
        unsigned done = 0;
        for (unsigned i = 0; i < threads; i++) done += states[i] == DONE;
        if (done == threads) return NONE;
        if (done) return BLOCK_DIVERGED;
        memset(states, READY, threads);
    }
}
}  // namespace

alignas(512) char shared[LARGEST + GUARD];
unsigned long long lanes[2][THREADS];
unsigned char turn[THREADS];

void wait_for_warp() { leave(AT_WARP); }

// shape: the grid (x, y, z) and the threads of a block; backwards: the last block, warp and thread first.
int launch(const unsigned* shape, unsigned bytes, int backwards, void (*thread)(void**), void** given) {
    body = thread;
    arguments = given;
    gridDim = {shape[0], shape[1], shape[2]};
    blockDim = {shape[3], 1, 1};
    threadIdx = {0, 0, 0};
    many_idle = 0;
    for (unsigned i = THREADS; i-- > 0;) idle[many_idle++] = i;
    const unsigned long long blocks = (unsigned long long)shape[0] * shape[1] * shape[2];
    Error error = NONE;
    for (unsigned long long i = 0; i < blocks && !error; i++) {
        const unsigned long long block = backwards ? blocks - 1 - i : i;
        blockIdx = {(unsigned)(block % shape[0]), (unsigned)(block / shape[0] % shape[1]),
                    (unsigned)(block / shape[0] / shape[1])};
        memset(shared, UNSET, bytes);
        memset(shared + bytes, UNTOUCHED, GUARD);
        error = run_block(shape[3], backwards);
        for (unsigned c = 0; c < GUARD && !error; c++)
            if (shared[bytes + c] != UNTOUCHED) error = SHARED_OVERRUN;
    }
    if (error)
        for (Fiber& fiber : fibers) fiber.begun = false;
    return error;
}
}  // namespace stand_in

void __syncthreads() { stand_in::leave(stand_in::AT_BLOCK); }
