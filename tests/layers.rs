//! Checks the layers of the sources: which module may import which, and where `unsafe` and instruction sets may appear.
//!
//! The test reads the sources as tokens, so code in macros counts, and comments and strings do not. Change a row of the
//! tables only together with the design.

#![cfg(not(target_family = "wasm"))] // WebAssembly may have no file system, and the test reads sources.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The modules, each with the modules that it may import besides its own submodules. In the first column, `kernel/isa/*` means
/// all modules directly in that folder. In the second, a path means a module or an item, and all that is inside it. If several
/// rows match a module, only the first counts.
const MAY_IMPORT: &[(&str, &str)] = &[
    // The basic types, whose modules import only modules of this group.
    ("hex", ""),
    ("set", ""),
    ("kernel/cursor", "kernel/word"),
    ("kernel/fixed_vec", "kernel/cursor"),
    ("kernel/ends", "kernel/fixed_vec"),
    ("kernel/word", ""),
    ("error", "hex"),
    ("kernel/job", "hex set kernel/cursor"),
    // The rules of the codec, and the kernel for machines without vectors.
    ("kernel/reference", "hex kernel/job"),
    (
        "kernel/scalar",
        "kernel/isa/look kernel/cursor kernel/ends hex kernel/job kernel/reference kernel/word",
    ),
    // The traits over which the kernels of other crates are written.
    ("kernel/simd", ""),
    // The drivers: loops over blocks.
    ("kernel/drive", "kernel/cursor kernel/ends hex kernel/job set"),
    ("kernel/drive/*", "kernel/drive kernel/cursor kernel/ends hex kernel/job set"),
    // The tiers: their list, the code that they share, and a module for each instruction set, which imports no other one.
    ("kernel/isa/ladder", "kernel/cursor kernel/drive kernel/drive/* kernel/job"),
    (
        "kernel/isa",
        "kernel/cursor kernel/drive kernel/drive/* kernel/ends kernel/job kernel/scalar kernel/simd/Kernel",
    ),
    ("kernel/isa/tables", ""),
    // The tests that compare the tiers with the rules.
    ("kernel/lane_tests", "kernel/isa kernel/drive kernel/cursor kernel/reference hex kernel/job set"),
    ("kernel/isa/cpu", ""),
    ("kernel/isa/look", "kernel/word"),
    ("kernel/isa/vector", "kernel/isa/tables kernel/drive"),
    (
        "kernel/isa/blocks",
        "kernel/isa/tables kernel/isa/vector kernel/cursor kernel/drive hex set kernel/simd kernel/word",
    ),
    (
        "kernel/isa/avx512 kernel/isa/sse2",
        "kernel/isa/tables kernel/isa/token kernel/isa/vector kernel/isa/ladder kernel/cursor kernel/drive kernel/drive/* hex kernel/job set kernel/simd kernel/word",
    ),
    (
        "kernel/isa/*",
        "kernel/isa/tables kernel/isa/token kernel/isa/vector kernel/isa/blocks kernel/isa/ladder kernel/cursor kernel/drive kernel/drive/* kernel/job kernel/simd",
    ),
    ("kernel", ""),
    // Encoding and decoding. These modules use the kernels only through `Tier`; the checks of short inputs in `look`
    // need no tier.
    (
        "coder",
        "kernel/isa/Tier kernel/isa/look kernel/cursor kernel/reference error hex kernel/job kernel/word set",
    ),
    ("encode", "coder kernel/isa/Tier kernel/cursor error hex set"),
    (
        "decode",
        "coder kernel/isa/Tier kernel/isa/look kernel/cursor kernel/reference error hex kernel/job kernel/word set",
    ),
    ("utf8", "kernel/cursor"),
    ("decode_text", "decode error hex kernel/job kernel/reference utf8"),
    ("normalize", "decode kernel/reference"),
    ("validate", "decode error hex set"),
    ("internals", "coder decode encode kernel/isa/TIER_NAMES kernel/isa/Tier kernel/cursor kernel/job"),
    ("stable", "decode hex"),
    ("stream", "coder decode encode error hex kernel/cursor kernel/fixed_vec kernel/job"),
    ("stream/*", "stream"),
    ("batch", "decode encode"),
    ("batch/tests", "batch decode encode kernel/isa/Tier set"),
    ("batch/*", "batch coder decode encode error kernel/cursor kernel/ends kernel/fixed_vec utf8"),
    ("form", "decode encode set"),
    ("header", "decode encode error kernel/fixed_vec kernel/reference set"),
    // Vector instructions for other crates.
    ("simd", "kernel/isa kernel/simd"),
    // The crate: declarations and exports.
    ("lib", "*"),
];

