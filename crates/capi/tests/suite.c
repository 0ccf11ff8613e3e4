/* Tests of the C library through its header, in C99 and in C++.
 *
 *     suite [TIER [N]]     tests one tier (default: the best), with every Nth length in the long loops
 *     suite --tiers        prints the tiers of this CPU
 *
 * Every buffer is allocated with its exact size, so that valgrind and the address sanitizer detect accesses beyond it. Results are
 * compared with those of a simple encoder and decoder, below. */
#include <simdpct.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long checks = 0;

#define CHECK(condition)                                                                                                  \
    do {                                                                                                                  \
        ++checks;                                                                                                         \
        if (!(condition)) {                                                                                               \
            fprintf(stderr, "%s:%d: on %s: %s\n", __FILE__, __LINE__, simdpct_tier(), #condition);                        \
            abort();                                                                                                      \
        }                                                                                                                 \
    } while (0)

static unsigned char *block(size_t size) {
    unsigned char *bytes = (unsigned char *)malloc(size ? size : 1);
    if (!bytes) abort();
    return bytes;
}

static unsigned char *copy_of(const void *bytes, size_t size) {
    unsigned char *copy = block(size);
    if (size) memcpy(copy, bytes, size);
    return copy;
}

static size_t stride = 1;

static uint32_t seed = 1;

static uint32_t dice(uint32_t sides) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % sides;
}

/* ---- the reference encoder and decoder */

static int is_unreserved(unsigned byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '-' || byte == '.' || byte == '_' || byte == '~';
}

static int digit(unsigned byte) {
    if (byte >= '0' && byte <= '9') return (int)byte - '0';
    if (byte >= 'a' && byte <= 'f') return (int)byte - 'a' + 10;
    if (byte >= 'A' && byte <= 'F') return (int)byte - 'A' + 10;
    return -1;
}

static int escape_at(const unsigned char *in, size_t at, size_t len) {
    if (in[at] != '%' || len - at < 3 || digit(in[at + 1]) < 0 || digit(in[at + 2]) < 0) return -1;
    return digit(in[at + 1]) * 16 + digit(in[at + 2]);
}

typedef unsigned char members[256];

static size_t right_encode(const members keep, uint32_t flags, const unsigned char *in, size_t len, unsigned char *out) {
    const char *digits = flags & SIMDPCT_LOWER_CASE ? "0123456789abcdef" : "0123456789ABCDEF";
    size_t at, n = 0;
    for (at = 0; at < len; ++at) {
        unsigned byte = in[at];
        int stays = keep[byte];
        if (flags & (SIMDPCT_FORM | SIMDPCT_FORM_KEEP_PLUS)) {
            if (byte == ' ') {
                out[n++] = '+';
                continue;
            }
            if (byte == '+' && !(flags & SIMDPCT_FORM_KEEP_PLUS)) stays = 0;
        }
        if (flags & SIMDPCT_KEEP_ESCAPES && byte == '%') stays = escape_at(in, at, len) >= 0;
        if (stays) {
            out[n++] = (unsigned char)byte;
            /* The digits of a kept escape are copied even if the set does not have them. */
            if (byte == '%' && flags & SIMDPCT_KEEP_ESCAPES) {
                out[n++] = in[++at];
                out[n++] = in[++at];
            }
        } else {
            out[n++] = '%';
            out[n++] = (unsigned char)digits[byte >> 4];
            out[n++] = (unsigned char)digits[byte & 15];
        }
    }
    return n;
}

/* Reports whether normalization keeps the escape of `value`. A digit stays escaped after a malformed escape that lacks a digit. */
static int stays_normalized(int value, const unsigned char *in, size_t at) {
    int lacks_digit = (at > 0 && in[at - 1] == '%') || (at > 1 && in[at - 2] == '%' && digit(in[at - 1]) >= 0);
    return !is_unreserved((unsigned)value) || (lacks_digit && digit((unsigned char)value) >= 0);
}

/* Decodes to `out` and returns the length. Returns SIZE_MAX and sets *offset if the input is rejected. */
static size_t right_decode(const members keep, uint32_t flags, const unsigned char *in, size_t len, unsigned char *out,
                           size_t *offset) {
    size_t at, n = 0;
    for (at = 0; at < len; ++at) {
        int value = escape_at(in, at, len);
        if (value < 0) {
            if (in[at] == '%' && flags & SIMDPCT_STRICT) {
                *offset = at;
                return SIZE_MAX;
            }
            out[n++] = (unsigned char)(in[at] == '+' && flags & SIMDPCT_FORM ? ' ' : in[at]);
        } else if (flags & SIMDPCT_NORMALIZE ? stays_normalized(value, in, at) : keep[value]) {
            int i;
            for (i = 0; i < 3; ++i) {
                unsigned char byte = in[at + (size_t)i];
                out[n++] = (unsigned char)(flags & SIMDPCT_NORMALIZE && byte >= 'a' ? byte - 'a' + 'A' : byte);
            }
            at += 2;
        } else {
            out[n++] = (unsigned char)value;
            at += 2;
        }
    }
    return n;
}

/* ---- functions that make a set and check that the status is OK */

static simdpct_set set_of(int32_t (*make)(simdpct_set *, const void *, size_t), const void *bytes, size_t len) {
    simdpct_set set;
    CHECK(make(&set, bytes, len) == SIMDPCT_OK);
    return set;
}

static simdpct_set bytes_set(const void *bytes, size_t len) { return set_of(simdpct_set_bytes, bytes, len); }
static simdpct_set safe_set(const void *bytes, size_t len) { return set_of(simdpct_set_safe, bytes, len); }

/* ---- one value */

static void fill(unsigned char *bytes, size_t len, uint32_t kind) {
    static const char *texts[] = {"abcXYZ019-._~", "%41%2f%2F%7e%zz%%4", "a+b c&d=%20%2B", "/:?#[]@!$&'()*,;=\"<>^`{|}"};
    size_t i;
    for (i = 0; i < len; ++i) {
        if (kind == 4 || (kind < 4 && dice(40) == 0)) {
            bytes[i] = (unsigned char)dice(256);
        } else if (kind == 5) {
            bytes[i] = (unsigned char)"%%%%0123456789abcdefABCDEFg"[dice(27)];
        } else {
            bytes[i] = (unsigned char)texts[kind][dice((uint32_t)strlen(texts[kind]))];
        }
    }
}

