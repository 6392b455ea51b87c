// The loops that run on a CUDA card; card.py compiles each instance when it is first asked for (NVRTC, cached).
// Labels lie a clustering a row, codes 0 … k−1, rows a multiple of 16 bytes apart.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

// --- sums of a table -----------------------------------------------------------------------------------------------

// What is kept of a pair: Σn², Σ n log n as a fixed-point number, Σ row maxima, Σ column maxima. All are integers, so
// that blocks and warps may add in any order and the result has the same bits.
enum { SQUARES, LOGS, ROWS, COLUMNS, SUMS };

__device__ __forceinline__ double n_log_n(u32 v, const double* looked_up, u32 lookup) {
    return v < lookup ? __ldg(looked_up + v) : v * log((double)v);
}

template <typename N> __device__ __forceinline__ N over_warp(N x) {
    for (int step = 16; step; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}

// Sums of one k_a × width table by `per` warps, of which this is number `part`.
template <bool MAXIMA>
__device__ void table_sums(const u32* table, int k_a, int width, int part, int per, const double* looked_up, u32 lookup,
                           double scale, u64* out) {
    const int lane = threadIdx.x % 32, first = part * 32 + lane, step = per * 32;
    u64 squares = 0;
    double logs = 0;
    const i64 cells = (i64)k_a * width;
    for (i64 c = first; c < cells; c += step) {
        const u32 v = table[c];
        squares += (u64)v * v;
        logs += n_log_n(v, looked_up, lookup);
    }
    squares = over_warp(squares);
    logs = over_warp(logs);
    if (lane == 0) {
        atomicAdd(out + SQUARES, squares);
        atomicAdd(out + LOGS, __double2ull_rn(logs * scale));
    }
    if (MAXIMA) {
        u64 rows = 0, columns = 0;
        // lanes read rows `width` words apart: an odd distance touches all 32 banks
        const int turn = width % 2 ? 0 : lane;
        for (int r = first; r < k_a; r += step) {
            u32 top = 0;
            for (int c = 0; c < width; c++) top = max(top, table[(i64)r * width + (c + turn) % width]);
            rows += top;
        }
        for (int c = first; c < width; c += step) {
            u32 top = 0;
            for (int r = 0; r < k_a; r++) top = max(top, table[(i64)r * width + c]);
            columns += top;
        }
        rows = over_warp(rows);
        columns = over_warp(columns);
        if (lane == 0) {
            atomicAdd(out + ROWS, rows);
            atomicAdd(out + COLUMNS, columns);
        }
    }
}

// --- tables in shared memory ---------------------------------------------------------------------------------------

template <typename T> __device__ __forceinline__ void load16(const T* from, T (&to)[16 / sizeof(T)]) {
    *reinterpret_cast<uint4*>(to) = __ldg(reinterpret_cast<const uint4*>(from));
}

// A block counts one clustering against the few others of its item, whose tables lie side by side in shared memory, and
// leaves only their sums. Adding a constant 1 without asking for the old value merges equal addresses of a warp, hence
// sorted and skewed labels are no slower. `wide` threads walk the points; with few points the others take other tables.
template <typename T, bool MAXIMA>
__global__ void __launch_bounds__(1024, 2) fused(const T* labels, i64 stride, i64 n, const int* k, const int* rows_a,
                                              const int* rows_b, const int2* item, int wide, const double* looked_up,
                                              u32 lookup, double scale, u64* out) {
    extern __shared__ uint4 shared[];
    u32* tables = reinterpret_cast<u32*>(shared);
    const int first = item[blockIdx.x].x, many = item[blockIdx.x].y;
    const int row = rows_a[first], k_a = k[row], width = k[rows_b[first]];  // the item's widest comes first
    const int cells = k_a * width;
    for (int c = threadIdx.x; c < (many * cells + 3) / 4; c += blockDim.x) shared[c] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    constexpr int V = 16 / sizeof(T);
    const T* mine = labels + row * stride;
    const int team = threadIdx.x / wide, teams = blockDim.x / wide;
    const i64 chunks = n / V;
    for (i64 c = threadIdx.x % wide; c < chunks; c += wide) {
        T a[V], b[V];
        load16(mine + c * V, a);
        for (int t = team; t < many; t += teams) {
            u32* table = tables + t * cells;
            load16(labels + rows_b[first + t] * stride + c * V, b);
#pragma unroll
            for (int v = 0; v < V; v++) atomicAdd(table + (u32)a[v] * width + b[v], 1u);
        }
    }
    for (i64 p = chunks * V + threadIdx.x; p < n; p += blockDim.x)
        for (int t = 0; t < many; t++)
            atomicAdd(tables + t * cells + mine[p] * width + labels[rows_b[first + t] * stride + p], 1u);
    __syncthreads();
    const int warps = blockDim.x / 32, warp = threadIdx.x / 32, per = max(1, warps / many);
    for (int t = warp / per; t < many; t += warps / per)
        table_sums<MAXIMA>(tables + t * cells, k_a, width, warp % per, per, looked_up, lookup, scale,
                           out + (i64)(first + t) * SUMS);
}

// --- tables that are kept ------------------------------------------------------------------------------------------

// Tables of pairs (blockIdx.x), a part of the points each (blockIdx.y), added to dense tables in the card's memory.
// C is u32, or double where points have a mass. Tables of up to `held` cells are counted in shared memory first.
template <typename T, typename C>
__global__ void __launch_bounds__(1024) count(const T* labels, i64 stride, i64 n, const int* width, const int* rows_a,
                                              const int* rows_b, const i64* offset, const double* mass, int held, C* out) {
    extern __shared__ uint4 shared[];
    const int row_a = rows_a[blockIdx.x], row_b = rows_b[blockIdx.x], across = width[row_b];
    const i64 cells = (i64)width[row_a] * across;
    C* whole = out + offset[blockIdx.x];
    const bool inside = cells <= held;
    C* table = inside ? reinterpret_cast<C*>(shared) : whole;
    if (inside) {
        for (int c = threadIdx.x; c < cells; c += blockDim.x) table[c] = 0;
        __syncthreads();
    }
    const T *a = labels + row_a * stride, *b = labels + row_b * stride;
    const i64 step = (i64)gridDim.y * blockDim.x;
    for (i64 p = (i64)blockIdx.y * blockDim.x + threadIdx.x; p < n; p += step)
        atomicAdd(table + (i64)a[p] * across + b[p], mass ? (C)mass[p] : (C)1);
    if (inside) {
        __syncthreads();
        for (int c = threadIdx.x; c < cells; c += blockDim.x)
            if (table[c] != 0) atomicAdd(whole + c, table[c]);
    }
}

// Sums of dense tables that lie in the card's memory, a block a table.
template <bool MAXIMA>
__global__ void sums_of(const u32* tables, const i64* offset, const int* width, const int* rows_a, const int* rows_b,
                        const double* looked_up, u32 lookup, double scale, u64* out) {
    table_sums<MAXIMA>(tables + offset[blockIdx.x], width[rows_a[blockIdx.x]], width[rows_b[blockIdx.x]],
                       threadIdx.x / 32, blockDim.x / 32, looked_up, lookup, scale, out + (i64)blockIdx.x * SUMS);
}

// --- tables larger than shared memory ------------------------------------------------------------------------------

// Labels of 16 clusterings side by side, point after point: tiles[t][p][0 … 15]; rows beyond the last are 0.
template <typename T>
__global__ void tiled(const T* labels, i64 stride, i64 n, const int* rows, int many, u16* tiles) {
    __shared__ u16 block[16][65];
    const i64 start = (i64)blockIdx.x * 64;
    for (int c = threadIdx.x; c < 16 * 64; c += blockDim.x) {
        const int j = blockIdx.y * 16 + c / 64;
        const i64 p = start + c % 64;
        block[c / 64][c % 64] = j < many && p < n ? labels[rows[j] * stride + p] : 0;
    }
    __syncthreads();
    for (int c = threadIdx.x; c < 16 * 64; c += blockDim.x)
        if (start + c / 16 < n) tiles[((i64)blockIdx.y * n + start + c / 16) * 16 + c % 16] = block[c % 16][c / 16];
}

template <typename C> __device__ __forceinline__ void add_one(C* table, u32 at);
template <> __device__ __forceinline__ void add_one<u32>(u32* table, u32 at) { atomicAdd(table + at, 1u); }
template <> __device__ __forceinline__ void add_one<u16>(u16* table, u32 at) {
    atomicAdd(reinterpret_cast<u32*>(table) + at / 2, 1u << at % 2 * 16);
}
template <> __device__ __forceinline__ void add_one<u8>(u8* table, u32 at) {
    atomicAdd(reinterpret_cast<u32*>(table) + at / 4, 1u << at % 4 * 8);
}

template <int V> struct Vector;
template <> struct Vector<4> { typedef uint2 type; };
template <> struct Vector<2> { typedef u32 type; };
template <> struct Vector<1> { typedef u16 type; };

struct Unit { int x, first, last, unused; };  // rows first … last−1 of sorted clustering x

// Points sorted by the rows of clustering x; a block owns some rows, `at_once` at a time, so that only that slice of the
// tables against J others lies in shared memory. Every point is counted, then reads the final count v of its cell
// (Σ over points of v and log v are Σn² and Σ n log n over cells), then clears it: the table is never scanned, however
// sparse it is. C is the narrowest type that holds the largest row. A thread serves V of the J clusterings.
template <typename C, int V, bool MAXIMA>
__global__ void sliced(const u16* tiles, i64 n, int tile, int J, int width, const u32* order, const u16* sorted,
                       const u32* starts, int starts_stride, const Unit* units, int at_once, const double* log_of,
                       u32 lookup, double scale, int members, u64* out) {
    constexpr int Q = 4;  // points a thread keeps in registers between the passes
    extern __shared__ uint4 shared[];
    C* table = reinterpret_cast<C*>(shared);
    const int words = (int)(((i64)J * at_once * width * sizeof(C) + 15) / 16);
    u32* tops = reinterpret_cast<u32*>(shared + words);
    for (int c = threadIdx.x; c < words; c += blockDim.x) shared[c] = make_uint4(0, 0, 0, 0);
    if (MAXIMA)
        for (int c = threadIdx.x; c < J * at_once; c += blockDim.x) tops[c] = 0;
    const Unit unit = units[blockIdx.x];
    const int sharing = J / V, turn = blockDim.x / sharing, mine = threadIdx.x / sharing, part = threadIdx.x % sharing;
    const u16* labels = tiles + (i64)tile * n * 16 + blockIdx.y * J + part * V;
    const u32* begin = starts + (i64)unit.x * starts_stride;
    order += (i64)unit.x * n;
    sorted += (i64)unit.x * n;
    typedef typename Vector<V>::type Pack;
    union { Pack pack; u16 label[V]; } held[Q];
    u32 at[Q];
    u64 squares[V];
    double logs[V];
#pragma unroll
    for (int v = 0; v < V; v++) squares[v] = 0, logs[v] = 0;
    for (int r = unit.first; r < unit.last; r += at_once) {
        const u32 start = begin[r], points = begin[min(r + at_once, unit.last)] - start;
        const bool fits = points <= (u32)(Q * turn);
#pragma unroll
        for (int pass = 0; pass < 3; pass++) {
            __syncthreads();
            for (u32 base = 0; base < points; base += Q * turn) {
                if (pass == 0 || !fits) {
#pragma unroll
                    for (int q = 0; q < Q; q++) {
                        const u32 p = base + q * turn + mine;
                        if (mine >= turn || p >= points) continue;
                        held[q].pack = __ldg(reinterpret_cast<const Pack*>(labels + (i64)order[start + p] * 16));
                        at[q] = (part * V * at_once + sorted[start + p] - r) * (u32)width;
                    }
                }
#pragma unroll
                for (int q = 0; q < Q; q++) {
                    if (mine >= turn || base + q * turn + mine >= points) continue;
#pragma unroll
                    for (int v = 0; v < V; v++) {
                        const u32 cell = at[q] + v * (at_once * width) + held[q].label[v];
                        if (pass == 0) add_one<C>(table, cell);
                        if (pass == 1) {
                            const u32 count = table[cell];
                            squares[v] += count;
                            logs[v] += count < lookup ? __ldg(log_of + count) : log((double)count);
                            if (MAXIMA) atomicMax(tops + cell / width, count);
                        }
                        if (pass == 2) table[cell] = 0;
                    }
                }
            }
        }
        if (MAXIMA) {
            __syncthreads();
            for (int c = threadIdx.x; c < J * at_once; c += blockDim.x) {
                const int j = tile * 16 + blockIdx.y * J + c / at_once;
                if (tops[c] && j < members) atomicAdd(out + ((i64)unit.x * members + j) * SUMS + ROWS, (u64)tops[c]);
                tops[c] = 0;
            }
        }
    }
    // lanes that serve the same clusterings add up; `sharing` is a power of two
#pragma unroll
    for (int v = 0; v < V; v++) {
        for (int step = 16; step >= sharing; step /= 2) {
            squares[v] += __shfl_xor_sync(0xffffffffu, squares[v], step);
            logs[v] += __shfl_xor_sync(0xffffffffu, logs[v], step);
        }
        const int j = tile * 16 + blockIdx.y * J + part * V + v;
        if (threadIdx.x % 32 < sharing && j < members) {
            u64* sums = out + ((i64)unit.x * members + j) * SUMS;
            atomicAdd(sums + SQUARES, squares[v]);
            atomicAdd(sums + LOGS, __double2ull_rn(logs[v] * scale));
        }
    }
}

// --- expected mutual information -----------------------------------------------------------------------------------

// What clusters of these sizes add to E[MI]; the walk of numerics._terms, step for step.
__device__ double expected_term(double size_a, double size_b, double n) {
    const double mean = size_a * size_b / n, rest = n - size_a - size_b;
    const double high = min(size_a, size_b), low = max(0.0, -rest);
    const double mode = min(max(floor((size_a + 1) * (size_b + 1) / (n + 2)), low), high);
    double weights = 0, total = 0, weight = 1, x = mode;
    while (weight > 1e-18) {
        weights += weight;
        total += x > 0 ? weight * (x * log1p((x - mean) / mean) - (x - mean)) : weight * mean;
        if (x >= high) break;
        weight *= (size_a - x) * (size_b - x) / ((x + 1) * (rest + x + 1));
        x += 1;
    }
    weight = 1;
    x = mode;
    while (x > low) {
        weight *= x * (rest + x) / ((size_a - x + 1) * (size_b - x + 1));
        x -= 1;
        if (weight <= 1e-18) break;
        weights += weight;
        total += x > 0 ? weight * (x * log1p((x - mean) / mean) - (x - mean)) : weight * mean;
    }
    return total / weights / n;
}

// out[u][v] for sizes a[first + u] and b[v].
__global__ void expected_grid(const i64* a, int rows, const i64* b, int columns, double n, double* out) {
    const i64 c = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (c < (i64)rows * columns) out[c] = expected_term((double)a[c / columns], (double)b[c % columns], n);
}

// E[MI] of pairs, a block a pair; sizes of clustering i and how often each occurs at start[i] … start[i + 1].
__global__ void expected_pairs(const i64* sizes, const double* many, const i64* start, const int* rows_a,
                                          const int* rows_b, double n, double* out) {
    __shared__ double partial[32];
    const i64 a = start[rows_a[blockIdx.x]], b = start[rows_b[blockIdx.x]];
    const i64 k_a = start[rows_a[blockIdx.x] + 1] - a, k_b = start[rows_b[blockIdx.x] + 1] - b;
    double sum = 0;
    for (i64 c = threadIdx.x; c < k_a * k_b; c += blockDim.x) {
        const i64 u = a + c / k_b, v = b + c % k_b;
        sum += many[u] * many[v] * expected_term((double)sizes[u], (double)sizes[v], n);
    }
    sum = over_warp(sum);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < blockDim.x / 32; w++) sum += partial[w];
        out[blockIdx.x] = sum;
    }
}

