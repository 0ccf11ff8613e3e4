//! The shape of the sources: who may import what, and where `unsafe` and instruction sets may appear.
//!
//! The test reads `src/` as tokens, so comments and strings do not count and macros do. A file or a path that no
//! row allows fails with its place. Change a row only together with the design.

#![cfg(not(target_family = "wasm"))] // There are no sources to read there.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A module, or all modules of a folder (`isa/*`), and what it may import besides its own submodules. The first
/// row that fits counts.
const MAY_IMPORT: &[(&str, &str)] = &[
    // Vocabulary, which knows nothing above it.
    ("hex", ""),
    ("set", ""),
    ("kernel/cursor", "kernel/word"),
    ("kernel/slots", "kernel/cursor"),
    ("kernel/ends", "kernel/slots"),
    ("kernel/word", ""),
    ("error", "hex"),
    ("kernel/job", "hex set kernel/cursor"),
    // The rules, and the engine for machines without vectors.
    ("kernel/reference", "hex kernel/job"),
    ("kernel/scalar", "kernel/cursor kernel/ends hex kernel/job kernel/reference kernel/word set"),
    // The drivers: loops over blocks.
    ("kernel/drive", "kernel/cursor kernel/ends hex kernel/job set"),
    ("kernel/drive/*", "kernel/drive kernel/cursor kernel/ends hex kernel/job set"),
    // The tiers: the list, what they share, and each instruction set by itself.
    ("kernel/isa", "kernel/cursor kernel/drive kernel/ends kernel/job kernel/scalar"),
    ("kernel/isa/tables", ""),
    ("kernel/isa/cpu", ""),
    ("kernel/isa/look", "kernel/word"),
    ("kernel/isa/vector", "kernel/isa/tables kernel/drive"),
    (
        "kernel/isa/blocks",
        "kernel/isa/tables kernel/isa/vector kernel/cursor kernel/drive hex set kernel/word",
    ),
    (
        "kernel/isa/avx512 kernel/isa/sse2",
        "kernel/isa/tables kernel/isa/token kernel/cursor kernel/drive hex set kernel/word",
    ),
    ("kernel/isa/*", "kernel/isa/tables kernel/isa/token kernel/isa/vector kernel/isa/blocks kernel/drive"),
    ("kernel", ""),
    // The verbs, which know the tiers only as `Tier`, and what may be asked without one.
    (
        "coder",
        "kernel/isa/Tier kernel/isa/look kernel/cursor kernel/reference error hex kernel/job kernel/word set",
    ),
    ("encode", "coder kernel/isa/Tier kernel/cursor error hex set"),
    (
        "decode",
        "coder kernel/isa/Tier kernel/isa/look kernel/cursor kernel/reference error hex kernel/job kernel/word set",
    ),
    ("utf8", "decode kernel/cursor"),
    ("decode_text", "decode error hex kernel/job kernel/reference utf8"),
    ("normalize", "decode error kernel/reference utf8"),
    ("validate", "decode error hex set"),
    ("stable", "decode hex"),
    ("stream", "coder decode encode error hex kernel/job"),
    ("stream/*", "stream"),
    ("batch", "decode encode"),
    ("batch/tests", "batch decode encode kernel/isa/Tier set"),
    ("batch/*", "batch coder decode encode error kernel/cursor kernel/ends kernel/slots utf8"),
    ("form", "decode encode set"),
    // The crate: declarations and exports.
    ("lib", "*"),
];

/// The same for the command (`crates/cli/src`): rooms, from the ground up, each of which imports only rooms above it in this
/// table. Within a room modules may import each other, but not in a circle.
const COMMAND_MAY_IMPORT: &[(&str, &str)] = &[
    ("ground ground/*", "ground"),
    ("io io/*", "io ground"),
    ("url url/*", "url ground"),
    ("scan scan/*", "scan ground"),
    ("value value/*", "value scan url ground"),
    ("select select/*", "select value ground"),
    ("inspect inspect/*", "inspect scan io ground"),
    // The engine: results, chunks and threads, the work on a chunk, and what the user asked for.
    ("engine/sink engine/sink/*", "engine/sink value scan io ground"),
    ("engine/pump engine/pump/*", "engine/pump engine/sink select value io ground"),
    (
        "engine/jobs engine/jobs/* engine/jobs/values/*",
        "engine/jobs engine/pump engine/sink select value scan io ground",
    ),
    ("engine/plan engine/plan/*", "engine/plan engine/jobs engine/pump engine/sink select value io ground"),
    ("engine", ""),
    // What is asked for, in the plain types of the rooms below; never what these do.
    (
        "args args/*",
        "args engine/plan/Request engine/plan/PreviewFormat engine/plan/Selection engine/plan/Shape engine/plan/Columns \
         engine/plan/CheckRequest engine/plan/CheckOptions engine/plan/FindingsFormat inspect/audit scan/kind scan/listing select/fields select/jsonl select/logs value/options value/policy value/stats \
         io/compression io/files io/names url ground",
    ),
    ("commands commands/*", "args engine/plan/Plan inspect/audit io/output url/canonical ground"),
    ("main", "commands"),
];

