//! Expressions of Polars, by its C interface for plugins, version 0.1: three structs and a few symbols, by hand.
//!
//! Polars opens this library by its path, asks `_polars_plugin_get_version`, and refuses what it does not speak. While it
//! plans, it calls `_polars_plugin_field_NAME` for the type of the result; while it works, `_polars_plugin_NAME` with columns by
//! the Arrow C data interface. Both get the options. A call that fails returns nothing, and leaves a message for
//! `_polars_plugin_get_last_error_message`. Polars calls from threads of its own, which do not hold the lock of the
//! interpreter, so nothing here is Python's.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::mem;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::arrow::{self, ArrowArray, ArrowSchema, Chunk, Held, Input, Layout, Refused, Type};
use crate::columns::{self, Failure, Output};
use crate::options::{self, Function};

/// The version of the interface: its major number in the upper half.
const VERSION: u32 = 1;

/// A column: its type, and an array for each chunk.
#[repr(C)]
struct SeriesExport {
    field: *mut ArrowSchema,
    arrays: *mut *mut ArrowArray,
    len: usize,
    release: Option<unsafe extern "C" fn(*mut SeriesExport)>,
    private_data: *mut c_void,
}

/// What Polars says of a call.
#[repr(C)]
struct CallerContext {
    /// The lowest bit: Polars works on other threads by itself, so a plugin should not.
    flags: u64,
}

// ---- what comes

/// A column of Polars, which is released when this is dropped.
struct Given {
    export: SeriesExport,
    arrays: Vec<Held<ArrowArray>>,
}

impl Given {
    /// # Safety
    ///
    /// `export` is a column as Polars makes them, and the caller does not use it any more.
    unsafe fn take(export: *const SeriesExport) -> Given {
        // SAFETY: it is ours now. Its release frees the structs of the arrays and not what they hold, which is ours, too.
        unsafe {
            let export = export.read();
            let arrays = (0..export.len).map(|index| Held::of((*export.arrays.add(index)).read())).collect();
            Given { export, arrays }
        }
    }

    fn schema(&self) -> Result<&ArrowSchema, String> {
        // SAFETY: the schema of a column lives as long as the column.
        unsafe { self.export.field.as_ref() }.ok_or_else(|| "a column without a type".to_owned())
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        if let Some(release) = self.export.release {
            // SAFETY: `take` has it from Polars, and this is the only call.
            unsafe { release(&raw mut self.export) };
        }
    }
}

/// The bytes of the options.
///
/// # Safety
///
/// There are `len` bytes at `kwargs`, alive and unchanged during the call.
unsafe fn bytes<'a>(kwargs: *const u8, len: usize) -> &'a [u8] {
    if kwargs.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: by the requirement of this function.
    unsafe { std::slice::from_raw_parts(kwargs, len) }
}

/// The type of a column, and whether its values can only be null.
fn class_of(schema: &ArrowSchema) -> Result<(Type, bool), String> {
    if arrow::is_null_type(schema) {
        return Ok((Type { layout: Layout::View, text: true }, true));
    }
    match arrow::class_of(schema) {
        Ok((class, false)) => Ok((class, false)),
        Ok((_, true)) | Err(Refused::Type(_)) => {
            let name = arrow::name_of(schema).to_string_lossy().into_owned();
            Err(format!(
                "column {name:?} is not of String or Binary; cast it: pl.col({name:?}).cast(pl.String)"
            ))
        }
        Err(refused) => Err(refused.to_string()),
    }
}

// ---- what goes

/// A result, as long as Polars has it.
struct Made {
    schema: Held<ArrowSchema>,
    /// Polars moves out of these, and releases what was in them.
    _arrays: Vec<ArrowArray>,
    pointers: Vec<*mut ArrowArray>,
}

unsafe extern "C" fn release_series(series: *mut SeriesExport) {
    // SAFETY: Polars calls this with what `export` made, once.
    unsafe {
        drop(Box::from_raw((*series).private_data.cast::<Made>()));
        (*series).release = None;
    }
}

fn export(output: Output, name: CString) -> SeriesExport {
    let mut arrays: Vec<_> = output.parts.iter().map(arrow::array_of).collect();
    let pointers = arrays.iter_mut().map(|array| &raw mut *array).collect();
    let schema = Held::of(arrow::schema_of(output.class, name));
    let mut made = Box::new(Made { schema, _arrays: arrays, pointers });
    SeriesExport {
        field: made.schema.get_mut(),
        arrays: made.pointers.as_mut_ptr(),
        len: made.pointers.len(),
        release: Some(release_series),
        private_data: Box::into_raw(made).cast(),
    }
}

// ---- what is between

/// More rows than this are worked on by several threads. What the streaming engine passes is less, and it does so on all cores.
const ALONE: usize = 2 * columns::ROWS;