static void check_encode(const simdpct_set *set, const members keep, uint32_t flags, const unsigned char *in, size_t len) {
    unsigned char *right = block(3 * len), *out;
    size_t n = right_encode(keep, flags, in, len, right), change;
    simdpct_result r = simdpct_encoded_len(set, flags, in, len);
    size_t caps[3];
    int i;
    CHECK(r.status == SIMDPCT_OK && r.needed == n && r.written == 0);
    caps[0] = n;
    caps[1] = n + 1 + dice(200);
    caps[2] = 3 * len;
    for (i = 0; i < 3; ++i) {
        out = block(caps[i]);
        r = simdpct_encode(set, flags, in, len, out, caps[i]);
        CHECK(r.status == SIMDPCT_OK && r.written == n && r.needed == n && memcmp(out, right, n) == 0);
        r = simdpct_encode(set, flags | SIMDPCT_IF_CHANGED, in, len, out, caps[i]);
        if (n == len && memcmp(in, right, n) == 0) {
            CHECK(r.status == SIMDPCT_UNCHANGED && r.written == 0 && r.needed == len);
        } else {
            CHECK(r.status == SIMDPCT_OK && r.written == n && memcmp(out, right, n) == 0);
        }
        free(out);
    }
    if (n > 0) {
        size_t cap = dice((uint32_t)n);
        out = block(cap);
        memset(out, 0x5A, cap);
        r = simdpct_encode(set, flags, in, len, out, cap);
        CHECK(r.status == SIMDPCT_TOO_SMALL && r.needed == n && r.written == 0);
        while (cap > 0) CHECK(out[--cap] == 0x5A);
        free(out);
    }
    /* Without KEEP_ESCAPES, the neighbours of a byte do not decide whether it changes, so bytes are encoded one by one. */
    for (change = 0; change < len; ++change) {
        unsigned char one[3];
        if (right_encode(keep, flags, in + change, 1, one) != 1 || one[0] != in[change]) break;
    }
    if (!(flags & SIMDPCT_KEEP_ESCAPES)) CHECK(simdpct_encode_first_change(set, flags, in, len) == change);
    free(right);
}

static void check_decode(const simdpct_set *set, const members keep, uint32_t flags, const unsigned char *in, size_t len) {
    unsigned char *right = block(len), *out = block(len), *same;
    size_t offset = 0, n = right_decode(keep, flags, in, len, right, &offset);
    simdpct_result r;
    if (n == SIZE_MAX) {
        r = simdpct_decode(set, flags, in, len, out, len);
        CHECK(r.status == SIMDPCT_MALFORMED && r.offset == offset && r.written == 0);
        r = simdpct_decoded_len(set, flags, in, len);
        CHECK(r.status == SIMDPCT_MALFORMED && r.offset == offset);
        same = copy_of(in, len);
        r = simdpct_decode_in_place(set, flags, same, len);
        CHECK(r.status == SIMDPCT_MALFORMED && r.offset == offset && memcmp(same, in, len) == 0);
        free(same);
    } else {
        int changed = n != len || memcmp(in, right, len) != 0;
        unsigned char *exact = block(n);
        r = simdpct_decoded_len(set, flags, in, len);
        CHECK(r.status == SIMDPCT_OK && r.needed == n);
        r = simdpct_decode(set, flags, in, len, out, len);
        CHECK(r.status == SIMDPCT_OK && r.written == n && r.needed == n && memcmp(out, right, n) == 0);
        r = simdpct_decode(set, flags, in, len, exact, n);
        CHECK(r.status == SIMDPCT_OK && r.written == n && memcmp(exact, right, n) == 0);
        r = simdpct_decode(set, flags | SIMDPCT_IF_CHANGED, in, len, exact, n);
        CHECK(r.status == (changed ? SIMDPCT_OK : SIMDPCT_UNCHANGED) && r.needed == n);
        CHECK(r.written == (changed ? n : 0));
        free(exact);
        same = copy_of(in, len);
        r = simdpct_decode_in_place(set, flags, same, len);
        CHECK(r.status == SIMDPCT_OK && r.written == n && memcmp(same, right, n) == 0);
        if (len) memcpy(same, in, len);
        r = simdpct_decode(set, flags, same, len, same, len);
        CHECK(r.status == SIMDPCT_OK && r.written == n && memcmp(same, right, n) == 0);
        if (len) memcpy(same, in, len);
        r = simdpct_decode_in_place(set, flags | SIMDPCT_IF_CHANGED, same, len);
        CHECK(r.status == (changed ? SIMDPCT_OK : SIMDPCT_UNCHANGED) && r.needed == n && memcmp(same, right, n) == 0);
        free(same);
        if (n > 0) {
            size_t cap = dice((uint32_t)n);
            unsigned char *small = block(cap);
            memset(small, 0x5A, cap);
            r = simdpct_decode(set, flags, in, len, small, cap);
            CHECK(r.status == SIMDPCT_TOO_SMALL && r.needed == n && r.written == 0);
            while (cap > 0) CHECK(small[--cap] == 0x5A);
            free(small);
        }
        /* The output equals the input up to the first change. */
        offset = simdpct_decode_first_change(set, flags, in, len);
        CHECK(offset <= len && memcmp(in, right, offset < n ? offset : n) == 0 && (offset < len) == changed);
    }
    free(right);
    free(out);
}

static void one_value(void) {
    static const uint32_t of_encoders[] = {
        0,
        SIMDPCT_FORM,
        SIMDPCT_FORM | SIMDPCT_FORM_KEEP_PLUS,
        SIMDPCT_FORM_KEEP_PLUS,
        SIMDPCT_KEEP_ESCAPES,
        SIMDPCT_LOWER_CASE,
        SIMDPCT_KEEP_ESCAPES | SIMDPCT_LOWER_CASE,
    };
    static const uint32_t of_decoders[] = {0, SIMDPCT_STRICT, SIMDPCT_FORM, SIMDPCT_FORM | SIMDPCT_STRICT};
    members unreserved, none, some;
    simdpct_set set;
    uint8_t bits[32];
    size_t len, i;
    for (i = 0; i < 256; ++i) {
        unreserved[i] = (unsigned char)is_unreserved((unsigned)i);
        none[i] = 0;
    }
    for (len = 0; len < 1200; len += len < 300 ? stride : 71) {
        uint32_t kind;
        for (kind = 0; kind < 6; ++kind) {
            unsigned char *in = block(len);
            fill(in, len, kind);
            memset(bits, 0, sizeof bits);
            for (i = 0; i < 256; ++i) {
                some[i] = (unsigned char)(dice(4) != 0);
                if (some[i]) bits[i / 8] = (uint8_t)(bits[i / 8] | 1u << (i % 8));
            }
            CHECK(simdpct_set_bitmap(&set, bits) == SIMDPCT_OK);
            for (i = 0; i < sizeof of_encoders / sizeof *of_encoders; ++i) {
                check_encode(NULL, unreserved, of_encoders[i], in, len);
                check_encode(&set, some, of_encoders[i], in, len);
            }
            for (i = 0; i < sizeof of_decoders / sizeof *of_decoders; ++i) {
                check_decode(NULL, none, of_decoders[i], in, len);
                check_decode(&set, some, of_decoders[i], in, len);
            }
            check_decode(NULL, none, SIMDPCT_NORMALIZE, in, len);
            check_decode(NULL, none, SIMDPCT_NORMALIZE | SIMDPCT_STRICT, in, len);
            free(in);
        }
    }
}