/// Tokens of the command that may appear only in these modules.
const COMMAND_ONLY_IN: &[(&str, &str)] = &[("clap ::", "args args/* commands commands/*"), ("unsafe", "")];

/// The same for whole URIs (`crates/uri/src`), from the ground up.
const URI_MAY_IMPORT: &[(&str, &str)] = &[
    ("class", ""),
    ("offsets", ""),
    ("host", "class"),
    ("reference", "class offsets"),
    // The kernels are written over `Isa`; the instruction sets run any `Operation`.
    ("kernel", ""),
    ("kernel/split", "kernel/Isa kernel/Operation class offsets reference"),
    ("kernel/isa", "kernel/Isa kernel/Operation kernel/Sets kernel/split offsets"),
    ("kernel/columns", "kernel/Isa kernel/Operation kernel/split offsets reference"),
    ("kernel/scan", "kernel/Isa kernel/Operation kernel/Sets"),
    // Splitting.
    ("pieces", ""),
    ("flaws", "class host offsets"),
    ("parts", "flaws host kernel/isa offsets pieces"),
    ("columns", "kernel/columns kernel/isa offsets parts"),
    // Writing.
    ("dialect", "flaws"),
    ("compose", "class parts"),
    ("builder", "class"),
    ("charset", ""),
    ("form", "charset pieces"),
    ("whole", ""),
    ("iri", "host parts"),
    ("canon/error", ""),
    ("canon/shared", ""),
    ("canon/*", "canon/error canon/shared compose host parts pieces"),
    ("canon/surt/*", ""),
    ("canon", "kernel/isa kernel/scan parts"),
    ("internals", "canon columns kernel/isa parts"),
    ("lib", ""),
];

/// Tokens of whole URIs that may appear only in these modules.
const URI_ONLY_IN: &[(&str, &str)] = &[
    ("unsafe", "kernel/isa"),
    ("core :: arch", "kernel/isa"),
    ("std :: arch", "kernel/isa"),
    // The crate says which targets have no kernels, where the drivers have no caller.
    ("target_arch", "kernel/isa lib"),
    ("target_feature", "kernel/isa"),
];

/// Tokens that may appear only in these modules.
const ONLY_IN: &[(&str, &str)] = &[
    ("unsafe", "kernel/isa kernel/isa/* kernel/cursor kernel/slots coder utf8"),
    ("core :: arch", "kernel/isa kernel/isa/*"),
    ("std :: arch", "kernel/isa kernel/isa/*"),
    // The crate says which targets have no vector tier, where the drivers have no caller; `word`, where loops over bytes become
    // vector code.
    ("target_arch", "kernel/isa kernel/isa/* kernel/word lib"),
    ("target_feature", "kernel/isa kernel/isa/* lib"),
    ("target_endian", "kernel/isa lib"),
    ("target_pointer_width", ""),
];

/// The modules of the C library (`crates/capi/src`) where `unsafe` may appear.
const C_LIBRARY_UNSAFE: &str = "border exports system";

/// The modules of the Python package (`crates/python/src`) where `unsafe` may appear.
const PYTHON_UNSAFE: &str = "arrow arrow/export arrow/import call object plugin urllib";

/// Tokens that may not appear in these modules.
const NOT_IN: &[(&str, &str)] = &[
    ("cfg", "kernel/drive kernel/drive/*"),
    ("std", "kernel/drive kernel/drive/* kernel/scalar hex set kernel/job kernel/cursor kernel/word"),
];

/// A source file.
#[derive(Clone)]
struct Source {
    /// As in a rule: `isa/avx2` for `src/isa/avx2.rs`, `isa` for `src/isa/mod.rs`.
    module: String,
    /// For messages.
    file: String,
    text: String,
    tokens: Vec<Token>,
}