/// The modules of the command (`crates/cli/src`), each with the modules that it may import. Each row is a room (a group
/// of modules): its modules import only rooms above it in this table, and each other, but not in a circle.
const COMMAND_MAY_IMPORT: &[(&str, &str)] = &[
    ("common common/*", "common"),
    ("io io/*", "io common"),
    // The modules of the first row find bytes in a value or a line, and those of the second row report them.
    (
        "check/kind check/listing check/scanner check/schemes",
        "check/kind check/listing check/scanner check/schemes common",
    ),
    ("check check/*", "check io common"),
    ("convert convert/*", "convert check/listing check/kind common"),
    ("url url/*", "url convert common"),
    ("select select/*", "select convert check/kind check/listing check/scanner common"),
    // Modules that print the results, and modules that run the work on chunks in threads.
    ("print print/*", "print convert check io common"),
    ("run run/* run/pump/*", "run print select convert check io common"),
    // The arguments of the command. They use plain types of the rooms above, but call no functions that do the work.
    (
        "args args/*",
        "args check/audit check/kind check/listing select/FieldName convert check/chain check/readings io/compression io/files io/names url \
         common",
    ),
    ("plan plan/*", "plan args run print select convert check/top io common"),
    (
        "commands commands/*",
        "args commands/tables plan check/schemes check/audit check/chain check/kind check/listing check/page check/readings convert io \
         url/canonical url/part common",
    ),
    ("main", "commands"),
];

/// Tokens of the sources of the command that may appear only in the modules of the second column.
const COMMAND_ONLY_IN: &[(&str, &str)] = &[("clap ::", "args args/* commands commands/*"), ("unsafe", "")];

/// The modules of the crate for whole URIs (`crates/uri/src`), each with the modules that it may import, lowest layer first.
const URI_MAY_IMPORT: &[(&str, &str)] = &[
    ("text", ""),
    ("class", ""),
    ("offsets", ""),
    ("host", ""),
    ("reference", "class offsets"),
    // The kernels, which are written over `simdpct::simd`.
    ("kernel", ""),
    ("kernel/split", "class offsets reference"),
    ("kernel/tables", "class"),
    ("kernel/scan", ""),
    // Modules that split URIs.
    ("pieces", "text"),
    ("flaws", "host offsets"),
    ("parts", "flaws host kernel/split offsets pieces text"),
    ("kernel/columns", "kernel/split offsets parts reference"),
    ("columns", "kernel/columns offsets parts"),
    // Modules that write URIs.
    ("dialect", "class flaws"),
    ("compose", "class parts text"),
    ("iri", "flaws host parts"),
    ("builder", "class host parts"),
    ("suffix", "host parts pieces text"),
    ("owned", "builder class compose flaws host offsets parts text"),
    ("charset", ""),
    ("form", "charset pieces"),
    ("canon/error", ""),
    ("canon/shared", ""),
    ("canon/host", "canon/shared host"),
    ("canon/standard", "canon/error canon/host canon/shared host offsets parts reference"),
    ("canon/contact", "canon/shared canon/standard host parts"),
    ("canon/escapes", ""),
    // Most canonical forms have a folder, in which `mod` makes the form. Where there is a `proof`, it proves that lines are in this form
    // already. The folder `surt` has other modules, and `escapes` and `robots` are single files.
    ("canon/key", "kernel/scan kernel/tables"),
    ("canon/rfc3986/proof canon/whatwg/proof", "kernel/scan kernel/tables"),
    ("canon/safe_browsing/proof", "canon/key canon/safe_browsing kernel/tables"),
    ("canon/w3lib/proof", "canon/key canon/w3lib"),
    ("canon/surt/plain", "canon/surt/Tool kernel/tables"),
    ("canon/surt/sessions", "canon/shared"),
    ("canon/lines", "canon kernel/scan parts"),
    (
        "canon/*",
        "canon/contact canon/error canon/escapes canon/host canon/shared canon/standard class compose host kernel/tables offsets parts pieces",
    ),
    ("canon", "kernel/scan kernel/tables parts text"),
    ("whole", "canon"),
    ("internals", "canon columns parts reference"),
    ("lib", ""),
];

/// The modules of the crate that reads request targets as servers do (`crates/readings/src`), lowest layer first.
const READINGS_MAY_IMPORT: &[(&str, &str)] = &[
    ("step", ""),
    ("escapes", ""),
    ("read", "escapes step"),
    ("plain", "escapes read step"),
    ("reading", "plain read step"),
    ("table", "reading step"),
    ("agree", "plain read table"),
    ("lib", ""),
];

/// The modules of the crate for values in records (`crates/records/src`), lowest layer first. Only `fast` is also imported by
/// modules above its row: `fields`, `table` and `reader`.
const RECORDS_MAY_IMPORT: &[(&str, &str)] = &[
    // Modules for values and their places, which know no format.
    ("escaping", ""),
    ("charset", ""),
    ("placeholders", ""),
    ("place", "charset escaping placeholders"),
    // Modules that find values by number, column, key, path or attribute.
    ("path", ""),
    ("ends", ""),
    ("fields", "ends escaping fast place"),
    ("pairs", "escaping place"),
    ("table", "ends escaping fast place"),
    ("json", "escaping path place"),
    ("html/attributes", "place"),
    ("html/finder", "charset escaping html/attributes place"),
    ("html", ""),
    // Modules that split the line of a log, and a module that finds the record inside the line of a logger.
    ("target", "escaping place placeholders"),
    ("access columns labels", "escaping place target"),
    ("wrapper", "escaping json place"),
    // The table of log formats, and the modules that read it.
    ("logs", "access columns escaping labels place placeholders wrapper"),
    ("reader", "access columns escaping fast json labels logs path place target wrapper"),
    // Modules that find the values of many records at once with the modules above.
    ("fast fast/*", "access ends escaping fast fast/* json logs place placeholders target"),
    // One type for all kinds of records but HTML, the choice of a log format, and the writer of records.
    ("syntax", "escaping fast fields json logs pairs path place reader table wrapper"),
    ("auto", "logs place syntax wrapper"),
    ("editor", "place syntax"),
    ("lib", ""),
];