fn apply(
    function: Function,
    mut inputs: Vec<Given>,
    kwargs: &[u8],
    parallel: bool,
) -> Result<(Output, CString), String> {
    let verb = function.verb(kwargs)?;
    let [given] = &mut inputs[..] else {
        return Err("one column is needed".to_owned());
    };
    let arrays = mem::take(&mut given.arrays);
    let schema = given.schema()?;
    let name = arrow::name_of(schema);
    let (class, null) = class_of(schema)?;
    let result = verb.class(class);
    let as_text = |refused: Refused| refused.to_string();
    let mut len = 0_usize;
    for array in &arrays {
        len = len.saturating_add(arrow::rows_of(array).map_err(as_text)?);
    }
    if null || len == 0 {
        let part = columns::nulls(result, len);
        return Ok((Output { class: result, parts: vec![Arc::new(part)] }, name));
    }
    let chunks = arrays.into_iter().map(|array| Chunk::new(array, false, class));
    let input = Input { class, chunks: chunks.collect::<Result<_, _>>().map_err(as_text)? };
    let threads = if parallel || len <= ALONE { NonZero::new(1) } else { options::threads() };
    let output = columns::apply(&input, verb, threads).map_err(|failure| match failure {
        Failure::Row(row, why) => {
            // Not its number, which is one among the rows of this call only.
            let value = columns::value(&input, row);
            format!("{why}, in {} of column {:?}", shown(&value), name.to_string_lossy())
        }
        Failure::TooLong(_) => {
            format!("a value of column {:?} becomes longer than 2 GiB", name.to_string_lossy())
        }
        Failure::Broken(_) => "a value is not in the buffers of its column".to_owned(),
    })?;
    Ok((output, name))
}

/// A value for a message: quoted, and only the start of a long one.
fn shown(value: &[u8]) -> String {
    const MOST: usize = 100;
    let text = String::from_utf8_lossy(value);
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

thread_local! {
    /// Why the last call on this thread failed.
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Does the work of a call from Polars, and keeps the message of what fails. No panic goes on to Polars.
fn enter(work: impl FnOnce() -> Result<(), String>) {
    let panicked = |_: Box<dyn Any + Send>| Err("a bug in simdpct: its code panicked".to_owned());
    if let Err(why) = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked) {
        let message = CString::new(why.replace('\0', "\\0")).unwrap_or_default();
        // Where the thread is just ending, there is nobody to ask for it.
        let _ = MESSAGE.try_with(|last| last.replace(message));
    }
}

/// # Safety
///
/// As Polars calls `_polars_plugin_NAME`: there are `count` columns at `inputs`, which are now ours, bytes at `kwargs`, as many as
/// it says, room for a column at `out`, and `context` is NULL or valid.
unsafe fn call(
    function: Function,
    inputs: *const SeriesExport,
    count: usize,
    kwargs: (*const u8, usize),
    out: *mut SeriesExport,
    context: *const CallerContext,
) {
    enter(|| {
        // SAFETY: by the requirements of this function.
        let (inputs, kwargs, context) = unsafe {
            let inputs: Vec<_> = (0..count).map(|index| Given::take(inputs.add(index))).collect();
            (inputs, bytes(kwargs.0, kwargs.1), context.as_ref())
        };
        let parallel = context.is_some_and(|context| context.flags & 1 != 0);
        let (output, name) = apply(function, inputs, kwargs, parallel)?;
        // SAFETY: there is room for it, and nothing there yet.
        unsafe { out.write(export(output, name)) };
        Ok(())
    });
}

/// # Safety
///
/// As Polars calls `_polars_plugin_field_NAME`: there are `count` types at `inputs`, which stay Polars's, room for one at `out`,
/// and bytes at `kwargs`, as many as it says.
unsafe fn field(
    function: Function,
    inputs: *const ArrowSchema,
    count: usize,
    out: *mut ArrowSchema,
    kwargs: (*const u8, usize),
) {
    enter(|| {
        let verb = function.verb(
            // SAFETY: by the requirements of this function.
            unsafe { bytes(kwargs.0, kwargs.1) },
        )?;
        if count != 1 {
            return Err("one column is needed".to_owned());
        }
        // SAFETY: there is one.
        let schema = unsafe { &*inputs };
        let (class, _) = class_of(schema)?;
        // SAFETY: there is room for it, and nothing there yet.
        unsafe { out.write(arrow::schema_of(verb.class(class), arrow::name_of(schema))) };
        Ok(())
    });
}

// ---- the symbols

#[unsafe(no_mangle)]
extern "C" fn _polars_plugin_get_version() -> u32 {
    VERSION
}

/// Lives until the next call on this thread.
#[unsafe(no_mangle)]
extern "C" fn _polars_plugin_get_last_error_message() -> *const c_char {
    const NONE: &CStr = c"";
    MESSAGE.try_with(|last| last.borrow().as_ptr()).unwrap_or(NONE.as_ptr())
}

macro_rules! functions {
    ($($call:ident $field:ident $function:ident;)*) => {$(
        /// # Safety
        ///
        /// As of `call`.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $call(
            inputs: *const SeriesExport,
            count: usize,
            kwargs: *const u8,
            len: usize,
            out: *mut SeriesExport,
            context: *const CallerContext,
        ) {
            // SAFETY: the same requirements.
            unsafe { call(Function::$function, inputs, count, (kwargs, len), out, context) }
        }

        /// # Safety
        ///
        /// As of `field`.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $field(
            inputs: *const ArrowSchema,
            count: usize,
            out: *mut ArrowSchema,
            kwargs: *const u8,
            len: usize,
        ) {
            // SAFETY: the same requirements.
            unsafe { field(Function::$function, inputs, count, out, (kwargs, len)) }
        }
    )*};
}
functions! {
    _polars_plugin_quote _polars_plugin_field_quote Quote;
    _polars_plugin_quote_plus _polars_plugin_field_quote_plus QuotePlus;
    _polars_plugin_unquote _polars_plugin_field_unquote Unquote;
    _polars_plugin_unquote_plus _polars_plugin_field_unquote_plus UnquotePlus;
    _polars_plugin_normalize _polars_plugin_field_normalize Normalize;
    _polars_plugin_canonicalize _polars_plugin_field_canonicalize Canonicalize;
    _polars_plugin_malformed _polars_plugin_field_malformed Malformed;
}