// --- agreement of points -------------------------------------------------------------------------------------------

// 1 in the lowest bit of each byte (or half) of x that is 0.
template <typename T> __device__ __forceinline__ u32 zeros(u32 x) {
    const u32 low = sizeof(T) == 1 ? 0x7f7f7f7fu : 0x7fff7fffu;
    return ~(((x & low) + low) | x | low) >> (8 * sizeof(T) - 1);
}

// In how many members two points agree, for 64 × 64 pairs of points a block, a point a row of `words` packed labels.
// Either written to out[rows][columns] (Out = u8 or u16), or counted in a histogram over pairs i < j (Out = u64), each pair
// by the product of how often its points occur where `many` is given.
template <typename T, typename Out>
__global__ void __launch_bounds__(256) agreement(const u32* points, int words, i64 n, i64 row0, i64 rows, i64 col0,
                                                 i64 columns, int padding, const u32* many, Out* out) {
    __shared__ u32 left[32][68], right[32][68];
    extern __shared__ uint4 shared[];
    constexpr bool histogram = sizeof(Out) == 8;
    const i64 i0 = row0 + (i64)blockIdx.y * 64, j0 = col0 + (i64)blockIdx.x * 64;
    if (histogram && j0 + 63 < i0) return;
    u64* bins = reinterpret_cast<u64*>(shared);
    const int members = words * (4 / (int)sizeof(T)) - padding;
    if (histogram)
        for (int c = threadIdx.x; c <= members; c += 256) bins[c] = 0;
    const int ti = threadIdx.x / 16 * 4, tj = threadIdx.x % 16 * 4;
    u32 same[4][4] = {};
    for (int w0 = 0; w0 < words; w0 += 32) {
        __syncthreads();
        for (int c = threadIdx.x; c < 64 * 32; c += 256) {
            const int p = c / 32, w = c % 32;
            // beyond the last word both sides differ, so that nothing is added
            left[w][p] = w0 + w < words && i0 + p < n ? points[(i0 + p) * words + w0 + w] : 0u;
            right[w][p] = w0 + w < words && j0 + p < n ? points[(j0 + p) * words + w0 + w] : ~0u;
        }
        __syncthreads();
        u32 part[4][4] = {};
        const int last = min(32, words - w0);
        for (int w = 0; w < last; w++) {
            const uint4 x = *reinterpret_cast<const uint4*>(&left[w][ti]), y = *reinterpret_cast<const uint4*>(&right[w][tj]);
            const u32 xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) part[i][j] += zeros<T>(xs[i] ^ ys[j]);
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                same[i][j] += sizeof(T) == 1 ? __dp4a(part[i][j], 0x01010101u, 0u) : (part[i][j] & 0xffff) + (part[i][j] >> 16);
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const i64 p = i0 + ti + i, q = j0 + tj + j;
            if (p >= row0 + rows || q >= col0 + columns) continue;
            const u32 count = same[i][j] - padding;
            if (!histogram) {
                out[(p - row0) * columns + q - col0] = (Out)count;
            } else if (p <= q) {
                const u64 one = many ? many[p] : 1, two = many ? many[q] : 1;
                const u64 pairs = p < q ? one * two : one * (one - 1) / 2;
                if (pairs) atomicAdd(bins + count, pairs);
            }
        }
    if (histogram) {
        __syncthreads();
        for (int c = threadIdx.x; c <= members; c += 256)
            if (bins[c]) atomicAdd(reinterpret_cast<u64*>(out) + c, bins[c]);
    }
}