/// Tokens of the crates for whole URIs, readings and records that may appear in no module.
const URI_ONLY_IN: &[(&str, &str)] =
    &[("unsafe", ""), ("core :: arch", ""), ("std :: arch", ""), ("target_arch", ""), ("target_feature", "")];

/// Tokens of the main crate that may appear only in the modules of the second column.
const ONLY_IN: &[(&str, &str)] = &[
    ("unsafe", "kernel/isa kernel/isa/* kernel/cursor kernel/fixed_vec coder utf8"),
    ("core :: arch", "kernel/isa kernel/isa/*"),
    ("std :: arch", "kernel/isa kernel/isa/*"),
    // `lib` names the targets without a vector tier, on which nothing calls the drivers. `word` names the targets on which the
    // compiler makes vector code of loops over bytes.
    ("target_arch", "kernel/isa kernel/isa/* kernel/word lib"),
    ("target_feature", "kernel/isa kernel/isa/* lib"),
    ("target_endian", "kernel/isa lib"),
    ("target_pointer_width", ""),
];

/// The modules of the C library (`crates/capi/src`) where `unsafe` may appear.
const C_LIBRARY_UNSAFE: &str = "border exports system";

/// The modules of the Python package (`crates/python/src`) where `unsafe` may appear.
const PYTHON_UNSAFE: &str = "arrow arrow/export arrow/import call object plugin urllib";

/// Like [`ONLY_IN`], for `crates/wasm`, in which `unsafe` may only be in attributes.
const WASM_ONLY_IN: &[(&str, &str)] = &[("unsafe {", ""), ("unsafe fn", ""), ("unsafe impl", "")];

/// Like [`ONLY_IN`], for `benches/compare`.
const COMPARE_ONLY_IN: &[(&str, &str)] =
    &[("unsafe", "algorithms algorithms/*"), ("std :: arch", "algorithms/*")];

/// Tokens that may not appear in the modules of the second column.
const NOT_IN: &[(&str, &str)] = &[
    ("cfg", "kernel/drive kernel/drive/*"),
    ("std", "kernel/drive kernel/drive/* kernel/scalar hex set kernel/job kernel/cursor kernel/word"),
];

/// The sources of one package, with the rules for them. If `may_import` has no rows, every import is allowed, but not in a
/// circle.
struct Tree {
    /// The folder of the package, relative to the repository.
    root: &'static str,
    may_import: &'static [(&'static str, &'static str)],
    only_in: &'static [(&'static str, &'static str)],
    not_in: &'static [(&'static str, &'static str)],
}

const TREES: &[Tree] = &[
    Tree { root: "", may_import: MAY_IMPORT, only_in: ONLY_IN, not_in: NOT_IN },
    Tree { root: "crates/cli", may_import: COMMAND_MAY_IMPORT, only_in: COMMAND_ONLY_IN, not_in: &[] },
    Tree { root: "crates/uri", may_import: URI_MAY_IMPORT, only_in: URI_ONLY_IN, not_in: &[] },
    Tree { root: "crates/readings", may_import: READINGS_MAY_IMPORT, only_in: URI_ONLY_IN, not_in: &[] },
    Tree { root: "crates/records", may_import: RECORDS_MAY_IMPORT, only_in: URI_ONLY_IN, not_in: &[] },
    Tree { root: "crates/capi", may_import: &[], only_in: &[("unsafe", C_LIBRARY_UNSAFE)], not_in: &[] },
    Tree { root: "crates/python", may_import: &[], only_in: &[("unsafe", PYTHON_UNSAFE)], not_in: &[] },
    Tree { root: "crates/duckdb", may_import: &[], only_in: &[("unsafe", "api extension")], not_in: &[] },
    Tree { root: "crates/percent-encoding", may_import: &[], only_in: &[("unsafe", "ascii")], not_in: &[] },
    Tree { root: "crates/wasm", may_import: &[], only_in: WASM_ONLY_IN, not_in: &[] },
    Tree { root: "crates/testkit", may_import: &[], only_in: &[("unsafe", "check guard")], not_in: &[] },
    Tree { root: "benches/kit", may_import: &[], only_in: &[("unsafe", "place")], not_in: &[] },
    Tree { root: "benches/compare", may_import: &[], only_in: COMPARE_ONLY_IN, not_in: &[] },
    Tree { root: "examples/nginx", may_import: &[], only_in: &[("unsafe", "lib")], not_in: &[] },
];

