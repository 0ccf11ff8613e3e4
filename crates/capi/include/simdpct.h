/* simdpct.h - percent-encoding (URL encoding) for C and C++
 *
 * SYNOPSIS
 *
 *     #include <simdpct.h>
 *
 *     char out[3 * 3];
 *     simdpct_result r = simdpct_encode(NULL, 0, "a b", 3, out, sizeof out);
 *     if (r.status == SIMDPCT_OK) fwrite(out, 1, r.written, stdout);             // prints a%20b
 *
 *     cc program.c $(pkg-config --cflags --libs simdpct)
 *
 * DESCRIPTION
 *
 * An escape is '%' and two hexadecimal digits in either case (RFC 3986, section 2.1); "%2f" is the escape of '/'. Encoding
 * copies the bytes of a set and writes an escape for every other byte. Decoding writes the byte of each escape. It decodes
 * once: "%2541" becomes "%41". A '%' without two digits after it is a malformed escape. Decoding copies it, or fails if the
 * caller passes SIMDPCT_STRICT.
 *
 * A tier is the code for one instruction set (AVX2, NEON, ...). The library uses the fastest tier of the CPU. All tiers give
 * the same output.
 *
 * Memory. The library allocates nothing and keeps no pointer after a call. Input is a pointer and a length: a NUL is a byte
 * like any other, and no NUL is written after output. Output goes to the caller's memory at `out`, which may be
 * uninitialised. `out_cap` is its capacity: the library writes nowhere else. Sizes and offsets are in bytes, counts are in
 * values.
 *
 * Arguments. A pointer may be NULL if its length is 0, or if the description of the function gives NULL a meaning. A length is
 * at most PTRDIFF_MAX. An output may not overlap an input, a set or another output, except where a description allows it.
 * The library checks these rules, the alignment of pointers, and the flags. If one is broken, the status is SIMDPCT_INVALID
 * and nothing is written. Other mistakes, such as a length that is larger than the memory, have undefined behaviour.
 *
 * Threads. Any number of threads may call all functions at once, with two exceptions: a stream may be used by one thread at
 * a time, and no thread may change the environment during simdpct_init with SIMDPCT_ENVIRONMENT.
 *
 * Errors. Functions report errors as statuses. They do not set errno, block or exit; a bug in the library calls abort. All
 * functions except simdpct_init with SIMDPCT_ENVIRONMENT may be called in signal handlers.
 *
 * Time. Functions that take text, bytes or values take time that is linear in their length and number. All others take constant
 * time.
 *
 * Compatibility. This file is valid C99 and C++11. Later versions with the same soname keep what it says.
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

/* ---- Statuses: errors are negative. */

#define SIMDPCT_OK 0
#define SIMDPCT_UNCHANGED 1    /* the output would equal the input, so nothing was written (SIMDPCT_IF_CHANGED) */
#define SIMDPCT_TOO_SMALL (-1) /* the output needs a capacity of `needed` bytes. Nothing was written, except by batch
                                  functions, which write the values that fit */
#define SIMDPCT_MALFORMED (-2) /* the input has a malformed escape at `offset` (SIMDPCT_STRICT), or breaks the rules of a header
                                  field there */
#define SIMDPCT_INVALID (-3)   /* an argument breaks the rules under "Arguments" above; nothing was written */
#define SIMDPCT_NOT_FOUND (-4) /* no set, tier or charset has this name */
#define SIMDPCT_IN_USE (-5)    /* the library uses another tier already */
#define SIMDPCT_TOO_LONG (-6)  /* the output is longer than a 32-bit offset can express */

/* ---- Flags, to be combined with |. The letters say which functions accept a flag: E functions that encode, D functions that
 * decode, V only functions for one value (not batch functions or streams). */

#define SIMDPCT_FORM (1u << 0)           /* [E D] form data (URL Standard, section 5): a space is encoded as '+', and '+' is
                                            decoded as a space. Encoding escapes '+' even if the set has it */
#define SIMDPCT_FORM_KEEP_PLUS (1u << 1) /* [E] like SIMDPCT_FORM, but '+' is copied if the set has it */
#define SIMDPCT_KEEP_ESCAPES (1u << 2)   /* [E] copies the escapes that the input has, and escapes a '%' that is not part of
                                            one. Use it to repair URLs that are encoded in part. Excludes SIMDPCT_FORM */