/// A token, its line, and its module.
#[derive(Clone)]
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

    /// The lines where the tokens of `pattern` follow each other.
    fn find(&self, pattern: &str) -> Vec<usize> {
        let pattern: Vec<&str> = pattern.split(' ').collect();
        let same =
            |window: &&[Token]| window.iter().map(|token| token.text.as_str()).eq(pattern.iter().copied());
        self.tokens.windows(pattern.len()).filter(same).map(|window| window[0].line).collect()
    }

    /// Every path that begins with `crate` or `super`: from the crate's root, and its line.
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

    /// Reads the path, or the braces with paths, at `at`, and returns the place after it.
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
                // `as other` renames.
                at + if behind == "as" { 3 } else { 1 }
            }
        }
    }
}

fn parent(module: &str) -> &str {
    module.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// Tokens in order, `::` as one, groups with their delimiters.
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
                // `mod name { ... }`: what is inside is one module further in.
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

fn sources() -> Vec<Source> {
    sources_of(Path::new(env!("CARGO_MANIFEST_DIR")))
}

fn command() -> Vec<Source> {
    sources_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/cli"))
}

fn c_library() -> Vec<Source> {
    sources_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/capi"))
}

fn python() -> Vec<Source> {
    sources_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/python"))
}

fn uri() -> Vec<Source> {
    sources_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/uri"))
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

/// Whether `module` is one of `patterns`: a module, or all modules directly in a folder.
fn is_one_of(module: &str, patterns: &str) -> bool {
    patterns.split_whitespace().any(|pattern| match pattern.strip_suffix("/*") {
        Some(folder) => parent(module) == folder && !folder.is_empty(),
        None => module == pattern,
    })
}

/// Whether `path` is one of `prefixes`, or lies within one.
fn is_within(path: &str, prefixes: &str) -> bool {
    prefixes.split_whitespace().any(|prefix| {
        prefix == "*"
            || path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

fn fail_with(breaches: &[String]) {
    assert!(breaches.is_empty(), "{} breaches of the layers:\n{}", breaches.len(), breaches.join("\n"));
}

#[test]
fn modules_import_only_what_is_below_them() {
    let sources = sources();
    let exports = exports(&sources);
    let mut breaches = Vec::new();
    for source in &sources {
        let module = &source.module;
        let Some((_, allowed)) = MAY_IMPORT.iter().find(|(pattern, _)| is_one_of(module, pattern)) else {
            breaches.push(format!("{}:1: no row of tests/layers.rs says what this may import", source.file));
            continue;
        };
        for (path, line) in source.imports() {
            // What the crate exports at its root belongs to the module that it comes from.
            let root = path.split('/').next().unwrap_or_default();
            let path = exports.get(root).map_or(path.clone(), |from| format!("{from}/{path}"));
            let own = is_within(&path, module);
            if !own && !is_within(&path, allowed) {
                let path = path.replace('/', "::");
                breaches.push(format!("{}:{line}: `{module}` may not import `{path}`", source.file));
            }
        }
    }
    fail_with(&breaches);
}

#[test]
fn the_command_imports_downwards_only() {
    imports_follow(&command(), COMMAND_MAY_IMPORT, COMMAND_ONLY_IN);
}

#[test]
fn whole_uris_import_downwards_only() {
    let sources = uri();
    imports_follow(&sources, URI_MAY_IMPORT, URI_ONLY_IN);
    fail_with(&unsafe_without_reason(&sources));
}

/// For sources without exports that are imported: every module has a row, imports what this allows, and has no tokens that
/// are for other modules; and rows name modules that exist.
fn imports_follow(sources: &[Source], may_import: &[(&str, &str)], only_in: &[(&str, &str)]) {
    let mut breaches = Vec::new();
    for source in sources {
        let module = &source.module;
        let Some((_, allowed)) = may_import.iter().find(|(pattern, _)| is_one_of(module, pattern)) else {
            breaches.push(format!("{}:1: no row of tests/layers.rs says what this may import", source.file));
            continue;
        };
        for (path, line) in source.imports() {
            if !is_within(&path, allowed) && !is_within(&path, module) {
                let path = path.replace('/', "::");
                breaches.push(format!("{}:{line}: `{module}` may not import `{path}`", source.file));
            }
        }
        for (pattern, _) in only_in.iter().filter(|(_, modules)| !is_one_of(module, modules)) {
            for line in source.find(pattern) {
                breaches.push(format!("{}:{line}: `{pattern}` may not appear in `{module}`", source.file));
            }
        }
    }
    fail_with(&breaches);
    for (patterns, allowed) in may_import {
        for pattern in patterns.split_whitespace() {
            assert!(
                sources.iter().any(|source| is_one_of(&source.module, pattern)),
                "`{pattern}` is no module"
            );
        }
        for path in allowed.split_whitespace() {
            assert!(sources.iter().any(|source| is_within(path, &source.module)), "`{path}` does not exist");
        }
    }
}

/// The rows of the command are in order, so that its rooms cannot import each other in a circle.
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

/// Packages whose circles of imports are still to be removed.
const WITH_CIRCLES: &[&str] = &["crates/python"];

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
    trees.retain(|tree| !WITH_CIRCLES.iter().any(|folder| tree.ends_with(folder)));
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
        // A module may use its submodules, which may use it.
        (false, vec![("a", "mod b; use self::b::X;"), ("a/b", "use super::Y;")]),
        // Tests import what they test.
        (false, vec![("a", "fn f() {} #[cfg(test)] mod tests { use super::f; }")]),
    ] {
        let sources: Vec<Source> = sources(&texts);
        assert_eq!(circle(&sources).is_some(), is_circle, "{texts:?}");
    }
}

/// The modules of a circle of imports, if there is one.
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
    // Removes modules that import nothing that is left, and those that nothing imports, until only circles are left.
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

/// What `lib.rs` exports, and from which module.
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
                // `decode` is also a module, and a path that begins with it means that.
                if sources.iter().all(|source| source.module != name) {
                    exports.insert(name.to_owned(), module.to_owned());
                }
            }
        }
    }
    exports
}

