"""Compiled loops over pages of Parquet columns that hold codes: headers, snappy, runs of levels and codes."""

from __future__ import annotations

import numpy as np

from congruence.machine.jit import subroutine

#: columns of the table of pages: what a page holds, its first byte, its bytes, decompressed bytes, values, bytes of levels
#: that are not compressed, whether its values are, checksum, whether the levels are first in the values
KIND, START, STORED, SIZE, VALUES, LEVELS, COMPRESSED, CHECKSUM, INSIDE, PAGE_COLUMNS = range(10)

#: state of a column between two batches: page, rows left in it, bits of a code, whether rows of this page, or of this batch,
#: may have no label; then the state of the runs of levels, and of those of codes
PAGE, LEFT, WIDTH, GAPS, MET = range(5)
LEVEL_RUNS, CODE_RUNS, STATE = 5, 10, 15

#: state of runs: position in bits, end in bytes, numbers left in the current run, whether they are packed, the number if not
BIT, END, MORE, PACKED, NUMBER = range(5)

# numbers of the Parquet format
DATA, DICTIONARY, DATA_V2 = 0, 2, 3
PLAIN, PLAIN_DICTIONARY, RLE, BIT_PACKED, RLE_DICTIONARY = 0, 2, 3, 4, 8

#: place of the number of the field that holds the structure of a header
WHICH = 15

#: a field that a header lacks; a header that is cut, and one of a page that does not hold codes
LACKING, CUT, OTHER = -(1 << 40), -1, -2


# --- headers of pages: structures of thrift's compact protocol ------------------------------------------------------


def headers(data, most, pages):
    """Fill the table of pages; returns the number of whole pages, or OTHER if one does not hold codes.

    Args:
        data: Bytes from the header of the first page on.
        most: Decompressed bytes of the pages after the first.
        pages: One row per page.
    """
    fields = np.empty((2, 16), np.int64)
    at, total = 0, 0
    for number in range(len(pages)):
        start = _header(data, at, fields)
        if start < 0:
            return number if start == CUT else OTHER
        kind, size, stored = fields[0, 1], fields[0, 2], fields[0, 3]
        values, levels, compressed, inside = fields[1, 1], 0, 1, 0
        if kind == DICTIONARY:
            known = fields[0, WHICH] == 7 and (fields[1, 2] == PLAIN or fields[1, 2] == PLAIN_DICTIONARY)
        elif kind == DATA:
            known = fields[0, WHICH] == 5 and (fields[1, 2] == PLAIN_DICTIONARY or fields[1, 2] == RLE_DICTIONARY)
            known = known and fields[1, 3] == RLE and (fields[1, 4] == RLE or fields[1, 4] == BIT_PACKED)
            inside = 1
        elif kind == DATA_V2:
            known = fields[0, WHICH] == 8 and (fields[1, 4] == PLAIN_DICTIONARY or fields[1, 4] == RLE_DICTIONARY)
            known = known and fields[1, 6] == 0 and fields[1, 3] == values and 0 <= fields[1, 2] <= values
            levels = fields[1, 5]
            compressed = 1 if fields[1, 7] == LACKING else fields[1, 7]
        else:
            known = False
        if not known or stored < 0 or values < 0 or levels < 0 or levels > stored or levels > size:
            return OTHER
        total += size
        if start + stored > len(data) or (number and total > most):
            return number
        row = pages[number]
        row[KIND], row[START], row[STORED], row[SIZE], row[VALUES] = kind, start, stored, size, values
        row[LEVELS], row[COMPRESSED], row[CHECKSUM], row[INSIDE] = levels, compressed, fields[0, 4], inside
        at = start + stored
        if at == len(data):
            return number + 1
    return len(pages)


@subroutine
def _header(data, at, fields):
    """The fields of the header that begins at this byte, and of the structure in it; returns its end, CUT or OTHER."""
    fields[:] = LACKING
    last, depth = np.zeros(4, np.int64), 0
    while at < len(data):
        kind, step = np.int64(data[at]) & 15, np.int64(data[at]) >> 4
        at += 1
        if kind == 0:
            if depth == 0:
                return at
            depth -= 1
            continue
        last[depth] += step
        if step == 0 or last[depth] >= WHICH:
            return OTHER
        if kind == 12:  # a structure
            if depth == 0:
                if fields[0, WHICH] != LACKING:
                    return OTHER
                fields[0, WHICH] = last[0]
            depth += 1
            if depth == len(last):
                return OTHER
            last[depth] = 0
            continue
        value = np.int64(kind == 1)  # 1 and 2 are true and false
        if kind > 2:
            if kind < 4 or kind > 8 or kind == 7:  # bytes, floats, lists: not in headers of pages
                return OTHER
            value, at = _number(data, at, len(data), 35 if kind == 5 else 63)
            if kind == 5 and value >> 32:  # more than 32 bits
                return OTHER
            if kind == 8:  # text
                if value < 0 or value > 1 << 30:
                    return OTHER
                at += value
            else:
                value = (value >> 1) ^ -(value & 1)
        if depth < 2 and kind in (1, 2, 5):  # other kinds are not those of known fields
            fields[depth, last[depth]] = value
    return CUT