static void normalize_and_validate(void) {
    char bytes[] = "/%7euser/%2f%zz", out[16];
    simdpct_result r = simdpct_normalize(bytes, 15, out, 15);
    CHECK(r.status == SIMDPCT_OK && r.written == 13 && memcmp(out, "/~user/%2F%zz", 13) == 0);
    r = simdpct_normalize_in_place(bytes, 15);
    CHECK(r.status == SIMDPCT_OK && r.written == 13 && memcmp(bytes, "/~user/%2F%zz", 13) == 0);
    r = simdpct_validate("a%20b", 5);
    CHECK(r.status == SIMDPCT_OK && r.needed == 5);
    r = simdpct_validate("a%20b%", 6);
    CHECK(r.status == SIMDPCT_MALFORMED && r.offset == 5);
    r = simdpct_validate(NULL, 0);
    CHECK(r.status == SIMDPCT_OK);
}

/* ---- arguments */

static void arguments(void) {
    unsigned char bytes[64];
    simdpct_result r;
    size_t i;
    static const uint32_t not_of_encoders[] = {SIMDPCT_STRICT, SIMDPCT_NORMALIZE, SIMDPCT_ENVIRONMENT, 1u << 31,
                                               SIMDPCT_FORM | SIMDPCT_KEEP_ESCAPES};
    static const uint32_t not_of_decoders[] = {SIMDPCT_FORM_KEEP_PLUS, SIMDPCT_KEEP_ESCAPES, SIMDPCT_LOWER_CASE,
                                               SIMDPCT_ENVIRONMENT, 1u << 31, SIMDPCT_NORMALIZE | SIMDPCT_FORM};
    simdpct_set set = bytes_set("/", 1);

    /* NULL is valid with the length or capacity 0. */
    r = simdpct_encode(NULL, 0, NULL, 0, NULL, 0);
    CHECK(r.status == SIMDPCT_OK && r.written == 0);
    r = simdpct_encode(NULL, 0, "a b", 3, NULL, 0);
    CHECK(r.status == SIMDPCT_TOO_SMALL && r.needed == 5);
    r = simdpct_decode(NULL, 0, NULL, 0, NULL, 0);
    CHECK(r.status == SIMDPCT_OK && r.written == 0);
    r = simdpct_decode(NULL, 0, NULL, 0, NULL, 5);
    CHECK(r.status == SIMDPCT_OK && r.written == 0);
    r = simdpct_decode(NULL, 0, "%41", 3, NULL, 0);
    CHECK(r.status == SIMDPCT_TOO_SMALL && r.needed == 1);
    r = simdpct_decode_in_place(NULL, 0, NULL, 0);
    CHECK(r.status == SIMDPCT_OK && r.written == 0);
    CHECK(simdpct_encode_first_change(NULL, 0, NULL, 0) == 0);

    /* NULL is invalid with any other length or capacity. */
    r = simdpct_encode(NULL, 0, NULL, 1, bytes, 64);
    CHECK(r.status == SIMDPCT_INVALID);
    r = simdpct_encode(NULL, 0, "a", 1, NULL, 64);
    CHECK(r.status == SIMDPCT_INVALID);
    r = simdpct_decode(NULL, 0, NULL, 1, bytes, 64);
    CHECK(r.status == SIMDPCT_INVALID);
    r = simdpct_decode(NULL, 0, "a", 1, NULL, 64);
    CHECK(r.status == SIMDPCT_INVALID);
    r = simdpct_decode_in_place(NULL, 0, NULL, 1);
    CHECK(r.status == SIMDPCT_INVALID);
    r = simdpct_validate(NULL, 1);
    CHECK(r.status == SIMDPCT_INVALID);
    r = simdpct_decoded_len(NULL, 0, NULL, 1);
    CHECK(r.status == SIMDPCT_INVALID);
    CHECK(simdpct_decode_first_change(NULL, 0, NULL, 7) == 7);

    /* Lengths above PTRDIFF_MAX are invalid. */
    r = simdpct_encode(NULL, 0, bytes, SIZE_MAX, NULL, 0);
    CHECK(r.status == SIMDPCT_INVALID);
    r = simdpct_validate(bytes, (size_t)PTRDIFF_MAX + 1);
    CHECK(r.status == SIMDPCT_INVALID);

    /* The output may not overlap the input, except that a decoder may write to the start of its input. */
    memset(bytes, '%', 64);
    for (i = 0; i < 64; ++i) {
        unsigned char before[64];
        size_t cap = 64 - i;
        memcpy(before, bytes, 64);
        r = simdpct_encode(NULL, 0, bytes, 32, bytes + i, cap);
        CHECK((r.status == SIMDPCT_INVALID) == (i < 32));
        if (r.status == SIMDPCT_INVALID) CHECK(memcmp(before, bytes, 64) == 0);
        memset(bytes, '%', 64);
        r = simdpct_encode(NULL, 0, bytes + i, 64 - i, bytes, 32);
        CHECK((r.status == SIMDPCT_INVALID) == (i < 32));
        memset(bytes, '%', 64);
        r = simdpct_decode(NULL, 0, bytes, 32, bytes + i, 64 - i);
        CHECK((r.status == SIMDPCT_INVALID) == (i > 0 && i < 32));
        r = simdpct_decode(NULL, 0, bytes + i, 64 - i, bytes, 32);
        CHECK((r.status == SIMDPCT_INVALID) == (i < 32)); /* for i = 0 because 32 < 64 */
    }

    /* Flags that the function does not accept are invalid. */
    for (i = 0; i < sizeof not_of_encoders / sizeof *not_of_encoders; ++i) {
        r = simdpct_encode(NULL, not_of_encoders[i], "a", 1, bytes, 64);
        CHECK(r.status == SIMDPCT_INVALID);
        r = simdpct_encode(&set, not_of_encoders[i], "a", 1, bytes, 64);
        CHECK(r.status == SIMDPCT_INVALID);
        r = simdpct_encoded_len(NULL, not_of_encoders[i], "a", 1);
        CHECK(r.status == SIMDPCT_INVALID);
    }
    for (i = 0; i < sizeof not_of_decoders / sizeof *not_of_decoders; ++i) {
        r = simdpct_decode(NULL, not_of_decoders[i], "a", 1, bytes, 64);
        CHECK(r.status == SIMDPCT_INVALID);
        r = simdpct_decode_in_place(NULL, not_of_decoders[i], bytes, 1);
        CHECK(r.status == SIMDPCT_INVALID);
    }
    r = simdpct_decode(&set, SIMDPCT_NORMALIZE, "a", 1, bytes, 64);
    CHECK(r.status == SIMDPCT_INVALID);

    /* A set that none of the functions made has unspecified output, but never more than `out_cap` bytes. */
    for (i = 0; i < 2000; ++i) {
        unsigned char *in = block(i % 200), *out = block(i % 300);
        size_t k;
        for (k = 0; k < 8; ++k) set.opaque[k] = (uint64_t)dice(1u << 24) << 40 | (uint64_t)dice(1u << 24) << 16 | dice(1u << 16);
        fill(in, i % 200, (uint32_t)(i % 6));
        r = simdpct_encode(&set, 0, in, i % 200, out, i % 300);
        CHECK(r.status == SIMDPCT_OK ? r.written <= i % 300 : r.status == SIMDPCT_TOO_SMALL);
        r = simdpct_decode(&set, 0, in, i % 200, out, i % 300);
        CHECK(r.status == SIMDPCT_OK ? r.written <= i % 300 : r.status == SIMDPCT_TOO_SMALL);
        free(in);
        free(out);
    }
}