// Labels of all clusterings, a point a row, beyond the last clustering 0.
template <typename T>
__global__ void by_point(const T* labels, i64 stride, i64 n, int members, int width, T* out) {
    __shared__ T block[32][33];
    const i64 p0 = (i64)blockIdx.x * 32;
    const int j0 = blockIdx.y * 32, x = threadIdx.x % 32, y = threadIdx.x / 32;
    for (int j = y; j < 32; j += blockDim.x / 32)
        block[j][x] = j0 + j < members && p0 + x < n ? labels[(j0 + j) * stride + p0 + x] : 0;
    __syncthreads();
    for (int p = y; p < 32; p += blockDim.x / 32)
        if (p0 + p < n && j0 + x < width) out[(p0 + p) * width + j0 + x] = block[x][p];
}

// --- encoding ------------------------------------------------------------------------------------------------------

// Smallest and largest label of each column; points step_p apart, columns step_j. Threads go along what is contiguous.
template <typename T>
__global__ void limits(const T* values, i64 n, int columns, i64 step_p, i64 step_j, i64* low, i64* high) {
    const bool down = step_p == 1;
    const int j = down ? blockIdx.y : blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= columns) return;
    const i64 first = down ? (i64)blockIdx.x * blockDim.x + threadIdx.x : blockIdx.y;
    const i64 step = down ? (i64)gridDim.x * blockDim.x : gridDim.y;
    i64 least = 0x7fffffffffffffffLL, most = -0x7fffffffffffffffLL - 1;
    for (i64 p = first; p < n; p += step) {
        const i64 value = (i64)values[p * step_p + j * step_j];
        least = min(least, value);
        most = max(most, value);
    }
    if (least < low[j]) atomicMin(low + j, least);
    if (most > high[j]) atomicMax(high + j, most);
}