@subroutine
def _number(data, at, end, bits):
    """A number of at most so many bits, stored in seven bits per byte, the lowest first; and the byte after it."""
    value, shift = np.int64(0), 0
    while at < end and shift < bits:
        byte = np.int64(data[at])
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            break
    return value, at


# --- snappy: pages have some kilobytes, and a call of pyarrow's decompression for each takes longer than the rest ----------


def unpack_pages(data, pages, out):
    """Decompress pages, one after the other; False if one is damaged. The table then holds where they are."""
    at = 0
    for number in range(len(pages)):
        start, end = pages[number, START], pages[number, START] + pages[number, STORED]
        first = start + (pages[number, LEVELS] if pages[number, COMPRESSED] else pages[number, STORED])
        if at + first - start > len(out):
            return False
        pages[number, START] = at
        for i in range(start, first):
            out[at] = data[i]
            at += 1
        if first < end:
            stop = pages[number, START] + pages[number, SIZE]
            if stop > len(out) or not _unpack_snappy(data, first, end, out, at, stop):
                return False
            at = stop
        pages[number, SIZE] = at - pages[number, START]
    return True


@subroutine
def _unpack_snappy(data, at, end, out, done, stop):
    """Decompress `data[at:end]` into `out[done:stop]`, which it must fill: literal bytes, and copies of earlier ones."""
    first = done
    size, at = _number(data, at, end, 35)
    if size != stop - done:
        return False
    while at < end:
        tag = np.int64(data[at])
        at += 1
        kind, size, more = tag & 3, (tag >> 2) + 1, tag & 3
        if kind == 0:
            more = size - 60 if size > 60 else 0
        elif kind == 1:
            size = (tag >> 2 & 7) + 4
        elif kind == 3:
            more = 4
        if at + more > end:
            return False
        number = np.int64(0)
        for b in range(more):
            number |= np.int64(data[at + b]) << (8 * b)
        at += more
        if kind == 0 and more:
            size = number + 1
        if kind == 1:
            number |= tag >> 5 << 8
        if done + size > stop:
            return False
        if kind == 0:
            if at + size > end:
                return False
            to, source = np.uint64(done), np.uint64(at)
            for i in range(np.uint64(size)):
                out[to + i] = data[source + i]
            at += size
        else:
            if number < 1 or number > done - first:
                return False
            for i in range(done, done + size):  # may overlap what it copies
                out[i] = out[i - number]
        done += size
    return bool(done == stop)


# --- codes of pages: runs that repeat a number, or pack numbers bit by bit --------------------------------------------


def decoded(data, pages, state, optional, codes, levels):
    """Codes of the next rows; returns how many there are in these pages, or CUT if a page ends before its last row.

    Args:
        data: Bytes of the pages.
        pages: Table of the pages.
        state: Where the last batch ended.
        optional: Whether rows may have no label; their code is 0.
        codes: The codes, one per row.
        levels: 1 for rows with a label, 0 for others; empty if `optional` is false.
    """
    done = 0
    while done < len(codes):
        if state[LEFT] == 0:
            if state[PAGE] == len(pages):
                break
            if not _opened(data, pages, state, optional) or state[WIDTH] > 8 * codes.itemsize:
                return CUT
            state[PAGE] += 1
            continue
        end, some = done + min(state[LEFT], len(codes) - done), done
        if state[GAPS]:
            state[MET] = 1
            if not _filled(data, state, LEVEL_RUNS, 1, levels, done, end):
                return CUT
            for i in range(done, end):
                some += np.int64(levels[i])
        else:
            some = end
            if optional:
                levels[done:end] = 1
        if not _filled(data, state, CODE_RUNS, state[WIDTH], codes, done, some):
            return CUT
        if some < end:  # from the last, so that no code is overwritten
            for i in range(end - 1, done - 1, -1):
                some -= np.int64(levels[i])
                codes[i] = codes[some] if levels[i] else 0
        state[LEFT] -= end - done
        done = end
    return done


