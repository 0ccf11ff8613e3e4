//! The interface to Polars: its C interface for plugins, version 0.1, which consists of three structs and a few symbols.
//!
//! Polars opens this library by its path, calls `_polars_plugin_get_version`, and rejects versions that it does not know. While
//! it plans a query, it calls `_polars_plugin_field_NAME` for the type of the result. While the query runs, it calls
//! `_polars_plugin_NAME` with columns by the Arrow C data interface. Both functions get the options. A call that fails returns
//! nothing and leaves a message for `_polars_plugin_get_last_error_message`. Polars calls these functions on its own threads,
//! which do not have the GIL, so nothing here uses Python.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::mem;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::arrow::{self, ArrowArray, ArrowSchema, Imported, Input, Owned, Rejected};
use crate::columns::{self, Argument, Failure, Job, Output};
use crate::options;
use crate::part::{Layout, Part, Type};

/// The version of the plugin interface. Its upper 16 bits are the major number.
const VERSION: u32 = 1;

/// The C struct for a column of Polars: its type, and an array for each chunk.
#[repr(C)]
struct SeriesExport {
    field: *mut ArrowSchema,
    arrays: *mut *mut ArrowArray,
    len: usize,
    release: Option<unsafe extern "C" fn(*mut SeriesExport)>,
    private_data: *mut c_void,
}

/// The C struct that describes how Polars calls an expression.
#[repr(C)]
struct CallerContext {
    /// The lowest bit is set if Polars runs other work in parallel, so that the plugin should use one thread.
    flags: u64,
}

/// A column that Polars passes, which is released when it is dropped.
// INVARIANT: Polars made `export`, and nobody else releases it.
struct Given {
    export: SeriesExport,
    arrays: Vec<Owned<ArrowArray>>,
}

impl Given {
    /// # Safety
    ///
    /// `export` is a column that Polars made, and the caller no longer uses it.
    unsafe fn take(export: *const SeriesExport) -> Given {
        // SAFETY: the caller hands over the column with its `len` arrays. The column's `release` frees the structs of the
        // arrays but not their contents, so each array has one owner here.
        unsafe {
            let export = export.read();
            let array = |index| Owned::new((*export.arrays.add(index)).read());
            Given { arrays: (0..export.len).map(array).collect(), export }
        }
    }

    fn schema(&self) -> Result<&ArrowSchema, String> {
        // SAFETY: by the invariant, the schema is NULL, or valid as long as the column.
        unsafe { self.export.field.as_ref() }.ok_or_else(|| "a column without a type".to_owned())
    }

    /// Takes the arrays, which have the type `class`, and returns them with the number of their rows. A column of Arrow's null type
    /// becomes one without arrays.
    fn input(&mut self, class: Type) -> Result<(Input, usize), String> {
        let is_null = arrow::is_null_type(self.schema()?);
        let (mut chunks, mut len) = (Vec::new(), 0_usize);
        for array in mem::take(&mut self.arrays) {
            len = len.saturating_add(array.rows().map_err(|rejected| rejected.to_string())?);
            if !is_null {
                // SAFETY: Polars promises that the arrays of a column have its schema, from which `class` was read.
                let chunk = unsafe { Imported::new(array, (class, false)) };
                chunks.push(Arc::new(chunk.map_err(|rejected| rejected.to_string())?));
            }
        }
        Ok((Input { class, chunks }, len))
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        if let Some(release) = self.export.release {
            // SAFETY: by the invariant, Polars made the column with this function, and only `drop` calls it.
            unsafe { release(&raw mut self.export) };
        }
    }
}

/// Returns the bytes of the options that Polars passes.
///
/// # Safety
///
/// There are `len` bytes at `kwargs`, alive and unchanged during the call.
unsafe fn bytes<'a>(kwargs: *const u8, len: usize) -> &'a [u8] {
    if kwargs.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: the pointer is not NULL, and the caller promises `len` bytes at it.
    unsafe { std::slice::from_raw_parts(kwargs, len) }
}

/// Returns the type of a column, and whether it can only have nulls.
fn class_of(schema: &ArrowSchema) -> Result<(Type, bool), String> {
    if arrow::is_null_type(schema) {
        return Ok((Type::flat(Layout::View, true), true));
    }
    match arrow::class_of(schema) {
        Ok((class, false)) => Ok((class, false)),
        Ok((_, true)) | Err(Rejected::Type(_)) => {
            let name = arrow::name_of(schema).to_string_lossy().into_owned();
            Err(format!(
                "column {name:?} is not of String or Binary; cast it: pl.col({name:?}).cast(pl.String)"
            ))
        }
        Err(rejected) => Err(rejected.to_string()),
    }
}