/* ---- sets */

static void sets(void) {
    simdpct_set set, other;
    unsigned byte;
    uint8_t bits[32];
    memset(&set, 0, sizeof set);
    for (byte = 0; byte < 256; ++byte) CHECK(!simdpct_set_contains(&set, (uint8_t)byte));
    CHECK(simdpct_set_named(&set, "RFC3986_Unreserved") == SIMDPCT_OK);
    other = safe_set(NULL, 0);
    CHECK(memcmp(&set, &other, sizeof set) == 0);
    memset(bits, 0, sizeof bits);
    for (byte = 0; byte < 256; ++byte) {
        CHECK(simdpct_set_contains(&set, (uint8_t)byte) == is_unreserved(byte));
        if (is_unreserved(byte)) bits[byte / 8] = (uint8_t)(bits[byte / 8] | 1u << (byte % 8));
    }
    CHECK(simdpct_set_bitmap(&other, bits) == SIMDPCT_OK);
    CHECK(memcmp(&set, &other, sizeof set) == 0);
    CHECK(simdpct_set_complement(&other, &set) == SIMDPCT_OK);
    for (byte = 0; byte < 256; ++byte) CHECK(simdpct_set_contains(&other, (uint8_t)byte) == !is_unreserved(byte));
    CHECK(simdpct_set_complement(&other, &other) == SIMDPCT_OK);
    CHECK(memcmp(&set, &other, sizeof set) == 0);
    set = safe_set("/", 1);
    CHECK(simdpct_set_named(&other, "python-quote") == SIMDPCT_OK && memcmp(&set, &other, sizeof set) == 0);
    set = bytes_set("\xff%\0", 3);
    for (byte = 0; byte < 256; ++byte) {
        CHECK(simdpct_set_contains(&set, (uint8_t)byte) == (byte == 0xFF || byte == '%' || byte == 0));
    }
    other = set;
    CHECK(simdpct_set_named(&set, "rfc1738-unsafe") == SIMDPCT_NOT_FOUND); /* not a set for encoders */
    CHECK(simdpct_set_named(&set, "") == SIMDPCT_NOT_FOUND);
    CHECK(simdpct_set_named(&set, "\xff") == SIMDPCT_NOT_FOUND);
    CHECK(simdpct_set_named(&set, NULL) == SIMDPCT_INVALID);
    CHECK(simdpct_set_named(NULL, "none") == SIMDPCT_INVALID);
    CHECK(memcmp(&set, &other, sizeof set) == 0);
    CHECK(simdpct_set_bytes(&set, NULL, 1) == SIMDPCT_INVALID && simdpct_set_bytes(NULL, "a", 1) == SIMDPCT_INVALID);
    CHECK(simdpct_set_safe(&set, NULL, 1) == SIMDPCT_INVALID && simdpct_set_safe(NULL, "a", 1) == SIMDPCT_INVALID);
    CHECK(simdpct_set_bytes(&set, "a", SIZE_MAX) == SIMDPCT_INVALID);
    CHECK(simdpct_set_bitmap(&set, NULL) == SIMDPCT_INVALID && simdpct_set_bitmap(NULL, bits) == SIMDPCT_INVALID);
    CHECK(simdpct_set_complement(&set, NULL) == SIMDPCT_INVALID && simdpct_set_complement(NULL, &set) == SIMDPCT_INVALID);
    CHECK(memcmp(&set, &other, sizeof set) == 0);
    CHECK(!simdpct_set_contains(NULL, 'a'));
}

/* ---- input in pieces */

static void encode_stream(const simdpct_set *set, uint32_t flags, const unsigned char *in, size_t len) {
    simdpct_result r = simdpct_encoded_len(set, flags, in, len);
    unsigned char *right = block(r.needed), *out = block(r.needed);
    size_t at = 0, n = 0;
    simdpct_encode_stream stream;
    r = simdpct_encode(set, flags, in, len, right, r.needed);
    CHECK(simdpct_encode_start(&stream, set, flags) == SIMDPCT_OK);
    while (at < len) {
        size_t piece = dice(4) ? dice(4) : dice(100);
        unsigned char *copy, *part;
        simdpct_result p;
        size_t cap;
        if (piece > len - at) piece = len - at;
        copy = copy_of(in + at, piece);
        /* If the capacity is too small, the piece is not consumed. */
        p = simdpct_encode_push(&stream, copy, piece, NULL, 0);
        cap = p.needed;
        if (p.status == SIMDPCT_TOO_SMALL) {
            CHECK(cap > 0 && p.written == 0 && cap <= simdpct_encode_bound(piece));
            part = block(cap);
            p = simdpct_encode_push(&stream, copy, piece, part, cap);
            CHECK(p.status == SIMDPCT_OK && p.written == cap && p.needed == cap && n + cap <= r.written);
            memcpy(out + n, part, cap);
            free(part);
            n += cap;
        } else {
            CHECK(p.status == SIMDPCT_OK && p.written == 0);
        }
        free(copy);
        at += piece;
    }
    {
        simdpct_result p = simdpct_encode_finish(&stream, out + n, r.written - n);
        CHECK(p.status == SIMDPCT_OK && n + p.written == r.written && memcmp(out, right, r.written) == 0);
        p = simdpct_encode_finish(&stream, NULL, 0);
        CHECK(p.status == SIMDPCT_OK && p.written == 0);
    }
    free(right);
    free(out);
}

