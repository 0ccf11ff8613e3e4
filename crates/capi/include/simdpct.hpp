// simdpct.hpp - simdpct.h for C++17: views, strings, and no status that can be forgotten
//
//     #include <simdpct.hpp>
//
//     std::string url = "/search?q=";
//     simdpct::encode_append("a&b", url);                            // /search?q=a%26b
//     std::string path = simdpct::encode("/a b", {simdpct::set::safe("/")});    // /a%20b
//     std::string text = simdpct::decode("caf%C3%A9");
//     if (auto strict = simdpct::decode_strict("100%")) use(*strict);
//
// All of it is inline and calls the C library, which documents sets, flags and costs. Functions that return or append to a
// std::string may throw std::bad_alloc and std::length_error; no other throws.
#ifndef SIMDPCT_HPP
#define SIMDPCT_HPP

#include <simdpct.h>

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace simdpct {

namespace detail {

template <class T>
inline constexpr bool is_byte = std::is_same_v<T, char> || std::is_same_v<T, signed char> ||
#ifdef __cpp_char8_t
                                std::is_same_v<T, char8_t> ||
#endif
                                std::is_same_v<T, unsigned char> || std::is_same_v<T, std::byte>;

// Containers of bytes that lie in one piece: std::string, std::vector<std::byte>, std::array<char, N>, std::span, ...
template <class C>
using element = std::remove_pointer_t<decltype(std::declval<C &>().data())>;

} // namespace detail

// Bytes to read. From a string literal without its NUL, from any container of bytes, or from a pointer and a size.
class view {
  public:
    constexpr view() noexcept = default;
    constexpr view(const void *data, std::size_t size) noexcept : data_(data), size_(size) {}
    constexpr view(const char *text) noexcept : data_(text), size_(std::string_view(text).size()) {}

    template <class C, class = std::enable_if_t<detail::is_byte<std::remove_cv_t<detail::element<const C>>>>>
    constexpr view(const C &container) noexcept : data_(container.data()), size_(container.size()) {}

    constexpr const void *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }

  private:
    const void *data_ = nullptr;
    std::size_t size_ = 0;
};

// Bytes to write, which need not be initialised.
class room {
  public:
    constexpr room() noexcept = default;
    constexpr room(void *data, std::size_t size) noexcept : data_(data), size_(size) {}

    template <class C, class E = detail::element<C>,
              class = std::enable_if_t<detail::is_byte<E> && !std::is_const_v<E>>>
    constexpr room(C &container) noexcept : data_(container.data()), size_(container.size()) {}

    template <class T, std::size_t N, class = std::enable_if_t<detail::is_byte<T> && !std::is_const_v<T>>>
    constexpr room(T (&array)[N]) noexcept : data_(array), size_(N) {}

    constexpr void *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }

  private:
    void *data_ = nullptr;
    std::size_t size_ = 0;
};

// A set of bytes. Encoders keep its bytes; decoders keep escapes of its bytes.
class set {
  public:
    set() noexcept : value_{} {}
    explicit set(const simdpct_set &value) noexcept : value_(value) {}

    // The set of that name, such as "rfc3986-path" (see simdpct_set_named).
    static std::optional<set> named(const char *name) noexcept {
        set found;
        if (simdpct_set_named(&found.value_, name) != SIMDPCT_OK) return std::nullopt;
        return found;
    }
    static set bytes(view bytes) noexcept { return set(simdpct_set_bytes(bytes.data(), bytes.size())); }
    // The unreserved bytes and these.
    static set safe(view bytes) noexcept { return set(simdpct_set_safe(bytes.data(), bytes.size())); }
    static set bits(const std::bitset<256> &bits) noexcept {
        std::uint8_t packed[32] = {};
        for (std::size_t byte = 0; byte < 256; ++byte) {
            if (bits[byte]) packed[byte / 8] = static_cast<std::uint8_t>(packed[byte / 8] | 1u << byte % 8);
        }
        return set(simdpct_set_bitmap(packed));
    }

    set complement() const noexcept { return set(simdpct_set_complement(&value_)); }
    bool contains(unsigned char byte) const noexcept { return simdpct_set_contains(&value_, byte) != 0; }
    const simdpct_set *get() const noexcept { return &value_; }