/// The memory of a result while Polars uses it.
struct Made {
    schema: Owned<ArrowSchema>,
    /// The structs of the arrays. Polars takes over and releases their contents.
    _arrays: Vec<ArrowArray>,
    pointers: Vec<*mut ArrowArray>,
}

/// Frees the memory of a result.
///
/// # Safety
///
/// `series` was made by `export`, and nobody has released it.
unsafe extern "C" fn release_series(series: *mut SeriesExport) {
    // SAFETY: by the caller's promise, the private data is the box that `export` made, and nobody has freed it.
    unsafe {
        drop(Box::from_raw((*series).private_data.cast::<Made>()));
        (*series).release = None;
    }
}

fn export(output: Output, name: CString) -> SeriesExport {
    let mut arrays: Vec<_> = output.parts.iter().map(arrow::array_of).collect();
    let pointers = arrays.iter_mut().map(|array| &raw mut *array).collect();
    // SAFETY: the schema is new, and only `release_series` releases it, not Polars.
    let schema = unsafe { Owned::new(arrow::schema_of(output.class, name)) };
    let mut made = Box::new(Made { schema, _arrays: arrays, pointers });
    SeriesExport {
        field: made.schema.get_mut(),
        arrays: made.pointers.as_mut_ptr(),
        len: made.pointers.len(),
        release: Some(release_series),
        private_data: Box::into_raw(made).cast(),
    }
}

/// Returns an error message if `count` is not the number of columns that `job` takes.
fn check_count(job: &Job, count: usize) -> Result<(), String> {
    match 1 + job.more.iter().filter(|argument| matches!(argument, Argument::Column)).count() {
        needed if needed == count => Ok(()),
        1 => Err("one column is needed".to_owned()),
        needed => Err(format!("{needed} columns are needed")),
    }
}

/// The largest number of rows that is processed on one thread. The streaming engine of Polars passes fewer, on all cores at
/// once.
const ALONE: usize = 2 * columns::ROWS;

fn apply(
    function: &str,
    mut inputs: Vec<Given>,
    kwargs: &[u8],
    parallel: bool,
) -> Result<(Output, CString), String> {
    let job = options::job(function, kwargs)?;
    check_count(&job, inputs.len())?;
    let (first, more) = inputs.split_first_mut().ok_or("one column is needed")?;
    let schema = first.schema()?;
    let name = arrow::name_of(schema);
    let (class, is_null) = class_of(schema)?;
    let result = job.class(class);
    let (input, mut len) = first.input(class)?;
    let mut columns = Vec::new();
    let mut all_null = is_null;
    for given in more {
        let (class, is_null) = class_of(given.schema()?)?;
        let (column, rows) = given.input(class)?;
        all_null |= is_null;
        len = if len == 1 { rows } else { len };
        columns.push(column);
    }
    if all_null || len == 0 {
        let part = Part::of_nulls(result, len);
        return Ok((Output { class: result, parts: vec![Arc::new(part)] }, name));
    }
    let threads = if parallel || len <= ALONE { NonZero::new(1) } else { options::threads() };
    let output = columns::apply(&input, &columns, &job, threads).map_err(|failure| match failure {
        Failure::Row(row, why) => {
            // The message has no row number, because Polars passes only some rows in each call.
            let value = columns::value(&input, row);
            format!("{why}, in {} of column {:?}", shown(&value), name.to_string_lossy())
        }
        Failure::TooLong(_) => {
            format!("a value of column {:?} becomes longer than 2 GiB", name.to_string_lossy())
        }
        Failure::Broken(_) => "a value is not in the buffers of its column".to_owned(),
        Failure::Argument(why) => why,
    })?;
    Ok((output, name))
}