/// The tests that run the `unsafe` blocks of a folder or file, for docs/unsafe.md. The first row that matches a file counts.
const UNSAFE_TESTS: &[(&str, &str)] = &[
    (
        "src/kernel/isa/cpu.rs src/kernel/isa/mod.rs",
        "`tests/codec/tiers.rs::the_cpu_is_what_std_says_it_is`, `tests/environment.rs`; every other test calls kernels through them",
    ),
    (
        "src/kernel src/coder.rs src/utf8.rs",
        "`src/kernel/lane_tests.rs`; `tests/codec/lanes.rs::one_thing_at_every_lane` and `tests/codec/matrix.rs`, between guard pages; \
         `crates/uri/tests/uri/kernels.rs`; `ci/memory`; `ci/cpus`",
    ),
    ("crates/capi", "`tests/capi.rs`; `ci/capi`, with AddressSanitizer"),
    ("crates/python", "`ci/python`"),
    ("crates/duckdb", "`ci/duckdb`"),
    ("crates/percent-encoding", "`ci/drop-in`"),
    ("crates/testkit", "it is a part of all tests"),
    ("benches/kit", "`.ci/run benches`"),
    ("benches/compare", "`benches/compare/src/tests.rs`, with buffers of the exact capacity"),
    ("examples/nginx", "`examples/nginx/test`, also under valgrind"),
];

/// A source file.
struct Source {
    /// The name of the module in the rules: `kernel/isa/avx2` for `src/kernel/isa/avx2.rs`, `kernel/isa` for `src/kernel/isa/mod.rs`.
    module: String,
    /// The path of the file, for messages.
    file: String,
    text: String,
    tokens: Vec<Token>,
}

/// A token of a source file, with its line and its module.
struct Token {
    text: String,
    line: usize,
    module: String,
}

impl Source {
    fn read(root: &Path, path: &Path) -> Source {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let relative = path.strip_prefix(root).expect("within the root").with_extension("");
        let parts: Vec<&str> = relative.iter().skip(1).map(|part| part.to_str().expect("ASCII")).collect();
        let file = path.strip_prefix(root).expect("within the root").display().to_string();
        Source::parse(parts.join("/").trim_end_matches("/mod"), &file, text)
    }

    fn parse(module: &str, file: &str, text: String) -> Source {
        let (module, file) = (module.to_owned(), file.to_owned());
        let stream: TokenStream = text.parse().unwrap_or_else(|error| panic!("{file}: {error}"));
        let mut tokens = Vec::new();
        let of_crate = if module == "lib" { "" } else { &module };
        flatten(stream, of_crate, &mut tokens);
        Source { module, file, text, tokens }
    }

    /// Returns the lines on which the tokens of `pattern` appear in sequence.
    fn find(&self, pattern: &str) -> Vec<usize> {
        let pattern: Vec<&str> = pattern.split(' ').collect();
        let same =
            |window: &&[Token]| window.iter().map(|token| token.text.as_str()).eq(pattern.iter().copied());
        self.tokens.windows(pattern.len()).filter(same).map(|window| window[0].line).collect()
    }

    /// Lists every path that begins with `crate` or `super`, relative to the root of the crate, with its line.
    fn imports(&self) -> Vec<(String, usize)> {
        let mut imports = Vec::new();
        let mut at = 0;
        while at + 1 < self.tokens.len() {
            let token = &self.tokens[at];
            let start = match (token.text.as_str(), self.tokens[at + 1].text.as_str()) {
                ("crate", "::") => String::new(),
                ("super", "::") => parent(&token.module).to_owned(),
                _ => {
                    at += 1;
                    continue;
                }
            };
            at = self.tree(at + 2, &start, &mut imports);
        }
        imports
    }

    /// Reads the path, or the paths in braces, at the token `at`, adds them to `imports`, and returns the index after them.
    fn tree(&self, mut at: usize, prefix: &str, imports: &mut Vec<(String, usize)>) -> usize {
        let join = |name: &str| if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") };
        let token = &self.tokens[at];
        match token.text.as_str() {
            "{" => {
                at += 1;
                while self.tokens[at].text != "}" {
                    at = self.tree(at, prefix, imports);
                    at += usize::from(self.tokens[at].text == ",");
                }
                at + 1
            }
            "super" if self.tokens[at + 1].text == "::" => self.tree(at + 2, parent(prefix), imports),
            name => {
                let behind = self.tokens.get(at + 1).map_or("", |token| &token.text);
                let further = self.tokens.get(at + 2).map_or("", |token| &token.text);
                if behind == "::" && further != "<" {
                    return self.tree(at + 2, &join(name), imports);
                }
                imports.push((if name == "self" { prefix.to_owned() } else { join(name) }, token.line));
                // An import may end in `as NAME`, which is two more tokens.
                at + if behind == "as" { 3 } else { 1 }
            }
        }
    }
}

