// simdpct.hpp - the C library simdpct for C++17, with views, strings and options
//
//     #include <simdpct.hpp>
//
//     std::string url = "/search?q=";
//     simdpct::encode_append("a&b", url);                                       // /search?q=a%26b
//     std::string path = simdpct::encode("/a b", {simdpct::set::safe("/")});    // /a%20b
//     std::string text = simdpct::decode("caf%C3%A9");
//     if (auto strict = simdpct::decode_strict("100%")) use(*strict);
//
// All functions are inline and call the functions of simdpct.h, which documents sets, flags and costs. Functions that are
// `noexcept` report errors as statuses. The others throw
//   std::invalid_argument   if flags exclude each other or are not for this function, or a view has no data but a size,
//   std::length_error       if the output is longer than a std::string can be,
//   std::bad_alloc          if there is no memory.
// The functions that return a string or append to one ignore SIMDPCT_IF_CHANGED, and streams reject it.
// A string that output is appended to is unchanged after an exception, and so is a stream. The input may be a part of that string.
#ifndef SIMDPCT_HPP
#define SIMDPCT_HPP

#include <simdpct.h>

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
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

// The element type of a contiguous container: std::string, std::vector<std::byte>, std::array<char, N>, std::span, ...
template <class C>
using element = std::remove_pointer_t<decltype(std::declval<C &>().data())>;

inline void check(std::int32_t status) {
    if (status == SIMDPCT_INVALID) throw std::invalid_argument("simdpct: invalid flags or pointer");
}

} // namespace detail

// Bytes to read: a string literal without its NUL, a contiguous container of bytes, or a pointer and a size.
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

// Memory to write, which may be uninitialised: a contiguous container of bytes, an array, or a pointer and a size.
class buffer {
  public:
    constexpr buffer() noexcept = default;
    constexpr buffer(void *data, std::size_t size) noexcept : data_(data), size_(size) {}

    template <class C, class E = detail::element<C>,
              class = std::enable_if_t<detail::is_byte<E> && !std::is_const_v<E>>>
    constexpr buffer(C &container) noexcept : data_(container.data()), size_(container.size()) {}

    template <class T, std::size_t N, class = std::enable_if_t<detail::is_byte<T> && !std::is_const_v<T>>>
    constexpr buffer(T (&array)[N]) noexcept : data_(array), size_(N) {}

    constexpr void *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }

  private:
    void *data_ = nullptr;
    std::size_t size_ = 0;
};

// A set of bytes. Encoding copies its bytes; decoding copies the escapes of its bytes.
class set {
  public:
    set() noexcept : value_{} {}
    explicit set(const simdpct_set &value) noexcept : value_(value) {}

    // Returns the set called `name`, such as "rfc3986-path", or std::nullopt if no set has this name. See simdpct_set_named.
    static std::optional<set> named(const char *name) noexcept {
        set found;
        if (simdpct_set_named(&found.value_, name) != SIMDPCT_OK) return std::nullopt;
        return found;
    }
    static set bytes(view bytes) {
        set made;
        detail::check(simdpct_set_bytes(&made.value_, bytes.data(), bytes.size()));
        return made;
    }
    // Returns the set of the unreserved bytes and of `bytes`.
    static set safe(view bytes) {
        set made;
        detail::check(simdpct_set_safe(&made.value_, bytes.data(), bytes.size()));
        return made;
    }
    static set bits(const std::bitset<256> &bits) {
        std::uint8_t packed[32] = {};
        for (std::size_t byte = 0; byte < 256; ++byte) {
            if (bits[byte]) packed[byte / 8] = static_cast<std::uint8_t>(packed[byte / 8] | 1u << byte % 8);
        }
        set made;
        detail::check(simdpct_set_bitmap(&made.value_, packed));
        return made;
    }

    set complement() const {
        set made;
        detail::check(simdpct_set_complement(&made.value_, &value_));
        return made;
    }
    bool contains(unsigned char byte) const noexcept { return simdpct_set_contains(&value_, byte) != 0; }
    const simdpct_set *get() const noexcept { return &value_; }

  private:
    simdpct_set value_;
};

// A set and flags: `SIMDPCT_FORM`, `keep` or `{keep, flags}`. The default has neither. Without a set, simdpct.h says which one is
// used.
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

// ---- Output to memory of the caller

[[nodiscard]] inline simdpct_result encode(view in, buffer out, const options &how = {}) noexcept {
    return simdpct_encode(how.keep(), how.flags(), in.data(), in.size(), out.data(), out.size());
}

