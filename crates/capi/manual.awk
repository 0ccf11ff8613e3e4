# Writes manual pages of section 3 from simdpct.h: simdpct.3, and a page for each comment that describes functions.
#
#   awk -v version=0.1.0 -v out=DIR -f manual.awk simdpct.h

function start(name, about) {
    page = out "/" name ".3"
    printf ".TH %s 3 \"\" \"simdpct %s\" \"Library functions\"\n.SH NAME\n%s \\- %s\n", name, version, names, about >page
}

function escaped(line) {
    gsub(/\\/, "\\\\e", line)
    gsub(/-/, "\\\\-", line)
    return line ~ /^[.']/ ? "\\&" line : line
}

# Writes a comment. Lines that are indented are code, and lines in capitals are headings.
function body(text,    lines, count, i) {
    count = split(text, lines, "\n")
    for (i = 1; i <= count; ++i) {
        if (lines[i] == "") print ".PP" >page
        else if (lines[i] ~ /^[A-Z]+$/) print ".SH " lines[i] >page
        else if (lines[i] ~ /^    /) print ".nf\n" escaped(lines[i]) "\n.fi" >page
        else print escaped(lines[i]) >page
    }
}

function verbatim(heading, text,    lines, count, i) {
    count = split(text, lines, "\n")
    print ".SH " heading "\n.nf" >page
    for (i = 1; i <= count; ++i) print escaped(lines[i]) >page
    print ".fi" >page
}

# Writes the page of the functions that were declared since the last comment.
function flush(    about, list, count, i) {
    if (names == "") return
    count = split(names, list, ", ")
    about = comment
    gsub(/\n/, " ", about)
    sub(/\.( .*)?$/, "", about)
    start(list[1], escaped(about))
    verbatim("SYNOPSIS", "#include <simdpct.h>\n\n" declarations)
    print ".SH DESCRIPTION" >page
    body(comment "\n\n" section)
    print ".SH SEE ALSO\n.BR simdpct (3)" >page
    close(page)
    for (i = 2; i <= count; ++i) {
        print ".so man3/" list[1] ".3" >(out "/" list[i] ".3")
        close(out "/" list[i] ".3")
    }
    all = all "\n" names
    names = declarations = ""
}

/^\/\*/ { flush(); comment = ""; in_comment = 1; in_values = /---- (Statuses|Flags|Types)/ || in_values && !/----/ }
in_values { values = values $0 "\n" }
in_comment {
    ends = /\*\/$/
    line = $0
    sub(/ ?\*\/$/, "", line)
    sub(/^(\/\*| \*) ?/, "", line)
    comment = comment (comment == "" ? "" : "\n") line
    if (!ends) next
    in_comment = 0
    if (comment ~ /^(simdpct\.h|----) /) {
        # The rest of the comment, after its title.
        section = comment
        sub(/^[^\n]*\n*/, "", section)
        if (comment ~ /^s/) head = section
    }
    next
}
/^SIMDPCT_MUST_USE/ { declaration = "" }
/^SIMDPCT_MUST_USE/, /;$/ {
    declaration = declaration $0 "\n"
    if (/;$/) {
        match(declaration, /simdpct_[a-z0-9_]+\(/)
        names = names (names == "" ? "" : ", ") substr(declaration, RSTART, RLENGTH - 1)
        gsub(/SIMDPCT_MUST_USE | SIMDPCT_NOEXCEPT/, "", declaration)
        gsub(/\n +/, "\n        ", declaration)
        declarations = declarations declaration
    }
}
END {
    flush()
    names = "simdpct"
    start("simdpct", "percent\\-encoding (URL encoding) for C and C++")
    body(head)
    verbatim("CONSTANTS AND TYPES", values)
    verbatim("FUNCTIONS", all)
}