#define SIMDPCT_LOWER_CASE (1u << 3)     /* [E] writes digits in lower case (RFC 3986 recommends upper case) */
#define SIMDPCT_STRICT (1u << 4)         /* [D] a malformed escape is an error */
#define SIMDPCT_NORMALIZE (1u << 5)      /* [D] decodes the escapes of unreserved bytes (letters, digits, '-', '.', '_', '~')
                                            and writes the digits of all other escapes in upper case (RFC 3986, sections
                                            6.2.2.1 and 6.2.2.2). A digit stays escaped after a malformed escape that lacks
                                            it: "%2%35" stays. Excludes a set and SIMDPCT_FORM */
#define SIMDPCT_IF_CHANGED (1u << 6)     /* [E D V] if the output would equal the input, writes nothing and returns
                                            SIMDPCT_UNCHANGED. Input that does change is read once more */
#define SIMDPCT_ENVIRONMENT (1u << 7)    /* simdpct_init only */

/* ---- Types */

/* A set of bytes. It may be copied and assigned. The functions under "Sets" make one; a set of all zeros is empty. */
typedef struct simdpct_set {
    uint64_t opaque[8];
} simdpct_set;

/* The result of a function for one value. Each field says with which statuses it is set; otherwise it is 0. */
typedef struct simdpct_result {
    int32_t status;
    size_t written; /* SIMDPCT_OK: the number of bytes written at `out`.
                       SIMDPCT_MALFORMED of a stream: the same, for the input before the malformed escape */
    size_t needed;  /* SIMDPCT_OK, SIMDPCT_UNCHANGED, SIMDPCT_TOO_SMALL: the exact length of the whole output */
    size_t offset;  /* SIMDPCT_MALFORMED: the offset in the input of the '%' of the first malformed escape, or of the first byte
                       that breaks the rules of a header field */
} simdpct_result;

/* The result of a batch function. */
typedef struct simdpct_batch_result {
    int32_t status;
    size_t written;        /* the number of bytes written at `out` */
    size_t values;         /* the number of values written; the first `values` + 1 output offsets are set.
                              SIMDPCT_INVALID because of the input offsets: the index of the first invalid offset */
    size_t rejected;       /* how many of these values are empty because they have a malformed escape (SIMDPCT_STRICT) */
    size_t first_rejected; /* the index of the first rejected value, if `rejected` is not 0 */
    size_t needed;         /* SIMDPCT_OK, SIMDPCT_TOO_SMALL: the capacity that the output of all values needs */
} simdpct_batch_result;

/* A pointer and a length. The layout is that of struct iovec. */
typedef struct simdpct_slice {
    const void *data;
    size_t len;
} simdpct_slice;

/* The state of an encoder or decoder for input in pieces. The caller owns the memory. A stream may be copied and needs no
 * cleanup. */
typedef struct simdpct_encode_stream {
    uint64_t opaque[16];
} simdpct_encode_stream;

typedef struct simdpct_decode_stream {
    uint64_t opaque[16];
} simdpct_decode_stream;

/* ---- One value */

/* Encodes `len` bytes at `input`. Copies the bytes of the set `keep` and escapes all others. If `keep` is NULL, the set is the
 * unreserved bytes (letters, digits, '-', '.', '_' and '~'), which is right for one path segment or query value.
 *
 * A capacity of 3 * len is always enough. With less, the library measures the output first, which reads the input once more.
 * SIMDPCT_TOO_SMALL reports the length in `needed`; a call with `out` NULL and `out_cap` 0 asks for it. After success, the
 * bytes of `out` after the first `written` are unspecified.
 *
 * Statuses: OK, UNCHANGED, TOO_SMALL, INVALID. */
SIMDPCT_MUST_USE simdpct_result simdpct_encode(const simdpct_set *keep, uint32_t flags, const void *input, size_t len,
                                               void *out, size_t out_cap) SIMDPCT_NOEXCEPT;

/* Returns in `needed` the exact length that simdpct_encode would write, or SIZE_MAX if that is larger. Statuses: OK, INVALID. */
SIMDPCT_MUST_USE simdpct_result simdpct_encoded_len(const simdpct_set *keep, uint32_t flags, const void *input,
                                                    size_t len) SIMDPCT_NOEXCEPT;

