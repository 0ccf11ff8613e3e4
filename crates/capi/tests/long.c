/* Tests output that is too long for 32-bit offsets.
 *
 * The input is memory that was never written, so all its pages share one page of zeros, and each byte becomes an escape. The
 * output is an address range without access rights, so a byte that is written before the library has found the length to be too
 * large ends the process. */
#define _DEFAULT_SOURCE
#include <simdpct.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define CHECK(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);     \
            return 1;                                                           \
        }                                                                       \
    } while (0)

int main(int argc, char **argv) {
    const size_t len = (size_t)INT32_MAX / 3 + 1, cap = 3 * len;
    unsigned char *input = (unsigned char *)mmap(NULL, len, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    unsigned char *out = (unsigned char *)mmap(NULL, cap + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int32_t offsets[2], ends[3];
    simdpct_slice values[2];
    simdpct_batch_result r;
    simdpct_result one;

    if (argc > 1 && simdpct_init(argv[1], 0) != SIMDPCT_OK) return 2;
    CHECK(input != MAP_FAILED && out != MAP_FAILED);

    one = simdpct_encode(NULL, 0, input, len, out, cap - 1);
    CHECK(one.status == SIMDPCT_TOO_SMALL && one.needed == cap && one.written == 0);

    offsets[0] = 0;
    offsets[1] = (int32_t)len;
    r = simdpct_encode_column32(NULL, 0, input, len, offsets, 1, out, cap, ends);
    CHECK(r.status == SIMDPCT_TOO_LONG && r.values == 0 && r.written == 0 && ends[0] == 0);

    /* The first value is written, although the second one is too long. */
    CHECK(mprotect(out, 4096, PROT_READ | PROT_WRITE) == 0);
    values[0].data = "a b";
    values[0].len = 3;
    values[1].data = input;
    values[1].len = len;
    r = simdpct_encode_slices32(NULL, 0, values, 2, out, cap + 4096, ends);
    CHECK(r.status == SIMDPCT_TOO_LONG && r.values == 1 && r.written == 5 && ends[0] == 0 && ends[1] == 5 && out[2] == '2');

    /* Impossible lengths are rejected before the input is read: reading these pages would end the process. */
    CHECK(mprotect(input, len, PROT_NONE) == 0);
    one = simdpct_encode(NULL, 0, input, (size_t)1 << 63, out, cap);
    CHECK(one.status == SIMDPCT_INVALID && one.written == 0 && one.needed == 0);
    one = simdpct_decode(NULL, 0, input, SIZE_MAX, out, cap);
    CHECK(one.status == SIMDPCT_INVALID);
    one = simdpct_decode_in_place(NULL, 0, input, (size_t)1 << 63);
    CHECK(one.status == SIMDPCT_INVALID);
    one = simdpct_encoded_len(NULL, 0, input, SIZE_MAX / 2 + 1);
    CHECK(one.status == SIMDPCT_INVALID);
    one = simdpct_validate(input, SIZE_MAX);
    CHECK(one.status == SIMDPCT_INVALID);
    values[1].len = SIZE_MAX;
    r = simdpct_encode_slices32(NULL, 0, values, 2, out, cap, ends);
    CHECK(r.status == SIMDPCT_INVALID && r.written == 0);
    r = simdpct_encode_column32(NULL, 0, input, SIZE_MAX, offsets, 1, out, cap, ends);
    CHECK(r.status == SIMDPCT_INVALID && r.written == 0);
    r = simdpct_encode_column32(NULL, 0, input, len, offsets, SIZE_MAX, out, cap, ends);
    CHECK(r.status == SIMDPCT_INVALID && r.written == 0);
    return 0;
}
