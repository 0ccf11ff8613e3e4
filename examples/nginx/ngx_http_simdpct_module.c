/* Variables that are percent-encoded, decoded, normalized or checked copies of other values.
 *
 *     simdpct_encode      $new value [set=NAME] [keep=BYTES] [form] [keep_escapes];
 *     simdpct_decode      $new value [keep=BYTES] [controls] [strict];
 *     simdpct_decode_form $new value [keep=BYTES] [controls] [strict];
 *     simdpct_normalize   $new value;
 *     simdpct_valid       $new value;
 *
 * All belong in `http`. As with `map`, nothing is computed before a request asks for $new, and then once. README.md
 * describes each.
 */

#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include <simdpct.h>

typedef enum { ENCODE, DECODE, NORMALIZE, VALID } verb_t;

/* The data of a variable. */
typedef struct {
    verb_t verb;
    uint32_t flags;
    /* What stays: these bytes of text that is encoded, the escapes of these bytes of text that is decoded. */
    simdpct_set set;
    /* The variable whose value it is, or NGX_ERROR if it is text that `text` puts together. */
    ngx_int_t index;
    ngx_http_complex_value_t text;
} variable_t;

/* The longest value that a variable of nginx can have: its length is a field of 28 bits. */
#define MAX_LEN ((1 << 28) - 1)

/* Output up to this size is written to the stack first, and takes no more of the request's pool than it needs. */
#define ON_STACK 1024

static char *ngx_http_simdpct(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static ngx_int_t ngx_http_simdpct_variable(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data);

/* The last field is the verb, and the flags that come with it. */
static struct command {
    verb_t verb;
    uint32_t flags;
} encode = {ENCODE, 0},
  decode = {DECODE, 0},
  decode_form = {DECODE, SIMDPCT_FORM},
  normalize = {NORMALIZE, 0},
  valid = {VALID, 0};

static ngx_command_t commands[] = {
    {ngx_string("simdpct_encode"), NGX_HTTP_MAIN_CONF | NGX_CONF_2MORE, ngx_http_simdpct, 0, 0, &encode},
    {ngx_string("simdpct_decode"), NGX_HTTP_MAIN_CONF | NGX_CONF_2MORE, ngx_http_simdpct, 0, 0, &decode},
    {ngx_string("simdpct_decode_form"), NGX_HTTP_MAIN_CONF | NGX_CONF_2MORE, ngx_http_simdpct, 0, 0, &decode_form},
    {ngx_string("simdpct_normalize"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE2, ngx_http_simdpct, 0, 0, &normalize},
    {ngx_string("simdpct_valid"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE2, ngx_http_simdpct, 0, 0, &valid},
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
    char *set = "rfc3986-unreserved";

    for (; n > 0; n--, option++) {
        if (ngx_strncmp(option->data, "keep=", 5) == 0) {
            for (i = 5; i < option->len; i++) {
                add(bits, option->data[i]);
            }

        } else if (variable->verb == ENCODE && ngx_strncmp(option->data, "set=", 4) == 0) {
            /* Arguments of directives end with a NUL. */
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
    variable->set = simdpct_set_bitmap(bits);

    if ((variable->flags & SIMDPCT_FORM) && (variable->flags & SIMDPCT_KEEP_ESCAPES)) {
        return "cannot have both \"form\" and \"keep_escapes\"";
    }

    return NGX_CONF_OK;
}

/* The name of a variable, if all of `value` is one: "$name" or "${name}". */
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

    /* "$1" is a capture, which has no index. */
    if (name->data[0] >= '0' && name->data[0] <= '9') {
        return 0;
    }

    for (i = 0; i < name->len; i++) {
        u_char ch = name->data[i];

        if (!((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') || ch == '_')) {
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

    name.data = args[1].data + 1;
    name.len = args[1].len - 1;
    var = ngx_http_add_variable(cf, &name, NGX_HTTP_VAR_CHANGEABLE);
    if (var == NULL) {
        return NGX_CONF_ERROR;
    }

    var->get_handler = ngx_http_simdpct_variable;
    var->data = (uintptr_t) variable;

    return NGX_CONF_OK;
}

/* Encodes or decodes `in` to `out`. */
static simdpct_result
apply(const variable_t *variable, uint32_t flags, const ngx_str_t *in, u_char *out, size_t room)
{
    flags |= variable->flags;

    switch (variable->verb) {
    case ENCODE:
        return simdpct_encode(&variable->set, flags, in->data, in->len, out, room);
    case NORMALIZE:
        return simdpct_decode(NULL, SIMDPCT_NORMALIZE | flags, in->data, in->len, out, room);
    default:
        return simdpct_decode(&variable->set, flags, in->data, in->len, out, room);
    }
}

/* Where `in` changes first: its length, if nowhere. */
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

/* The same for a value of any length, in memory of the pool; nothing is written if nothing changes. */
static simdpct_result
apply_to_pool(const variable_t *variable, ngx_pool_t *pool, const ngx_str_t *in, u_char **out)
{
    u_char stack[ON_STACK];
    size_t room = variable->verb == ENCODE ? 3 * in->len : in->len; /* so much is always enough */
    simdpct_result result = {0};

    if (room <= ON_STACK) {
        result = apply(variable, SIMDPCT_IF_CHANGED, in, stack, room);
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
        room = simdpct_encoded_len(&variable->set, variable->flags, in->data, in->len).needed;
        if (room > MAX_LEN) {
            result.status = SIMDPCT_TOO_LONG;
            return result;
        }
    }

    *out = ngx_pnalloc(pool, room);
    return *out == NULL ? result : apply(variable, 0, in, *out, room);
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
        /* Looked at where it is: what does not change is not copied. */
        ngx_http_variable_value_t *value = ngx_http_get_flushed_variable(r, variable->index);

        if (value == NULL) {
            return NGX_ERROR;
        }
        in.data = value->data;
        in.len = value->not_found ? 0 : value->len;

    } else if (ngx_http_complex_value(r, (ngx_http_complex_value_t *) &variable->text, &in) != NGX_OK) {
        return NGX_ERROR;
    }

    if (variable->verb == VALID) {
        result = simdpct_validate(in.data, in.len);
        v->data = (u_char *) (result.status == SIMDPCT_OK ? "1" : "0");
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
        ngx_log_error(NGX_LOG_INFO, r->connection->log, 0, "simdpct: malformed escape at byte %uz of \"%V\"", result.offset,
                      &in);
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
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0, "simdpct: encoded, a value of %uz bytes is too long for a variable",
                      in.len);
        return NGX_ERROR;

    default:
        ngx_log_error(NGX_LOG_ALERT, r->connection->log, 0, "simdpct: status %d", (int) result.status);
        return NGX_ERROR;
    }
}