/* Returns the offset of the first byte that encoding would change, or `len` if it would change nothing or an argument is
 * invalid. */
SIMDPCT_MUST_USE size_t simdpct_encode_first_change(const simdpct_set *keep, uint32_t flags, const void *input,
                                                    size_t len) SIMDPCT_NOEXCEPT;

/* Decodes `len` bytes at `input`. If `keep` is not NULL, the escapes of its bytes are copied and not decoded. Use that if a
 * decoded byte would change the meaning of the text, such as a '/' in a path or a line feed in a log.
 *
 * A capacity of `len` is always enough. With less, the library measures the output first. `out` may equal `input` (also if
 * both are NULL) if `out_cap` is at least `len`; the call is then the same as simdpct_decode_in_place, and `out_cap` counts
 * as `len`. After success, the bytes of `out` after the first `written` are unspecified; after SIMDPCT_MALFORMED, all of `out`
 * is, unless it equals `input`.
 *
 * Statuses: OK, UNCHANGED, TOO_SMALL, MALFORMED, INVALID. */
SIMDPCT_MUST_USE simdpct_result simdpct_decode(const simdpct_set *keep, uint32_t flags, const void *input, size_t len,
                                               void *out, size_t out_cap) SIMDPCT_NOEXCEPT;

/* Decodes the `len` bytes at `bytes` and writes the output to the start of the same memory. The bytes after the output are
 * then unspecified. Unless the status is OK, nothing was changed. Statuses: OK, UNCHANGED, MALFORMED, INVALID. */
SIMDPCT_MUST_USE simdpct_result simdpct_decode_in_place(const simdpct_set *keep, uint32_t flags, void *bytes,
                                                        size_t len) SIMDPCT_NOEXCEPT;

/* Returns in `needed` the exact length that simdpct_decode would write. Statuses: OK, MALFORMED, INVALID. */
SIMDPCT_MUST_USE simdpct_result simdpct_decoded_len(const simdpct_set *keep, uint32_t flags, const void *input,
                                                    size_t len) SIMDPCT_NOEXCEPT;

/* Returns the offset of the first byte or escape that decoding would change, or `len` if it would change nothing or an
 * argument is invalid. SIMDPCT_STRICT is accepted and ignored. */
SIMDPCT_MUST_USE size_t simdpct_decode_first_change(const simdpct_set *keep, uint32_t flags, const void *input,
                                                    size_t len) SIMDPCT_NOEXCEPT;

/* The same as simdpct_decode(NULL, SIMDPCT_NORMALIZE, ...). Two URLs with the same normalized form are equivalent. */
SIMDPCT_MUST_USE simdpct_result simdpct_normalize(const void *input, size_t len, void *out,
                                                  size_t out_cap) SIMDPCT_NOEXCEPT;

/* The same as simdpct_decode_in_place(NULL, SIMDPCT_NORMALIZE, ...). */
SIMDPCT_MUST_USE simdpct_result simdpct_normalize_in_place(void *bytes, size_t len) SIMDPCT_NOEXCEPT;

/* Checks that the input has no malformed escape. Statuses: OK, MALFORMED, INVALID. */
SIMDPCT_MUST_USE simdpct_result simdpct_validate(const void *input, size_t len) SIMDPCT_NOEXCEPT;

/* ---- Many values
 *
 * One call of a batch function takes many values and is several times as fast as a call for each, if the values are short.
 * The output is the same: an escape never crosses the end of a value. The outputs are written one after the other at `out`,
 * and value i is the bytes from out_offsets[i] to out_offsets[i + 1]. `out_offsets` has a capacity of count + 1; its first
 * offset is 0. A capacity at `out` of 3 times all input bytes (encoding) or 1 times (decoding) is always enough.
 *
 * After TOO_SMALL and TOO_LONG, the values before the first one that does not fit were written, and `values` is their number.
 *
 * With SIMDPCT_STRICT, a value that has a malformed escape is rejected: its output is empty. If `valid` is not NULL, bit i % 8
 * of valid[i / 8] is cleared for each rejected value i, as in a validity bitmap of Apache Arrow. Other bits are not changed.
 *
 * Statuses: OK, TOO_SMALL, TOO_LONG, INVALID. */

