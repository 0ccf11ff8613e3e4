/* Compares the C library with what C programs use today: ns for each value, medians of repeats that take turns.
 *
 *     LD_PRELOAD=bench.so nginx FILE [REPEATS [encoded]]
 *
 * The values are the lines of FILE, or these encoded as a whole. This is a library that runs inside the process of nginx before
 * nginx's own main, because only that program exports its escaping functions.
 *
 * Each rival is called in its fastest idiom and reuses memory if it can. If its rules are those of simdpct, the lengths of its
 * results are compared; otherwise a comment says how it differs. */
#define _POSIX_C_SOURCE 200809L
#include <simdpct.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <apr_escape.h>
#include <apr_general.h>
#include <curl/curl.h>
#include <glib.h>

typedef struct {
    char *text; /* ends with a NUL, which some rivals need */
    size_t len;
} value;

static value *values;
static size_t count;
static unsigned char *out;
static char *text;   /* all values, each with its NUL */
static char *copy;   /* a copy of `text` for decoding in place, made anew for each repeat */
static size_t text_len;
static size_t sum; /* the sum of all lengths, which is compared, and keeps the compiler from removing the work */
static CURL *curl;
static simdpct_set path; /* rfc3986-path, for calls with a set */

/* ---- a loop with a table, as many servers have it */

static unsigned char stays[256];
static signed char digits[256];

static size_t loop_encode(const unsigned char *in, size_t len, unsigned char *to) {
    unsigned char *at = to;
    size_t i;
    for (i = 0; i < len; ++i) {
        unsigned char byte = in[i];
        if (stays[byte]) {
            *at++ = byte;
        } else {
            *at++ = '%';
            *at++ = (unsigned char)"0123456789ABCDEF"[byte >> 4];
            *at++ = (unsigned char)"0123456789ABCDEF"[byte & 15];
        }
    }
    return (size_t)(at - to);
}

static size_t loop_decode(const unsigned char *in, size_t len, unsigned char *to) {
    unsigned char *at = to;
    size_t i;
    for (i = 0; i < len; ++i) {
        if (in[i] == '%' && len - i >= 3 && digits[in[i + 1]] >= 0 && digits[in[i + 2]] >= 0) {
            *at++ = (unsigned char)(digits[in[i + 1]] << 4 | digits[in[i + 2]]);
            i += 2;
        } else {
            *at++ = in[i];
        }
    }
    return (size_t)(at - to);
}

/* ---- nginx's own, which its headers declare as here */

uintptr_t ngx_escape_uri(unsigned char *to, unsigned char *from, size_t len, uintptr_t kind) __attribute__((weak));
void ngx_unescape_uri(unsigned char **to, unsigned char **from, size_t len, uintptr_t kind) __attribute__((weak));
#define NGX_ESCAPE_URI_COMPONENT 2

/* ---- what is measured: all values once */

static void encode_simdpct(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += simdpct_encode(NULL, 0, values[i].text, values[i].len, out, 3 * values[i].len + 256).written;
}
static void encode_loop(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += loop_encode((unsigned char *)values[i].text, values[i].len, out);
}
static void encode_glib(void) { /* allocates: there is no other way */
    size_t i;
    for (i = 0; i < count; ++i) {
        char *text = g_uri_escape_bytes((guint8 *)values[i].text, values[i].len, NULL);
        sum += strlen(text);
        g_free(text);
    }
}
static void encode_curl(void) { /* allocates: there is no other way */
    size_t i;
    for (i = 0; i < count; ++i) {
        char *text = curl_easy_escape(curl, values[i].text, (int)values[i].len);
        sum += strlen(text);
        curl_free(text);
    }
}
static void encode_apr(void) { /* differs: '+' for a space, keeps '*', escapes '~' */
    size_t i;
    for (i = 0; i < count; ++i) {
        apr_size_t len;
        apr_escape_urlencoded((char *)out, values[i].text, (apr_ssize_t)values[i].len, &len);
        sum += len - 1;
    }
}