[[nodiscard]] inline simdpct_result decode(view in, buffer out, const options &how = {}) noexcept {
    return simdpct_decode(how.keep(), how.flags(), in.data(), in.size(), out.data(), out.size());
}

[[nodiscard]] inline simdpct_result decode_in_place(buffer bytes, const options &how = {}) noexcept {
    return simdpct_decode_in_place(how.keep(), how.flags(), bytes.data(), bytes.size());
}

[[nodiscard]] inline simdpct_result validate(view in) noexcept { return simdpct_validate(in.data(), in.size()); }

// Columns with 32-bit and 64-bit offsets. `out_offsets` has a capacity of count + 1.
[[nodiscard]] inline simdpct_batch_result encode_column(view bytes, const std::int32_t *offsets, std::size_t count,
                                                        buffer out, std::int32_t *out_offsets,
                                                        const options &how = {}) noexcept {
    return simdpct_encode_column32(how.keep(), how.flags(), bytes.data(), bytes.size(), offsets, count, out.data(),
                                   out.size(), out_offsets);
}
[[nodiscard]] inline simdpct_batch_result encode_column(view bytes, const std::int64_t *offsets, std::size_t count,
                                                        buffer out, std::int64_t *out_offsets,
                                                        const options &how = {}) noexcept {
    return simdpct_encode_column64(how.keep(), how.flags(), bytes.data(), bytes.size(), offsets, count, out.data(),
                                   out.size(), out_offsets);
}
[[nodiscard]] inline simdpct_batch_result decode_column(view bytes, const std::int32_t *offsets, std::size_t count,
                                                        buffer out, std::int32_t *out_offsets,
                                                        const options &how = {},
                                                        std::uint8_t *valid = nullptr) noexcept {
    return simdpct_decode_column32(how.keep(), how.flags(), bytes.data(), bytes.size(), offsets, count, out.data(),
                                   out.size(), out_offsets, valid);
}
[[nodiscard]] inline simdpct_batch_result decode_column(view bytes, const std::int64_t *offsets, std::size_t count,
                                                        buffer out, std::int64_t *out_offsets,
                                                        const options &how = {},
                                                        std::uint8_t *valid = nullptr) noexcept {
    return simdpct_decode_column64(how.keep(), how.flags(), bytes.data(), bytes.size(), offsets, count, out.data(),
                                   out.size(), out_offsets, valid);
}

// ---- Output to strings

namespace detail {

// Appends `more` bytes to a string for a C function to overwrite. If the input is a part of the string, it moves along. The
// destructor shortens the string to the bytes that were kept.
class appended {
  public:
    appended(std::string &out, std::size_t more, view in = {}) : out_(out), before_(out.size()), in_(in.data()) {
        if (more > out.max_size() - before_) throw std::length_error("simdpct: the output is too long for a string");
        const char *start = out.data(), *data = static_cast<const char *>(in_);
        const std::less<const char *> less{};
        const bool is_part = !less(data, start) && less(data, start + before_);
        const std::size_t offset = is_part ? static_cast<std::size_t>(data - start) : 0;
        out.resize(before_ + more);
        if (is_part) in_ = out.data() + offset;
    }
    appended(const appended &) = delete;
    appended &operator=(const appended &) = delete;
    ~appended() { out_.resize(before_ + kept_); }

    const void *in() const noexcept { return in_; }
    void *data() noexcept { return &out_[before_]; }
    void keep(std::size_t bytes) noexcept { kept_ = bytes; }

  private:
    std::string &out_;
    const std::size_t before_;
    const void *in_;
    std::size_t kept_ = 0;
};

} // namespace detail

// Appends the encoded text.
inline void encode_append(view in, std::string &out, const options &how = {}) {
    // A string fills new bytes with zeros, which are wasted time. So short output is written to the stack first, and long
    // output is measured.
    char local[768];
    const std::uint32_t flags = how.flags() & ~SIMDPCT_IF_CHANGED;
    simdpct_result done = simdpct_encode(how.keep(), flags, in.data(), in.size(), local, sizeof local);
    detail::check(done.status);
    if (done.status == SIMDPCT_OK) {
        out.append(local, done.written);
        return;
    }
    detail::appended more(out, done.needed, in);
    done = simdpct_encode(how.keep(), flags, more.in(), in.size(), more.data(), done.needed);
    more.keep(done.written);
}

