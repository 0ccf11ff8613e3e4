// Tests that every function of simdpct.hpp calls the right one of simdpct.h with the right arguments.
#include <simdpct.hpp>

#ifdef __clang__
#pragma clang diagnostic ignored "-Wbraced-scalar-init" // Some of the options below are flags in braces on purpose.
#endif

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <vector>

#define CHECK(condition)                                                                                                  \
    do {                                                                                                                  \
        if (!(condition)) {                                                                                               \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                          \
            std::abort();                                                                                                 \
        }                                                                                                                 \
    } while (0)

template <class E, class F>
static bool throws(F call) {
    try {
        call();
    } catch (const E &) {
        return true;
    }
    return false;
}

// The number of allocations that succeed before one fails; later ones succeed again. No allocation fails if it is negative.
static long left = -1;

void *operator new(std::size_t size) {
    if (left >= 0 && left-- == 0) throw std::bad_alloc();
    if (void *memory = std::malloc(size ? size : 1)) return memory;
    throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }

// Makes each allocation of `call` fail once. Checks that the string is then unchanged, and that the same call works afterwards.
// Returns the number of allocations.
static int fail_each(const std::string &right, const std::function<void(std::string &)> &call) {
    for (int fail = 0;; ++fail) {
        std::string out = "start";
        out.shrink_to_fit();
        left = fail;
        const bool failed = throws<std::bad_alloc>([&] { call(out); });
        left = -1;
        if (!failed) {
            CHECK(out == "start" + right);
            return fail;
        }
        CHECK(out == "start");
        call(out);
        CHECK(out == "start" + right);
    }
}