/// Quotes a value, or the start of a long one, for a message.
fn shown(value: &[u8]) -> String {
    const MOST: usize = 100;
    let text = String::from_utf8_lossy(value);
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

thread_local! {
    /// The message of the last failed call on this thread.
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Runs `work`, and stores its message if it fails. It catches a panic, which must not reach Polars.
fn enter(work: impl FnOnce() -> Result<(), String>) {
    let panicked = |_: Box<dyn Any + Send>| Err("a bug in simdpct: its code panicked".to_owned());
    if let Err(why) = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked) {
        let message = CString::new(why.replace('\0', "\\0")).unwrap_or_default();
        // This fails only if the thread is just ending, and then nobody asks for the message.
        let _ = MESSAGE.try_with(|last| last.replace(message));
    }
}

/// Writes the results of an expression to `out`.
///
/// # Safety
///
/// `inputs` points to `count` columns of Polars, which the caller no longer uses. `kwargs` is a pointer to bytes and their
/// number, and the bytes are alive during the call. `out` is a place for a column. `context` is NULL or valid.
unsafe fn call(
    function: &str,
    inputs: *const SeriesExport,
    count: usize,
    kwargs: (*const u8, usize),
    out: *mut SeriesExport,
    context: *const CallerContext,
) {
    enter(|| {
        // SAFETY: the caller promises the columns at `inputs`, the bytes at `kwargs`, and a valid context or NULL.
        let (inputs, kwargs, context) = unsafe {
            let inputs: Vec<_> = (0..count).map(|index| Given::take(inputs.add(index))).collect();
            (inputs, bytes(kwargs.0, kwargs.1), context.as_ref())
        };
        let parallel = context.is_some_and(|context| context.flags & 1 != 0);
        let (output, name) = apply(function, inputs, kwargs, parallel)?;
        // SAFETY: the caller promises that `out` is a place for a column.
        unsafe { out.write(export(output, name)) };
        Ok(())
    });
}

/// Writes the type of the results of an expression to `out`.
///
/// # Safety
///
/// `inputs` points to `count` schemas, which the caller keeps. `out` is a place for a schema. `kwargs` is a pointer to bytes
/// and their number, and the bytes are alive during the call.
unsafe fn field(
    function: &str,
    inputs: *const ArrowSchema,
    count: usize,
    out: *mut ArrowSchema,
    kwargs: (*const u8, usize),
) {
    enter(|| {
        // SAFETY: the caller promises the bytes at `kwargs`.
        let job = options::job(function, unsafe { bytes(kwargs.0, kwargs.1) })?;
        check_count(&job, count)?;
        // SAFETY: `count` is at least 1, and the caller promises `count` schemas at `inputs`.
        let schemas = unsafe { std::slice::from_raw_parts(inputs, count) };
        schemas.iter().try_for_each(|schema| class_of(schema).map(drop))?;
        let schema = &schemas[0];
        let (class, _) = class_of(schema)?;
        // SAFETY: the caller promises that `out` is a place for a schema.
        unsafe { out.write(arrow::schema_of(job.class(class), arrow::name_of(schema))) };
        Ok(())
    });
}

/// Returns the version of the plugin interface that this library implements.
#[unsafe(no_mangle)]
extern "C" fn _polars_plugin_get_version() -> u32 {
    VERSION
}

/// Returns the message of the last failed call on this thread. The text lives until the next call on the thread.
#[unsafe(no_mangle)]
extern "C" fn _polars_plugin_get_last_error_message() -> *const c_char {
    const NONE: &CStr = c"";
    MESSAGE.try_with(|last| last.borrow().as_ptr()).unwrap_or(NONE.as_ptr())
}

macro_rules! expressions {
    ($($name:literal)*) => {$(const _: () = {
        /// # Safety
        ///
        /// The arguments are as [`call`] requires. Polars calls this by its name.
        #[unsafe(export_name = concat!("_polars_plugin_", $name))]
        unsafe extern "C" fn call_function(
            inputs: *const SeriesExport,
            count: usize,
            kwargs: *const u8,
            len: usize,
            out: *mut SeriesExport,
            context: *const CallerContext,
        ) {
            // SAFETY: the precondition of this function is that of `call`.
            unsafe { call($name, inputs, count, (kwargs, len), out, context) }
        }

        /// # Safety
        ///
        /// The arguments are as [`field`] requires. Polars calls this by its name.
        #[unsafe(export_name = concat!("_polars_plugin_field_", $name))]
        unsafe extern "C" fn find_field(
            inputs: *const ArrowSchema,
            count: usize,
            out: *mut ArrowSchema,
            kwargs: *const u8,
            len: usize,
        ) {
            // SAFETY: the precondition of this function is that of `field`.
            unsafe { field($name, inputs, count, out, (kwargs, len)) }
        }
    };)*};
}
// Each function has symbols of its own, because the plan that Polars prints shows their name.
expressions! {
    "encode" "decode" "normalize" "canonicalize" "malformed"
    "scheme" "authority" "userinfo" "user" "password" "host" "domain" "suffix" "port" "path" "query" "fragment"
    "parts" "segments" "param" "params" "without_params" "with_param" "join"
}