static void decode_stream(const simdpct_set *set, uint32_t flags, const unsigned char *in, size_t len) {
    unsigned char *right = block(len), *out = block(len + 2);
    simdpct_result r = simdpct_decode(set, flags, in, len, right, len), p;
    size_t at = 0, n = 0, whole = r.written;
    simdpct_decode_stream stream;
    if (r.status == SIMDPCT_MALFORMED) {
        whole = simdpct_decode(set, flags, in, r.offset, right, len).written;
    }
    CHECK(simdpct_decode_start(&stream, set, flags) == SIMDPCT_OK);
    memset(&p, 0, sizeof p);
    while (at < len && p.status == SIMDPCT_OK) {
        size_t piece = dice(4) ? dice(4) : dice(100), bound;
        unsigned char *copy, *part;
        if (piece > len - at) piece = len - at;
        copy = copy_of(in + at, piece);
        bound = simdpct_decode_bound(piece);
        part = block(bound);
        p = simdpct_decode_push(&stream, copy, piece, NULL, 0);
        if (p.status == SIMDPCT_TOO_SMALL) {
            CHECK(p.needed > 0 && p.needed <= bound && p.written == 0);
            p = simdpct_decode_push(&stream, copy, piece, part, dice(2) ? p.needed : bound);
        }
        CHECK(n + p.written <= whole);
        memcpy(out + n, part, p.written);
        n += p.written;
        free(copy);
        free(part);
        at += piece;
    }
    if (p.status == SIMDPCT_OK) {
        p = simdpct_decode_finish(&stream, out + n, 2);
        n += p.written;
    }
    CHECK(p.status == r.status && n == whole && memcmp(out, right, n) == 0);
    if (p.status == SIMDPCT_MALFORMED) {
        CHECK(p.offset == r.offset);
        p = simdpct_decode_push(&stream, "a", 1, out, 2);
        CHECK(p.status == SIMDPCT_MALFORMED && p.offset == r.offset && p.written == 0);
        p = simdpct_decode_finish(&stream, out, 2);
        CHECK(p.status == SIMDPCT_MALFORMED && p.offset == r.offset && p.written == 0);
        CHECK(simdpct_decode_start(&stream, set, flags) == SIMDPCT_OK);
        p = simdpct_decode_push(&stream, "%41", 3, out, 2);
        CHECK(p.status == SIMDPCT_OK);
    }
    free(right);
    free(out);
}

static void pieces(void) {
    size_t len;
    simdpct_set set = bytes_set("/%a", 3);
    simdpct_encode_stream zeros;
    simdpct_decode_stream others;
    simdpct_result r;
    unsigned char *odd = block(sizeof zeros + 8);
    for (len = 0; len < 250; len += stride) {
        uint32_t kind;
        for (kind = 0; kind < 6; ++kind) {
            unsigned char *in = block(len);
            fill(in, len, kind);
            encode_stream(NULL, 0, in, len);
            encode_stream(&set, SIMDPCT_KEEP_ESCAPES, in, len);
            encode_stream(NULL, SIMDPCT_FORM, in, len);
            decode_stream(NULL, 0, in, len);
            decode_stream(NULL, SIMDPCT_STRICT, in, len);
            decode_stream(&set, SIMDPCT_FORM | SIMDPCT_STRICT, in, len);
            decode_stream(NULL, SIMDPCT_NORMALIZE, in, len);
            free(in);
        }
    }
    /* Only the start of an escape is held back. */
    CHECK(simdpct_encode_start(&zeros, NULL, 0) == SIMDPCT_OK);
    r = simdpct_encode_push(&zeros, "a%", 2, odd, 12);
    CHECK(r.status == SIMDPCT_OK && r.written == 4);
    CHECK(simdpct_encode_start(&zeros, NULL, SIMDPCT_KEEP_ESCAPES) == SIMDPCT_OK);
    r = simdpct_encode_push(&zeros, "%z", 2, odd, 12);
    CHECK(r.status == SIMDPCT_OK && r.written == 4);
    CHECK(simdpct_decode_start(&others, NULL, 0) == SIMDPCT_OK);
    r = simdpct_decode_push(&others, "%z", 2, odd, 12);
    CHECK(r.status == SIMDPCT_OK && r.written == 2);

    memset(&zeros, 0, sizeof zeros);
    r = simdpct_encode_push(&zeros, "a", 1, odd, 8);
    CHECK(r.status == SIMDPCT_INVALID);
    r = simdpct_encode_push(NULL, "a", 1, odd, 8);
    CHECK(r.status == SIMDPCT_INVALID);
    CHECK(simdpct_encode_start(NULL, NULL, 0) == SIMDPCT_INVALID);
    CHECK(simdpct_encode_start(&zeros, NULL, SIMDPCT_STRICT) == SIMDPCT_INVALID);
    CHECK(simdpct_encode_start(&zeros, NULL, SIMDPCT_IF_CHANGED) == SIMDPCT_INVALID);
    CHECK(simdpct_encode_start((simdpct_encode_stream *)(void *)(odd + 1), NULL, 0) == SIMDPCT_INVALID);
    CHECK(simdpct_encode_start(&zeros, NULL, 0) == SIMDPCT_OK);
    memcpy(&others, &zeros, sizeof others); /* an encoder used as a decoder */
    r = simdpct_decode_push(&others, "a", 1, odd, 8);
    CHECK(r.status == SIMDPCT_INVALID);
    r = simdpct_encode_push(&zeros, &zeros, 8, odd, 64);
    CHECK(r.status == SIMDPCT_INVALID);
    r = simdpct_encode_push(&zeros, "a", 1, &zeros, 64);
    CHECK(r.status == SIMDPCT_INVALID);
    r = simdpct_encode_finish(&zeros, &zeros, 64);
    CHECK(r.status == SIMDPCT_INVALID);
    CHECK(simdpct_encode_bound(SIZE_MAX) == SIZE_MAX && simdpct_decode_bound(SIZE_MAX) == SIZE_MAX);
    free(odd);
}

/* ---- many values */

#define MANY 1000

