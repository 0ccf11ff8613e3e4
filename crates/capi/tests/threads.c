/* Uses the library in several threads at once, for helgrind and the thread sanitizer.
 *
 *     threads [init]     `init` calls simdpct_init before the threads start */
#include <simdpct.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *work(void *unused) {
    char out[64];
    int i;
    (void)unused;
    for (i = 0; i < 100; ++i) {
        simdpct_result r = simdpct_encode(NULL, 0, "a b and much more than one word", 31, out, sizeof out);
        if (r.status != SIMDPCT_OK || memcmp(out, "a%20b", 5) != 0) abort();
        r = simdpct_decode(NULL, 0, out, r.written, out, r.written);
        if (r.status != SIMDPCT_OK || r.written != 31) abort();
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[4];
    int i;
    (void)argv;
    if (argc > 1 && simdpct_init(NULL, 0) != SIMDPCT_OK) abort();
    for (i = 0; i < 4; ++i) {
        if (pthread_create(&threads[i], NULL, work, NULL) != 0) abort();
    }
    for (i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    puts("threads agree");
    return 0;
}
