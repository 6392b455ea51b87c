// The kernels of the CUDA engine; device.py compiles each instance on first use (NVRTC, cached). All are templates, some with a
// number that is not used: NVRTC compiles kernels that are no templates each time, whichever is asked for (0.3 s instead of 0.05).
// Labels are stored one clustering per row, codes 0 … k−1, with rows aligned to 16 bytes.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

// --- sums of a table -----------------------------------------------------------------------------------------------

// What is kept of a pair: Σv², Σ v·log(n/v) in whole units, Σ row maxima, Σ column maxima. All are integers, so blocks and
// warps may add in any order, and the result has the same bits as on the CPU (statistics/information.py).
enum { SQUARES, LOGS, ROWS, COLUMNS, SUMS };

constexpr int TABLES = 16;  // most tables per block

// v·log(n/v) in whole units, for 0 < v ≤ n: the operations of `engine.compiled_term.term`, in the same order and without fused
// multiply-adds (device.py compiles with --fmad=false), so the result has the same bits.
__device__ __noinline__ u64 term(double v, double n, double unit) {
    int top_bits, low_bits;
    const double top = frexp(n, &top_bits), low = frexp(v, &low_bits);
    int shift = top_bits - low_bits;
    if (top > low * 1.4142135623730951) shift++;
    else if (top * 1.4142135623730951 < low) shift--;
    const double near = ldexp(v, shift), z = (n - near) / (n + near), square = z * z;
    double series = 1.0 / 23;
#pragma unroll
    for (int c = 21; c > 0; c -= 2) series = series * square + 1.0 / c;
    return (u64)__double2ll_rn(v * (shift * 0.6931471805599453 + 2.0 * (z * series)) * unit);
}

// The terms of counts of n points: looked up below `below`, computed above; KNOWN if all are below.
template <bool KNOWN> struct Terms {
    const u64* known;
    u32 below;
    double n, unit;

    __device__ __forceinline__ u64 operator[](u32 v) const {
        return KNOWN || v < below ? __ldg(known + v) : term(v, n, unit);
    }
};

template <int>
__global__ void terms_below(u32 end, double n, double unit, u64* out) {
    const u32 v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < end) out[v] = v ? term(v, n, unit) : 0;
}

