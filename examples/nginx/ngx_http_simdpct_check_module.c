/* Directives for the tests and measurements of examples/nginx. Not for production.
 *
 *     nginx_unescape $new $variable;   in `http`: the value of a variable, decoded by nginx's own ngx_unescape_uri
 *     simdpct_compare;                 a location that compares with nginx's own functions on generated input
 *     simdpct_benchmark CALLS;         a location that times nginx's functions and ours, on the query string and on generated input
 */

#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include <simdpct.h>
#include <time.h>

typedef struct {
    ngx_uint_t calls;
} location_t;

static char *nginx_unescape(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static char *compare(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static char *benchmark(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static void *create_location(ngx_conf_t *cf);

static ngx_command_t commands[] = {
    {ngx_string("nginx_unescape"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE2, nginx_unescape, 0, 0, NULL},
    {ngx_string("simdpct_compare"), NGX_HTTP_LOC_CONF | NGX_CONF_NOARGS, compare, NGX_HTTP_LOC_CONF_OFFSET, 0, NULL},
    {ngx_string("simdpct_benchmark"), NGX_HTTP_LOC_CONF | NGX_CONF_TAKE1, benchmark, NGX_HTTP_LOC_CONF_OFFSET, 0, NULL},
    ngx_null_command};

static ngx_http_module_t context = {NULL, NULL, NULL, NULL, NULL, NULL, create_location, NULL};

ngx_module_t ngx_http_simdpct_check_module = {
    NGX_MODULE_V1, &context, commands, NGX_HTTP_MODULE, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NGX_MODULE_V1_PADDING};

static void *
create_location(ngx_conf_t *cf)
{
    return ngx_pcalloc(cf->pool, sizeof(location_t));
}

/* Copies the value and decodes the copy in place, as nginx does with arguments. */
static ngx_int_t
unescape_variable(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_http_variable_value_t *value = ngx_http_get_flushed_variable(r, (ngx_uint_t) data);
    u_char *src, *dst;

    if (value == NULL) {
        return NGX_ERROR;
    }

    v->valid = 1;
    v->no_cacheable = 0;
    v->not_found = value->not_found;
    v->len = 0;
    if (value->not_found) {
        return NGX_OK;
    }

    dst = v->data = ngx_pnalloc(r->pool, value->len);
    if (dst == NULL) {
        return NGX_ERROR;
    }
    src = value->data;
    ngx_unescape_uri(&dst, &src, value->len, 0);
    v->len = dst - v->data;
    return NGX_OK;
}

static char *
nginx_unescape(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t *args = cf->args->elts, name = {args[1].len - 1, args[1].data + 1};
    ngx_str_t source = {args[2].len - 1, args[2].data + 1};
    ngx_http_variable_t *var = ngx_http_add_variable(cf, &name, NGX_HTTP_VAR_CHANGEABLE);
    ngx_int_t index = ngx_http_get_variable_index(cf, &source);

    (void) cmd;
    (void) conf;
    if (var == NULL || index == NGX_ERROR) {
        return NGX_CONF_ERROR;
    }
    var->get_handler = unescape_variable;
    var->data = index;
    return NGX_CONF_OK;
}

/* Returns pseudo-random numbers, the same in every run. */
static uint64_t state;

static uint32_t
below(uint32_t bound)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return ((state >> 33) * (uint64_t) bound) >> 31;
}

/* Writes random bytes, a third of them escaped. There are no malformed escapes. */
static size_t
well_formed(u_char *out, size_t max)
{
    static const u_char digits[] = "0123456789ABCDEFabcdef";
    size_t len = 0;

    while (len + 3 <= max) {
        if (below(3) == 0) {
            out[len++] = '%';
            out[len++] = digits[below(22)];
            out[len++] = digits[below(22)];
        } else {
            u_char byte = (u_char) (below(8) == 0 ? below(256) : (uint32_t) "abcxyz019-._~/?&=+ "[below(19)]);
            out[len++] = byte == '%' ? 'x' : byte;
        }
    }
    return len;
}

static ngx_int_t
answer(ngx_http_request_t *r, ngx_str_t *text)
{
    ngx_buf_t *buf;
    ngx_chain_t out;
    ngx_int_t rc = ngx_http_discard_request_body(r);

    if (rc != NGX_OK) {
        return rc;
    }
    ngx_str_set(&r->headers_out.content_type, "text/plain");
    r->headers_out.status = NGX_HTTP_OK;
    r->headers_out.content_length_n = text->len;
    rc = ngx_http_send_header(r);
    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }
    buf = ngx_calloc_buf(r->pool);
    if (buf == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
    buf->pos = text->data;
    buf->last = text->data + text->len;
    buf->memory = 1;
    buf->last_buf = 1;
    out.buf = buf;
    out.next = NULL;
    return ngx_http_output_filter(r, &out);
}

#define MAX 300
#define INPUTS 20000

/* Returns the set of bytes that nginx keeps when it escapes a component of a URI, found by asking nginx for each byte. */
static simdpct_set
kept_by_nginx(void)
{
    uint8_t bits[32] = {0};
    simdpct_set set = {{0}};
    ngx_uint_t i;

    for (i = 0; i < 256; i++) {
        u_char byte = i;

        if (ngx_escape_uri(NULL, &byte, 1, NGX_ESCAPE_URI_COMPONENT) == 0) {
            bits[i / 8] |= 1 << (i % 8);
        }
    }
    (void) !simdpct_set_bitmap(&set, bits);    /* cannot fail: both pointers are valid */
    return set;
}

static ngx_int_t
compare_handler(ngx_http_request_t *r)
{
    u_char *in = ngx_palloc(r->pool, MAX), *ours = ngx_palloc(r->pool, 3 * MAX), *theirs = ngx_palloc(r->pool, 3 * MAX);
    u_char *text = ngx_palloc(r->pool, 200), *src, *dst;
    ngx_uint_t i, differ[4] = {0, 0, 0, 0};
    simdpct_set kept = kept_by_nginx(), unreserved;
    ngx_str_t out;

    if (in == NULL || ours == NULL || theirs == NULL || text == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    state = 1;
    for (i = 0; i < INPUTS; i++) {
        size_t len = well_formed(in, below(MAX));
        simdpct_result result = simdpct_decode(NULL, 0, in, len, ours, len);

        dst = theirs;
        src = in;
        ngx_unescape_uri(&dst, &src, len, 0);
        differ[0] += result.written != (size_t) (dst - theirs) || ngx_memcmp(ours, theirs, result.written) != 0;
        differ[1] += simdpct_validate(in, len).status != SIMDPCT_OK;

        result = simdpct_encode(&kept, 0, in, len, ours, 3 * len);
        dst = (u_char *) ngx_escape_uri(theirs, in, len, NGX_ESCAPE_URI_COMPONENT);
        differ[2] += result.written != (size_t) (dst - theirs) || ngx_memcmp(ours, theirs, result.written) != 0;
    }
    /* nginx keeps the unreserved bytes of RFC 3986. */
    differ[3] = simdpct_set_named(&unreserved, "rfc3986-unreserved") != SIMDPCT_OK
                || ngx_memcmp(&unreserved, &kept, sizeof(kept)) != 0;

    out.data = text;
    out.len = ngx_sprintf(text, "%d inputs: decode differs %ui, valid %ui, encode %ui, set %ui\n", INPUTS, differ[0], differ[1],
                          differ[2], differ[3])
              - text;
    return answer(r, &out);
}

static char *
compare(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_core_loc_conf_t *core = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    (void) cmd;
    (void) conf;
    core->handler = compare_handler;
    return NGX_CONF_OK;
}

static double
seconds(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

#define MEASURE(best, calls, ...)                                                                                      \
    do {                                                                                                               \
        int round;                                                                                                     \
        (best) = 1e9;                                                                                                  \
        for (round = 0; round < 9; round++) {                                                                          \
            double start = seconds(), ns;                                                                              \
            ngx_uint_t call;                                                                                           \
            for (call = 0; call < (calls); call++) {                                                                   \
                __asm__ volatile("" ::"r"(in), "r"(out) : "memory");                                                   \
                __VA_ARGS__;                                                                                            \
            }                                                                                                          \
            ns = (seconds() - start) * 1e9 / (calls);                                                                  \
            (best) = ngx_min(best, ns);                                                                                \
        }                                                                                                              \
    } while (0)

static ngx_int_t
benchmark_handler(ngx_http_request_t *r)
{
    location_t *location = ngx_http_get_module_loc_conf(r, ngx_http_simdpct_check_module);
    u_char *in = r->args.data, *out = ngx_palloc(r->pool, 3 * r->args.len + 1), *text = ngx_palloc(r->pool, 1000);
    u_char *escaped = ngx_palloc(r->pool, 3 * r->args.len + 1);
    size_t len = r->args.len, escaped_len;
    simdpct_set kept = kept_by_nginx();
    volatile size_t sum = 0;
    double ours, theirs;
    ngx_str_t answer_text;

    if (out == NULL || text == NULL || escaped == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    answer_text.data = text;
    text = ngx_sprintf(text, "| ns a call, best of 9 | nginx | simdpct |\n|---|---|---|\n");

    MEASURE(theirs, location->calls, {
        size_t more = 2 * ngx_escape_uri(NULL, in, len, NGX_ESCAPE_URI_COMPONENT);
        u_char *end = more == 0 ? ngx_cpymem(out, in, len)
                                : (u_char *) ngx_escape_uri(out, in, len, NGX_ESCAPE_URI_COMPONENT);
        sum += end - out;
    });
    MEASURE(ours, location->calls, { sum += simdpct_encode(&kept, 0, in, len, out, 3 * len).written; });
    text = ngx_sprintf(text, "| encode, %uz bytes | %.1f | %.1f |\n", len, theirs, ours);

    MEASURE(theirs, location->calls, {
        u_char *src = in, *dst = out;
        ngx_unescape_uri(&dst, &src, len, 0);
        sum += dst - out;
    });
    MEASURE(ours, location->calls, { sum += simdpct_decode(NULL, 0, in, len, out, len).written; });
    text = ngx_sprintf(text, "| decode, %uz bytes | %.1f | %.1f |\n", len, theirs, ours);

    escaped_len = (u_char *) ngx_escape_uri(escaped, in, len, NGX_ESCAPE_URI_COMPONENT) - escaped;
    in = escaped;
    len = escaped_len;
    MEASURE(theirs, location->calls, {
        u_char *src = in, *dst = out;
        ngx_unescape_uri(&dst, &src, len, 0);
        sum += dst - out;
    });
    MEASURE(ours, location->calls, { sum += simdpct_decode(NULL, 0, in, len, out, len).written; });
    text = ngx_sprintf(text, "| decode it encoded, %uz bytes | %.1f | %.1f |\n", len, theirs, ours);

    MEASURE(ours, location->calls, { sum += simdpct_normalize(in, len, out, len).written; });
    text = ngx_sprintf(text, "| normalize it encoded, %uz bytes | | %.1f |\n", len, ours);

    answer_text.len = text - answer_text.data;
    return answer(r, &answer_text);
}

static char *
benchmark(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_core_loc_conf_t *core = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    ngx_str_t *args = cf->args->elts;
    location_t *location = conf;
    ngx_int_t calls = ngx_atoi(args[1].data, args[1].len);

    (void) cmd;
    if (calls <= 0) {
        return "needs a number of calls";
    }
    location->calls = calls;
    core->handler = benchmark_handler;
    return NGX_CONF_OK;
}