  private:
    simdpct_set value_;
};

// What to keep and how: `{}`, `{SIMDPCT_FORM}`, `{set}` or `{set, flags}`. The default is that of simdpct.h.
class options {
  public:
    options() noexcept = default;
    options(std::uint32_t flags) noexcept : flags_(flags) {}
    options(const set &keep, std::uint32_t flags = 0) noexcept : keep_(keep), flags_(flags) {}

    const simdpct_set *keep() const noexcept { return keep_ ? keep_->get() : nullptr; }
    std::uint32_t flags() const noexcept { return flags_; }

  private:
    std::optional<set> keep_;
    std::uint32_t flags_ = 0;
};

// ---- Into memory of the caller: the functions of simdpct.h.

[[nodiscard]] inline simdpct_result encode(view in, room out, const options &how = {}) noexcept {
    return simdpct_encode(how.keep(), how.flags(), in.data(), in.size(), out.data(), out.size());
}

[[nodiscard]] inline simdpct_result decode(view in, room out, const options &how = {}) noexcept {
    return simdpct_decode(how.keep(), how.flags(), in.data(), in.size(), out.data(), out.size());
}

[[nodiscard]] inline simdpct_result decode_in_place(room bytes, const options &how = {}) noexcept {
    return simdpct_decode_in_place(how.keep(), how.flags(), bytes.data(), bytes.size());
}

[[nodiscard]] inline simdpct_result validate(view in) noexcept { return simdpct_validate(in.data(), in.size()); }

// Columns with offsets of 32 and 64 bits; `out_offsets` has room for count + 1.
[[nodiscard]] inline simdpct_batch_result encode_column(view bytes, const std::int32_t *offsets, std::size_t count, room out,
                                                        std::int32_t *out_offsets, const options &how = {}) noexcept {
    return simdpct_encode_column32(how.keep(), how.flags(), bytes.data(), bytes.size(), offsets, count, out.data(),
                                   out.size(), out_offsets);
}
[[nodiscard]] inline simdpct_batch_result encode_column(view bytes, const std::int64_t *offsets, std::size_t count, room out,
                                                        std::int64_t *out_offsets, const options &how = {}) noexcept {
    return simdpct_encode_column64(how.keep(), how.flags(), bytes.data(), bytes.size(), offsets, count, out.data(),
                                   out.size(), out_offsets);
}
[[nodiscard]] inline simdpct_batch_result decode_column(view bytes, const std::int32_t *offsets, std::size_t count, room out,
                                                        std::int32_t *out_offsets, const options &how = {},
                                                        std::uint8_t *valid = nullptr) noexcept {
    return simdpct_decode_column32(how.keep(), how.flags(), bytes.data(), bytes.size(), offsets, count, out.data(),
                                   out.size(), out_offsets, valid);
}
[[nodiscard]] inline simdpct_batch_result decode_column(view bytes, const std::int64_t *offsets, std::size_t count, room out,
                                                        std::int64_t *out_offsets, const options &how = {},
                                                        std::uint8_t *valid = nullptr) noexcept {
    return simdpct_decode_column64(how.keep(), how.flags(), bytes.data(), bytes.size(), offsets, count, out.data(),
                                   out.size(), out_offsets, valid);
}

// ---- Strings

namespace detail {

// What the strings below are used with: options that exclude each other are a mistake in the program.
inline void check(const simdpct_result &result) {
    if (result.status == SIMDPCT_INVALID) throw std::invalid_argument("simdpct: invalid options");
}

} // namespace detail

// Appends the encoded text. Throws std::invalid_argument for flags that are not for encoders; `out` is then unchanged.
inline void encode_append(view in, std::string &out, const options &how = {}) {
    // A string zeroes what it grows by. Short input goes through the stack, and long input is measured.
    char local[768];
    const std::uint32_t flags = how.flags() & ~SIMDPCT_IF_CHANGED;
    simdpct_result done = simdpct_encode(how.keep(), flags, in.data(), in.size(), local, sizeof local);
    detail::check(done);
    if (done.status == SIMDPCT_OK) {
        out.append(local, done.written);
        return;
    }
    const std::size_t before = out.size();
    if (done.needed > out.max_size() - before) throw std::length_error("simdpct: the encoded text is too long");
    out.resize(before + done.needed);
    done = simdpct_encode(how.keep(), flags, in.data(), in.size(), &out[before], done.needed);
    out.resize(before + done.written);
}