fn parent(module: &str) -> &str {
    module.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// Lists the tokens of `stream` in order. `::` is one token, and a group gives its delimiters and the tokens between them.
fn flatten(stream: TokenStream, module: &str, out: &mut Vec<Token>) {
    let push = |text: &str, line: usize, module: &str, out: &mut Vec<Token>| {
        let colons = text == ":" && out.last().is_some_and(|last| last.text == ":" && last.line == line);
        if colons {
            out.last_mut().expect("just seen").text.push(':');
        } else {
            out.push(Token { text: text.to_owned(), line, module: module.to_owned() });
        }
    };
    for tree in stream {
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                // The tokens inside `mod name { ... }` belong to that module.
                let inner = match &out[out.len().saturating_sub(2)..] {
                    [keyword, name] if keyword.text == "mod" && open == "{" => {
                        format!("{module}/{}", name.text)
                    }
                    _ => module.to_owned(),
                };
                push(open, group.span_open().start().line, module, out);
                flatten(group.stream(), &inner, out);
                push(close, group.span_close().start().line, module, out);
            }
            other => push(&other.to_string(), other.span().start().line, module, out),
        }
    }
}

fn sources_of(root: &Path) -> Vec<Source> {
    let mut folders = vec![root.join("src")];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("src can be read") {
            let path = entry.expect("src can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources.push(Source::read(root, &path));
            }
        }
    }
    sources.sort_by(|a, b| a.file.cmp(&b.file));
    sources
}

fn fail_with(breaches: &[String]) {
    assert!(breaches.is_empty(), "{} breaches of the layers:\n{}", breaches.len(), breaches.join("\n"));
}

impl Tree {
    /// Lists the imports of `source`, each with its line. An item that the library exports at its root counts as part of the
    /// module that defines it.
    fn imports(&self, source: &Source, exports: &HashMap<String, String>) -> Vec<(String, usize)> {
        let home = |path: String| {
            let root = path.split('/').next().unwrap_or_default();
            exports.get(root).map_or(path.clone(), |module| format!("{module}/{path}"))
        };
        source.imports().into_iter().map(|(path, line)| (home(path), line)).collect()
    }

    /// Calls `each` with the sources of every tree. Fails if `each` adds a breach of the rules.
    fn check_all(mut each: impl FnMut(&Tree, &[Source], &HashMap<String, String>, &mut Vec<String>)) {
        let mut breaches = Vec::new();
        for tree in TREES {
            let sources = sources_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join(tree.root));
            let exports = if tree.root.is_empty() { exports(&sources) } else { HashMap::new() };
            each(tree, &sources, &exports, &mut breaches);
        }
        fail_with(&breaches);
    }
}

/// Reports whether `module` matches one of `patterns`. A pattern is a module, or `folder/*` for all modules directly in a
/// folder.
fn is_one_of(module: &str, patterns: &str) -> bool {
    patterns.split_whitespace().any(|pattern| match pattern.strip_suffix("/*") {
        Some(folder) => parent(module) == folder && !folder.is_empty(),
        None => module == pattern,
    })
}

