/* Defines variables that are percent-encoded, decoded, normalized or checked copies of other values.
 *
 *     simdpct_encode      $new value [set=NAME] [keep=BYTES] [form] [keep_escapes];
 *     simdpct_decode      $new value [keep=BYTES] [controls] [strict];
 *     simdpct_decode_form $new value [keep=BYTES] [controls] [strict];
 *     simdpct_normalize   $new value;
 *     simdpct_valid       $new value;
 *     simdpct_ambiguous   $new value;
 *
 * The directives belong in `http`. The value of $new is computed when a request first uses it. README.md describes each.
 */

#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include <simdpct.h>

typedef enum { ENCODE, DECODE, NORMALIZE, VALID, AMBIGUOUS } verb_t;

/* Returns whether two servers route the request target differently (src/lib.rs). */
int32_t simdpct_is_ambiguous(const u_char *target, size_t len);

/* The description of a variable: how its value is computed from its input. */
typedef struct {
    verb_t verb;
    uint32_t flags;
    /* The bytes that encoding copies, and whose escapes decoding copies. */
    simdpct_set set;
    /* The index of the variable that is the input, or NGX_ERROR if `text` computes the input. */
    ngx_int_t index;
    ngx_http_complex_value_t text;
} variable_t;

/* The longest value of an nginx variable, whose length is a field of 28 bits. */
#define MAX_LEN ((1 << 28) - 1)

/* Output up to this size is written to the stack first, so that it takes only its exact length from the request's pool. */
#define ON_STACK 1024

/* The longest part of a value that is written to the error log. */
#define MAX_LOGGED 256

