/* simdpct.h - percent-encoding (URL encoding) at close to the speed of copying
 *
 * SYNOPSIS
 *
 *     #include <simdpct.h>              cc $(pkg-config --cflags simdpct) x.c $(pkg-config --libs simdpct)
 *
 *     char out[3 * 3];
 *     simdpct_result r = simdpct_encode(NULL, 0, "a b", 3, out, sizeof out);     r.written == 5: a%20b
 *
 * DESCRIPTION
 *
 * An escape is '%' and two hexadecimal digits (RFC 3986, section 2.1), in either case. Encoding keeps the bytes of a set
 * and writes an escape for every other byte. Decoding writes the byte of each escape, once: "%2541" becomes "%41". A '%' that
 * starts no escape is malformed: it stays as it is, or is an error under SIMDPCT_STRICT.
 *
 * For every CPU the library picks the fastest kernels (tier) that it has, and all give the same bytes.
 *
 * Memory. The library allocates nothing and keeps no pointer after a call. Input is bytes and a length: NUL is a byte like
 * any other, and no NUL is written. Output goes to memory of the caller, which need not be initialised; only the room that
 * the caller names is written. All sizes and offsets are in bytes, unless they are said to be counts of values.
 *
 * Arguments. A pointer may be NULL where its length is 0, and where NULL is said to have a meaning. No length may be more
 * than PTRDIFF_MAX. Output may not overlap input, but decoding takes `out == input` (see simdpct_decode). What breaks one
 * of these rules and can be seen, and flags that exclude each other or that the function does not know, give
 * SIMDPCT_INVALID, and nothing is written. What cannot be seen, such as a length that is larger than the memory, is
 * undefined, as always in C.
 *
 * Threads. All functions may be called by any threads at once. Only a stream belongs to one thread at a time, and
 * simdpct_init with SIMDPCT_ENVIRONMENT must not run while another thread changes the environment.
 *
 * Errors. No function exits, unwinds, sets errno or blocks. (A bug in the library would call abort.) Functions are
 * async-signal-safe, except simdpct_init with SIMDPCT_ENVIRONMENT.
 *
 * Time. Every function takes time linear in the input. Those about sets, tiers and the version take constant time.
 *
 * This file is C99 and C++11. What a program may rely on from version to version is what it says.
 */
#ifndef SIMDPCT_H
#define SIMDPCT_H

#include <stddef.h>
#include <stdint.h>

#define SIMDPCT_VERSION "0.1.0"

#if defined(__GNUC__) || defined(__clang__)
#define SIMDPCT_MUST_USE __attribute__((warn_unused_result))
#else
#define SIMDPCT_MUST_USE
#endif