/// Reports whether `path` equals one of `prefixes` or is inside one. Every path is inside `*`.
fn is_within(path: &str, prefixes: &str) -> bool {
    prefixes.split_whitespace().any(|prefix| {
        prefix == "*"
            || path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// Returns the items that `lib.rs` exports, each with the module that defines it.
fn exports(sources: &[Source]) -> HashMap<String, String> {
    let lib = sources.iter().find(|source| source.module == "lib").expect("src/lib.rs");
    let mut exports = HashMap::new();
    for at in 0..lib.tokens.len() - 1 {
        if lib.tokens[at].text == "pub" && lib.tokens[at + 1].text == "use" {
            let mut paths = Vec::new();
            lib.tree(at + 2, "", &mut paths);
            for (path, line) in paths {
                let (module, name) =
                    path.rsplit_once('/').unwrap_or_else(|| panic!("src/lib.rs:{line}: {path}"));
                // A function such as `decode` has the name of a module. A path that begins with this name means the module, so
                // the function is left out.
                if sources.iter().all(|source| source.module != name) {
                    exports.insert(name.to_owned(), module.to_owned());
                }
            }
        }
    }
    exports
}

#[test]
fn modules_import_only_what_their_row_allows() {
    Tree::check_all(|tree, sources, exports, breaches| {
        for source in sources.iter().filter(|_| !tree.may_import.is_empty()) {
            let (module, file) = (&source.module, &source.file);
            let Some((_, allowed)) = tree.may_import.iter().find(|(pattern, _)| is_one_of(module, pattern))
            else {
                breaches.push(format!("{file}:1: no row of tests/layers.rs says what this may import"));
                continue;
            };
            for (path, line) in tree.imports(source, exports) {
                if !is_within(&path, module) && !is_within(&path, allowed) {
                    let path = path.replace('/', "::");
                    breaches.push(format!("{file}:{line}: `{module}` may not import `{path}`"));
                }
            }
        }
    });
}

/// Checks the order of the rows of the command: a room must import only rooms above it, so that no circle can arise.
#[test]
fn rooms_of_the_command_import_rooms_above_them() {
    let mut above = Vec::new();
    for (patterns, allowed) in COMMAND_MAY_IMPORT {
        above.extend(patterns.split_whitespace().map(|pattern| pattern.trim_end_matches("/*")));
        for path in allowed.split_whitespace() {
            let is_above = above.iter().any(|room| is_within(path, room));
            assert!(is_above, "`{patterns}` imports `{path}`, which has no row above it");
        }
    }
}

#[test]
fn no_tree_has_a_circle_of_imports() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut trees = vec![root.to_owned()];
    for folder in ["benches", "ci", "crates", "examples"] {
        let entries = fs::read_dir(root.join(folder)).expect("the folder can be read");
        let packages = entries.map(|entry| entry.expect("the folder can be read").path());
        trees.extend(packages.filter(|package| package.join("src").is_dir()));
    }
    assert!(trees.len() > 15, "{trees:?}");
    let circles = trees.iter().filter_map(|tree| {
        let circle = circle(&sources_of(tree))?;
        Some(format!("{}: {circle}", tree.strip_prefix(root).expect("within the root").display()))
    });
    fail_with(&circles.collect::<Vec<_>>());
}

#[test]
fn circles_are_found() {
    let source = |module: &str, text: &str| Source::parse(module, "", text.to_owned());
    let sources = |texts: &[(&str, &str)]| texts.iter().map(|(module, text)| source(module, text)).collect();
    for (is_circle, texts) in [
        (false, vec![("lib", "mod a; mod b; pub use b::B;"), ("a", "use crate::B;"), ("b", "")]),
        (true, vec![("a", "use crate::b::X;"), ("b", "use super::a::Y;")]),
        (
            true,
            vec![
                ("a", "use crate::b;"),
                ("b", "fn f() { crate::c::g() }"),
                ("c", "use crate::{a, d};"),
                ("d", ""),
            ],
        ),
        // A path that begins with `self` does not count as an import, so this is not a circle.
        (false, vec![("a", "mod b; use self::b::X;"), ("a/b", "use super::Y;")]),
        // A test module may import the items that it tests, so this is not a circle.
        (false, vec![("a", "fn f() {} #[cfg(test)] mod tests { use super::f; }")]),
    ] {
        let sources: Vec<Source> = sources(&texts);
        assert_eq!(circle(&sources).is_some(), is_circle, "{texts:?}");
    }
}

/// Returns the modules of circles of imports, with the modules between them, or `None` if there is no circle.
fn circle(sources: &[Source]) -> Option<String> {
    let exports =
        if sources.iter().any(|source| source.module == "lib") { exports(sources) } else { HashMap::new() };
    let root = sources.iter().find(|source| ["lib", "main"].contains(&source.module.as_str()));
    let module_of = |path: &str| {
        let first = path.split('/').next().unwrap_or_default();
        let path = exports.get(first).map_or(path, |module| module);
        let within = sources.iter().filter(|source| is_within(path, &source.module));
        within.max_by_key(|source| source.module.len()).or(root).map(|source| source.module.as_str())
    };
    let mut imports: HashMap<&str, Vec<&str>> = HashMap::new();
    for source in sources {
        let paths = source.imports().into_iter();
        let others = paths.filter_map(|(path, _)| module_of(&path)).filter(|other| *other != source.module);
        imports.entry(&source.module).or_default().extend(others);
    }
    // The loop removes modules that import no remaining module or that no remaining module imports, until only circles, and
    // the modules between them, are left.
    loop {
        let before = imports.len();
        let left: Vec<&str> = imports.keys().copied().collect();
        imports.values_mut().for_each(|others| others.retain(|other| left.contains(other)));
        let used: Vec<&str> = imports.values().flatten().copied().collect();
        imports.retain(|module, others| !others.is_empty() && used.contains(module));
        if imports.len() == before {
            break;
        }
    }
    (!imports.is_empty()).then(|| format!("circles among these modules: {imports:?}"))
}

#[test]
fn unsafe_and_instruction_sets_stay_where_they_belong() {
    Tree::check_all(|tree, sources, _, breaches| {
        for source in sources {
            let only = tree.only_in.iter().filter(|(_, modules)| !is_one_of(&source.module, modules));
            let not = tree.not_in.iter().filter(|(_, modules)| is_one_of(&source.module, modules));
            for (pattern, _) in only.chain(not) {
                for line in source.find(pattern) {
                    let (pattern, module) = (pattern.replace(' ', ""), &source.module);
                    breaches
                        .push(format!("{}:{line}: `{pattern}` may not appear in `{module}`", source.file));
                }
            }
        }
    });
}

#[test]
fn crates_without_rules_for_unsafe_forbid_it() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    for entry in fs::read_dir(crates).expect("crates can be read") {
        let package = entry.expect("crates can be read").path();
        let name = package.file_name().expect("a name").to_str().expect("a name in UTF-8");
        let has_rules = TREES.iter().any(|tree| tree.root.strip_prefix("crates/") == Some(name));
        let source = fs::read_to_string(package.join("src/lib.rs")).unwrap_or_default();
        assert!(has_rules || source.contains("#![forbid(unsafe_code)]"), "crates/{name}");
    }
}

/// Returns the text of the SAFETY comment that belongs to the `unsafe` on `line`, or `None` if it has no such comment.
fn safety_comment(lines: &[&str], line: usize) -> Option<String> {
    // The comment is above the statement, which may begin a few lines before `unsafe`.
    let start = (line.saturating_sub(7)..line).rev().find(|&at| lines[at].contains("// SAFETY: "))?;
    let first = lines[start].split_once("// SAFETY: ")?.1;
    let more = lines[start + 1..].iter().map_while(|line| line.trim_start().strip_prefix("// "));
    Some([first].into_iter().chain(more).collect::<Vec<_>>().join(" "))
}

/// Appends a paragraph or an item of a list to `page`, in lines of at most 120 characters that do not break code.
fn push_paragraph(page: &mut String, text: &str) {
    // Blanks in code become NUL until the line is written, so that no line breaks there.
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(at, part)| if at % 2 == 1 { part.replace(' ', "\0") } else { part.to_owned() });
    let text = parts.collect::<Vec<_>>().join("`");
    let mut width = 0;
    for (at, word) in text.split(' ').enumerate() {
        let len = word.chars().count();
        let gap = match (at, width + 1 + len > 120, text.starts_with("- ")) {
            (0, ..) => "",
            (_, false, _) => " ",
            (_, true, false) => "\n",
            (_, true, true) => "\n  ",
        };
        width = if gap.starts_with('\n') { gap.len() - 1 } else { width + gap.len() } + len;
        page.extend([gap, &word.replace('\0', " ")]);
    }
    page.push('\n');
}