static void batch(uint32_t flags, int decoding) {
    simdpct_set set = bytes_set("/ab", 3);
    const simdpct_set *keep = dice(2) && !(flags & SIMDPCT_NORMALIZE) ? &set : NULL;
    size_t count = dice(3) ? dice(20) : dice(MANY), i, total = 0, most = 40, n = 0, rejected = 0, first = 0;
    simdpct_slice *slices = (simdpct_slice *)(void *)block(count * sizeof *slices);
    int32_t *offsets = (int32_t *)(void *)block((count + 1) * sizeof *offsets);
    int32_t *ends = (int32_t *)(void *)block((count + 1) * sizeof *ends);
    int64_t *wide = (int64_t *)(void *)block((count + 1) * sizeof *wide);
    int64_t *wide_ends = (int64_t *)(void *)block((count + 1) * sizeof *wide_ends);
    int32_t *right_ends = (int32_t *)(void *)block((count + 1) * sizeof *right_ends);
    uint8_t *valid = block((count + 7) / 8), *right_valid = block((count + 7) / 8);
    unsigned char *bytes, *right, *out;
    int form;
    offsets[0] = 0;
    for (i = 0; i < count; ++i) {
        size_t len = dice(10) ? dice((uint32_t)most) : dice(1500);
        unsigned char *value = block(len);
        fill(value, len, dice(6));
        slices[i].data = len || dice(2) ? value : NULL;
        if (!slices[i].data) free(value);
        slices[i].len = len;
        total += len;
        offsets[i + 1] = (int32_t)total;
    }
    bytes = block(total);
    right = block(3 * total);
    memset(right_valid, 0xFF, (count + 7) / 8);
    right_ends[0] = 0;
    for (i = 0; i < count; ++i) {
        simdpct_result r;
        if (slices[i].len) memcpy(bytes + offsets[i], slices[i].data, slices[i].len);
        r = decoding ? simdpct_decode(keep, flags, slices[i].data, slices[i].len, right + n, 3 * total - n)
                     : simdpct_encode(keep, flags, slices[i].data, slices[i].len, right + n, 3 * total - n);
        if (r.status == SIMDPCT_MALFORMED) {
            if (!rejected++) first = i;
            right_valid[i / 8] = (uint8_t)(right_valid[i / 8] & ~(1u << (i % 8)));
        } else {
            CHECK(r.status == SIMDPCT_OK);
        }
        n += r.written;
        right_ends[i + 1] = (int32_t)n;
    }
    for (i = 0; i <= count; ++i) wide[i] = offsets[i];
    for (form = 0; form < 8; ++form) {
        /* Four calls get the exact capacity, and four get one byte less. */
        size_t cap = form < 4 ? n : n - 1, k;
        simdpct_batch_result r;
        if (form >= 4 && n == 0) break;
        out = block(cap);
        memset(valid, 0xFF, (count + 7) / 8);
        switch (form % 4) {
        case 0:
            r = decoding ? simdpct_decode_column32(keep, flags, bytes, total, offsets, count, out, cap, ends, valid)
                         : simdpct_encode_column32(keep, flags, bytes, total, offsets, count, out, cap, ends);
            break;
        case 1:
            r = decoding ? simdpct_decode_column64(keep, flags, bytes, total, wide, count, out, cap, wide_ends, valid)
                         : simdpct_encode_column64(keep, flags, bytes, total, wide, count, out, cap, wide_ends);
            break;
        case 2:
            r = decoding ? simdpct_decode_slices32(keep, flags, slices, count, out, cap, ends, valid)
                         : simdpct_encode_slices32(keep, flags, slices, count, out, cap, ends);
            break;
        default:
            r = decoding ? simdpct_decode_slices64(keep, flags, slices, count, out, cap, wide_ends, NULL)
                         : simdpct_encode_slices64(keep, flags, slices, count, out, cap, wide_ends);
            memcpy(valid, right_valid, (count + 7) / 8);
        }
        CHECK(r.status == (form < 4 ? SIMDPCT_OK : SIMDPCT_TOO_SMALL) && r.needed == n && r.values <= count);
        CHECK(r.written == (size_t)right_ends[r.values] && memcmp(out, right, r.written) == 0);
        for (k = 0; k <= r.values; ++k) CHECK((form % 2 ? wide_ends[k] : ends[k]) == right_ends[k]);
        if (form < 4) {
            CHECK(r.values == count && r.written == n && r.rejected == rejected && r.first_rejected == first);
            CHECK(memcmp(valid, right_valid, (count + 7) / 8) == 0);
        } else {
            CHECK(r.values < count);
        }
        free(out);
    }
    for (i = 0; i < count; ++i) free((void *)(uintptr_t)slices[i].data);
    free(slices);
    free(offsets);
    free(ends);
    free(wide);
    free(wide_ends);
    free(right_ends);
    free(valid);
    free(right_valid);
    free(bytes);
    free(right);
}

/* An output that overlaps the set or the stream is invalid, and nothing is written. The set or stream is in the middle of the
 * memory, and the output starts at every offset. */
static void overlaps(void) {
    union {
        uint64_t words[64];
        unsigned char bytes[512];
        simdpct_set set;
        simdpct_encode_stream encoder;
        simdpct_decode_stream decoder;
    } memory, before;
    enum { AT = 192, NAME = 5 };
    static const size_t caps[] = {1, 3, 64, 192};
    static const int32_t ends[] = {0, 3};
    static const simdpct_slice slice = {"a%b", 3};
    simdpct_set *set = (simdpct_set *)(void *)(memory.bytes + AT);
    simdpct_encode_stream *encoder = (simdpct_encode_stream *)(void *)(memory.bytes + AT);
    simdpct_decode_stream *decoder = (simdpct_decode_stream *)(void *)(memory.bytes + AT);
    const char *name = (const char *)memory.bytes;
    int32_t out_ends[2];
    unsigned char other[16];
    size_t at, i;

#define CHECK_OVERLAP(expected, call)                                                                                    \
    do {                                                                                                                  \
        int32_t status = (call);                                                                                          \
        CHECK((status == SIMDPCT_INVALID) == (expected));                                                                 \
        if (status == SIMDPCT_INVALID) CHECK(memcmp(&memory, &before, sizeof memory) == 0);                               \
        memory = before;                                                                                                  \
    } while (0)

    for (i = 0; i < sizeof caps / sizeof *caps; ++i) {
        for (at = 0; at + caps[i] <= sizeof memory; ++at) {
            unsigned char *out = memory.bytes + at;
            size_t cap = caps[i];
            int with_set = at < AT + sizeof *set && at + cap > AT;
            int with_stream = at < AT + sizeof *encoder && at + cap > AT;
            int aligned = at % sizeof(uint64_t) == 0;

            memset(&memory, 'a', sizeof memory);
            *set = safe_set("/", 1);
            before = memory;
            CHECK_OVERLAP(with_set, simdpct_encode(set, 0, "a%b", 3, out, cap).status);
            CHECK_OVERLAP(with_set, simdpct_decode(set, 0, "a%b", 3, out, cap).status);
            CHECK_OVERLAP(with_set, simdpct_decode_in_place(set, 0, out, cap).status);
            CHECK_OVERLAP(with_set, simdpct_encode_column32(set, 0, "a%b", 3, ends, 1, out, cap, out_ends).status);
            CHECK_OVERLAP(with_set, simdpct_decode_column32(set, 0, "a%b", 3, ends, 1, out, cap, out_ends, NULL).status);
            CHECK_OVERLAP(with_set, simdpct_encode_slices64(set, 0, &slice, 0, out, cap, (int64_t *)(void *)other).status);
            CHECK_OVERLAP(with_set, simdpct_decode_slices32(set, 0, &slice, 1, out, cap, out_ends, NULL).status);
            if (aligned && at + sizeof *encoder <= sizeof memory) {
                int start = at < AT + sizeof *set && at + sizeof *encoder > AT;
                CHECK_OVERLAP(start, simdpct_encode_start((simdpct_encode_stream *)(void *)out, set, 0));
                CHECK_OVERLAP(start, simdpct_decode_start((simdpct_decode_stream *)(void *)out, set, 0));
            }
            if (aligned && at + sizeof *set <= sizeof memory) {
                simdpct_set *into = (simdpct_set *)(void *)out;
                int sets = at != AT && at < AT + sizeof *set && at + sizeof *set > AT;
                CHECK_OVERLAP(sets, simdpct_set_complement(into, set));
                sets = at < AT + cap && at + sizeof *set > AT;
                CHECK_OVERLAP(sets, simdpct_set_bytes(into, memory.bytes + AT, cap));
                CHECK_OVERLAP(sets, simdpct_set_safe(into, memory.bytes + AT, cap));
            }

            CHECK(simdpct_encode_start(encoder, NULL, 0) == SIMDPCT_OK);
            before = memory;
            CHECK_OVERLAP(with_stream, simdpct_encode_push(encoder, "a%b", 3, out, cap).status);
            CHECK_OVERLAP(with_stream, simdpct_encode_push(encoder, out, cap, other, sizeof other).status);
            CHECK_OVERLAP(with_stream, simdpct_encode_finish(encoder, out, cap).status);
            CHECK(simdpct_decode_start(decoder, NULL, 0) == SIMDPCT_OK);
            before = memory;
            CHECK_OVERLAP(with_stream, simdpct_decode_push(decoder, "a%b", 3, out, cap).status);
            CHECK_OVERLAP(with_stream, simdpct_decode_finish(decoder, out, cap).status);
        }
    }

    /* A name or bitmap that overlaps the set is invalid. Beside the set, it is valid. */
    for (at = AT - 40; at < AT + sizeof *set + 8; ++at) {
        memset(&memory, 0, sizeof memory);
        memcpy(memory.bytes + at, "none", NAME);
        before = memory;
        CHECK_OVERLAP(at + NAME > AT && at < AT + sizeof *set, simdpct_set_named(set, name + at));
        CHECK_OVERLAP(at + 32 > AT && at < AT + sizeof *set, simdpct_set_bitmap(set, memory.bytes + at));
    }

    /* Pointers that are not aligned are invalid. */
    memset(&memory, 0, sizeof memory);
    before = memory;
    set = (simdpct_set *)(void *)(memory.bytes + 1);
    CHECK_OVERLAP(1, simdpct_encode(set, 0, "a", 1, other, 3).status);
    CHECK_OVERLAP(1, simdpct_encoded_len(set, 0, "a", 1).status);
    CHECK_OVERLAP(1, simdpct_decode(set, 0, "a", 1, other, 3).status);
    CHECK_OVERLAP(1, simdpct_decoded_len(set, 0, "a", 1).status);
    CHECK_OVERLAP(1, simdpct_encode_slices32(set, 0, &slice, 1, other, 9, out_ends).status);
    CHECK_OVERLAP(1, simdpct_set_named(set, "none"));
    CHECK_OVERLAP(1, simdpct_set_bytes(set, "a", 1));
    CHECK_OVERLAP(1, simdpct_set_complement(&memory.set, set));
    CHECK(simdpct_encode_first_change(set, 0, "\0", 1) == 1 && !simdpct_set_contains(set, 'a'));
}