[[nodiscard]] inline std::string encode(view in, const options &how = {}) {
    std::string out;
    encode_append(in, out, how);
    return out;
}

// Appends the decoded bytes and returns true; or, with SIMDPCT_STRICT, returns false and leaves `out` as it was if there is a
// malformed escape, at `*offset`.
[[nodiscard]] inline bool decode_append(view in, std::string &out, const options &how, std::size_t *offset = nullptr) {
    const std::size_t before = out.size();
    out.resize(before + in.size());
    const simdpct_result done = simdpct_decode(how.keep(), how.flags() & ~SIMDPCT_IF_CHANGED, in.data(), in.size(),
                                               in.size() ? &out[before] : nullptr, in.size());
    out.resize(before + done.written);
    detail::check(done);
    if (offset && done.status == SIMDPCT_MALFORMED) *offset = done.offset;
    return done.status == SIMDPCT_OK;
}

// Decodes; malformed escapes stay.
[[nodiscard]] inline std::string decode(view in, const options &how = {}) {
    std::string out;
    if (how.flags() & SIMDPCT_STRICT) throw std::invalid_argument("simdpct: call decode_strict");
    (void)decode_append(in, out, how);
    return out;
}

// Decodes; nothing if there is a malformed escape, at `*offset`.
[[nodiscard]] inline std::optional<std::string> decode_strict(view in, std::size_t *offset = nullptr) {
    std::string out;
    if (!decode_append(in, out, SIMDPCT_STRICT, offset)) return std::nullopt;
    return out;
}

[[nodiscard]] inline std::string normalize(view in) { return decode(in, SIMDPCT_NORMALIZE); }

// ---- In pieces

class encoder {
  public:
    explicit encoder(const options &how = {}) {
        if (simdpct_encode_start(&stream_, how.keep(), how.flags()) != SIMDPCT_OK)
            throw std::invalid_argument("simdpct: invalid options");
    }
    void push(view piece, std::string &out) {
        const std::size_t before = out.size(), most = simdpct_encode_bound(piece.size());
        if (most > out.max_size() - before) throw std::length_error("simdpct: the piece is too long");
        out.resize(before + most);
        out.resize(before + simdpct_encode_push(&stream_, piece.data(), piece.size(), &out[before], most).written);
    }
    void finish(std::string &out) {
        char last[6];
        out.append(last, simdpct_encode_finish(&stream_, last, sizeof last).written);
    }

  private:
    simdpct_encode_stream stream_;
};

class decoder {
  public:
    explicit decoder(const options &how = {}) {
        if (simdpct_decode_start(&stream_, how.keep(), how.flags()) != SIMDPCT_OK)
            throw std::invalid_argument("simdpct: invalid options");
    }
    // `false` if a malformed escape has ended a strict stream, at `*offset` of all input. What comes before it is appended.
    [[nodiscard]] bool push(view piece, std::string &out, std::size_t *offset = nullptr) {
        const std::size_t before = out.size(), most = simdpct_decode_bound(piece.size());
        out.resize(before + most);
        return done(simdpct_decode_push(&stream_, piece.data(), piece.size(), &out[before], most), before, out, offset);
    }
    [[nodiscard]] bool finish(std::string &out, std::size_t *offset = nullptr) {
        const std::size_t before = out.size();
        out.resize(before + 2);
        return done(simdpct_decode_finish(&stream_, &out[before], 2), before, out, offset);
    }

  private:
    static bool done(const simdpct_result &result, std::size_t before, std::string &out, std::size_t *offset) {
        out.resize(before + result.written);
        if (offset && result.status == SIMDPCT_MALFORMED) *offset = result.offset;
        return result.status == SIMDPCT_OK;
    }

    simdpct_decode_stream stream_;
};

} // namespace simdpct

#endif