/* The input is a column: value i is the bytes from offsets[i] to offsets[i + 1]. There are count + 1 offsets. They do not
 * descend, the first is at least 0, and the last is at most `len`. If `count` is 0, `offsets` may be NULL, as in old columns of
 * Arrow. */
SIMDPCT_MUST_USE simdpct_batch_result simdpct_encode_column32(const simdpct_set *keep, uint32_t flags, const void *bytes,
                                                              size_t len, const int32_t *offsets, size_t count,
                                                              void *out, size_t out_cap,
                                                              int32_t *out_offsets) SIMDPCT_NOEXCEPT;
SIMDPCT_MUST_USE simdpct_batch_result simdpct_encode_column64(const simdpct_set *keep, uint32_t flags, const void *bytes,
                                                              size_t len, const int64_t *offsets, size_t count,
                                                              void *out, size_t out_cap,
                                                              int64_t *out_offsets) SIMDPCT_NOEXCEPT;
SIMDPCT_MUST_USE simdpct_batch_result simdpct_decode_column32(const simdpct_set *keep, uint32_t flags, const void *bytes,
                                                              size_t len, const int32_t *offsets, size_t count,
                                                              void *out, size_t out_cap, int32_t *out_offsets,
                                                              uint8_t *valid) SIMDPCT_NOEXCEPT;
SIMDPCT_MUST_USE simdpct_batch_result simdpct_decode_column64(const simdpct_set *keep, uint32_t flags, const void *bytes,
                                                              size_t len, const int64_t *offsets, size_t count,
                                                              void *out, size_t out_cap, int64_t *out_offsets,
                                                              uint8_t *valid) SIMDPCT_NOEXCEPT;

/* The input is an array of slices, which may point anywhere. A slice with `data` NULL and `len` 0 is an empty value. */
SIMDPCT_MUST_USE simdpct_batch_result simdpct_encode_slices32(const simdpct_set *keep, uint32_t flags,
                                                              const simdpct_slice *values, size_t count, void *out,
                                                              size_t out_cap, int32_t *out_offsets) SIMDPCT_NOEXCEPT;
SIMDPCT_MUST_USE simdpct_batch_result simdpct_encode_slices64(const simdpct_set *keep, uint32_t flags,
                                                              const simdpct_slice *values, size_t count, void *out,
                                                              size_t out_cap, int64_t *out_offsets) SIMDPCT_NOEXCEPT;
SIMDPCT_MUST_USE simdpct_batch_result simdpct_decode_slices32(const simdpct_set *keep, uint32_t flags,
                                                              const simdpct_slice *values, size_t count, void *out,
                                                              size_t out_cap, int32_t *out_offsets,
                                                              uint8_t *valid) SIMDPCT_NOEXCEPT;
SIMDPCT_MUST_USE simdpct_batch_result simdpct_decode_slices64(const simdpct_set *keep, uint32_t flags,
                                                              const simdpct_slice *values, size_t count, void *out,
                                                              size_t out_cap, int64_t *out_offsets,
                                                              uint8_t *valid) SIMDPCT_NOEXCEPT;

/* ---- Input in pieces
 *
 * A stream takes the input in pieces of any size. However the input is cut, the output is that of one call for all of it:
 * start the stream, push each piece, then finish. If a piece ends with the start of an escape, the stream holds these bytes
 * (at most two) back until the next call. A push consumes the whole piece or nothing: after SIMDPCT_TOO_SMALL, push the same
 * piece again with a capacity of `needed`. simdpct_..._bound returns a capacity that is always enough for a push of `len`
 * bytes, and with `len` 0 for finish. After finish, the stream is ready for new input.
 *
 * A malformed escape ends a decoder with SIMDPCT_STRICT. The output for the input before it is written, and `offset` counts
 * from the start of the first piece. All later calls return the same error until the stream is started again.
 *
 * A stream whose memory is all zeros was not started: push and finish return SIMDPCT_INVALID. */

/* Starts an encoder. See simdpct_encode for `keep` and `flags`; the set is copied. Statuses: OK, INVALID. */
SIMDPCT_MUST_USE int32_t simdpct_encode_start(simdpct_encode_stream *stream, const simdpct_set *keep,
                                              uint32_t flags) SIMDPCT_NOEXCEPT;