[[nodiscard]] inline std::string encode(view in, const options &how = {}) {
    std::string out;
    encode_append(in, out, how);
    return out;
}

// Appends the decoded bytes and returns true. With SIMDPCT_STRICT and a malformed escape, it returns false, sets `*offset` to
// the offset of the escape, and does not change `out`.
[[nodiscard]] inline bool decode_append(view in, std::string &out, const options &how = {},
                                        std::size_t *offset = nullptr) {
    detail::appended more(out, in.size(), in);
    const simdpct_result done = simdpct_decode(how.keep(), how.flags() & ~SIMDPCT_IF_CHANGED, more.in(), in.size(),
                                               more.data(), in.size());
    detail::check(done.status);
    more.keep(done.written);
    if (offset && done.status == SIMDPCT_MALFORMED) *offset = done.offset;
    return done.status == SIMDPCT_OK;
}

// Returns the decoded bytes. Malformed escapes are copied. SIMDPCT_STRICT is not accepted.
[[nodiscard]] inline std::string decode(view in, const options &how = {}) {
    if (how.flags() & SIMDPCT_STRICT) throw std::invalid_argument("simdpct: decode takes no SIMDPCT_STRICT; call decode_strict");
    std::string out;
    (void)decode_append(in, out, how);
    return out;
}

// Returns the decoded bytes, or nothing if there is a malformed escape, whose offset is then in `*offset`.
[[nodiscard]] inline std::optional<std::string> decode_strict(view in, std::size_t *offset = nullptr) {
    std::string out;
    if (!decode_append(in, out, SIMDPCT_STRICT, offset)) return std::nullopt;
    return out;
}

[[nodiscard]] inline std::string normalize(view in) { return decode(in, SIMDPCT_NORMALIZE); }

// ---- Input in pieces

namespace detail {

// Restricts a constructor to arguments that are `options` already, so that `{...}` is never ambiguous with a copy.
template <class T>
using if_options = std::enable_if_t<std::is_same_v<T, options>>;

} // namespace detail

class encoder {
  public:
    encoder(std::uint32_t flags = 0) : encoder(options(flags)) {}
    encoder(const set &keep, std::uint32_t flags = 0) : encoder(options(keep, flags)) {}
    template <class T, class = detail::if_options<T>>
    explicit encoder(const T &how) {
        detail::check(simdpct_encode_start(&stream_, how.keep(), how.flags()));
    }

    void push(view piece, std::string &out) {
        const std::size_t most = simdpct_encode_bound(piece.size());
        detail::appended more(out, most, piece);
        const simdpct_result done = simdpct_encode_push(&stream_, more.in(), piece.size(), more.data(), most);
        detail::check(done.status);
        more.keep(done.written);
    }
    void finish(std::string &out) {
        detail::appended more(out, 6);
        more.keep(simdpct_encode_finish(&stream_, more.data(), 6).written);
    }

  private:
    simdpct_encode_stream stream_;
};

class decoder {
  public:
    decoder(std::uint32_t flags = 0) : decoder(options(flags)) {}
    decoder(const set &keep, std::uint32_t flags = 0) : decoder(options(keep, flags)) {}
    template <class T, class = detail::if_options<T>>
    explicit decoder(const T &how) {
        detail::check(simdpct_decode_start(&stream_, how.keep(), how.flags()));
    }

    // Returns false if the stream is strict and has met a malformed escape. `*offset` is then its offset from the start of the
    // first piece, and the output for the input before it was appended.
    [[nodiscard]] bool push(view piece, std::string &out, std::size_t *offset = nullptr) {
        const std::size_t most = simdpct_decode_bound(piece.size());
        detail::appended more(out, most, piece);
        return done(simdpct_decode_push(&stream_, more.in(), piece.size(), more.data(), most), more, offset);
    }
    [[nodiscard]] bool finish(std::string &out, std::size_t *offset = nullptr) {
        detail::appended more(out, 2);
        return done(simdpct_decode_finish(&stream_, more.data(), 2), more, offset);
    }

  private:
    static bool done(const simdpct_result &result, detail::appended &more, std::size_t *offset) {
        detail::check(result.status);
        more.keep(result.written);
        if (offset && result.status == SIMDPCT_MALFORMED) *offset = result.offset;
        return result.status == SIMDPCT_OK;
    }

    simdpct_decode_stream stream_;
};

} // namespace simdpct

#endif