int main() {
    using namespace std::string_view_literals;
    using simdpct::options;
    using simdpct::set;

    // Functions that return or append to strings.
    CHECK(simdpct::encode("caf\xc3\xa9 ~") == "caf%C3%A9%20~");
    CHECK(simdpct::encode("a\0b"sv) == "a%00b");
    CHECK(simdpct::encode("") == "" && simdpct::decode("") == "");
    CHECK(simdpct::encode("/a b", set::safe("/")) == "/a%20b");
    CHECK(simdpct::encode("/a b", {set::safe("/"), SIMDPCT_FORM}) == "/a+b");
    CHECK(simdpct::encode("a b", SIMDPCT_FORM) == "a+b");
    CHECK(simdpct::encode("a b", SIMDPCT_FORM | SIMDPCT_IF_CHANGED) == "a+b");
    const std::string spaces(100000, ' ');
    const std::string escaped = simdpct::encode(spaces);
    CHECK(escaped.size() == 300000 && escaped.compare(0, 3, "%20") == 0 && escaped.compare(299997, 3, "%20") == 0);
    CHECK(simdpct::decode(escaped) == spaces);
    std::string url = "/search?q=";
    simdpct::encode_append("a&b", url);
    CHECK(url == "/search?q=a%26b");
    CHECK(throws<std::invalid_argument>([&] { simdpct::encode_append("a", url, SIMDPCT_STRICT); }));
    CHECK(throws<std::invalid_argument>([&] { (void)simdpct::decode("a", SIMDPCT_STRICT); }));
    CHECK(throws<std::invalid_argument>([&] { (void)simdpct::decode("a", SIMDPCT_KEEP_ESCAPES); }));
    CHECK(simdpct::decode("a+b%2B%zz", SIMDPCT_FORM) == "a b+%zz");
    CHECK(simdpct::decode("%61%2Fb", set::bytes("/")) == "a%2Fb");
    CHECK(simdpct::normalize("/%7euser/%2f") == "/~user/%2F");
    std::size_t offset = 99;
    CHECK(simdpct::decode_strict("a%20b", &offset) == "a b" && offset == 99);
    CHECK(!simdpct::decode_strict("100%", &offset) && offset == 3);
    CHECK(simdpct::decode_append("%41", url, {}) && url == "/search?q=a%26bA");
    CHECK(!simdpct::decode_append("%41%", url, SIMDPCT_STRICT, &offset) && url == "/search?q=a%26bA" && offset == 3);

    // The input may be a part of the string that the output is appended to, even if that string must be reallocated.
    for (const std::size_t size : {1u, 20u, 700u, 5000u}) {
        const std::string start = "%41 " + std::string(size, '/');
        std::string own = start;
        own.shrink_to_fit();
        simdpct::encode_append(own, own);
        CHECK(own == start + simdpct::encode(start));
        own = start;
        own.shrink_to_fit();
        CHECK(simdpct::decode_append(own, own, {}) && own == start + simdpct::decode(start));
        own = start;
        own.shrink_to_fit();
        CHECK(simdpct::decode_append(std::string_view(own).substr(1, 3), own) && own == start + "41 ");
        own = start;
        simdpct::encoder(SIMDPCT_FORM).push(own, own);
        CHECK(own == start + simdpct::encode(start, SIMDPCT_FORM));
        own = start;
        CHECK(simdpct::decoder().push(own, own) && own == start + simdpct::decode(start));
    }

    // An exception leaves the string unchanged.
    std::string whole = "whole";
    CHECK(throws<std::invalid_argument>([&] { simdpct::encode_append({nullptr, 1}, whole); }) && whole == "whole");
    CHECK(throws<std::invalid_argument>([&] { (void)simdpct::decode_append({nullptr, 1}, whole); }) && whole == "whole");
    CHECK(throws<std::invalid_argument>([&] { (void)simdpct::decode_append("a", whole, SIMDPCT_LOWER_CASE); }));
    CHECK(throws<std::length_error>([&] { (void)simdpct::decode_append({"a", whole.max_size()}, whole); }));
    CHECK(throws<std::length_error>([&] { simdpct::encoder().push({"a", whole.max_size() / 2}, whole); }));
    CHECK(throws<std::invalid_argument>([&] { (void)set::bytes({nullptr, 1}); }) && whole == "whole");

    // A failed allocation throws std::bad_alloc and leaves the string unchanged.
    for (const std::size_t size : {1u, 20u, 700u, 5000u}) {
        const std::string text(size, ' '), escapes = simdpct::encode(text);
        const int most = fail_each(escapes, [&](std::string &out) { simdpct::encode_append(text, out); });
        CHECK(most == (size > 1));
        fail_each(text, [&](std::string &out) { CHECK(simdpct::decode_append(escapes, out)); });
        fail_each(text, [&](std::string &out) { out += simdpct::decode(escapes); });
        fail_each(escapes, [&](std::string &out) { out += simdpct::encode(text); });
        fail_each(text, [&](std::string &out) { out += *simdpct::decode_strict(escapes); });
        simdpct::encoder encoder;
        fail_each(escapes, [&](std::string &out) { encoder.push(text, out); });
        simdpct::decoder decoder;
        fail_each(text, [&](std::string &out) { CHECK(decoder.push(escapes, out)); });
    }
    // If `finish` gets no memory, the stream keeps the bytes that it holds back.
    for (const char *held : {"%", "%4"}) {
        simdpct::encoder encoder(SIMDPCT_KEEP_ESCAPES);
        simdpct::decoder decoder;
        std::string full, more;
        encoder.push(held, more);
        full.resize(full.capacity());
        const std::string before = full;
        left = 0;
        const bool failed = throws<std::bad_alloc>([&] { encoder.finish(full); });
        left = -1;
        CHECK(failed && full == before);
        encoder.finish(full);
        CHECK(full == before + simdpct::encode(held));
        CHECK(decoder.push(held, more) && more == "");
        full.resize(full.capacity());
        const std::string long_before = full;
        left = 0;
        CHECK(throws<std::bad_alloc>([&] { (void)decoder.finish(full); }));
        left = -1;
        CHECK(full == long_before && decoder.finish(full) && full == long_before + held);
    }

    // Functions with views as input and buffers as output.
    std::vector<std::uint8_t> bytes = {'%', '4', '1'};
    std::array<std::byte, 8> eight{};
    char array[8];
    simdpct_result r = simdpct::decode(bytes, eight);
    CHECK(r.status == SIMDPCT_OK && r.written == 1 && eight[0] == std::byte{'A'});
    r = simdpct::encode(eight, array);
    CHECK(r.status == SIMDPCT_TOO_SMALL && r.needed == 1 + 3 * 7);
    r = simdpct::decode_in_place(bytes);
    CHECK(r.status == SIMDPCT_OK && r.written == 1 && bytes[0] == 'A');
    r = simdpct::validate("%4");
    CHECK(r.status == SIMDPCT_MALFORMED && r.offset == 0);

    // sets
    CHECK(!set::named("rfc") && set::named("rfc3986-path")->contains('/'));
    CHECK(!set::named("rfc3986-path")->complement().contains('/'));
    std::bitset<256> bits;
    bits[' '] = bits[255] = true;
    CHECK(set::bits(bits).contains(' ') && set::bits(bits).contains(255) && !set::bits(bits).contains('a'));
    CHECK(!set().contains('a'));

    // columns
    const std::int32_t narrow[] = {0, 3, 6};
    const std::int64_t wide[] = {0, 3, 6};
    std::int32_t narrow_out[3];
    std::int64_t wide_out[3];
    std::uint8_t valid = 0xFF;
    simdpct_batch_result b = simdpct::decode_column("%41%zz", narrow, 2, array, narrow_out, SIMDPCT_STRICT, &valid);
    CHECK(b.status == SIMDPCT_OK && b.rejected == 1 && b.first_rejected == 1 && valid == 0xFD && narrow_out[2] == 1);
    b = simdpct::decode_column("%41%zz", wide, 2, array, wide_out);
    CHECK(b.status == SIMDPCT_OK && wide_out[1] == 1 && wide_out[2] == 4);
    b = simdpct::encode_column("a b..", narrow, 1, array, narrow_out, set::bytes("ab"));
    CHECK(b.status == SIMDPCT_OK && narrow_out[1] == 5);
    b = simdpct::encode_column("a b...", wide, 2, array, wide_out);
    CHECK(b.status == SIMDPCT_OK && wide_out[2] == 8);

    // Streams, which get their input in pieces.
    std::string out;
    simdpct::encoder encoder({set::safe("/"), SIMDPCT_KEEP_ESCAPES});
    for (const char *piece : {"/a %", "4", "1%"}) encoder.push(piece, out);
    encoder.finish(out);
    CHECK(out == "/a%20%41%25");
    out.clear();
    simdpct::decoder decoder(SIMDPCT_STRICT);
    CHECK(decoder.push("a%2", out) && decoder.push("0b%", out) && out == "a b");
    CHECK(!decoder.finish(out, &offset) && offset == 5 && out == "a b");
    CHECK(throws<std::invalid_argument>([] { simdpct::decoder(options(SIMDPCT_LOWER_CASE)); }));

    // Every way to write the options of a stream compiles and has the right meaning.
    const set slash = set::safe("/");
    const options form = {slash, SIMDPCT_FORM};
    const auto pushed = [](simdpct::encoder stream) {
        std::string text;
        stream.push("/ ", text);
        return text;
    };
    simdpct::encoder nothing, braces{}, list({}), flag({SIMDPCT_FORM}), kept({slash}), both({slash, SIMDPCT_FORM}), given(form);
    CHECK(pushed(nothing) == "%2F%20" && pushed(braces) == "%2F%20" && pushed(list) == "%2F%20" && pushed(flag) == "%2F+");
    CHECK(pushed(kept) == "/%20" && pushed(both) == "/+" && pushed(given) == "/+" && pushed(simdpct::encoder(slash)) == "/%20");
    simdpct::decoder no_options, no_flags({}), strict({SIMDPCT_STRICT}), keeps({slash}), keeps_too({slash, SIMDPCT_STRICT});
    out.clear();
    CHECK(no_options.push("%2F", out) && no_flags.push("%2F", out) && strict.push("%2F", out));
    CHECK(keeps.push("%2F", out) && keeps_too.push("%2F", out) && out == "///%2F%2F" && !strict.push("%zz", out));
    std::puts("the wrapper does what it says");
}