static char *ngx_http_simdpct(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static ngx_int_t ngx_http_simdpct_variable(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data);

/* The operation of each directive, and the flags that it implies. */
static struct command {
    verb_t verb;
    uint32_t flags;
} encode = {ENCODE, 0},
  decode = {DECODE, 0},
  decode_form = {DECODE, SIMDPCT_FORM},
  normalize = {NORMALIZE, 0},
  valid = {VALID, 0},
  ambiguous = {AMBIGUOUS, 0};

static ngx_command_t commands[] = {
    {ngx_string("simdpct_encode"), NGX_HTTP_MAIN_CONF | NGX_CONF_2MORE, ngx_http_simdpct, 0, 0, &encode},
    {ngx_string("simdpct_decode"), NGX_HTTP_MAIN_CONF | NGX_CONF_2MORE, ngx_http_simdpct, 0, 0, &decode},
    {ngx_string("simdpct_decode_form"), NGX_HTTP_MAIN_CONF | NGX_CONF_2MORE, ngx_http_simdpct, 0, 0, &decode_form},
    {ngx_string("simdpct_normalize"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE2, ngx_http_simdpct, 0, 0, &normalize},
    {ngx_string("simdpct_valid"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE2, ngx_http_simdpct, 0, 0, &valid},
    {ngx_string("simdpct_ambiguous"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE2, ngx_http_simdpct, 0, 0, &ambiguous},
    ngx_null_command};

static ngx_http_module_t context = {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL};

ngx_module_t ngx_http_simdpct_module = {NGX_MODULE_V1, &context, commands, NGX_HTTP_MODULE, NULL, NULL, NULL, NULL,
                                        NULL,          NULL,     NULL,     NGX_MODULE_V1_PADDING};

static void
add(uint8_t *bits, u_char byte)
{
    bits[byte / 8] |= 1 << (byte % 8);
}

/* Reads the options after the value, and makes the set that they describe. */
static char *
options(ngx_conf_t *cf, variable_t *variable, ngx_str_t *option, ngx_uint_t n)
{
    ngx_uint_t byte, i, controls = 0;
    uint8_t bits[32] = {0};
    simdpct_set named;
    char *set = NULL;

    for (; n > 0; n--, option++) {
        if (ngx_strncmp(option->data, "keep=", 5) == 0) {
            for (i = 5; i < option->len; i++) {
                add(bits, option->data[i]);
            }

        } else if (variable->verb == ENCODE && ngx_strncmp(option->data, "set=", 4) == 0) {
            if (set != NULL) {
                return "has more than one \"set=\"";
            }
            /* nginx ends the arguments of directives with a NUL. */
            set = (char *) option->data + 4;

        } else if (variable->verb == ENCODE && ngx_strcmp(option->data, "form") == 0) {
            variable->flags |= SIMDPCT_FORM;

        } else if (variable->verb == ENCODE && ngx_strcmp(option->data, "keep_escapes") == 0) {
            variable->flags |= SIMDPCT_KEEP_ESCAPES;

        } else if (variable->verb == DECODE && ngx_strcmp(option->data, "strict") == 0) {
            variable->flags |= SIMDPCT_STRICT;

        } else if (variable->verb == DECODE && ngx_strcmp(option->data, "controls") == 0) {
            controls = 1;

        } else {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "unknown option \"%V\"", option);
            return NGX_CONF_ERROR;
        }
    }

    if (variable->verb == ENCODE) {
        if (set == NULL) {
            set = "rfc3986-unreserved";
        }
        if (simdpct_set_named(&named, set) != SIMDPCT_OK) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "there is no set \"%s\"", set);
            return NGX_CONF_ERROR;
        }
        for (byte = 0; byte < 256; byte++) {
            if (simdpct_set_contains(&named, byte)) {
                add(bits, byte);
            }
        }

    } else if (!controls) {
        for (byte = 0; byte < 0x20; byte++) {
            add(bits, byte);
        }
        add(bits, 0x7F);
    }
    if (simdpct_set_bitmap(&variable->set, bits) != SIMDPCT_OK) {
        return NGX_CONF_ERROR;
    }

    if ((variable->flags & SIMDPCT_FORM) && (variable->flags & SIMDPCT_KEEP_ESCAPES)) {
        return "cannot have both \"form\" and \"keep_escapes\"";
    }

    return NGX_CONF_OK;
}

static ngx_int_t
is_name_char(u_char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') || ch == '_';
}

/* Returns whether `value` is text that contains the variable `name`, as "$name" or "${name}". */
static ngx_int_t
contains_variable(const ngx_str_t *value, const ngx_str_t *name)
{
    u_char *p, *end = value->data + value->len;

    for (p = value->data; p < end; p++) {
        u_char *start = p + 1;

        if (*p != '$') {
            continue;
        }
        if (start < end && *start == '{') {
            start++;
        }
        if ((size_t) (end - start) >= name->len && ngx_strncasecmp(start, name->data, name->len) == 0
            && (start + name->len == end || !is_name_char(start[name->len]))) {
            return 1;
        }
    }

    return 0;
}

/* Returns whether all of `value` is one variable, "$name" or "${name}", and stores its name. */
static ngx_int_t
one_variable(const ngx_str_t *value, ngx_str_t *name)
{
    size_t i;

    *name = *value;
    if (name->len < 2 || name->data[0] != '$') {
        return 0;
    }

    name->data++;
    name->len--;
    if (name->len > 2 && name->data[0] == '{' && name->data[name->len - 1] == '}') {
        name->data++;
        name->len -= 2;
    }

    /* "$1" is a capture of a regular expression, which has no index. */
    if (name->data[0] >= '0' && name->data[0] <= '9') {
        return 0;
    }

    for (i = 0; i < name->len; i++) {
        if (!is_name_char(name->data[i])) {
            return 0;
        }
    }

    return 1;
}

static char *
ngx_http_simdpct(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    struct command *command = cmd->post;
    ngx_str_t *args = cf->args->elts, name;
    ngx_http_variable_t *var;
    variable_t *variable;
    char *error;

    (void) conf;

    if (args[1].len < 2 || args[1].data[0] != '$') {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "invalid variable name \"%V\"", &args[1]);
        return NGX_CONF_ERROR;
    }

    name.data = args[1].data + 1;
    name.len = args[1].len - 1;
    if (contains_variable(&args[2], &name)) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "the variable \"%V\" refers to itself", &args[1]);
        return NGX_CONF_ERROR;
    }

    var = ngx_http_add_variable(cf, &name, NGX_HTTP_VAR_CHANGEABLE);
    if (var == NULL) {
        return NGX_CONF_ERROR;
    }
    if (var->get_handler != NULL) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "the variable \"%V\" is defined already", &args[1]);
        return NGX_CONF_ERROR;
    }

    variable = ngx_pcalloc(cf->pool, sizeof(variable_t));
    if (variable == NULL) {
        return NGX_CONF_ERROR;
    }

    variable->verb = command->verb;
    variable->flags = command->flags;

    error = options(cf, variable, &args[3], cf->args->nelts - 3);
    if (error != NGX_CONF_OK) {
        return error;
    }

    if (one_variable(&args[2], &name)) {
        variable->index = ngx_http_get_variable_index(cf, &name);
        if (variable->index == NGX_ERROR) {
            return NGX_CONF_ERROR;
        }

    } else {
        ngx_http_compile_complex_value_t compile;

        ngx_memzero(&compile, sizeof(compile));
        compile.cf = cf;
        compile.value = &args[2];
        compile.complex_value = &variable->text;
        if (ngx_http_compile_complex_value(&compile) != NGX_OK) {
            return NGX_CONF_ERROR;
        }
        variable->index = NGX_ERROR;
    }

    var->get_handler = ngx_http_simdpct_variable;
    var->data = (uintptr_t) variable;

    return NGX_CONF_OK;
}

/* Encodes or decodes `in` to `out`. */
static simdpct_result
apply(const variable_t *variable, uint32_t flags, const ngx_str_t *in, u_char *out, size_t out_cap)
{
    flags |= variable->flags;

    switch (variable->verb) {
    case ENCODE:
        return simdpct_encode(&variable->set, flags, in->data, in->len, out, out_cap);
    case NORMALIZE:
        return simdpct_decode(NULL, SIMDPCT_NORMALIZE | flags, in->data, in->len, out, out_cap);
    default:
        return simdpct_decode(&variable->set, flags, in->data, in->len, out, out_cap);
    }
}