#[test]
fn unsafe_and_instruction_sets_stay_where_they_belong() {
    let mut breaches = Vec::new();
    for source in &sources() {
        let only = ONLY_IN.iter().filter(|(_, modules)| !is_one_of(&source.module, modules));
        let not = NOT_IN.iter().filter(|(_, modules)| is_one_of(&source.module, modules));
        for (pattern, _) in only.chain(not) {
            for line in source.find(pattern) {
                let pattern = pattern.replace(' ', "");
                breaches.push(format!(
                    "{}:{line}: `{pattern}` may not appear in `{}`",
                    source.file, source.module
                ));
            }
        }
    }
    fail_with(&breaches);
}

#[test]
fn unsafe_towards_other_languages_is_at_the_border() {
    let mut breaches = Vec::new();
    for (sources, allowed) in [(c_library(), C_LIBRARY_UNSAFE), (python(), PYTHON_UNSAFE)] {
        for source in &sources {
            if !is_one_of(&source.module, allowed) {
                let lines = source.find("unsafe");
                breaches.extend(
                    lines.iter().map(|line| format!("{}:{line}: `unsafe` may not appear here", source.file)),
                );
            }
        }
        allowed.split_whitespace().for_each(|module| {
            assert!(sources.iter().any(|source| source.module == module), "`{module}` is no module")
        });
    }
    fail_with(&breaches);
}

/// Clippy asks the same, but can be silenced by an attribute, and does not look into macros that are not used.
#[test]
fn every_unsafe_block_says_why_it_is_safe() {
    fail_with(&unsafe_without_reason(&[sources(), c_library(), python()].concat()));
}

fn unsafe_without_reason(sources: &[Source]) -> Vec<String> {
    let mut breaches = Vec::new();
    for source in sources {
        let lines: Vec<&str> = source.text.lines().collect();
        let unsafes = source.find("unsafe {").into_iter().chain(source.find("unsafe impl"));
        for line in unsafes {
            // The comment is above the statement, which may begin a few lines before.
            let near = &lines[line.saturating_sub(7)..line];
            if !near.iter().any(|line| line.contains("// SAFETY: ")) {
                breaches.push(format!("{}:{line}: no SAFETY comment", source.file));
            }
        }
    }
    breaches
}

/// The rules themselves: each row names something that exists, so that a renamed module cannot escape its rule.
#[test]
fn rules_name_modules_that_exist() {
    let sources = sources();
    let exists = |pattern: &str| sources.iter().any(|source| is_one_of(&source.module, pattern));
    for (pattern, allowed) in MAY_IMPORT {
        assert!(exists(pattern), "`{pattern}` of MAY_IMPORT is no module");
        for path in allowed.split_whitespace().filter(|path| !["*", "kernel/isa/token"].contains(path)) {
            let module = path.strip_suffix("/Tier").or(path.strip_suffix("/Encode")).unwrap_or(path);
            assert!(exists(module), "`{path}`, which `{pattern}` may import, does not exist");
        }
    }
    for (_, modules) in ONLY_IN.iter().chain(NOT_IN) {
        modules.split_whitespace().for_each(|pattern| assert!(exists(pattern), "`{pattern}` is no module"));
    }
}