@subroutine
def _opened(data, pages, state, optional):
    """Begin the next page; False if it is damaged."""
    page = state[PAGE]
    at, end, values = pages[page, START], pages[page, START] + pages[page, SIZE], pages[page, VALUES]
    first = last = at
    if optional and pages[page, INSIDE]:
        if at + 4 > end:
            return False
        first = at + 4
        last = first
        for byte in range(4):
            last += np.int64(data[at + byte]) << (8 * byte)
    elif optional:
        last = at + pages[page, LEVELS]
    state[LEFT], state[GAPS] = values, 0
    if last >= end:
        return bool(values == 0)
    state[WIDTH] = data[last]
    for runs, start, stop in ((LEVEL_RUNS, first, last), (CODE_RUNS, last + 1, end)):
        state[runs + BIT], state[runs + END], state[runs + MORE] = 8 * start, stop, 0
    if optional:  # a run of ones means that all rows have labels
        many, first = _number(data, first, last, 35)
        state[GAPS] = not (many & 1 == 0 and many >> 1 >= values and first < last and data[first] == 1)
    return True


@subroutine
def _filled(data, state, runs, width, out, done, last):
    """Write the next numbers of runs into `out[done:last]`; False if the data end too early.

    Eight packed numbers of up to 8 bits that begin at a byte are read as one word, whose halves, quarters and eighths are
    moved apart.
    """
    one, w = np.uint64(1), np.uint64(width)
    each, pairs, fours = (one << w) - one, (one << (w + w)) - one, (one << (w << np.uint64(2))) - one
    pairs |= pairs << np.uint64(32)
    bytes_ = each | each << np.uint64(16)
    bytes_ |= bytes_ << np.uint64(32)
    bit, more, end = state[runs + BIT], state[runs + MORE], state[runs + END]
    while done < last:
        if more == 0:
            header, at = _number(data, bit >> 3, end, 35)
            more, state[runs + PACKED], state[runs + NUMBER] = header >> 1, header & 1, 0
            if header & 1:
                more *= 8
            else:
                for b in range((width + 7) >> 3):
                    state[runs + NUMBER] |= np.int64(data[at] if at < end else 0) << (8 * b)
                    at += 1
            bit = at << 3
            size = (more >> 3) * width if header & 1 else 0
            if more == 0 or at > end or size > end - at or state[runs + NUMBER] >> width:
                return False
        n = min(more, last - done)
        more -= n
        n += done
        if not state[runs + PACKED]:
            out[done:n] = state[runs + NUMBER]
            done = n
        elif (bit + (n - done) * width + 7) >> 3 > end:
            return False
        while done < n:
            at = bit >> 3
            p, rest = np.uint64(at), len(data) - at - 8
            if rest >= 0 and out.itemsize == 1 and bit & 7 == 0 and 0 < width <= 8 and done + 8 <= n:
                words = min((n - done) >> 3, rest // width + 1)
                spread = out[done : done + 8 * words].view(np.uint64)
                for q in range(words):
                    x = _word(data, p)
                    x = (x & fours) | (x >> (w << np.uint64(2)) & fours) << np.uint64(32)
                    x = (x & pairs) | (x >> (w + w) & pairs) << np.uint64(16)
                    spread[q] = (x & bytes_) | (x >> w & bytes_) << np.uint64(8)
                    p += w
                done += 8 * words
                bit += 8 * words * width
                continue
            if rest >= 0:
                x = _word(data, p)
            else:
                x = np.uint64(0)
                for b in range(((bit & 7) + width + 7) >> 3):
                    x |= np.uint64(data[p + np.uint64(b)]) << np.uint64(8 * b)
            out[done] = x >> np.uint64(bit & 7) & each
            done += 1
            bit += width
    state[runs + BIT], state[runs + MORE] = bit, more
    return True


@subroutine
def _word(data, at):
    """Eight bytes as one number."""
    return (
        np.uint64(data[at]) | np.uint64(data[at + np.uint64(1)]) << np.uint64(8)
        | np.uint64(data[at + np.uint64(2)]) << np.uint64(16) | np.uint64(data[at + np.uint64(3)]) << np.uint64(24)
        | np.uint64(data[at + np.uint64(4)]) << np.uint64(32) | np.uint64(data[at + np.uint64(5)]) << np.uint64(40)
        | np.uint64(data[at + np.uint64(6)]) << np.uint64(48) | np.uint64(data[at + np.uint64(7)]) << np.uint64(56)
    )  # fmt: skip
