# Prints 20,000 distinct URLs of about 58 bytes, similar to those of logs: most are clean, some have escapes, few have bytes to escape.
function dice(sides) {
    seed = (seed * 16807) % 2147483647
    return seed % sides
}
function word(    n, out) {
    n = 2 + dice(9)
    out = ""
    while (n-- > 0) out = out substr("etaoinshrdlucmfwypvbgkqjxz0123456789", 1 + dice(dice(2) ? 12 : 36), 1)
    return out
}
function piece(    kind) {
    kind = dice(40)
    if (kind == 0) return word() "%20" word()
    if (kind == 1) return "caf%C3%A9-" word()
    if (kind == 2) return word() " " word()
    if (kind == 3) return word() "%2F" word() "%3d"
    if (kind == 4) return word() "_" word()
    return word()
}
BEGIN {
    seed = 42
    for (i = 0; i < 20000; ++i) {
        url = (dice(4) ? "https://www." : "http://") word() (dice(3) ? ".com" : ".example.org")
        for (n = 1 + dice(4); n > 0; --n) url = url "/" piece()
        if (dice(2)) {
            url = url "?" word() "=" piece()
            for (n = dice(3); n > 0; --n) url = url "&" word() "=" piece()
        }
        print url
    }
}