/// Checks that each `unsafe` block has a SAFETY comment, and that docs/unsafe.md lists it; `SIMDPCT_BLESS=1` writes that page.
/// Clippy demands the comments, too, but an attribute can silence Clippy, and it does not check macros that are not used.
#[test]
fn every_unsafe_block_says_why_it_is_safe_and_is_listed() {
    let mut page = String::from("# Every `unsafe` block\n\n");
    push_paragraph(
        &mut page,
        "`SIMDPCT_BLESS=1 cargo test --test layers` writes this page from the sources; the same test fails if a block has no SAFETY \
         comment, or if the page differs. Each item has the function that contains the block and the block's comment: the precondition, and \
         the type or line that guarantees it. A function with a contract of its own is called only in blocks that are listed here, too.",
    );
    let (mut contents, mut sections) = (String::new(), String::new());
    let (mut total, mut in_library) = (0, 0);
    Tree::check_all(|tree, sources, _, breaches| {
        for source in sources {
            let file = Path::new(tree.root).join(&source.file).display().to_string();
            let lines: Vec<&str> = source.text.lines().collect();
            let (mut function, mut rows) = ("", Vec::<((&str, String), usize)>::new());
            for pair in source.tokens.windows(2) {
                match (pair[0].text.as_str(), pair[1].text.as_str()) {
                    ("fn", name) if name != "(" => function = name,
                    ("unsafe", "{" | "impl") => {
                        let Some(why) = safety_comment(&lines, pair[0].line) else {
                            breaches.push(format!("{file}:{}: no SAFETY comment", pair[0].line));
                            continue;
                        };
                        total += 1;
                        in_library += usize::from(file.starts_with("src/"));
                        // Links to Rust items lead nowhere on a Markdown page, so they become code.
                        let row = (function, why.replace("[`", "`").replace("`]", "`"));
                        match rows.iter_mut().find(|(other, _)| *other == row) {
                            Some((_, count)) => *count += 1,
                            None => rows.push((row, 1)),
                        }
                    }
                    _ => {}
                }
            }
            let Some(blocks) = rows.iter().map(|(_, count)| count).max().map(|_| &rows) else { continue };
            let tests =
                UNSAFE_TESTS.iter().find(|(files, _)| files.split(' ').any(|part| file.starts_with(part)));
            let Some((_, tests)) = tests else {
                breaches.push(format!("{file}: no row of UNSAFE_TESTS names a test"));
                continue;
            };
            contents += &format!("- [{file}](#{})\n", file.replace(['/', '.'], ""));
            sections += &format!("\n## {file}\n\n");
            push_paragraph(&mut sections, &format!("Tests: {tests}."));
            sections.push('\n');
            for ((function, why), count) in blocks {
                let times = if *count > 1 { format!(" ({count} blocks)") } else { String::new() };
                push_paragraph(&mut sections, &format!("- `{function}`{times}: {why}"));
            }
        }
    });
    page += &format!(
        "\nThere are {total} blocks, {in_library} of them in the library (`src`):\n\n{contents}{sections}"
    );
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/unsafe.md");
    if std::env::var_os("SIMDPCT_BLESS").is_some() {
        fs::write(&file, &page).expect("docs can be written");
    }
    let written = fs::read_to_string(&file).unwrap_or_default();
    assert!(page == written, "docs/unsafe.md is stale; SIMDPCT_BLESS=1 cargo test --test layers writes it");
}

