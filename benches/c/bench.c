/* The C library beside what C programs use today: ns for each value, medians of repeats that take turns.
 *
 *     bench FILE [REPEATS]     values are the lines of FILE
 *
 * Rivals do the same job or say which other: each is called in its fastest idiom, with memory that it allows to be used
 * again, and its answers are compared with ours where the rules agree. */
#define _POSIX_C_SOURCE 200809L
#include <simdpct.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <apr_escape.h>
#include <apr_general.h>
#include <curl/curl.h>
#include <glib.h>

typedef struct {
    char *text; /* ends with a NUL, for rivals that want one */
    size_t len;
} value;

static value *values;
static size_t count;
static unsigned char *out;
static size_t sum; /* of all lengths: keeps the work from being dropped, and is compared */
static CURL *curl;

/* ---- a table and a loop, as in many a server */

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
static void encode_apr(void) { /* another set: '+' for a space, '*' stays, '~' does not */
    size_t i;
    for (i = 0; i < count; ++i) {
        apr_size_t len;
        apr_escape_urlencoded((char *)out, values[i].text, (apr_ssize_t)values[i].len, &len);
        sum += len - 1;
    }
}
static void encode_column(void);
static void decode_simdpct(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += simdpct_decode(NULL, 0, values[i].text, values[i].len, out, values[i].len + 256).written;
}
static void decode_place(void) { /* and a copy to the place, without which it would be decoded once only */
    size_t i;
    for (i = 0; i < count; ++i) {
        memcpy(out, values[i].text, values[i].len);
        sum += simdpct_decode_in_place(NULL, 0, out, values[i].len).written;
    }
}
static void decode_place_if_changed(void) {
    size_t i;
    for (i = 0; i < count; ++i) {
        memcpy(out, values[i].text, values[i].len);
        sum += simdpct_decode_in_place(NULL, SIMDPCT_IF_CHANGED, out, values[i].len).needed;
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
static void decode_form(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += simdpct_decode(NULL, SIMDPCT_FORM, values[i].text, values[i].len, out, values[i].len + 256).written;
}
static void encode_form(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += simdpct_encode(NULL, SIMDPCT_FORM, values[i].text, values[i].len, out, 3 * values[i].len + 256).written;
}
static void encode_keep(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += simdpct_encode(NULL, SIMDPCT_KEEP_ESCAPES, values[i].text, values[i].len, out, 3 * values[i].len + 256).written;
}
static void decode_loop(void) {
    size_t i;
    for (i = 0; i < count; ++i) sum += loop_decode((unsigned char *)values[i].text, values[i].len, out);
}
static void decode_glib(void) { /* allocates, and refuses malformed escapes */
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
static void decode_apr(void) { /* refuses malformed escapes, %00 and %2F */
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

/* ---- */

typedef struct {
    const char *name;
    void (*run)(void);
    int same; /* the sum of lengths is that of the first of its kind */
} contender;

static const contender encoders[] = {
    {"simdpct", encode_simdpct, 1},       {"simdpct, a column", encode_column, 1}, {"table loop", encode_loop, 1},
    {"glib", encode_glib, 1},             {"libcurl", encode_curl, 1},             {"apr", encode_apr, 0},
    {"simdpct, form", encode_form, 0},    {"simdpct, keeping escapes", encode_keep, 0},
};
static const contender decoders[] = {
    {"simdpct", decode_simdpct, 1},
    {"simdpct, if changed", decode_if_changed, 1},
    {"simdpct, a column", decode_column, 1},
    {"simdpct, copy + in place", decode_place, 1},
    {"simdpct, copy + in place, if changed", decode_place_if_changed, 1},
    {"table loop", decode_loop, 1},
    {"glib", decode_glib, 0},
    {"libcurl", decode_curl, 0},
    {"apr", decode_apr, 0},
    {"simdpct, form", decode_form, 1},
    {"simdpct, normalize", normalize, 0},
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

static void measure(const char *what, const contender *all, size_t number, int repeats) {
    double *times = (double *)malloc(number * (size_t)repeats * sizeof *times);
    size_t i, right = 0;
    int repeat;
    if (!times) abort();
    for (i = 0; i < number; ++i) {
        sum = 0;
        all[i].run();
        if (i == 0) right = sum;
        if (all[i].same && sum != right) {
            fprintf(stderr, "%s: %s gives %zu bytes, not %zu\n", what, all[i].name, sum, right);
            exit(1);
        }
    }
    for (repeat = 0; repeat < repeats; ++repeat) {
        for (i = 0; i < number; ++i) {
            double start = now();
            all[i].run();
            times[i * (size_t)repeats + (size_t)repeat] = (now() - start) / (double)count;
        }
    }
    for (i = 0; i < number; ++i) {
        double *of = times + i * (size_t)repeats;
        qsort(of, (size_t)repeats, sizeof *of, ascending);
        printf("%-8s %-38s %8.1f ns   (least %.1f)\n", what, all[i].name, of[repeats / 2], of[0]);
    }
    free(times);
}

int main(int argc, char **argv) {
    int repeats = argc > 2 ? atoi(argv[2]) : 15, c;
    size_t capacity = 0, most = 0, used = 0, room = 0, i;
    char *line = NULL;
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    ssize_t len;
    if (!file || repeats < 1) {
        fprintf(stderr, "usage: bench FILE [REPEATS]\n");
        return 2;
    }
    /* All text in one block, in the order of use: scattered strings would measure the cache. */
    while ((len = getline(&line, &capacity, file)) > 0) {
        if (line[len - 1] == '\n') --len;
        joined = (unsigned char *)realloc(joined, used + (size_t)len + 1);
        if (count == room) {
            room = room ? 2 * room : 1024;
            values = (value *)realloc(values, room * sizeof *values);
        }
        if (!joined || !values) abort();
        memcpy(joined + used, line, (size_t)len);
        values[count++].len = (size_t)len;
        used += (size_t)len;
        if ((size_t)len > most) most = (size_t)len;
    }
    fclose(file);
    free(line);
    joined_len = used;
    {
        char *text = (char *)malloc(used + count + 64);
        offsets = (int32_t *)malloc((count + 1) * sizeof *offsets);
        ends = (int32_t *)malloc((count + 1) * sizeof *ends);
        column = (unsigned char *)malloc(3 * used + 256);
        out = (unsigned char *)malloc(3 * most + 256);
        if (!text || !offsets || !ends || !column || !out || used > INT32_MAX) abort();
        used = 0;
        offsets[0] = 0;
        for (i = 0; i < count; ++i) {
            values[i].text = text;
            memcpy(text, joined + used, values[i].len);
            text[values[i].len] = 0;
            text += values[i].len + 1;
            used += values[i].len;
            offsets[i + 1] = (int32_t)used;
        }
    }
    for (c = 0; c < 256; ++c) {
        stays[c] = (unsigned char)((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                   (c && c < 128 && strchr("-._~", c)));
        digits[c] = (signed char)(c >= '0' && c <= '9'   ? c - '0'
                                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                         : -1);
    }
    if (apr_initialize() != APR_SUCCESS || curl_global_init(CURL_GLOBAL_NOTHING) != 0 || !(curl = curl_easy_init())) abort();
    if (getenv("BENCH_TIER") && simdpct_init(getenv("BENCH_TIER"), 0) != SIMDPCT_OK) return 2;
    printf("%zu values, %.1f bytes on average, on %s\n", count, (double)joined_len / (double)count, simdpct_tier());
    measure("encode", encoders, sizeof encoders / sizeof *encoders, repeats);
    measure("decode", decoders, sizeof decoders / sizeof *decoders, repeats);
    return 0;
}