static void decode_simdpct(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += simdpct_decode(NULL, 0, values[i].text, values[i].len, out, values[i].len + 256).written;
}
/* Returns value i of the copy. */
static unsigned char *place(size_t i) { return (unsigned char *)copy + (values[i].text - text); }
static void decode_place(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += simdpct_decode_in_place(NULL, 0, place(i), values[i].len).written;
}
static void decode_place_if_changed(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += simdpct_decode_in_place(NULL, SIMDPCT_IF_CHANGED, place(i), values[i].len).needed;
}
static void normalize_place(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += simdpct_decode_in_place(NULL, SIMDPCT_NORMALIZE, place(i), values[i].len).written;
}
static void loop_place(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += loop_decode(place(i), values[i].len, place(i));
}
static void nginx_place(void) {
    size_t i;
    for (i = 0; i < count; ++i) {
        unsigned char *from = place(i), *to = from;
        ngx_unescape_uri(&to, &from, values[i].len, 0);
        sum += (size_t)(to - place(i));
    }
}
static void decode_nginx(void) { /* differs: drops the '%' of a malformed escape */
    size_t i;
    for (i = 0; i < count; ++i) {
        unsigned char *from = (unsigned char *)values[i].text, *to = out;
        ngx_unescape_uri(&to, &from, values[i].len, 0);
        sum += (size_t)(to - out);
    }
}
static void encode_nginx(void) {
    size_t i;
    for (i = 0; i < count; ++i) {
        unsigned char *from = (unsigned char *)values[i].text;
        sum += (size_t)((unsigned char *)ngx_escape_uri(out, from, values[i].len, NGX_ESCAPE_URI_COMPONENT) - out);
    }
}
static void encode_nginx_counting(void) { /* the way nginx itself calls it: counts first, and copies if nothing changes */
    size_t i;
    for (i = 0; i < count; ++i) {
        unsigned char *from = (unsigned char *)values[i].text;
        size_t len = values[i].len, escapes = ngx_escape_uri(NULL, from, len, NGX_ESCAPE_URI_COMPONENT);
        if (escapes == 0) {
            memcpy(out, from, len);
        } else {
            ngx_escape_uri(out, from, len, NGX_ESCAPE_URI_COMPONENT);
        }
        sum += len + 2 * escapes;
    }
}
static void decode_if_changed(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += simdpct_decode(NULL, SIMDPCT_IF_CHANGED, values[i].text, values[i].len, out, values[i].len + 256).needed;
}
static void normalize(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += simdpct_normalize(values[i].text, values[i].len, out, values[i].len + 256).written;
}
static void decode_strict(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += simdpct_decode(NULL, SIMDPCT_STRICT, values[i].text, values[i].len, out, values[i].len + 256).written;
}
static void decode_keep(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += simdpct_decode(&path, 0, values[i].text, values[i].len, out, values[i].len + 256).written;
}
static void decode_form(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += simdpct_decode(NULL, SIMDPCT_FORM, values[i].text, values[i].len, out, values[i].len + 256).written;
}
static void encode_form(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += simdpct_encode(NULL, SIMDPCT_FORM, values[i].text, values[i].len, out, 3 * values[i].len + 256).written;
}
static void encode_path(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += simdpct_encode(&path, 0, values[i].text, values[i].len, out, 3 * values[i].len + 256).written;
}
static void encode_path_keep(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += simdpct_encode(&path, SIMDPCT_KEEP_ESCAPES, values[i].text, values[i].len, out, 3 * values[i].len + 256).written;
}
static void encode_if_changed(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += simdpct_encode(NULL, SIMDPCT_IF_CHANGED, values[i].text, values[i].len, out, 3 * values[i].len + 256).needed;
}
static void encode_lower(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += simdpct_encode(NULL, SIMDPCT_LOWER_CASE, values[i].text, values[i].len, out, 3 * values[i].len + 256).written;
}
static void encode_keep(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += simdpct_encode(NULL, SIMDPCT_KEEP_ESCAPES, values[i].text, values[i].len, out, 3 * values[i].len + 256).written;
}
static void decode_loop(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += loop_decode((unsigned char *)values[i].text, values[i].len, out);
}
static void decode_glib(void) { /* allocates, and rejects malformed escapes */
    size_t i;
    for (i = 0; i < count; ++i) {
        GBytes *bytes = g_uri_unescape_bytes(values[i].text, (gssize)values[i].len, NULL, NULL);
        if (bytes) {
            sum += g_bytes_get_size(bytes);
            g_bytes_unref(bytes);
        }
    }
}
static void decode_curl(void) { /* allocates */
    size_t i;
    for (i = 0; i < count; ++i) {
        int len;
        char *text = curl_easy_unescape(curl, values[i].text, (int)values[i].len, &len);
        sum += (size_t)len;
        curl_free(text);
    }
}
static void decode_apr(void) { /* rejects malformed escapes, %00 and %2F */
    size_t i;
    for (i = 0; i < count; ++i) {
        apr_size_t len = 0;
        apr_unescape_url((char *)out, values[i].text, (apr_ssize_t)values[i].len, NULL, NULL, 0, &len);
        sum += len ? len - 1 : 0;
    }
}

static unsigned char *joined, *column;
static size_t joined_len;
static int32_t *offsets, *ends;