/// Checks that each row of the rules names a module that exists, so that a renamed module cannot escape its rule.
#[test]
fn rules_name_modules_that_exist() {
    Tree::check_all(|tree, sources, _, breaches| {
        let exists = |pattern: &str| sources.iter().any(|source| is_one_of(&source.module, pattern));
        // A path may also name a type or a trait of a module, or the module `token` of the tiers, which a macro makes.
        let is_item = |path: &str| {
            let (module, item) = path.rsplit_once('/').unwrap_or_default();
            exists(module) && (item == "token" || item.starts_with(char::is_uppercase))
        };
        let patterns = tree.may_import.iter().map(|(patterns, _)| patterns);
        for patterns in patterns.chain(tree.only_in.iter().chain(tree.not_in).map(|(_, modules)| modules)) {
            let unknown = patterns.split_whitespace().filter(|pattern| !exists(pattern));
            breaches.extend(unknown.map(|pattern| format!("`{pattern}` of `{}` is not a module", tree.root)));
        }
        for path in tree.may_import.iter().flat_map(|(_, allowed)| allowed.split_whitespace()) {
            if path != "*" && !exists(path) && !is_item(path) {
                breaches
                    .push(format!("`{path}`, which a module of `{}` may import, does not exist", tree.root));
            }
        }
    });
}

/// Checks that the tests (`file::function`), the scripts, the files and the steps of `.ci/run` that the pages name exist, and that
/// each page names enough tests.
#[test]
fn pages_name_tests_and_scripts_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| fs::read_to_string(root.join(file)).unwrap_or_default();
    for (page, most) in [("docs/rules.md", 30), ("docs/trust.md", 15), ("docs/unsafe.md", 10)] {
        let text = read(page);
        // Splitting at backticks gives the text between them, and also the lines of blocks of commands.
        let code: Vec<&str> = text.split('`').skip(1).step_by(2).flat_map(str::lines).collect();
        let tests: Vec<_> = code.iter().filter_map(|text| text.split_once(".rs::")).collect();
        assert!(tests.len() >= most, "{page}: {} tests", tests.len());
        for (file, name) in tests {
            let in_file = read(&format!("{file}.rs"));
            let exists =
                [format!("fn {name}("), format!(" {name}: ")].iter().any(|text| in_file.contains(text));
            assert!(exists, "{page}: {file}.rs has no test {name}");
        }
        let steps = read(".ci/run");
        for words in code.iter().map(|text| text.split_whitespace().collect::<Vec<_>>()) {
            if let Some(at) = words.iter().position(|word| *word == ".ci/run") {
                let unknown = words[at + 1..].iter().find(|step| !steps.contains(&format!("\n{step}() {{")));
                assert!(unknown.is_none(), "{page}: .ci/run has no step {}", unknown.unwrap_or(&""));
            }
            let is_path = |word: &&&str| {
                let folder = word.split('/').next().unwrap_or_default();
                ["ci", ".ci", "crates", "docs", "examples", "fuzz", "src", "tests"].contains(&folder)
                    && word.contains('/')
            };
            for path in
                words.iter().filter(is_path).filter(|path| !path.contains("::") && !path.contains('*'))
            {
                assert!(root.join(path).exists(), "{page}: there is no {path}");
            }
        }
    }
}

/// Checks that each name such as `(lab: inlining)` in a comment of `src` is that of a page of docs/lab, which has the measurements.
/// Documentation of public items may not have such a name, because its readers do not have the pages.
#[test]
fn comments_name_pages_of_the_lab_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = fs::read_dir(root.join("docs/lab")).expect("the folder can be read");
    let pages: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().display().to_string()).collect();
    let (mut names, mut breaches) = (0, Vec::new());
    for source in sources_of(root) {
        let lines: Vec<&str> = source.text.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            for after in line.split("(lab:").skip(1) {
                names += 1;
                let place = format!("{}:{}", source.file, index + 1);
                // The file of a page begins with the ten characters of its date and a hyphen; its name follows.
                let exists = after.split_once(')').is_some_and(|(name, _)| {
                    let name = name.trim_start();
                    pages.iter().any(|page| page.get(11..) == Some(&format!("{name}.md")))
                });
                if !exists {
                    breaches.push(format!("{place}: no page of docs/lab has this name: (lab:{after}"));
                }
                let mut items = lines[index..].iter().map(|line| line.trim_start());
                let item = items.find(|line| !line.starts_with("//") && !line.starts_with("#["));
                let is_public = item.is_some_and(|item| item.starts_with("pub "));
                if line.trim_start().starts_with("///") && is_public {
                    breaches.push(format!("{place}: documentation of a public item names a page"));
                }
            }
        }
    }
    assert!(names >= 80, "{names} names of pages");
    fail_with(&breaches);
}
