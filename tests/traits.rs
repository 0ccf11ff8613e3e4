//! Tests which traits the public types implement. The compiler checks the list, and a test compares the list with the sources.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Debug;
use std::hash::Hash;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::Path;

use simdpct::batch::{
    Column, ColumnBuf, ColumnError, ColumnTooSmall, InvalidOffsets, Iter, TooLong, UninitColumn,
};
use simdpct::header::{ExtValue, ExtValueError};
use simdpct::stream::{Decoder, Encoder, FinishError, Reader, State, TryDecoder, Writer};
use simdpct::{
    AsciiSet, BufferTooSmall, ByteSet, Counts, Decode, DecodeError, DecodeUtf8Error, Encode, Encoded, Escape,
    Escapes, HexCase, InvalidUtf8, MalformedCause, MalformedEscape, NamedSet, OnInvalidUtf8, SetKind, Tier,
    TierInUse, TryDecode,
};

/// The traits that every public type implements.
trait Plain: Debug + Send + Sync + Unpin {}
impl<T: Debug + Send + Sync + Unpin> Plain for T {}

/// The traits of types whose values are compared and used as keys.
trait Value: Plain + Copy + Eq + Hash + UnwindSafe + RefUnwindSafe + 'static {}
impl<T: Plain + Copy + Eq + Hash + UnwindSafe + RefUnwindSafe + 'static> Value for T {}

/// The traits of option types, whose values are passed by value.
trait Options: Plain + Copy + UnwindSafe + RefUnwindSafe {}
impl<T: Plain + Copy + UnwindSafe + RefUnwindSafe> Options for T {}

trait PlainError: Plain + Error + Copy + Eq + 'static {}
impl<T: Plain + Error + Copy + Eq + 'static> PlainError for T {}

trait Cloned: Plain + Clone {}
impl<T: Plain + Clone> Cloned for T {}

/// Checks lists of the form `Trait: Type, Type[Argument];`. They compile only if the types implement the trait.
macro_rules! assert_traits {
    ($($bound:ident: $($name:ident $([$($arg:tt)*])?),*;)*) => {
        const NAMES: &[&str] = &[$($(stringify!($name),)*)*];

        #[test]
        fn public_types_implement_what_they_can() {
            $({
                const fn check<T: $bound>() {}
                $(check::<$name $(<$($arg)*>)?>();)*
            })*
        }
    };
}

assert_traits! {
    Value: AsciiSet, ByteSet, HexCase, OnInvalidUtf8, SetKind, Tier;
    Options: Encode[AsciiSet], Encode[ByteSet], Decode, TryDecode, Encoded['static], Column['static, i32], NamedSet, Escape, Counts;
    PlainError: MalformedEscape, InvalidUtf8, BufferTooSmall, DecodeError, DecodeUtf8Error, TierInUse, InvalidOffsets,
        TooLong, ColumnTooSmall, ColumnError, ExtValueError;
    Options: MalformedCause;
    Cloned: ExtValue['static], Escapes['static], Iter['static, i64], ColumnBuf[i32], Encoder[AsciiSet], Decoder, TryDecoder, State;
    // These types hold a unique borrow or values of the caller's types, so they implement no `Clone`, `Copy` or `Eq`, and the list demands
    // only the traits of all types. `FinishError` is an error, too.
    Plain: UninitColumn['static, i32], StringWriter, BytesReader, Failed;
}

type StringWriter = Writer<Encoder<AsciiSet>, Vec<u8>>;
type BytesReader = Reader<TryDecoder, &'static [u8]>;
type Failed = FinishError<StringWriter>;

/// Checks that streams are not `Copy`: a stream has state, and a copy by mistake would compile.
#[test]
fn streams_are_not_copy() {
    trait NotCopy<Marker> {
        fn check() {}
    }
    impl<T> NotCopy<()> for T {}
    impl<T: Copy> NotCopy<u8> for T {}
    // If one of these types were `Copy`, both impls would match, and this function would not compile.
    <Encoder<AsciiSet> as NotCopy<_>>::check();
    <Decoder as NotCopy<_>>::check();
    <TryDecoder as NotCopy<_>>::check();
    <State as NotCopy<_>>::check();
}

/// Checks that the list has each `pub struct` and `pub enum` in the files with public types, and no other type.
#[cfg(not(target_family = "wasm"))] // WebAssembly may have no file system, and the test reads sources.
#[test]
fn the_list_is_complete() {
    let known: BTreeSet<&str> = NAMES.iter().copied().chain(["Reader", "Writer", "FinishError"]).collect();
    // These types are public only because a hidden method or a sealed trait names them.
    let hidden = ["Coder", "Stop"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = 0;
    for folder in [".", "batch", "stream", "kernel/isa"] {
        for entry in std::fs::read_dir(root.join(folder)).expect("a folder of src") {
            let path = entry.expect("an entry").path();
            // Of the modules in `kernel/isa`, only `mod.rs`, which has the list of tiers, has public types.
            let kernel = folder == "kernel/isa" && !path.ends_with("mod.rs");
            if kernel || path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a source file");
            for line in text.lines().map(str::trim_start) {
                let Some(rest) = line.strip_prefix("pub struct ").or(line.strip_prefix("pub enum ")) else {
                    continue;
                };
                let name = rest.split(|c: char| !c.is_alphanumeric()).next().expect("a name");
                // Inside the macro `tiers!`, the name is a variable of the macro, which leaves an empty name here.
                if name.is_empty() || hidden.contains(&name) {
                    continue;
                }
                found += 1;
                assert!(known.contains(name), "{name} of {} is not in the list above", path.display());
            }
        }
    }
    assert_eq!(found, known.len() - 3, "a name of the list is not in the sources");
}