#ifdef __cplusplus
#define SIMDPCT_NOEXCEPT noexcept
extern "C" {
#else
#define SIMDPCT_NOEXCEPT
#endif

/* ---- Statuses: 0 or more is success. */

#define SIMDPCT_OK 0
#define SIMDPCT_UNCHANGED 1    /* the output would be the input: nothing was written (SIMDPCT_IF_CHANGED) */
#define SIMDPCT_TOO_SMALL (-1) /* the output has no room for `needed` bytes */
#define SIMDPCT_MALFORMED (-2) /* a malformed escape at `offset` (SIMDPCT_STRICT) */
#define SIMDPCT_INVALID (-3)   /* arguments that make no sense, see above */
#define SIMDPCT_NOT_FOUND (-4) /* no set or tier has that name */
#define SIMDPCT_IN_USE (-5)    /* another tier is in use already */
#define SIMDPCT_TOO_LONG (-6)  /* the offsets of the output are too narrow for it */

/* ---- Flags. The brackets say where each is allowed: E encoders, D decoders, V functions of one value. */

#define SIMDPCT_FORM (1u << 0)           /* [E D] a space is '+': form data (URL Standard, section 5). Encoding escapes
                                            '+', whatever the set says */
#define SIMDPCT_FORM_KEEP_PLUS (1u << 1) /* [E] as SIMDPCT_FORM, but '+' stays if the set holds it */
#define SIMDPCT_KEEP_ESCAPES (1u << 2)   /* [E] valid escapes of the input stay, every other '%' is escaped: to repair URLs
                                            found in the wild. Not with SIMDPCT_FORM */
#define SIMDPCT_LOWER_CASE (1u << 3)     /* [E] new escapes have digits in lower case; RFC 3986 asks for upper case */
#define SIMDPCT_STRICT (1u << 4)         /* [D] a malformed escape is an error */
#define SIMDPCT_NORMALIZE (1u << 5)      /* [D] only escapes of unreserved bytes are decoded, and the digits of all others
                                            are written in upper case (RFC 3986, sections 6.2.2.1 and 6.2.2.2). Without
                                            a set, and not with SIMDPCT_FORM */
#define SIMDPCT_IF_CHANGED (1u << 6)     /* [E D, V] if the output would be the input, nothing is written, and the status
                                            is SIMDPCT_UNCHANGED. Costs one more look at input that does change */
#define SIMDPCT_ENVIRONMENT (1u << 7)    /* simdpct_init only */

/* ---- Types */

/* A set of bytes: a value, to be copied and assigned. Make one with the functions below; a set of zeros holds no byte. */
typedef struct simdpct_set {
    uint64_t opaque[8];
} simdpct_set;

/* What a function did. Fields that the status does not mention are 0. */
typedef struct simdpct_result {
    int32_t status;
    size_t written; /* SIMDPCT_OK: the bytes written, from the start of the room.
                       SIMDPCT_MALFORMED of a stream: the same, of what comes before the malformed escape */
    size_t needed;  /* SIMDPCT_OK, SIMDPCT_UNCHANGED, SIMDPCT_TOO_SMALL: the exact length of the output */
    size_t offset;  /* SIMDPCT_MALFORMED: the offset in the input of the first '%' that starts no escape */
} simdpct_result;

/* What a function for many values did. */
typedef struct simdpct_batch_result {
    int32_t status;
    size_t written;       /* the bytes written */
    size_t values;        /* the values written; so many offsets and one more are valid. For SIMDPCT_INVALID, the index of
                             the first offset that is wrong, if it is that */
    size_t refused;       /* under SIMDPCT_STRICT, how many of these have a malformed escape. They are empty in the output */
    size_t first_refused; /* the index of the first of them, if there is one */
    size_t needed;        /* SIMDPCT_OK, SIMDPCT_TOO_SMALL: the bytes that the output needs for all values */
} simdpct_batch_result;

/* Bytes anywhere; the layout is that of struct iovec. */
typedef struct simdpct_slice {
    const void *data;
    size_t len;
} simdpct_slice;

/* Streams live in memory of the caller, need no end and may be copied. Their content is not to be looked at. */
typedef struct simdpct_encode_stream {
    uint64_t opaque[16];
} simdpct_encode_stream;

typedef struct simdpct_decode_stream {
    uint64_t opaque[16];
} simdpct_decode_stream;

/* ---- One value */

/* Encodes `len` bytes of `input` into `room` bytes at `out`. The bytes of `keep` stay and all others become escapes; NULL
 * keeps letters, digits, '-', '.', '_' and '~', as for one component (RFC 3986, section 2.3).
 *
 * 3 * len bytes are always enough; with less room the output is measured first, which costs one more look at the input.
 * SIMDPCT_TOO_SMALL writes nothing and says how much is needed, so a room of 0 asks for the length. After success, the
 * rest of the room is unspecified.
 *
 * Statuses: OK, UNCHANGED, TOO_SMALL, INVALID. */
SIMDPCT_MUST_USE simdpct_result simdpct_encode(const simdpct_set *keep, uint32_t flags, const void *input, size_t len,
                                               void *out, size_t room) SIMDPCT_NOEXCEPT;

/* The exact length of what simdpct_encode would write, in `needed`; SIZE_MAX if it is more. Statuses: OK, INVALID. */
SIMDPCT_MUST_USE simdpct_result simdpct_encoded_len(const simdpct_set *keep, uint32_t flags, const void *input,
                                                    size_t len) SIMDPCT_NOEXCEPT;

/* The offset of the first byte that encoding would change; `len` if nothing changes, or if an argument is invalid. */
SIMDPCT_MUST_USE size_t simdpct_encode_first_change(const simdpct_set *keep, uint32_t flags, const void *input,
                                                    size_t len) SIMDPCT_NOEXCEPT;

/* Decodes `len` bytes of `input` into `room` bytes at `out`. Escapes of the bytes of `keep` stay as they are spelt, so that
 * decoding cannot create one of these bytes (a '/', a line end); NULL decodes all.
 *
 * `len` bytes are always enough; with less room the output is measured first. `out` may be `input` if `room` is at least
 * `len`: then it is simdpct_decode_in_place. SIMDPCT_TOO_SMALL writes nothing; after SIMDPCT_MALFORMED, the room is
 * unspecified; after success, the rest of the room is.
 *
 * Statuses: OK, UNCHANGED, TOO_SMALL, MALFORMED, INVALID. */
SIMDPCT_MUST_USE simdpct_result simdpct_decode(const simdpct_set *keep, uint32_t flags, const void *input, size_t len,
                                               void *out, size_t room) SIMDPCT_NOEXCEPT;

/* Decodes `len` bytes where they are. The output is at their start; the bytes after it are unspecified. After
 * SIMDPCT_MALFORMED, nothing was changed. Statuses: OK, UNCHANGED, MALFORMED, INVALID. */
SIMDPCT_MUST_USE simdpct_result simdpct_decode_in_place(const simdpct_set *keep, uint32_t flags, void *bytes,
                                                        size_t len) SIMDPCT_NOEXCEPT;

/* The exact length of what simdpct_decode would write, in `needed`. Statuses: OK, MALFORMED, INVALID. */
SIMDPCT_MUST_USE simdpct_result simdpct_decoded_len(const simdpct_set *keep, uint32_t flags, const void *input,
                                                    size_t len) SIMDPCT_NOEXCEPT;

/* The offset of the first byte or escape that decoding would change; `len` if nothing changes, or if an argument is
 * invalid. SIMDPCT_STRICT makes no difference. */
SIMDPCT_MUST_USE size_t simdpct_decode_first_change(const simdpct_set *keep, uint32_t flags, const void *input,
                                                    size_t len) SIMDPCT_NOEXCEPT;

/* simdpct_decode with SIMDPCT_NORMALIZE and nothing else. Two URLs that are the same after it mean the same. */
SIMDPCT_MUST_USE simdpct_result simdpct_normalize(const void *input, size_t len, void *out, size_t room) SIMDPCT_NOEXCEPT;

/* simdpct_decode_in_place with SIMDPCT_NORMALIZE and nothing else. */
SIMDPCT_MUST_USE simdpct_result simdpct_normalize_in_place(void *bytes, size_t len) SIMDPCT_NOEXCEPT;

/* Whether every '%' starts an escape. Statuses: OK, MALFORMED, INVALID. */
SIMDPCT_MUST_USE simdpct_result simdpct_validate(const void *input, size_t len) SIMDPCT_NOEXCEPT;

/* ---- Many values: several times as fast as a call for each, if they are short
 *
 * The result is what a call for each value would give: no escape reaches over the end of one. Value i of the output is the
 * bytes from out_offsets[i] to out_offsets[i + 1]; out_offsets has room for count + 1 offsets, and the first is 0. Without
 * SIMDPCT_IF_CHANGED. 3 * (all bytes) of room for encoding and 1 * (all bytes) for decoding are always enough.
 *
 * If there is too little room, or offsets are too narrow, the values before the first that does not fit are there.
 *
 * Under SIMDPCT_STRICT, a value that has a malformed escape becomes an empty one, and if `valid` is not NULL, its bit is
 * cleared: bit i % 8 of valid[i / 8], as in the validity bitmaps of Apache Arrow. Other bits stay as they are.
 *
 * Statuses: OK, TOO_SMALL, TOO_LONG, INVALID. */

/* A column: value i is the bytes from offsets[i] to offsets[i + 1]. Offsets ascend from 0 or more to `len` or less; there are
 * count + 1. */
SIMDPCT_MUST_USE simdpct_batch_result simdpct_encode_column32(const simdpct_set *keep, uint32_t flags, const void *bytes,
                                                              size_t len, const int32_t *offsets, size_t count,
                                                              void *out, size_t room,
                                                              int32_t *out_offsets) SIMDPCT_NOEXCEPT;
SIMDPCT_MUST_USE simdpct_batch_result simdpct_encode_column64(const simdpct_set *keep, uint32_t flags, const void *bytes,
                                                              size_t len, const int64_t *offsets, size_t count,
                                                              void *out, size_t room,
                                                              int64_t *out_offsets) SIMDPCT_NOEXCEPT;
SIMDPCT_MUST_USE simdpct_batch_result simdpct_decode_column32(const simdpct_set *keep, uint32_t flags, const void *bytes,
                                                              size_t len, const int32_t *offsets, size_t count,
                                                              void *out, size_t room, int32_t *out_offsets,
                                                              uint8_t *valid) SIMDPCT_NOEXCEPT;
SIMDPCT_MUST_USE simdpct_batch_result simdpct_decode_column64(const simdpct_set *keep, uint32_t flags, const void *bytes,
                                                              size_t len, const int64_t *offsets, size_t count,
                                                              void *out, size_t room, int64_t *out_offsets,
                                                              uint8_t *valid) SIMDPCT_NOEXCEPT;

/* Values that lie anywhere. A slice of NULL and 0 is an empty value. */
SIMDPCT_MUST_USE simdpct_batch_result simdpct_encode_slices32(const simdpct_set *keep, uint32_t flags,
                                                              const simdpct_slice *values, size_t count, void *out,
                                                              size_t room, int32_t *out_offsets) SIMDPCT_NOEXCEPT;
SIMDPCT_MUST_USE simdpct_batch_result simdpct_encode_slices64(const simdpct_set *keep, uint32_t flags,
                                                              const simdpct_slice *values, size_t count, void *out,
                                                              size_t room, int64_t *out_offsets) SIMDPCT_NOEXCEPT;
SIMDPCT_MUST_USE simdpct_batch_result simdpct_decode_slices32(const simdpct_set *keep, uint32_t flags,
                                                              const simdpct_slice *values, size_t count, void *out,
                                                              size_t room, int32_t *out_offsets,
                                                              uint8_t *valid) SIMDPCT_NOEXCEPT;
SIMDPCT_MUST_USE simdpct_batch_result simdpct_decode_slices64(const simdpct_set *keep, uint32_t flags,
                                                              const simdpct_slice *values, size_t count, void *out,
                                                              size_t room, int64_t *out_offsets,
                                                              uint8_t *valid) SIMDPCT_NOEXCEPT;

/* ---- Input in pieces: any way of cutting it gives the bytes that one call gives
 *
 * The start of an escape at the end of a piece, at most two bytes, is held until the rest is there. A push takes the whole
 * piece, or nothing: after SIMDPCT_TOO_SMALL, push the same piece again with the room it needs. finish writes what is held,
 * and the stream is at its start again. The bound says how much room is enough for a push (or, of 0, for finish).
 *
 * A malformed escape in a strict stream ends it: what comes before is written, `offset` counts from the start of the first
 * piece, and every later call gives the same error until the stream is started anew.
 *
 * A stream that was not started is SIMDPCT_INVALID, if its memory was at least set to zeros. */

/* As simdpct_encode. Statuses: OK, INVALID. */
SIMDPCT_MUST_USE int32_t simdpct_encode_start(simdpct_encode_stream *stream, const simdpct_set *keep,
                                              uint32_t flags) SIMDPCT_NOEXCEPT;

/* The most bytes that pushing `len` bytes can write; SIZE_MAX if it is more. */
SIMDPCT_MUST_USE size_t simdpct_encode_bound(size_t len) SIMDPCT_NOEXCEPT;

/* Statuses: OK, TOO_SMALL, INVALID. */
SIMDPCT_MUST_USE simdpct_result simdpct_encode_push(simdpct_encode_stream *stream, const void *input, size_t len,
                                                    void *out, size_t room) SIMDPCT_NOEXCEPT;
SIMDPCT_MUST_USE simdpct_result simdpct_encode_finish(simdpct_encode_stream *stream, void *out,
                                                      size_t room) SIMDPCT_NOEXCEPT;

/* As simdpct_decode; with SIMDPCT_NORMALIZE, the stream normalizes. Statuses: OK, INVALID. */
SIMDPCT_MUST_USE int32_t simdpct_decode_start(simdpct_decode_stream *stream, const simdpct_set *keep,
                                              uint32_t flags) SIMDPCT_NOEXCEPT;

/* The most bytes that pushing `len` bytes can write; SIZE_MAX if it is more. */
SIMDPCT_MUST_USE size_t simdpct_decode_bound(size_t len) SIMDPCT_NOEXCEPT;

/* Statuses: OK, TOO_SMALL, MALFORMED, INVALID. */
SIMDPCT_MUST_USE simdpct_result simdpct_decode_push(simdpct_decode_stream *stream, const void *input, size_t len,
                                                    void *out, size_t room) SIMDPCT_NOEXCEPT;
SIMDPCT_MUST_USE simdpct_result simdpct_decode_finish(simdpct_decode_stream *stream, void *out,
                                                      size_t room) SIMDPCT_NOEXCEPT;

/* ---- Sets
 *
 * A set says which bytes stay. Make it once, or for each call: it takes a few dozen instructions. */

/* The named set called `name`, in either case, with '-' or '_'. Each holds the bytes that stay:
 *
 *     rfc3986-unreserved rfc3986-segment rfc3986-path rfc3986-query rfc3986-fragment rfc3986-userinfo rfc3986-reg-name
 *     rfc3986-uri rfc2396-unreserved rfc2396-uric rfc1738-unreserved whatwg-c0-control whatwg-fragment whatwg-query
 *     whatwg-special-query whatwg-path whatwg-userinfo whatwg-component whatwg-form ecma-uri ecma-uri-component
 *     python-quote java-form alphanumeric none
 *
 * Statuses: OK, NOT_FOUND, INVALID. Unless OK, the set is unchanged. */
SIMDPCT_MUST_USE int32_t simdpct_set_named(simdpct_set *set, const char *name) SIMDPCT_NOEXCEPT;

/* The set of a bitmap of 32 bytes: byte b is bit b % 8 of bits[b / 8]. */
SIMDPCT_MUST_USE simdpct_set simdpct_set_bitmap(const uint8_t *bits) SIMDPCT_NOEXCEPT;

/* The set of these bytes. */
SIMDPCT_MUST_USE simdpct_set simdpct_set_bytes(const void *bytes, size_t len) SIMDPCT_NOEXCEPT;

/* The set of the unreserved bytes (rfc3986-unreserved) and these: Python's quote(text, safe). */
SIMDPCT_MUST_USE simdpct_set simdpct_set_safe(const void *bytes, size_t len) SIMDPCT_NOEXCEPT;

/* The bytes that are not in the set: to name those that are escaped instead of those that stay. NULL is an empty set. */
SIMDPCT_MUST_USE simdpct_set simdpct_set_complement(const simdpct_set *set) SIMDPCT_NOEXCEPT;

/* 1 if the byte is in the set, else 0. NULL is an empty set. */
SIMDPCT_MUST_USE int32_t simdpct_set_contains(const simdpct_set *set, uint8_t byte) SIMDPCT_NOEXCEPT;

/* ---- The library */

/* The version of the library that is linked, such as "0.1.0". SIMDPCT_VERSION is that of this file. */
SIMDPCT_MUST_USE const char *simdpct_version(void) SIMDPCT_NOEXCEPT;

/* Fixes the tier for the rest of the process: the one called `tier` (avx512, avx2, ssse3, sse2, neon or scalar), or for
 * NULL the best. With NULL and SIMDPCT_ENVIRONMENT it is the one that the environment variable SIMDPCT_TIER names, if this
 * CPU has it. The library looks at the environment here only.
 *
 * Nobody needs to call it: the first function that needs kernels picks the best tier. Call it before that, to reproduce a
 * problem or to compare speeds.
 *
 * Statuses: OK; NOT_FOUND if no such tier is in the library or the CPU does not have it; IN_USE if another tier is in use
 * already, and stays so; INVALID. */
SIMDPCT_MUST_USE int32_t simdpct_init(const char *tier, uint32_t flags) SIMDPCT_NOEXCEPT;

/* The name of the tier in use. */
SIMDPCT_MUST_USE const char *simdpct_tier(void) SIMDPCT_NOEXCEPT;

/* The names of the tiers of this CPU, best first; NULL from their number on. */
SIMDPCT_MUST_USE const char *simdpct_tier_at(size_t index) SIMDPCT_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