template <typename N> __device__ __forceinline__ N over_warp(N x) {
    for (int step = 16; step; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}

// Sums of one k_a × width table by `per` warps, of which this is number `part`.
template <bool MAXIMA, bool KNOWN>
__device__ void table_sums(const u32* table, int k_a, int width, int part, int per, Terms<KNOWN> terms, u64* out) {
    const int lane = threadIdx.x % 32, first = part * 32 + lane, step = per * 32;
    u64 squares = 0, logs = 0;
    const i64 cells = (i64)k_a * width;
    for (i64 c = first; c < cells; c += step) {
        const u32 v = table[c];
        squares += (u64)v * v;
        logs += terms[v];
    }
    squares = over_warp(squares);
    logs = over_warp(logs);
    if (lane == 0) {
        atomicAdd(out + SQUARES, squares);
        atomicAdd(out + LOGS, logs);
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

template <typename T> __device__ __forceinline__ uint4 load16(const T* from) {
    return __ldg(reinterpret_cast<const uint4*>(from));
}

// Add 16 bytes of labels of two clusterings to their table.
template <typename T> __device__ __forceinline__ void add_points(u32* table, int width, uint4& a, const uint4& b) {
    // an empty instruction that may change a, so that products with the width are recomputed for each table and not kept in registers
    asm volatile("" : "+r"(a.x), "+r"(a.y), "+r"(a.z), "+r"(a.w));
    const u32 as[4] = {a.x, a.y, a.z, a.w}, bs[4] = {b.x, b.y, b.z, b.w};
    constexpr int bits = 8 * sizeof(T);
#pragma unroll
    for (int w = 0; w < 4; w++)
#pragma unroll
        for (int shift = 0; shift < 32; shift += bits)
            atomicAdd(table + (T)(as[w] >> shift) * width + (T)(bs[w] >> shift), 1u);
}

// A block counts one clustering against the few others of its item, whose tables are side by side in shared memory, and
// writes only their sums. An atomic add of 1 that does not return the old value merges equal addresses of a warp, so
// sorted and skewed labels are not slower. `wide` threads visit the points; with few points the others handle other tables.
template <typename T, bool MAXIMA, bool KNOWN>
__global__ void __launch_bounds__(1024) fused(const T* labels, i64 stride, i64 n, const int* rows_a, const int* rows_b,
                                              const int4* items, int wide, const u64* known, u32 below, double whole, double scale,
                                              u64* out) {
    const Terms<KNOWN> terms = {known, below, whole, scale};
    __shared__ const T* others[TABLES];
    extern __shared__ uint4 shared[];
    u32* tables = reinterpret_cast<u32*>(shared);
    const int4 item = items[blockIdx.x];  // first pair, number of pairs; rows and columns of the largest table
    const int first = item.x, many = item.y, k_a = item.z, width = item.w;
    const int cells = k_a * width;
    if (threadIdx.x < many) others[threadIdx.x] = labels + rows_b[first + threadIdx.x] * stride;
    for (int c = threadIdx.x; c < (many * cells + 3) / 4; c += blockDim.x) shared[c] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    constexpr int V = 16 / sizeof(T);
    const T* mine = labels + rows_a[first] * stride;
    const int team = threadIdx.x / wide, teams = blockDim.x / wide;
    const u32 chunks = (u32)(n / V);
    u32 c = threadIdx.x % wide;
    if (c < chunks && team < many) {  // prefetch the next labels while these are counted
        uint4 a = load16(mine + c * V), b = load16(others[team] + c * V);
        while (true) {
            const u32 next = c + wide;
            for (int t = team;; t += teams) {
                const bool last = t + teams >= many;
                uint4 ahead = b;
                if (!last) ahead = load16(others[t + teams] + c * V);
                else if (next < chunks) ahead = load16(others[team] + next * V);
                add_points<T>(tables + t * cells, width, a, b);
                b = ahead;
                if (last) break;
            }
            if (next >= chunks) break;
            a = load16(mine + next * V);
            c = next;
        }
    }
    for (i64 p = (i64)chunks * V + threadIdx.x; p < n; p += blockDim.x)
        for (int t = 0; t < many; t++) atomicAdd(tables + t * cells + mine[p] * width + others[t][p], 1u);
    __syncthreads();
    const int warps = blockDim.x / 32, warp = threadIdx.x / 32, per = max(1, warps / many);
    for (int t = warp / per; t < many; t += warps / per)
        table_sums<MAXIMA, KNOWN>(tables + t * cells, k_a, width, warp % per, per, terms, out + (i64)(first + t) * SUMS);
}

// --- tables that are kept ------------------------------------------------------------------------------------------

// Tables of pairs (blockIdx.x), a part of the points each (blockIdx.y), added to dense tables in global memory.
// C is u32, or double if points have a mass. Tables of up to `held` cells are counted in shared memory first.
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

// Weighted points sorted by cell, one block per cell: Σw, and Σ w_p·w_q over its pairs of points as a sum of positive terms, so
// nothing cancels. Threads sum parts of equal length, and parts are joined in a fixed order.
template <int>
__global__ void __launch_bounds__(128) weighted_cells(const i64* order, const i64* starts, i64 cells, i64 points,
                                                      const double* weights, double* total, double* within) {
    __shared__ double sums[128], pairs[128];
    const i64 first = starts[blockIdx.x], last = blockIdx.x + 1 < cells ? starts[blockIdx.x + 1] : points;
    const i64 each = (last - first + 127) / 128;
    const i64 from = min(first + threadIdx.x * each, last), to = min(from + each, last);
    double sum = 0, pair = 0;
    for (i64 p = from; p < to; p++) {
        const double w = weights[order[p]];
        pair += sum * w;
        sum += w;
    }
    sums[threadIdx.x] = sum;
    pairs[threadIdx.x] = pair;
    for (int step = 64; step; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step) {
            pairs[threadIdx.x] += pairs[threadIdx.x + step] + sums[threadIdx.x] * sums[threadIdx.x + step];
            sums[threadIdx.x] += sums[threadIdx.x + step];
        }
    }
    if (threadIdx.x == 0) {
        total[blockIdx.x] = sums[0];
        within[blockIdx.x] = pairs[0];
    }
}

// Sums of dense tables in the GPU's memory, one block per table.
template <bool MAXIMA, bool KNOWN>
__global__ void sums_of(const u32* tables, const i64* offset, const int* width, const int* rows_a, const int* rows_b,
                        const u64* known, u32 below, double whole, double scale, u64* out) {
    const Terms<KNOWN> terms = {known, below, whole, scale};
    table_sums<MAXIMA, KNOWN>(tables + offset[blockIdx.x], width[rows_a[blockIdx.x]], width[rows_b[blockIdx.x]],
                       threadIdx.x / 32, blockDim.x / 32, terms, out + (i64)blockIdx.x * SUMS);
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

struct Unit { int x, first, last, tile; };  // rows first … last−1 of sorted clustering x, against the clusterings of a tile

template <int V> struct Vector;
template <> struct Vector<4> { typedef uint2 type; };
template <> struct Vector<2> { typedef u32 type; };
template <> struct Vector<1> { typedef u16 type; };
template <int V> union Held { typename Vector<V>::type pack; u16 label[V]; };

// How many cells with each count below 8 a thread saw, in fields of one byte: most counts are small and need no look-up.
struct Few {
    u32 even, odd, room;

    __device__ __forceinline__ void add(u32 nibbles) {
        even += nibbles & 0x0f0f0f0fu;
        odd += nibbles >> 4 & 0x0f0f0f0fu;
    }

    __device__ __forceinline__ void empty(u64& squares, u64& logs, const u64* of_few) {
#pragma unroll
        for (u32 v = 1; v < 8; v++) {
            const u32 many = (v % 2 ? odd : even) >> v / 2 * 8 & 255;
            squares += many * (v * v);
            logs += many * of_few[v];
        }
        even = odd = 0;
        room = 255;
    }
};

__host__ __device__ constexpr int blocks_at_once(int threads, int of) { return of / threads < 32 ? of / threads : 32; }

// Points sorted by the rows of clustering x; a block owns some rows, one at a time, so that only this row of the tables
// against J others lies in shared memory, `cells` for each: four times an odd number, so that the same label of others
// is in other banks. When its points are counted, the row is scanned and cleared. A row has one cell per label; or, HASHED, it
// has 2^bits of them, fewer than labels and more than points: label + 1 in the upper half, its count in the lower one.
template <bool HASHED, int J, int T, bool MAXIMA, bool KNOWN>
__global__ void __launch_bounds__(T, blocks_at_once(T, HASHED ? 1280 : 1536))
    sliced(const u16* tiles, i64 n, u32 cells, int bits, const u32* order, const u32* starts, int starts_stride,
           const Unit* units, const u64* known, u32 below, double whole, double scale, int members,
           u64* out) {
    const Terms<HASHED || KNOWN> terms = {known, below, whole, scale};
    constexpr int V = J < 4 ? J : 4, Q = 4;  // clusterings that a thread serves, points that it fetches together
    constexpr int sharing = J / V, turn = T / sharing;
    extern __shared__ uint4 shared[];
    __shared__ u32 tops[MAXIMA ? J : 1];
    __shared__ u64 of_few[8];
    const int words = cells / 4;
    for (int c = threadIdx.x; c < J * words; c += T) shared[c] = make_uint4(0, 0, 0, 0);
    if (MAXIMA && threadIdx.x < J) tops[threadIdx.x] = 0;
    if (threadIdx.x < 8) of_few[threadIdx.x] = terms.known[threadIdx.x];
    const Unit unit = units[blockIdx.x];
    const int mine = threadIdx.x / sharing, part = threadIdx.x % sharing;
    // the labels that a thread fetches are contiguous, and so are the tables that neighbouring threads add to at the same time
    const u16* labels = tiles + (i64)unit.tile * n * 16 + blockIdx.y * J + part * V;
    u32* table = reinterpret_cast<u32*>(shared) + part * cells;
    order += (i64)unit.x * n + mine;
    const u32* begin = starts + (i64)unit.x * starts_stride + unit.first;
    const int rows = unit.last - unit.first, slot = threadIdx.x % J;
    uint4* const scanned = shared + slot * words;
    const u32 own_cells = (words + T / J - 1) / (T / J) * 4;  // of a row, that one thread scans: fewer than 255
    u64 squares = 0, logs = 0, best = 0;
    Few few = {0, 0, 255};
    const u32 end = begin[rows];
    u32 p = begin[0], stop = begin[1], following = begin[min(2, rows)], point[Q];
    auto find = [&](u32 from) {
#pragma unroll
        for (int q = 0; q < Q; q++)
            if (from + q * turn + mine < end) point[q] = __ldg(order + from + q * turn);
    };
    bool fresh = true;  // nothing of this row is counted yet
    find(p);
    __syncthreads();
    for (int r = 0; r < rows;) {
        Held<V> held[Q];
#pragma unroll
        for (int q = 0; q < Q; q++)
            if (p + q * turn + mine < stop)
                held[q].pack = __ldg(reinterpret_cast<const typename Vector<V>::type*>(labels + (u64)point[q] * 16));
        const u32 then = min(p + Q * turn, stop);
        find(then);  // look up the next points while these are counted
        if constexpr (HASHED) {
            u32 open = 0;  // labels without a cell, one bit each
#pragma unroll
            for (int q = 0; q < Q; q++)
                if (p + q * turn + mine < stop) open |= ((1u << V) - 1) << q * V;
            auto cell = [&](int v, u32 label, u32 tries) {
                const u32 mixed = label * 0x9E3779B1u;
                return table + v * sharing * cells + ((mixed >> (32 - bits)) + tries * (mixed | 1) & (1u << bits) - 1);
            };
            // one of the labels that compete for a free cell gets it
#pragma unroll
            for (int l = 0; l < Q * V; l++)
                if (open >> l & 1) {
                    const u32 label = held[l / V].label[l % V];
                    u32* at = cell(l % V, label, 0);
                    if (fresh) atomicMax(at, label + 1 << 16);
                    else atomicCAS(at, 0u, label + 1 << 16);
                }
            __syncthreads();
            // equal addresses of a warp are merged
#pragma unroll
            for (int l = 0; l < Q * V; l++)
                if (open >> l & 1) {
                    const u32 label = held[l / V].label[l % V];
                    u32* at = cell(l % V, label, 0);
                    if (*(volatile u32*)at >> 16 == label + 1) atomicAdd(at, 1u), open ^= 1u << l;
                }
            // the few remaining labels look for other cells
            for (u32 tries = 1; open;) {
                const int l = __ffs(open) - 1;
                u32 label = 0;
#pragma unroll
                for (int m = 0; m < Q * V; m++)
                    if (l == m) label = held[m / V].label[m % V];
                u32* at = cell(l % V, label, tries++);
                const u32 seen = atomicCAS(at, 0u, label + 1 << 16 | 1u);
                if (seen >> 16 == label + 1) atomicAdd(at, 1u);
                if (!seen || seen >> 16 == label + 1) open &= open - 1, tries = 1;
            }
            fresh = then == stop;
        } else {
#pragma unroll
            for (int q = 0; q < Q; q++)
                if (p + q * turn + mine < stop)
#pragma unroll
                    for (int v = 0; v < V; v++) atomicAdd(table + v * sharing * cells + held[q].label[v], 1u);
        }
        p = then;
        if (HASHED || p == stop) __syncthreads();
        if (p < stop) continue;
        if (few.room < own_cells) few.empty(squares, logs, of_few);
        few.room -= own_cells;
        u32 top = 0;
        for (int c = threadIdx.x / J; c < words; c += T / J) {
            uint4 some = scanned[c];
            scanned[c] = make_uint4(0, 0, 0, 0);
            if (HASHED) some.x &= 0xffff, some.y &= 0xffff, some.z &= 0xffff, some.w &= 0xffff;
            const u32 found[4] = {some.x, some.y, some.z, some.w};
            if (MAXIMA) top = max(max(top, max(some.x, some.y)), max(some.z, some.w));
            if ((some.x | some.y | some.z | some.w) < 8) {
                u32 nibbles = 0;
#pragma unroll
                for (int w = 0; w < 4; w++) nibbles += 1u << 4 * found[w];
                few.add(nibbles);
            } else {
#pragma unroll
                for (int w = 0; w < 4; w++) {
                    squares += (u64)found[w] * found[w];
                    if (found[w]) logs += terms[found[w]];  // those of hashed rows, below 2^16, are all known
                }
            }
        }
        if (MAXIMA) atomicMax(tops + slot, top);
        __syncthreads();
        if (MAXIMA && threadIdx.x < J) {
            best += tops[threadIdx.x];
            tops[threadIdx.x] = 0;
        }
        r++;
        stop = following;
        following = begin[min(r + 2, rows)];
    }
    few.empty(squares, logs, of_few);
    for (int step = 16; step >= J; step /= 2) {
        squares += __shfl_xor_sync(0xffffffffu, squares, step);
        logs += __shfl_xor_sync(0xffffffffu, logs, step);
    }
    const int j = unit.tile * 16 + blockIdx.y * J + slot % sharing * V + slot / sharing;
    if (threadIdx.x % 32 < J && j < members) {
        u64* sums = out + ((i64)unit.x * members + j) * SUMS;
        atomicAdd(sums + SQUARES, squares);
        atomicAdd(sums + LOGS, logs);
        if (MAXIMA && threadIdx.x < J) atomicAdd(sums + ROWS, best);
    }
}

// --- tables of any shape -------------------------------------------------------------------------------------------

// Points sorted by the clusters of x; a block counts a chunk of whole clusters, its rows, against clustering rows_b[blockIdx.y].
// Cells are found by hashing: key = row · k_b + label + 1 (below 2^32, by the choice of chunks), 0 for a free cell.
template <typename T, bool MAXIMA>
__global__ void __launch_bounds__(512) chunked(const T* labels, i64 stride, const int* rows_b, const u32* widths,
                                               const u32* order, const u32* begin, const int2* chunks, int bits,
                                               const u64* known, u32 below, double whole, double scale, u64* out) {
    const Terms<false> terms = {known, below, whole, scale};
    extern __shared__ uint4 shared[];
    const u32 cells = 1u << bits, k_b = widths[blockIdx.y];
    u32 *keys = reinterpret_cast<u32*>(shared), *counts = keys + cells, *row_of = counts + cells, *tops = row_of;
    const int2 chunk = chunks[blockIdx.x];  // its first row, and one beyond the last
    const u32 start = begin[chunk.x], points = begin[chunk.y] - start;
    for (u32 c = threadIdx.x; c < cells / 2; c += blockDim.x) shared[c] = make_uint4(0, 0, 0, 0);
    // the row of each point: a thread writes a small row, a warp a large one
    const int rows = chunk.y - chunk.x, team = points > 16u * rows ? 32 : 1;
    for (int r = threadIdx.x / team; r < rows; r += blockDim.x / team)
        for (u32 p = begin[chunk.x + r] - start + threadIdx.x % team; p < begin[chunk.x + r + 1] - start; p += team)
            row_of[p] = r;
    __syncthreads();
    const T* mine = labels + rows_b[blockIdx.y] * stride;
    constexpr int Q = 4;  // points that a thread fetches together
    for (u32 from = threadIdx.x; from < points; from += Q * blockDim.x) {
        u32 key[Q];
#pragma unroll
        for (int q = 0; q < Q; q++)
            if (from + q * blockDim.x < points) key[q] = order[start + from + q * blockDim.x];
#pragma unroll
        for (int q = 0; q < Q; q++)
            if (from + q * blockDim.x < points) key[q] = row_of[from + q * blockDim.x] * k_b + __ldg(mine + key[q]) + 1;
#pragma unroll
        for (int q = 0; q < Q; q++) {
            if (from + q * blockDim.x >= points) break;
            for (u32 at = key[q] * 0x9E3779B1u >> (32 - bits);; at = at + 1 & cells - 1) {
                const u32 seen = atomicCAS(keys + at, 0u, key[q]);
                if (seen == 0 || seen == key[q]) {
                    atomicAdd(counts + at, 1u);
                    break;
                }
            }
        }
    }
    __syncthreads();
    if (MAXIMA) {
        for (int r = threadIdx.x; r < rows; r += blockDim.x) tops[r] = 0;
        __syncthreads();
    }
    u64 squares = 0, logs = 0, best = 0;
    for (u32 c = threadIdx.x; c < cells; c += blockDim.x) {
        const u32 v = counts[c];
        if (!v) continue;
        squares += (u64)v * v;
        logs += terms[v];
        if (MAXIMA) atomicMax(tops + (keys[c] - 1) / k_b, v);
    }
    if (MAXIMA) {
        __syncthreads();
        for (int r = threadIdx.x; r < rows; r += blockDim.x) best += tops[r];
    }
    squares = over_warp(squares);
    logs = over_warp(logs);
    if (MAXIMA) best = over_warp(best);
    if (threadIdx.x % 32 == 0) {
        u64* sums = out + (i64)blockIdx.y * SUMS;
        atomicAdd(sums + SQUARES, squares);
        atomicAdd(sums + LOGS, logs);
        if (MAXIMA) atomicAdd(sums + ROWS, best);
    }
}

// Sums over runs of equal keys: run r has keys[starts[r]] and ends where the next begins. A key is row · k_b + label.
template <bool MAXIMA>
__global__ void run_sums(const u64* keys, const i64* starts, i64 runs, i64 points, u64 k_b, const u64* known, u32 below,
                         double whole, double scale, u32* tops, u64* out) {
    const Terms<false> terms = {known, below, whole, scale};
    u64 squares = 0, logs = 0;
    for (i64 r = (i64)blockIdx.x * blockDim.x + threadIdx.x; r < runs; r += (i64)gridDim.x * blockDim.x) {
        const u32 v = (u32)((r + 1 < runs ? starts[r + 1] : points) - starts[r]);
        squares += (u64)v * v;
        logs += terms[v];
        if (MAXIMA) atomicMax(tops + keys[starts[r]] / k_b, v);
    }
    squares = over_warp(squares);
    logs = over_warp(logs);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(out + SQUARES, squares);
        atomicAdd(out + LOGS, logs);
    }
}

// --- expected mutual information -----------------------------------------------------------------------------------

// The contribution of clusters of these sizes to E[MI]: the operations of `statistics.information._terms`, in the same order.
__device__ double expected_term(double size_a, double size_b, double n) {
    const double mean = size_a * size_b / n, rest = n - (size_a + size_b);
    const double variance = n > 1 ? mean * ((n - size_a) * (n - size_b)) / (n * (n - 1)) : 0;
    if (variance > 1e8) {
        const double third = variance * ((n - 2 * size_a) * (n - 2 * size_b)) / (n * (n - 2));
        const double fourth = 3 * variance * variance;
        return (variance / 2 - third / (6 * mean) + fourth / (12 * mean * mean)) / mean / n;
    }
    const double high = min(size_a, size_b), low = max(0.0, -rest);
    const double mode = min(max(floor((size_a + 1) * (size_b + 1) / (n + 2)), low), high);
    constexpr double root = 1.4142135623730951;
    double weights = 0, total = 0;
    for (int upward = 1; upward >= 0; upward--) {
        double x = mode, weight = 1, near = mean;
        int twos = 0;
        bool fresh = upward;  // the mode itself is added once
        while (weight > 1e-18) {
            if (fresh) {
                double value = mean;
                if (x > 0) {
                    while (near * root < x) near *= 2, twos++;
                    while (near > x * root) near *= 0.5, twos--;
                    const double z = (x - near) / (x + near), q = z * z;
                    double series = 0;
                    if (q > 0.001)
                        series = (((((1.0 / 23 * q + 1.0 / 21) * q + 1.0 / 19) * q + 1.0 / 17) * q + 1.0 / 15) * q + 1.0 / 13) * q;
                    series = (((((series + 1.0 / 11) * q + 1.0 / 9) * q + 1.0 / 7) * q + 1.0 / 5) * q + 1.0 / 3) * q + 1.0;
                    value = x * (twos * 0.6931471805599453 + 2.0 * (z * series)) - (x - mean);
                }
                weights += weight;
                total += weight * value;
            }
            fresh = true;
            if (upward) {
                if (x >= high) break;
                weight *= (size_a - x) * (size_b - x) / ((x + 1) * (rest + x + 1));
                x += 1;
            } else {
                if (x <= low) break;
                weight *= x * (rest + x) / ((size_a - x + 1) * (size_b - x + 1));
                x -= 1;
            }
        }
    }
    return total / weights / n;
}

// out[u][v] for sizes a[u] and b[v].
template <int>
__global__ void expected_grid(const i64* a, int rows, const i64* b, int columns, double n, double* out) {
    const i64 c = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (c < (i64)rows * columns) out[c] = expected_term((double)a[c / columns], (double)b[c % columns], n);
}

// Rows of the grid of terms, added from the first to the last as often as their size occurs in clustering i (blockIdx.y):
// sums[i][v]. The rows of clustering i are at[start[i]] … at[start[i + 1] − 1]; this part of the grid has rows from `first` on.
template <int>
__global__ void expected_rows(const double* grid, i64 first, i64 rows, i64 columns, const i64* at, const double* many,
                              const i64* start, double* sums) {
    const i64 v = (i64)blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (v >= columns) return;
    double sum = sums[i * columns + v];
    for (i64 u = start[i]; u < start[i + 1]; u++)
        if (at[u] >= first && at[u] < first + rows) sum += many[u] * grid[(at[u] - first) * columns + v];
    sums[i * columns + v] = sum;
}

// E[MI] of pairs, one thread each, from those sums: over the sizes of the second clustering, from the first to the last.
template <int>
__global__ void expected_sums(const double* sums, i64 columns, const i64* at, const double* many, const i64* start,
                              const int* inner, const int* outer, int pairs, double* out) {
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= pairs) return;
    const i64 j = outer[p];
    double sum = 0;
    for (i64 v = start[j]; v < start[j + 1]; v++) sum += sums[inner[p] * columns + at[v]] * many[v];
    out[p] = sum;
}

// E[MI] of pairs, one block each, in the same order of addition. The terms and the sums of columns of a pair lie in `room`,
// from offset[p] on.
template <int>
__global__ void expected_pairs(const i64* sizes, const double* many, const i64* start, const int* inner, const int* outer,
                               const i64* offset, double n, double* room, double* out) {
    const i64 a = start[inner[blockIdx.x]], b = start[outer[blockIdx.x]];
    const i64 k_a = start[inner[blockIdx.x] + 1] - a, k_b = start[outer[blockIdx.x] + 1] - b;
    double* terms = room + offset[blockIdx.x];
    double* columns = terms + k_a * k_b;
    for (i64 c = threadIdx.x; c < k_a * k_b; c += blockDim.x)
        terms[c] = expected_term((double)sizes[a + c / k_b], (double)sizes[b + c % k_b], n);
    __syncthreads();
    for (i64 v = threadIdx.x; v < k_b; v += blockDim.x) {
        double sum = 0;
        for (i64 u = 0; u < k_a; u++) sum += many[a + u] * terms[u * k_b + v];
        columns[v] = sum * many[b + v];
    }
    __syncthreads();
    if (threadIdx.x) return;
    double sum = 0;
    for (i64 v = 0; v < k_b; v++) sum += columns[v];
    out[blockIdx.x] = sum;
}

// --- agreement of points -------------------------------------------------------------------------------------------

// 1 in the lowest bit of each byte (or half, or of the whole) of x that is 0.
template <typename T> __device__ __forceinline__ u32 zeros(u32 x) {
    if (sizeof(T) == 4) return x == 0;
    const u32 low = sizeof(T) == 1 ? 0x7f7f7f7fu : 0x7fff7fffu;
    return ~(((x & low) + low) | x | low) >> (8 * sizeof(T) - 1);
}

// Number of members in which two points agree, 64 × 64 pairs of points per block, one row of `words` packed labels per point.
// Either written to out[rows][columns] (Out = u8 or u16), or counted in a histogram over pairs i < j (Out = u64), each pair
// weighted by the product of the frequencies of its points if `many` is given.
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
            // beyond the last word both sides differ, so nothing is added
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

// Labels of all clusterings, one row per point; 0 beyond the last clustering.
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

// Smallest and largest label of each column; points step_p apart, columns step_j. Threads follow the contiguous dimension.
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

// Columns of labels, minus the lowest label of each, as rows of codes.
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

// Sizes of the clusters of each row of codes; in shared memory if `width` sizes fit.
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

// The table of two vectors of labels that are not codes, over their ranges; in shared memory if `cells` fit.
template <typename A, typename B>
__global__ void pair_table(const A* a, const B* b, i64 n, i64 low_a, i64 low_b, int width, int cells, bool inside, u32* out) {
    extern __shared__ uint4 shared[];
    u32* own = inside ? reinterpret_cast<u32*>(shared) : out;
    if (inside)
        for (int c = threadIdx.x; c < cells; c += blockDim.x) own[c] = 0;
    __syncthreads();
    for (i64 p = (i64)blockIdx.x * blockDim.x + threadIdx.x; p < n; p += (i64)gridDim.x * blockDim.x)
        atomicAdd(own + ((i64)a[p] - low_a) * width + ((i64)b[p] - low_b), 1u);
    __syncthreads();
    if (inside)
        for (int c = threadIdx.x; c < cells; c += blockDim.x)
            if (own[c]) atomicAdd(out + c, own[c]);
}

// Codes renumbered, so that none is unused.
template <typename C>
__global__ void renumbered(C* codes, i64 stride, i64 n, int width, const C* place) {
    C* mine = codes + blockIdx.y * stride;
    const C* mine_to = place + (i64)blockIdx.y * width;
    for (i64 p = (i64)blockIdx.x * blockDim.x + threadIdx.x; p < n; p += (i64)gridDim.x * blockDim.x)
        mine[p] = mine_to[mine[p]];
}

// --- random tables and orders --------------------------------------------------------------------------------------

// Philox 4×32, ten rounds (Salmon et al. 2011): the random numbers depend only on the seed and the number of the draw.
struct Random {
    u32 key[2], draw[2], words[4], block;
    bool ready;  // two of the four words are still unused

    __device__ Random(u64 seed, u64 number) : block(0), ready(false) {
        key[0] = (u32)seed, key[1] = (u32)(seed >> 32);
        draw[0] = (u32)number, draw[1] = (u32)(number >> 32);
    }

    __device__ void next(u32 first, u32 second) {
        u32 a = first, b = second, c = draw[0], d = draw[1], k = key[0], l = key[1];
        for (int round = 0; round < 10; round++) {
            const u64 one = (u64)0xD2511F53u * a, two = (u64)0xCD9E8D57u * c;
            const u32 was_b = b, was_d = d;
            a = (u32)(two >> 32) ^ was_b ^ k;
            b = (u32)two;
            c = (u32)(one >> 32) ^ was_d ^ l;
            d = (u32)one;
            k += 0x9E3779B9u, l += 0xBB67AE85u;
        }
        words[0] = a, words[1] = b, words[2] = c, words[3] = d;
    }

    // Uniform in [0, 1), 53 bits.
    __device__ double uniform() {
        if (!ready) next(block++, 0);
        const u64 bits = ready ? (u64)words[2] << 32 | words[3] : (u64)words[0] << 32 | words[1];
        ready = !ready;
        return (bits >> 11) * (1.0 / 9007199254740992.0);
    }
};

__device__ double log_factorial(double x) {
    if (x < 16) {
        double product = 1;
        for (int i = 2; i <= (int)x; i++) product *= i;
        return log(product);
    }
    const double over = 1 / (x * x);
    return (x + 0.5) * log(x) - x + 0.9189385332046728 + (1 / 12.0 - (1 / 360.0 - over / 1260) * over) / x;
}

// How many of `sample` points drawn without replacement are among `good` of good + bad: one by one if they are few, else
// by a ratio of uniforms (HRUA; Stadlober 1989), as in numpy.
__device__ u32 hypergeometric(Random& random, u32 good, u32 bad, u32 sample) {
    const u32 all = good + bad;
    if (!good || !sample) return 0;
    if (!bad) return sample;
    if (sample == all) return good;
    const u32 few = min(sample, all - sample);
    u32 found;
    if (few < 10) {
        u32 left = good, rest = all;
        for (u32 i = 0; i < few && left; i++, rest--)
            if ((u32)(random.uniform() * rest) < left) left--;
        found = good - left;
    } else {
        const double total = all, small = min(good, bad), large = max(good, bad), taken = few;
        const double p = small / total, mean = taken * p + 0.5;
        const double c = sqrt((total - taken) * taken * p * (large / total) / (total - 1) + 0.5);
        const double wide = 1.7155277699214135 * c + 0.8989161620588988;
        const double mode = floor((taken + 1) * (small + 1) / (total + 2));
        const double at_mode = log_factorial(mode) + log_factorial(small - mode) + log_factorial(taken - mode) +
                               log_factorial(large - taken + mode);
        const double end = min(min(taken, small) + 1, floor(mean + 16 * c));
        double k;
        while (true) {
            const double u = random.uniform(), v = random.uniform();
            const double x = mean + wide * (v - 0.5) / u;
            if (!(x >= 0 && x < end)) continue;  // u may be 0
            k = floor(x);
            const double gain = at_mode - log_factorial(k) - log_factorial(small - k) - log_factorial(taken - k) -
                                log_factorial(large - taken + k);
            if (u * (4 - u) - 3 <= gain) break;
            if (u * (u - gain) >= 1) continue;
            if (2 * log(u) <= gain) break;
        }
        found = (u32)k;
        if (good > bad) found = few - found;
    }
    return few < sample ? good - found : found;
}

// Tables of two clusterings that are independent given their sizes, one draw per thread, cell after cell (as
// `chance.draws.random_tables`): their sums, and whole tables if there is room for them, zeroed before.
// Sizes are those of all draws, or with a step from one draw to the next. `left` is what columns have for the rows to come.
template <bool MAXIMA>
__global__ void random_tables(u64 seed, int draws, i64 n, const u32* sizes_a, int k_a, int step_a, const u32* sizes_b,
                              int k_b, int step_b, u32* left, u32* tops, const u64* known, u32 below, double whole,
                              double scale, u64* sums, u32* tables) {
    const Terms<false> terms = {known, below, whole, scale};
    const int draw = blockIdx.x * blockDim.x + threadIdx.x;
    if (draw >= draws) return;
    Random random(seed, draw);
    const u32 *a = sizes_a + (i64)draw * step_a, *b = sizes_b + (i64)draw * step_b;
    left += draw;
    tops += draw;
    for (int j = 0; j < k_b; j++) {
        left[(i64)j * draws] = b[j];
        if (MAXIMA) tops[(i64)j * draws] = 0;
    }
    u64 squares = 0, logs = 0, best_a = 0, best_b = 0;
    u32 to_come = (u32)n;
    for (int i = 0; i < k_a; i++) {
        u32 wanted = a[i], rest = to_come, top = 0;
        to_come -= wanted;
        for (int j = 0; j < k_b && wanted; j++) {
            const u32 there = left[(i64)j * draws];
            rest -= there;
            const u32 found = hypergeometric(random, there, rest, wanted);
            if (!found) continue;
            wanted -= found;
            left[(i64)j * draws] = there - found;
            if (tables) tables[((i64)draw * k_a + i) * k_b + j] = found;
            squares += (u64)found * found;
            logs += terms[found];
            if (MAXIMA) {
                top = max(top, found);
                if (found > tops[(i64)j * draws]) tops[(i64)j * draws] = found;
            }
        }
        best_a += top;
    }
    if (MAXIMA)
        for (int j = 0; j < k_b; j++) best_b += tops[(i64)j * draws];
    sums += (i64)draw * SUMS;
    sums[SQUARES] = squares;
    sums[LOGS] = logs;
    sums[ROWS] = best_a;
    sums[COLUMNS] = best_b;
}

// A random number for each point of draws first … first + gridDim.y − 1: sorted by them, the points are in random order.
template <int>
__global__ void random_keys(u64 seed, i64 first, i64 n, u64* keys) {
    const i64 step = (i64)gridDim.x * blockDim.x;
    Random random(seed, first + blockIdx.y);
    for (i64 p = (i64)blockIdx.x * blockDim.x + threadIdx.x; p < n; p += step) {
        random.next((u32)p, 1 + (u32)(p >> 32));
        keys[blockIdx.y * n + p] = (u64)random.words[0] << 32 | random.words[1];
    }
}

// --- density profiles ----------------------------------------------------------------------------------------------

// The bins of an attribute: the number of its cuts that are not above each value; missing values are in bin `missing`.
// seen: the number of missing values, and of values outside low … high.
template <typename T>
__global__ void binned(const T* values, i64 step, i64 n, const double* cuts, int many, double low, double high, int missing,
                       int* codes, u64* seen) {
    __shared__ u32 gaps, outside;
    if (threadIdx.x == 0) gaps = outside = 0;
    __syncthreads();
    u32 empty = 0, beyond = 0;
    for (i64 p = (i64)blockIdx.x * blockDim.x + threadIdx.x; p < n; p += (i64)gridDim.x * blockDim.x) {
        const double x = (double)values[p * step];
        int start = 0;
        for (int size = many; size > 0;) {
            const int half = size / 2;
            const bool above = x >= cuts[start + half];
            start = above ? start + half + 1 : start;
            size = above ? size - half - 1 : half;
        }
        const bool nothing = x != x;
        codes[p] = nothing ? missing : start;
        empty += nothing;
        beyond += !nothing && !(x >= low && x <= high);
    }
    if (empty) atomicAdd(&gaps, empty);
    if (beyond) atomicAdd(&outside, beyond);
    __syncthreads();
    if (threadIdx.x == 0) {
        if (gaps) atomicAdd(seen, (u64)gaps);
        if (outside) atomicAdd(seen + 1, (u64)outside);
    }
}

struct Axis { int one, two, across, bins; };  // bins of attribute one, or with two ≥ 0 of a pair: one · across + two

// Points of each cluster in each bin of an axis (blockIdx.y), a part of the points per block: counted in shared memory if
// clusters × bins fit. Labels of k and above are in no cluster. counts: clusters × `total` bins, those of an axis from starts on.
template <typename L>
__global__ void profiled(const L* labels, const int* codes, i64 n, int k, const Axis* axes, const i64* starts, i64 total,
                         int held, u64* counts) {
    extern __shared__ uint4 shared[];
    u32* table = reinterpret_cast<u32*>(shared);
    const Axis axis = axes[blockIdx.y];
    u64* whole = counts + starts[blockIdx.y];
    const bool inside = (i64)k * axis.bins <= held;
    const int cells = inside ? k * axis.bins : 0;
    for (int c = threadIdx.x; c < cells; c += blockDim.x) table[c] = 0;
    __syncthreads();
    const int *one = codes + axis.one * n, *two = codes + max(axis.two, 0) * n;
    for (i64 p = (i64)blockIdx.x * blockDim.x + threadIdx.x; p < n; p += (i64)gridDim.x * blockDim.x) {
        const u32 label = labels[p];
        if (label >= k) continue;
        const int bin = axis.two < 0 ? one[p] : one[p] * axis.across + two[p];
        if (inside) atomicAdd(table + label * axis.bins + bin, 1u);
        else atomicAdd(whole + label * total + bin, (u64)1);
    }
    __syncthreads();
    for (int c = threadIdx.x; c < cells; c += blockDim.x)
        if (table[c]) atomicAdd(whole + c / axis.bins * total + c % axis.bins, (u64)table[c]);
}