static void batch_arguments(void) {
    static const char text[] = "a b%41";
    int32_t offsets[3] = {0, 3, 6}, ends[3], wrong[3] = {0, 4, 3}, outside[3] = {0, 3, 7};
    int64_t wide_ends[3];
    unsigned char out[32], odd[32];
    uint8_t valid[1] = {0xFF};
    simdpct_slice slices[2];
    simdpct_batch_result r;
    r = simdpct_encode_column32(NULL, 0, text, 6, wrong, 2, out, 32, ends);
    CHECK(r.status == SIMDPCT_INVALID && r.values == 2);
    r = simdpct_decode_column32(NULL, 0, text, 6, outside, 2, out, 32, ends, valid);
    CHECK(r.status == SIMDPCT_INVALID && r.values == 2);
    r = simdpct_encode_column32(NULL, 0, text, 6, offsets, SIZE_MAX, out, 32, ends);
    CHECK(r.status == SIMDPCT_INVALID);
    r = simdpct_encode_column32(NULL, 0, text, 6, NULL, 2, out, 32, ends);
    CHECK(r.status == SIMDPCT_INVALID);
    r = simdpct_encode_column32(NULL, 0, text, 6, offsets, 2, out, 32, NULL);
    CHECK(r.status == SIMDPCT_INVALID);
    r = simdpct_encode_column32(NULL, SIMDPCT_IF_CHANGED, text, 6, offsets, 2, out, 32, ends);
    CHECK(r.status == SIMDPCT_INVALID);
    r = simdpct_encode_column32(NULL, 0, text, 6, offsets, 2, out, 32, offsets);
    CHECK(r.status == SIMDPCT_INVALID);
    r = simdpct_encode_column32(NULL, 0, text, 6, offsets, 2, ends, sizeof ends, ends);
    CHECK(r.status == SIMDPCT_INVALID);
    r = simdpct_decode_column32(NULL, 0, text, 6, offsets, 2, out, 32, ends, out);
    CHECK(r.status == SIMDPCT_INVALID);
    memcpy(odd + 1, offsets, sizeof offsets);
    r = simdpct_encode_column32(NULL, 0, text, 6, (const int32_t *)(const void *)(odd + 1), 2, out, 32, ends);
    CHECK(r.status == SIMDPCT_INVALID || (uintptr_t)(odd + 1) % sizeof(int32_t) == 0);
    slices[0].data = text;
    slices[0].len = 3;
    slices[1].data = NULL;
    slices[1].len = 1;
    r = simdpct_encode_slices64(NULL, 0, slices, 2, out, 32, wide_ends);
    CHECK(r.status == SIMDPCT_INVALID);
    slices[1].data = out + 31;
    r = simdpct_encode_slices64(NULL, 0, slices, 2, out, 32, wide_ends);
    CHECK(r.status == SIMDPCT_INVALID);
    r = simdpct_encode_slices64(NULL, 0, NULL, 0, NULL, 0, wide_ends);
    CHECK(r.status == SIMDPCT_OK && r.values == 0 && wide_ends[0] == 0);
    r = simdpct_encode_column32(NULL, 0, NULL, 0, wrong, 0, NULL, 0, ends);
    CHECK(r.status == SIMDPCT_OK && r.values == 0 && ends[0] == 0);
    /* A column without values may have no offsets, as in old versions of Arrow. */
    ends[0] = wide_ends[0] = 7;
    r = simdpct_encode_column32(NULL, 0, NULL, 0, NULL, 0, NULL, 0, ends);
    CHECK(r.status == SIMDPCT_OK && r.values == 0 && ends[0] == 0);
    r = simdpct_decode_column64(NULL, SIMDPCT_STRICT, text, 6, NULL, 0, out, 32, wide_ends, valid);
    CHECK(r.status == SIMDPCT_OK && r.values == 0 && wide_ends[0] == 0 && valid[0] == 0xFF);
}

/* ---- the library */

typedef simdpct_result header_function(const void *input, size_t len, void *out, size_t out_cap);

static simdpct_result decode_ext_value(const void *input, size_t len, void *out, size_t out_cap) {
    return simdpct_decode_ext_value(input, len, out, out_cap, NULL);
}