static void encode_column(void) {
    sum += simdpct_encode_column32(NULL, 0, joined, joined_len, offsets, count, column, 3 * joined_len + 256, ends).written;
}
static void decode_column(void) {
    sum += simdpct_decode_column32(NULL, 0, joined, joined_len, offsets, count, column, 3 * joined_len + 256, ends, NULL).written;
}


/* Whether the results must have the same length as those of the first contender. */
enum agreement { ALWAYS, WELL_FORMED, NEVER };

typedef struct {
    const char *name;
    void (*run)(void);
    enum agreement agrees;
    int in_place;
} contender;

static const contender encoders[] = {
    {"**simdpct**", encode_simdpct, ALWAYS, 0},
    {"**simdpct**, all values as a column", encode_column, ALWAYS, 0},
    {"a table and a loop", encode_loop, ALWAYS, 0},
    {"nginx, `ngx_escape_uri`", encode_nginx, ALWAYS, 0},
    {"nginx, counting first, as it does", encode_nginx_counting, ALWAYS, 0},
    {"apr (`+` for a space)", encode_apr, NEVER, 0},
    {"GLib (allocates)", encode_glib, ALWAYS, 0},
    {"libcurl (allocates)", encode_curl, ALWAYS, 0},
    {"**simdpct**, `IF_CHANGED`", encode_if_changed, ALWAYS, 0},
    {"**simdpct**, `LOWER_CASE`", encode_lower, ALWAYS, 0},
    {"**simdpct**, `FORM`", encode_form, NEVER, 0},
    {"**simdpct**, `KEEP_ESCAPES`", encode_keep, NEVER, 0},
    {"**simdpct**, a set", encode_path, NEVER, 0},
    {"**simdpct**, a set, `KEEP_ESCAPES`", encode_path_keep, NEVER, 0},
};
static const contender decoders[] = {
    {"**simdpct**", decode_simdpct, ALWAYS, 0},
    {"**simdpct**, in place", decode_place, ALWAYS, 1},
    {"**simdpct**, all values as a column", decode_column, ALWAYS, 0},
    {"a table and a loop", decode_loop, ALWAYS, 0},
    {"a table and a loop, in place", loop_place, ALWAYS, 1},
    {"nginx, `ngx_unescape_uri`", decode_nginx, WELL_FORMED, 0},
    {"nginx, in place", nginx_place, WELL_FORMED, 1},
    {"apr (rejects `%00`, `%2F`)", decode_apr, NEVER, 0},
    {"GLib (allocates)", decode_glib, WELL_FORMED, 0},
    {"libcurl (allocates)", decode_curl, ALWAYS, 0},
    {"**simdpct**, `IF_CHANGED`", decode_if_changed, ALWAYS, 0},
    {"**simdpct**, in place, `IF_CHANGED`", decode_place_if_changed, ALWAYS, 1},
    {"**simdpct**, `STRICT`", decode_strict, WELL_FORMED, 0},
    {"**simdpct**, `FORM`", decode_form, ALWAYS, 0},
    {"**simdpct**, a set that stays", decode_keep, NEVER, 0},
    {"**simdpct**, normalize", normalize, NEVER, 0},
    {"**simdpct**, normalize in place", normalize_place, NEVER, 1},
};

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fresh(const contender *one) {
    if (one->in_place) memcpy(copy, text, text_len);
}

static int is_nginx(const contender *one) {
    return one->run == encode_nginx || one->run == encode_nginx_counting || one->run == decode_nginx || one->run == nginx_place;
}

static void measure(const char *what, const contender *all, size_t number, int repeats, int well_formed) {
    double *times = (double *)malloc(number * (size_t)repeats * sizeof *times);
    size_t i, right = 0;
    int repeat;
    if (!times) abort();
    for (i = 0; i < number; ++i) {
        if (is_nginx(all + i) && !ngx_escape_uri) continue;
        sum = 0;
        fresh(all + i);
        all[i].run();
        if (i == 0) right = sum;
        if ((all[i].agrees == ALWAYS || (all[i].agrees == WELL_FORMED && well_formed)) && sum != right) {
            fprintf(stderr, "%s: %s gives %zu bytes, not %zu\n", what, all[i].name, sum, right);
            exit(1);
        }
    }
    for (repeat = 0; repeat < repeats; ++repeat) {
        for (i = 0; i < number; ++i) {
            double start;
            if (is_nginx(all + i) && !ngx_escape_uri) continue;
            fresh(all + i);
            start = now();
            all[i].run();
            times[i * (size_t)repeats + (size_t)repeat] = (now() - start) / (double)count;
        }
    }
    printf("\n| %s | ns | of simdpct | least |\n|---|---|---|---|\n", what);
    for (i = 0; i < number; ++i) {
        double *of = times + i * (size_t)repeats;
        if (is_nginx(all + i) && !ngx_escape_uri) continue;
        qsort(of, (size_t)repeats, sizeof *of, ascending);
        printf("| %s | %.1f | %.2f | %.1f |\n", all[i].name, of[repeats / 2], of[repeats / 2] / times[repeats / 2], of[0]);
    }
    free(times);
}