/* Returns the largest number of bytes that a push of `len` bytes can write, or SIZE_MAX if that is larger. */
SIMDPCT_MUST_USE size_t simdpct_encode_bound(size_t len) SIMDPCT_NOEXCEPT;

/* Encodes the next piece, or ends the input. Statuses: OK, TOO_SMALL, INVALID. */
SIMDPCT_MUST_USE simdpct_result simdpct_encode_push(simdpct_encode_stream *stream, const void *input, size_t len,
                                                    void *out, size_t out_cap) SIMDPCT_NOEXCEPT;
SIMDPCT_MUST_USE simdpct_result simdpct_encode_finish(simdpct_encode_stream *stream, void *out,
                                                      size_t out_cap) SIMDPCT_NOEXCEPT;

/* Starts a decoder. See simdpct_decode for `keep` and `flags`; the set is copied. Statuses: OK, INVALID. */
SIMDPCT_MUST_USE int32_t simdpct_decode_start(simdpct_decode_stream *stream, const simdpct_set *keep,
                                              uint32_t flags) SIMDPCT_NOEXCEPT;

/* Returns the largest number of bytes that a push of `len` bytes can write, or SIZE_MAX if that is larger. */
SIMDPCT_MUST_USE size_t simdpct_decode_bound(size_t len) SIMDPCT_NOEXCEPT;

/* Decodes the next piece, or ends the input. Statuses: OK, TOO_SMALL, MALFORMED, INVALID. */
SIMDPCT_MUST_USE simdpct_result simdpct_decode_push(simdpct_decode_stream *stream, const void *input, size_t len,
                                                    void *out, size_t out_cap) SIMDPCT_NOEXCEPT;
SIMDPCT_MUST_USE simdpct_result simdpct_decode_finish(simdpct_decode_stream *stream, void *out,
                                                      size_t out_cap) SIMDPCT_NOEXCEPT;

/* ---- Header fields
 *
 * Text in header fields of HTTP and MIME. A decoded name may have any byte, '/' and NUL included: check it before you use it as
 * the name of a file. */

/* Encodes text in UTF-8 as an ext-value, the value of a parameter whose name ends with '*', such as filename* (RFC 8187, section
 * 3.2.1): "\xE2\x82\xAC.txt" becomes "UTF-8''%E2%82%AC.txt". Names no language. A capacity of 3 * len + 7 is always enough. If the
 * input is not UTF-8, `offset` is that of the first invalid byte. Statuses: OK, TOO_SMALL, MALFORMED, INVALID. */
SIMDPCT_MUST_USE simdpct_result simdpct_encode_ext_value(const void *input, size_t len, void *out,
                                                         size_t out_cap) SIMDPCT_NOEXCEPT;

/* Decodes an ext-value to text in UTF-8. The charsets are UTF-8 and, as in RFC 5987, ISO-8859-1, in any case; for others, the
 * status is NOT_FOUND. If `language` is not NULL and the status is OK, `*language` becomes the language tag, such as "en", a part
 * of the input; `len` is 0 if the value names none. A capacity of `len` is always enough.
 *
 * A value that breaks the grammar is malformed, and so is one that is not valid in its charset. `offset` is then that of the first
 * byte or escape that is not allowed. RFC 8187 advises to ignore such a parameter. After SIMDPCT_MALFORMED, the bytes of `out` are
 * unspecified. UTF-8 is checked only if the output fits: after SIMDPCT_TOO_SMALL, a call with enough capacity may return
 * SIMDPCT_MALFORMED. Statuses: OK, TOO_SMALL, MALFORMED, NOT_FOUND, INVALID. */
SIMDPCT_MUST_USE simdpct_result simdpct_decode_ext_value(const void *input, size_t len, void *out, size_t out_cap,
                                                         simdpct_slice *language) SIMDPCT_NOEXCEPT;

/* Encodes the name of a field or file for a part of multipart/form-data as browsers do: '"', CR and LF become %22, %0D and %0A, and
 * all else stays, '%' too (HTML Standard, section 4.10.22.8). A capacity of 3 * len is always enough. Statuses: OK, TOO_SMALL,
 * INVALID. */
SIMDPCT_MUST_USE simdpct_result simdpct_encode_multipart_name(const void *input, size_t len, void *out,
                                                              size_t out_cap) SIMDPCT_NOEXCEPT;