/* Returns the offset of the first change, or the length if nothing changes. */
static size_t
first_change(const variable_t *variable, const ngx_str_t *in)
{
    switch (variable->verb) {
    case ENCODE:
        return simdpct_encode_first_change(&variable->set, variable->flags, in->data, in->len);
    case NORMALIZE:
        return simdpct_decode_first_change(NULL, SIMDPCT_NORMALIZE, in->data, in->len);
    default:
        return simdpct_decode_first_change(&variable->set, variable->flags, in->data, in->len);
    }
}

/* Encodes or decodes `in` to memory of the pool. Allocates and writes nothing if nothing changes. */
static simdpct_result
apply_to_pool(const variable_t *variable, ngx_pool_t *pool, const ngx_str_t *in, u_char **out)
{
    u_char stack[ON_STACK];
    size_t out_cap = variable->verb == ENCODE ? 3 * in->len : in->len; /* always enough */
    simdpct_result result = {0};

    if (out_cap <= ON_STACK) {
        result = apply(variable, SIMDPCT_IF_CHANGED, in, stack, out_cap);
        if (result.status == SIMDPCT_OK) {
            *out = ngx_pnalloc(pool, result.written);
            if (*out != NULL) {
                ngx_memcpy(*out, stack, result.written);
            }
        }
        return result;
    }

    if (variable->flags & SIMDPCT_STRICT) {
        result = simdpct_validate(in->data, in->len);
        if (result.status != SIMDPCT_OK) {
            return result;
        }
    }

    if (first_change(variable, in) == in->len) {
        result.status = SIMDPCT_UNCHANGED;
        return result;
    }

    if (variable->verb == ENCODE) {
        out_cap = simdpct_encoded_len(&variable->set, variable->flags, in->data, in->len).needed;
        if (out_cap > MAX_LEN) {
            result.status = SIMDPCT_TOO_LONG;
            return result;
        }
    }

    *out = ngx_pnalloc(pool, out_cap);
    return *out == NULL ? result : apply(variable, 0, in, *out, out_cap);
}

/* Reports a malformed escape. Bytes that could end or forge a line of the log are written as in nginx's access log: "\\x0A". */
static void
log_malformed(ngx_log_t *log, size_t offset, const ngx_str_t *in)
{
    static const u_char digits[] = "0123456789ABCDEF";
    u_char text[4 * MAX_LOGGED], *p = text;
    size_t i, len = ngx_min(in->len, (size_t) MAX_LOGGED);

    for (i = 0; i < len; i++) {
        u_char ch = in->data[i];

        if (ch < 0x20 || ch > 0x7E || ch == '"' || ch == '\\') {
            *p++ = '\\';
            *p++ = 'x';
            *p++ = digits[ch >> 4];
            *p++ = digits[ch & 15];
        } else {
            *p++ = ch;
        }
    }

    ngx_log_error(NGX_LOG_INFO, log, 0, "simdpct: malformed escape at byte %uz of \"%*s\"%s", offset, (size_t) (p - text), text,
                  len < in->len ? "..." : "");
}

static ngx_int_t
ngx_http_simdpct_variable(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data)
{
    const variable_t *variable = (const variable_t *) data;
    u_char *out = NULL;
    ngx_str_t in;
    simdpct_result result;

    v->valid = 1;
    v->no_cacheable = 0;
    v->not_found = 0;

    if (variable->index != NGX_ERROR) {
        /* The input is used in place, so that a value that does not change is not copied. */
        ngx_http_variable_value_t *value = ngx_http_get_flushed_variable(r, variable->index);

        if (value == NULL) {
            return NGX_ERROR;
        }
        in.data = value->data;
        in.len = value->not_found ? 0 : value->len;

    } else if (ngx_http_complex_value(r, (ngx_http_complex_value_t *) &variable->text, &in) != NGX_OK) {
        return NGX_ERROR;
    }

    if (variable->verb == VALID || variable->verb == AMBIGUOUS) {
        v->data = (u_char *) ((variable->verb == VALID ? simdpct_validate(in.data, in.len).status == SIMDPCT_OK
                                                       : simdpct_is_ambiguous(in.data, in.len))
                                  ? "1"
                                  : "0");
        v->len = 1;
        return NGX_OK;
    }

    result = apply_to_pool(variable, r->pool, &in, &out);

    switch (result.status) {
    case SIMDPCT_UNCHANGED:
        v->data = in.data;
        v->len = in.len;
        return NGX_OK;

    case SIMDPCT_MALFORMED:
        log_malformed(r->connection->log, result.offset, &in);
        v->not_found = 1;
        return NGX_OK;

    case SIMDPCT_OK:
        if (out == NULL) {
            return NGX_ERROR;
        }
        v->data = out;
        v->len = result.written;
        return NGX_OK;

    case SIMDPCT_TOO_LONG:
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "simdpct: a value of %uz bytes becomes too long for a variable when it is encoded", in.len);
        return NGX_ERROR;

    default:
        ngx_log_error(NGX_LOG_ALERT, r->connection->log, 0, "simdpct: unexpected status %d", (int) result.status);
        return NGX_ERROR;
    }
}
