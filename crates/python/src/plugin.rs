//! The interface to Polars: its C interface for plugins, version 0.1, which consists of three structs and a few symbols.
//!
//! Polars opens this library by its path, calls `_polars_plugin_get_version`, and rejects versions that it does not
//! know. While it plans a query, it calls `_polars_plugin_field_NAME` for the type of the result. While the query runs,
//! it calls `_polars_plugin_NAME` with columns by the Arrow C data interface. Both functions get the options. A call
//! that fails returns nothing and leaves a message for `_polars_plugin_get_last_error_message`. Polars calls these
//! functions on its own threads, which do not have the GIL, so this module does not use Python.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::{self, ManuallyDrop};
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_data::ArrayData;
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::DataType;
use arrow_schema::ffi::FFI_ArrowSchema;
use functions::{Failure, columns};

use crate::arrow::{self, Rejected};
use crate::columns::{Column, Job};
use crate::options;

/// The version of the plugin interface. Its upper 16 bits are the major number.
const VERSION: u32 = 1;

/// The C struct for a column of Polars: its type, and an array for each chunk.
#[repr(C)]
struct SeriesExport {
    field: *mut FFI_ArrowSchema,
    arrays: *mut *mut FFI_ArrowArray,
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
    arrays: Vec<FFI_ArrowArray>,
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
            let array = |index| FFI_ArrowArray::from_raw(*export.arrays.add(index));
            Given { arrays: (0..export.len).map(array).collect(), export }
        }
    }

    fn schema(&self) -> Result<&FFI_ArrowSchema, String> {
        // SAFETY: by the invariant, the schema is NULL, or valid as long as the column.
        unsafe { self.export.field.as_ref() }.ok_or_else(|| "a column without a type".to_owned())
    }

    /// Takes the arrays, and returns them as a column with the number of its rows. A column of Arrow's null type becomes one without
    /// arrays.
    fn column(&mut self) -> Result<(Column, usize), String> {
        let schema = self.schema()?;
        let (is_null, of) = (arrow::is_null_type(schema), (type_of(schema)?, false));
        let (mut chunks, mut len) = (Vec::new(), 0_usize);
        for array in mem::take(&mut self.arrays) {
            len = len.saturating_add(arrow::rows(&array).map_err(|rejected| rejected.to_string())?);
            if !is_null {
                // SAFETY: Polars promises that the arrays of a column have its schema, from which the type was read.
                let data = unsafe { arrow::data_of(array, &of) };
                chunks.push(data.map_err(|rejected| rejected.to_string())?);
            }
        }
        Ok((Column { data_type: of.0, chunks }, len))
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
/// There are `len` bytes at `kwargs`, alive and unchanged during `'a`, or `kwargs` is NULL.
unsafe fn bytes<'a>(kwargs: *const u8, len: usize) -> &'a [u8] {
    if kwargs.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: the pointer is not NULL, and the caller promises `len` bytes at it.
    unsafe { std::slice::from_raw_parts(kwargs, len) }
}

/// Returns the type of a column of text or binary, or else an error message. A column of Arrow's null type counts as text.
fn type_of(schema: &FFI_ArrowSchema) -> Result<DataType, String> {
    if arrow::is_null_type(schema) {
        return Ok(DataType::Utf8View);
    }
    match arrow::type_of(schema) {
        Ok((of, false)) => Ok(of),
        Ok((_, true)) | Err(Rejected::Type(_)) => {
            let name = arrow::name_of(schema);
            Err(format!(
                "column {name:?} is not of String or Binary; cast it: pl.col({name:?}).cast(pl.String)"
            ))
        }
        Err(rejected) => Err(rejected.to_string()),
    }
}

/// The memory of a result while Polars uses it.
struct Made {
    schema: FFI_ArrowSchema,
    /// The structs of the arrays. Polars takes over and releases their contents.
    arrays: Vec<ManuallyDrop<FFI_ArrowArray>>,
    pointers: Vec<*mut FFI_ArrowArray>,
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

fn export(column: &Column, name: &str) -> SeriesExport {
    let arrays = column.chunks.iter().map(|data| ManuallyDrop::new(FFI_ArrowArray::new(data))).collect();
    let schema = arrow::schema_of(&column.data_type, name);
    let private_data = Box::into_raw(Box::new(Made { schema, arrays, pointers: Vec::new() }));
    // SAFETY: the box is valid, and nobody else uses it before this function returns.
    let made = unsafe { &mut *private_data };
    made.pointers = made.arrays.iter_mut().map(|array| &raw mut **array).collect();
    SeriesExport {
        field: &raw mut made.schema,
        arrays: made.pointers.as_mut_ptr(),
        len: made.pointers.len(),
        release: Some(release_series),
        private_data: private_data.cast(),
    }
}

/// Returns an error message if `count` is not the number of columns that `job` takes.
fn check_count(job: &Job, count: usize) -> Result<(), String> {
    match job.columns() {
        needed if needed == count => Ok(()),
        1 => Err("one column is needed".to_owned()),
        needed => Err(format!("{needed} columns are needed")),
    }
}

/// A call with up to this number of rows uses one thread. The streaming engine of Polars makes calls with fewer rows, on all cores at once.
const ALONE: usize = 2 * columns::ROWS;

fn apply(
    function: &str,
    mut inputs: Vec<Given>,
    kwargs: &[u8],
    parallel: bool,
) -> Result<(Column, String), String> {
    let job = options::job(function, kwargs)?;
    check_count(&job, inputs.len())?;
    let name = arrow::name_of(inputs.first().ok_or("one column is needed")?.schema()?);
    let mut columns = Vec::new();
    let (mut all_null, mut len) = (false, 1);
    for given in &mut inputs {
        all_null |= arrow::is_null_type(given.schema()?);
        let (column, rows) = given.column()?;
        len = if len == 1 { rows } else { len };
        columns.push(column);
    }
    let first = columns.remove(0);
    let data_type = job.result_type(&first.data_type);
    if all_null || len == 0 {
        let chunks = vec![ArrayData::new_null(&data_type, len)];
        return Ok((Column { data_type, chunks }, name));
    }
    let threads = if parallel || len <= ALONE { NonZero::new(1) } else { options::threads() };
    let made = job.apply(&first, columns, threads).map_err(|failure| match failure {
        // The message has no row number, because Polars passes only some rows in each call.
        Failure::Rejected { row, why } => {
            format!("{why}, in {} of column {name:?}", shown(first.get(row).unwrap_or_default()))
        }
        Failure::TooLong(_) => format!("a value of column {name:?} becomes longer than 2 GiB"),
        Failure::Broken { .. } => "a value is not in the buffers of its column".to_owned(),
        other => other.to_string(),
    })?;
    Ok((made, name))
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

/// Runs `work`, and stores its message if it fails. Also catches a panic, which must not reach Polars.
fn enter(work: impl FnOnce() -> Result<(), String>) {
    let panicked = |_: Box<dyn Any + Send>| Err("a bug in simdpct: its code panicked".to_owned());
    if let Err(why) = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked) {
        let message = CString::new(why.replace('\0', "\\0")).unwrap_or_default();
        // `try_with` fails only if the thread is ending, and then nobody asks for the message.
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
        let (column, name) = apply(function, inputs, kwargs, parallel)?;
        // SAFETY: the caller promises that `out` is a place for a column.
        unsafe { out.write(export(&column, &name)) };
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
    inputs: *const FFI_ArrowSchema,
    count: usize,
    out: *mut FFI_ArrowSchema,
    kwargs: (*const u8, usize),
) {
    enter(|| {
        // SAFETY: the caller promises the bytes at `kwargs`.
        let job = options::job(function, unsafe { bytes(kwargs.0, kwargs.1) })?;
        check_count(&job, count)?;
        // SAFETY: `count` is at least 1, because every function takes a column, and the caller promises `count` schemas at `inputs`.
        let schemas = unsafe { std::slice::from_raw_parts(inputs, count) };
        let types = schemas.iter().map(type_of).collect::<Result<Vec<_>, _>>()?;
        let schema = arrow::schema_of(&job.result_type(&types[0]), &arrow::name_of(&schemas[0]));
        // SAFETY: the caller promises that `out` is a place for a schema.
        unsafe { out.write(schema) };
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
            inputs: *const FFI_ArrowSchema,
            count: usize,
            out: *mut FFI_ArrowSchema,
            kwargs: *const u8,
            len: usize,
        ) {
            // SAFETY: the precondition of this function is that of `field`.
            unsafe { field($name, inputs, count, out, (kwargs, len)) }
        }
    };)*};
}
// Each function has symbols of its own, because Polars prints their names in query plans.
expressions! {
    "encode" "decode" "normalize" "canonicalize" "malformed"
    "scheme" "authority" "userinfo" "user" "password" "host" "domain" "suffix" "port" "path" "query" "fragment"
    "parts" "segments" "param" "params" "without_params" "with_param" "join"
}