/* Checks the result of `function` with every capacity up to the length of the right output. */
static void check_header(header_function *function, const char *in, size_t len, const char *right, size_t right_len) {
    unsigned char *input = copy_of(in, len);
    size_t cap;
    for (cap = 0; cap <= right_len; ++cap) {
        unsigned char *out = block(cap);
        simdpct_result r = function(input, len, out, cap);
        CHECK(r.status == (cap < right_len ? SIMDPCT_TOO_SMALL : SIMDPCT_OK));
        CHECK(r.needed == right_len && r.written == (cap < right_len ? 0 : right_len) && r.offset == 0);
        CHECK(cap < right_len || memcmp(out, right, right_len) == 0);
        free(out);
    }
    free(input);
}

static void check_header_error(header_function *function, const char *in, size_t len, int32_t status, size_t offset) {
    unsigned char *input = copy_of(in, len), *out = block(3 * len + 7);
    simdpct_result r = function(input, len, out, 3 * len + 7);
    CHECK(r.status == status && r.offset == offset && r.written == 0 && r.needed == 0);
    free(input);
    free(out);
}

static void header_fields(void) {
#define ROW(function, in, right) check_header(function, in, sizeof in - 1, right, sizeof right - 1)
    ROW(simdpct_encode_ext_value, "", "UTF-8''");
    ROW(simdpct_encode_ext_value, "a-b.txt", "UTF-8''a-b.txt");
    ROW(simdpct_encode_ext_value, "\xE2\x82\xAC 'x'*%\0", "UTF-8''%E2%82%AC%20%27x%27%2A%25%00");
    ROW(decode_ext_value, "UTF-8''", "");
    ROW(decode_ext_value, "uTf-8'en-GB'%e2%82%AC%20rates", "\xE2\x82\xAC rates");
    ROW(decode_ext_value, "iso-8859-1'en'%A3%20r%41tes%FF%00", "\xC2\xA3 rAtes\xC3\xBF\0");
    ROW(simdpct_encode_multipart_name, "a\"b\r\n%22\xFF", "a%22b%0D%0A%22\xFF");
    ROW(simdpct_decode_multipart_name, "50%25 %22x%22%0d%0A%", "50%25 \"x\"\r\n%");
#undef ROW
#define ROW(function, in, status, offset) check_header_error(function, in, sizeof in - 1, status, offset)
    ROW(simdpct_encode_ext_value, "a\xC3", SIMDPCT_MALFORMED, 1);
    ROW(decode_ext_value, "", SIMDPCT_MALFORMED, 0);
    ROW(decode_ext_value, "UTF-8'a", SIMDPCT_MALFORMED, 7);
    ROW(decode_ext_value, "UTF-8'e_n'a", SIMDPCT_MALFORMED, 7);
    ROW(decode_ext_value, "UTF-16''a", SIMDPCT_NOT_FOUND, 0);
    ROW(decode_ext_value, "UTF-8''100%", SIMDPCT_MALFORMED, 10);
    ROW(decode_ext_value, "UTF-8''a b", SIMDPCT_MALFORMED, 8);
    ROW(decode_ext_value, "UTF-8''a'b", SIMDPCT_MALFORMED, 8);
    ROW(decode_ext_value, "UTF-8''a%C3%A9%A3", SIMDPCT_MALFORMED, 14);
#undef ROW
    {
        const char *value = "UTF-8'de'%C3%A4";
        char out[16];
        union {
            simdpct_slice slice;
            char bytes[sizeof(simdpct_slice) + 1];
        } tag;
        memset(&tag, 7, sizeof tag);
        CHECK(simdpct_decode_ext_value("x''", 3, out, 16, &tag.slice).status == SIMDPCT_NOT_FOUND && tag.bytes[0] == 7);
        CHECK(simdpct_decode_ext_value(value, 15, out, 16, &tag.slice).written == 2);
        CHECK(tag.slice.data == value + 6 && tag.slice.len == 2);
        CHECK(simdpct_decode_ext_value(value, 15, &tag, sizeof tag, &tag.slice).status == SIMDPCT_INVALID);
        CHECK(simdpct_decode_ext_value(&tag, 4, out, 16, &tag.slice).status == SIMDPCT_INVALID);
        CHECK(simdpct_decode_ext_value(value, 15, out, 16, (simdpct_slice *)(void *)(tag.bytes + 1)).status == SIMDPCT_INVALID);
        CHECK(simdpct_decode_ext_value(NULL, 1, out, 16, NULL).status == SIMDPCT_INVALID);
        CHECK(simdpct_encode_ext_value(out, 4, out, 16).status == SIMDPCT_INVALID);
        CHECK(simdpct_encode_multipart_name(out, 4, out, 16).status == SIMDPCT_INVALID);
        CHECK(simdpct_decode_multipart_name(out, 4, out, 16).status == SIMDPCT_INVALID);
    }
}

static void library(const char *wanted) {
    size_t i;
    int here = 0;
    CHECK(simdpct_init(wanted, 1) == SIMDPCT_INVALID);
    CHECK(simdpct_init("no-such-tier", 0) == SIMDPCT_NOT_FOUND);
    CHECK(simdpct_init(wanted, 0) == SIMDPCT_OK);
    CHECK(simdpct_init(wanted, 0) == SIMDPCT_OK);
    CHECK(!wanted || strcmp(simdpct_tier(), wanted) == 0);
    for (i = 0; simdpct_tier_at(i); ++i) {
        CHECK(strcmp(simdpct_tier_at(i), "unknown") != 0);
        if (strcmp(simdpct_tier_at(i), simdpct_tier()) == 0) here = 1;
        else CHECK(simdpct_init(simdpct_tier_at(i), 0) == SIMDPCT_IN_USE);
    }
    CHECK(here && (i == 1 || strcmp(simdpct_tier_at(i - 1), "scalar") == 0));
    CHECK(simdpct_tier_at(i) == NULL && simdpct_tier_at(SIZE_MAX) == NULL);
    CHECK(strcmp(simdpct_version(), SIMDPCT_VERSION) == 0);
}

int main(int argc, char **argv) {
    int i;
    if (argc > 1 && strcmp(argv[1], "--tiers") == 0) {
        for (i = 0; simdpct_tier_at((size_t)i); ++i) puts(simdpct_tier_at((size_t)i));
        return 0;
    }
    if (argc > 2) stride = (size_t)atoi(argv[2]);
    library(argc > 1 ? argv[1] : NULL);
    sets();
    normalize_and_validate();
    arguments();
    overlaps();
    one_value();
    pieces();
    batch_arguments();
    header_fields();
    for (i = 0; i < 60; i += (int)stride) {
        batch(0, 0);
        batch(SIMDPCT_FORM, 0);
        batch(SIMDPCT_KEEP_ESCAPES, 0);
        batch(0, 1);
        batch(SIMDPCT_STRICT, 1);
        batch(SIMDPCT_NORMALIZE, 1);
        batch(SIMDPCT_FORM | SIMDPCT_STRICT, 1);
    }
    printf("%lu checks on %s\n", checks, simdpct_tier());
    return 0;
}