/* Decodes the escapes %22, %0D and %0A of such a name, and no other. A capacity of `len` is always enough. Statuses: OK, TOO_SMALL,
 * INVALID. */
SIMDPCT_MUST_USE simdpct_result simdpct_decode_multipart_name(const void *input, size_t len, void *out,
                                                              size_t out_cap) SIMDPCT_NOEXCEPT;

/* ---- Sets
 *
 * Each function writes a set to `*set`, in time that is linear in its input. Unless the status is OK, `*set` is not changed. */

/* Writes the set called `name`, which is a string that ends with a NUL. Case does not matter, and '_' is the same as '-'. Each
 * set has the bytes that its specification does not escape:
 *
 *     rfc3986-unreserved rfc3986-segment rfc3986-path rfc3986-query rfc3986-fragment rfc3986-userinfo rfc3986-reg-name
 *     rfc3986-uri rfc2396-unreserved rfc2396-uric rfc1738-unreserved whatwg-c0-control whatwg-fragment whatwg-query
 *     whatwg-special-query whatwg-path whatwg-userinfo whatwg-component whatwg-form ecma-uri ecma-uri-component
 *     python-quote java-form rfc8187-attr-char alphanumeric none
 *
 * Statuses: OK, NOT_FOUND, INVALID. */
SIMDPCT_MUST_USE int32_t simdpct_set_named(simdpct_set *set, const char *name) SIMDPCT_NOEXCEPT;

/* Writes the set of a bitmap of 32 bytes, in which byte b is bit b % 8 of bits[b / 8]. Statuses: OK, INVALID. */
SIMDPCT_MUST_USE int32_t simdpct_set_bitmap(simdpct_set *set, const uint8_t *bits) SIMDPCT_NOEXCEPT;

/* Writes the set of the `len` bytes at `bytes`. Statuses: OK, INVALID. */
SIMDPCT_MUST_USE int32_t simdpct_set_bytes(simdpct_set *set, const void *bytes, size_t len) SIMDPCT_NOEXCEPT;

/* Writes the set of the unreserved bytes and the `len` bytes at `bytes`, like `safe` of Python's quote. Statuses: OK, INVALID. */
SIMDPCT_MUST_USE int32_t simdpct_set_safe(simdpct_set *set, const void *bytes, size_t len) SIMDPCT_NOEXCEPT;

/* Writes the set of all bytes that `*of` does not have. `set` may equal `of`. Statuses: OK, INVALID. */
SIMDPCT_MUST_USE int32_t simdpct_set_complement(simdpct_set *set, const simdpct_set *of) SIMDPCT_NOEXCEPT;

/* Returns 1 if the set has the byte, and 0 if it does not or `set` is NULL. */
SIMDPCT_MUST_USE int32_t simdpct_set_contains(const simdpct_set *set, uint8_t byte) SIMDPCT_NOEXCEPT;

/* ---- The library */

/* Returns the version of the library, such as "0.1.0". SIMDPCT_VERSION is the version of this file. */
SIMDPCT_MUST_USE const char *simdpct_version(void) SIMDPCT_NOEXCEPT;

/* Selects a tier for the rest of the process: the one called `tier` (avx512, avx2, ssse3, sse2, neon or scalar), or the best
 * one if `tier` is NULL. With NULL and SIMDPCT_ENVIRONMENT, the environment variable SIMDPCT_TIER names the tier, and the best
 * one is used if this CPU does not have that. No other function reads the environment.
 *
 * A program does not need this function: the first call that needs a tier selects the best one. Call it earlier to reproduce a
 * problem or to compare tiers.
 *
 * Statuses: OK; NOT_FOUND if the library or the CPU has no tier of this name; IN_USE if the process uses another tier
 * already; INVALID. */
SIMDPCT_MUST_USE int32_t simdpct_init(const char *tier, uint32_t flags) SIMDPCT_NOEXCEPT;

/* Returns the name of the tier in use. */
SIMDPCT_MUST_USE const char *simdpct_tier(void) SIMDPCT_NOEXCEPT;

/* Returns the name of tier `index` of this CPU, where 0 is the best, or NULL if there is none. */
SIMDPCT_MUST_USE const char *simdpct_tier_at(size_t index) SIMDPCT_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