/* Recopy the values by their encoded form. */
static void encode_all(void) {
    unsigned char *encoded = (unsigned char *)malloc(3 * joined_len + 1);
    size_t used = 0, i;
    if (!encoded) abort();
    joined_len = 0;
    for (i = 0; i < count; ++i) {
        simdpct_result result = simdpct_encode(NULL, 0, joined + joined_len, values[i].len, encoded + used, 3 * values[i].len);
        joined_len += values[i].len;
        values[i].len = result.written;
        used += result.written;
    }
    free(joined);
    joined = encoded;
    joined_len = used;
}

static int bench(int argc, char **argv) {
    int repeats = argc > 2 ? atoi(argv[2]) : 51, c, well_formed = 1;
    size_t capacity = 0, most = 0, room = 0, i;
    char *line = NULL, *at;
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    ssize_t len;
    if (!file || repeats < 1) {
        fprintf(stderr, "usage: LD_PRELOAD=bench.so nginx FILE [REPEATS [encoded]]\n");
        return 2;
    }
    /* All text is in one block in the order of use. Scattered strings would measure the cache. */
    while ((len = getline(&line, &capacity, file)) > 0) {
        if (line[len - 1] == '\n') --len;
        joined = (unsigned char *)realloc(joined, joined_len + (size_t)len + 1);
        if (count == room) {
            room = room ? 2 * room : 1024;
            values = (value *)realloc(values, room * sizeof *values);
        }
        if (!joined || !values) abort();
        memcpy(joined + joined_len, line, (size_t)len);
        values[count++].len = (size_t)len;
        joined_len += (size_t)len;
    }
    fclose(file);
    free(line);
    if (getenv("BENCH_TIER") && simdpct_init(getenv("BENCH_TIER"), 0) != SIMDPCT_OK) return 2;
    if (argc > 3) encode_all();
    if (count == 0 || joined_len > INT32_MAX / 3) {
        fprintf(stderr, "bench: needs lines of text, at most 700 MB\n");
        return 2;
    }
    for (i = 0; i < count; ++i) {
        if (values[i].len > most) most = values[i].len;
    }
    text_len = joined_len + count;
    text = (char *)malloc(text_len + 64);
    copy = (char *)malloc(text_len + 64);
    offsets = (int32_t *)malloc((count + 1) * sizeof *offsets);
    ends = (int32_t *)malloc((count + 1) * sizeof *ends);
    column = (unsigned char *)malloc(3 * joined_len + 256);
    /* The buffer is aligned, because stores that cross a page take longer. */
    if (posix_memalign((void **)&out, 4096, 3 * most + 1024)) abort();
    out += 272;
    if (!text || !copy || !offsets || !ends || !column || !out) abort();
    offsets[0] = 0;
    for (at = text, i = 0; i < count; ++i) {
        values[i].text = at;
        memcpy(at, joined + offsets[i], values[i].len);
        at[values[i].len] = 0;
        at += values[i].len + 1;
        offsets[i + 1] = offsets[i] + (int32_t)values[i].len;
        well_formed &= simdpct_validate(values[i].text, values[i].len).status == SIMDPCT_OK;
    }
    for (c = 0; c < 256; ++c) {
        stays[c] = (unsigned char)((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                   (c && c < 128 && strchr("-._~", c)));
        digits[c] = (signed char)(c >= '0' && c <= '9'   ? c - '0'
                                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                         : -1);
    }
    if (apr_initialize() != APR_SUCCESS || curl_global_init(CURL_GLOBAL_NOTHING) != 0 || !(curl = curl_easy_init()) ||
        simdpct_set_named(&path, "rfc3986-path") != SIMDPCT_OK)
        abort();
    printf("%zu values, %.1f bytes on average, on %s\n", count, (double)joined_len / (double)count, simdpct_tier());
    if (!ngx_escape_uri) printf("\nThis program exports no functions of nginx: its rows are missing.\n");
    measure("encode", encoders, sizeof encoders / sizeof *encoders, repeats, well_formed);
    measure("decode", decoders, sizeof decoders / sizeof *decoders, repeats, well_formed);
    return 0;
}

/* Recopy the program's own `main`. */
__attribute__((constructor)) static void instead(int argc, char **argv) { exit(bench(argc, argv)); }