// Columns of labels, less the lowest of each, as rows of codes.
template <typename T, typename C>
__global__ void to_rows(const T* values, i64 n, int columns, i64 step_p, i64 step_j, const i64* low, C* out, i64 stride) {
    __shared__ C block[32][33];
    const i64 p0 = (i64)blockIdx.x * 32;
    const int j0 = blockIdx.y * 32, x = threadIdx.x % 32, y = threadIdx.x / 32, step = blockDim.x / 32;
    if (step_p == 1) {
        for (int j = y; j < 32; j += step)
            if (j0 + j < columns && p0 + x < n)
                out[(j0 + j) * stride + p0 + x] = (C)((i64)values[p0 + x + (j0 + j) * step_j] - low[j0 + j]);
        return;
    }
    for (int p = y; p < 32; p += step)
        if (j0 + x < columns && p0 + p < n)
            block[x][p] = (C)((i64)values[(p0 + p) * step_p + (j0 + x) * step_j] - low[j0 + x]);
    __syncthreads();
    for (int j = y; j < 32; j += step)
        if (j0 + j < columns && p0 + x < n) out[(j0 + j) * stride + p0 + x] = block[j][x];
}

// Sizes of the clusters of each row of codes; in shared memory where `width` sizes fit.
template <typename C>
__global__ void sizes(const C* codes, i64 stride, i64 n, int width, bool inside, u32* out) {
    extern __shared__ uint4 shared[];
    u32* whole = out + (i64)blockIdx.y * width;
    u32* own = inside ? reinterpret_cast<u32*>(shared) : whole;
    if (inside)
        for (int c = threadIdx.x; c < width; c += blockDim.x) own[c] = 0;
    __syncthreads();
    const C* mine = codes + blockIdx.y * stride;
    for (i64 p = (i64)blockIdx.x * blockDim.x + threadIdx.x; p < n; p += (i64)gridDim.x * blockDim.x)
        atomicAdd(own + mine[p], 1u);
    __syncthreads();
    if (inside)
        for (int c = threadIdx.x; c < width; c += blockDim.x)
            if (own[c]) atomicAdd(whole + c, own[c]);
}

// Codes renumbered, so that none is unused.
template <typename C>
__global__ void renumbered(C* codes, i64 stride, i64 n, int width, const C* place) {
    C* mine = codes + blockIdx.y * stride;
    const C* mine_to = place + (i64)blockIdx.y * width;
    for (i64 p = (i64)blockIdx.x * blockDim.x + threadIdx.x; p < n; p += (i64)gridDim.x * blockDim.x)
        mine[p] = mine_to[mine[p]];
}
