//! DuckDB's C API, version 1.2.0, as Rust types: its table of functions, its handles and its vectors.
//!
//! This module uses only functions that are stable in that version.

#![allow(unsafe_code, reason = "calls C functions and reads memory of DuckDB")]

use std::ffi::{CStr, CString, c_char, c_void};
use std::ops::Range;
use std::{mem, ptr, slice};

use libduckdb_sys as sys;
use simdpct_functions::{Output as ResultType, Values};

/// The version of the C API that the extension asks for and that its footer names.
pub(crate) const VERSION: &CStr = c"v1.2.0";

/// The functions of DuckDB that this extension calls.
// INVARIANT: each function that `used!` lists is not `None`.
pub(crate) struct Api(sys::duckdb_ext_api_v1);

macro_rules! used {
    ($($name:ident)*) => {
        impl Api {
            /// Copies the functions that `used!` lists from DuckDB's table, which is valid only while DuckDB loads the
            /// extension. Returns `None` if a function is missing.
            ///
            /// # Safety
            ///
            /// `table` points to DuckDB's table of version 1.2.0 or later. The table may be shorter than its Rust type, which
            /// ends with the functions of later versions.
            pub(crate) unsafe fn new(table: *const sys::duckdb_ext_api_v1) -> Option<Api> {
                // SAFETY: all fields are of type `Option<fn>`, for which zero is `None`.
                let mut api = unsafe { mem::zeroed::<sys::duckdb_ext_api_v1>() };
                $(
                    // SAFETY: the function belongs to version 1.2.0, so by the caller's promise the table has this field.
                    api.$name = Some(unsafe { (*table).$name }?);
                )*
                Some(Api(api))
            }
        }
    };
}

used! {
    duckdb_connect duckdb_disconnect
    duckdb_create_logical_type duckdb_create_list_type duckdb_create_struct_type duckdb_destroy_logical_type
    duckdb_get_type_id duckdb_decimal_width duckdb_decimal_scale duckdb_decimal_internal_type
    duckdb_enum_internal_type duckdb_create_enum_value
    duckdb_create_uhugeint duckdb_create_float duckdb_create_double duckdb_create_decimal
    duckdb_get_varchar duckdb_destroy_value duckdb_free
    duckdb_create_data_chunk duckdb_destroy_data_chunk
    duckdb_data_chunk_get_column_count duckdb_data_chunk_get_vector duckdb_data_chunk_get_size
    duckdb_vector_size duckdb_vector_get_column_type duckdb_vector_get_data
    duckdb_vector_get_validity duckdb_vector_ensure_validity_writable
    duckdb_vector_assign_string_element_len duckdb_validity_set_row_invalid
    duckdb_list_vector_reserve duckdb_list_vector_set_size duckdb_list_vector_get_child duckdb_struct_vector_get_child
    duckdb_create_scalar_function duckdb_destroy_scalar_function duckdb_scalar_function_set_name
    duckdb_scalar_function_add_parameter duckdb_scalar_function_set_return_type duckdb_scalar_function_set_function
    duckdb_scalar_function_set_extra_info duckdb_scalar_function_get_extra_info duckdb_scalar_function_set_error
    duckdb_create_scalar_function_set duckdb_destroy_scalar_function_set duckdb_add_scalar_function_to_set
    duckdb_register_scalar_function_set
}

/// Calls a function of DuckDB that `used!` lists. The caller must prove that the arguments are valid.
macro_rules! duckdb {
    ($api:expr, $name:ident($($argument:expr),* $(,)?)) => {
        ($api.0.$name.expect("a function that is listed in `used!`"))($($argument),*)
    };
}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident($raw:ty) $destroy:ident)*) => {$(
        $(#[$doc])*
        // INVARIANT: DuckDB made the handle, or it is NULL because DuckDB could not. Only `drop` destroys it.
        pub(crate) struct $name<'a> {
            api: &'a Api,
            raw: $raw,
        }

        impl Drop for $name<'_> {
            fn drop(&mut self) {
                // SAFETY: by the invariant, the handle is NULL, which DuckDB ignores, or DuckDB made it and it is not destroyed yet.
                unsafe { duckdb!(self.api, $destroy(&mut self.raw)) };
            }
        }
    )*};
}

handles! {
    /// A connection to a database.
    Connection(sys::duckdb_connection) duckdb_disconnect
    /// The type of an argument or of a result.
    LogicalType(sys::duckdb_logical_type) duckdb_destroy_logical_type
    /// One signature of a function.
    ScalarFunction(sys::duckdb_scalar_function) duckdb_destroy_scalar_function
    /// A chunk with one column of text, which [`text_of`] makes.
    DataChunk(sys::duckdb_data_chunk) duckdb_destroy_data_chunk
    /// The signatures of a function.
    ScalarFunctionSet(sys::duckdb_scalar_function_set) duckdb_destroy_scalar_function_set
}

impl<'a> Connection<'a> {
    /// Connects to a database. Returns `None` if DuckDB refuses the connection.
    ///
    /// # Safety
    ///
    /// `database` is an open database.
    pub(crate) unsafe fn new(api: &'a Api, database: sys::duckdb_database) -> Option<Connection<'a>> {
        let mut connection = Connection { api, raw: ptr::null_mut() };
        // SAFETY: by the caller's promise, the database is open. The second argument is a place for a handle.
        let state = unsafe { duckdb!(api, duckdb_connect(database, &mut connection.raw)) };
        (state == sys::duckdb_state_DuckDBSuccess).then_some(connection)
    }

    /// Registers a function with all its signatures, and reports whether DuckDB accepts it.
    pub(crate) fn register(&self, set: &ScalarFunctionSet<'_>) -> bool {
        // SAFETY: by their invariants, both handles are live, or NULL, which DuckDB rejects. DuckDB copies the set.
        let state = unsafe { duckdb!(self.api, duckdb_register_scalar_function_set(self.raw, set.raw)) };
        state == sys::duckdb_state_DuckDBSuccess
    }
}

/// The types of the arguments of the functions.
#[derive(Clone, Copy)]
pub(crate) enum Type {
    /// Text, DuckDB's VARCHAR.
    Varchar,
    /// Bytes, DuckDB's BLOB.
    Blob,
    /// Any type. [`columns`] converts its values to text.
    Any,
}

impl<'a> LogicalType<'a> {
    fn new(api: &'a Api, of: Type) -> LogicalType<'a> {
        let id = match of {
            Type::Varchar => sys::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR,
            Type::Blob => sys::DUCKDB_TYPE_DUCKDB_TYPE_BLOB,
            Type::Any => sys::DUCKDB_TYPE_DUCKDB_TYPE_ANY,
        };
        // SAFETY: `id` is one of three constants of `DUCKDB_TYPE`, of types without parameters, which the function accepts.
        LogicalType { api, raw: unsafe { duckdb!(api, duckdb_create_logical_type(id)) } }
    }

    /// Makes the type of the results of a function: text, bytes, a struct of texts, or a list of texts or structs. The vectors of
    /// this type have the [`Shape`] of `of`.
    fn of_result(api: &'a Api, of: ResultType) -> LogicalType<'a> {
        let item = LogicalType::new(api, if of == ResultType::Bytes { Type::Blob } else { Type::Varchar });
        let (mut types, mut names) = (Vec::new(), Vec::new());
        for name in of.fields() {
            types.push(item.raw);
            names.push(CString::new(*name).expect("names have no zero byte"));
        }
        let mut names: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
        // SAFETY: there are as many names, which are C strings, as types, which are live. DuckDB copies names and types.
        unsafe {
            let row = match Shape::of(of) {
                Shape::Text | Shape::List(1) => item,
                _ => LogicalType {
                    api,
                    raw: duckdb!(
                        api,
                        duckdb_create_struct_type(
                            types.as_mut_ptr(),
                            names.as_mut_ptr(),
                            types.len() as sys::idx_t
                        )
                    ),
                },
            };
            match of.is_list() {
                false => row,
                true => LogicalType { api, raw: duckdb!(api, duckdb_create_list_type(row.raw)) },
            }
        }
    }
}

/// A function that DuckDB calls for each chunk of rows.
pub(crate) type Callback =
    unsafe extern "C" fn(sys::duckdb_function_info, sys::duckdb_data_chunk, sys::duckdb_vector);

impl<'a> ScalarFunctionSet<'a> {
    /// Makes a function that has no signatures yet.
    pub(crate) fn new(api: &'a Api, name: &CStr) -> ScalarFunctionSet<'a> {
        // SAFETY: `name` is a C string, and DuckDB copies it.
        let raw = unsafe { duckdb!(api, duckdb_create_scalar_function_set(name.as_ptr())) };
        ScalarFunctionSet { api, raw }
    }

    /// Adds a signature, and reports whether DuckDB accepts it. During a call of `callback`, [`extra_info`] returns `extra`.
    ///
    /// # Safety
    ///
    /// It is sound to call `callback` as DuckDB does, on any thread. The arguments are a function info, a chunk of rows
    /// with one column of each type of `parameters`, and a vector for as many results of the type `result`. All are
    /// valid during the call.
    pub(crate) unsafe fn add<T: Sync>(
        &mut self,
        name: &CStr,
        parameters: &[Type],
        result: ResultType,
        callback: Callback,
        extra: &'static T,
    ) -> bool {
        let api = self.api;
        let extra = ptr::from_ref(extra).cast_mut().cast::<c_void>();
        // SAFETY: the handles are live until the end of this function, and DuckDB copies them and the name. DuckDB calls
        // `callback` under the conditions that the caller promises. `extra` is `'static`, so it need not be freed, and nobody
        // writes to it.
        unsafe {
            let function = ScalarFunction { api, raw: duckdb!(api, duckdb_create_scalar_function()) };
            duckdb!(api, duckdb_scalar_function_set_name(function.raw, name.as_ptr()));
            for &parameter in parameters {
                let of = LogicalType::new(api, parameter);
                duckdb!(api, duckdb_scalar_function_add_parameter(function.raw, of.raw));
            }
            let of = LogicalType::of_result(api, result);
            duckdb!(api, duckdb_scalar_function_set_return_type(function.raw, of.raw));
            duckdb!(api, duckdb_scalar_function_set_extra_info(function.raw, extra, None));
            duckdb!(api, duckdb_scalar_function_set_function(function.raw, Some(callback)));
            duckdb!(api, duckdb_add_scalar_function_to_set(self.raw, function.raw))
                == sys::duckdb_state_DuckDBSuccess
        }
    }
}

/// Returns the `extra` that [`ScalarFunctionSet::add`] was given for the function that DuckDB calls.
///
/// # Safety
///
/// `info` is the argument of a callback that was added with a `T`.
pub(crate) unsafe fn extra_info<T>(api: &Api, info: sys::duckdb_function_info) -> &'static T {
    // SAFETY: by the caller's promise, `add` has set a reference to a `T`, which lives as long as the process.
    unsafe { &*duckdb!(api, duckdb_scalar_function_get_extra_info(info)).cast::<T>() }
}

/// Makes the query fail with a message.
///
/// # Safety
///
/// `info` is the argument of a callback.
pub(crate) unsafe fn set_error(api: &Api, info: sys::duckdb_function_info, message: &CStr) {
    // SAFETY: by the caller's promise, `info` is valid during the call. `message` is a C string, and DuckDB copies it.
    unsafe { duckdb!(api, duckdb_scalar_function_set_error(info, message.as_ptr())) };
}

/// Returns the columns of a chunk of rows. Converts numbers and values of an ENUM to text, as DuckDB's cast to VARCHAR
/// does, and adds the chunks with this text to `texts`. The text of a value of an ENUM ends before its first NUL, because
/// DuckDB's C API does not return the length of such a text.
///
/// # Errors
///
/// A message if a column has a value that is not text, a number or a value of an ENUM, or that is a BIGNUM, or if DuckDB
/// has no memory for the text. The first column may have bytes.
///
/// # Safety
///
/// `chunk` is the argument of a callback. `'a` ends before the call does, and before a chunk of `texts` is dropped.
pub(crate) unsafe fn columns<'a>(
    api: &'a Api,
    chunk: sys::duckdb_data_chunk,
    texts: &mut Vec<DataChunk<'a>>,
) -> Result<Vec<Vector<'a>>, &'static str> {
    // SAFETY: by the caller's promise, the chunk is valid. Each index is below the number of columns. DuckDB flattens the
    // arguments of a callback, so a column has memory for a value of each row. Nobody writes to it during the call, and the value is
    // initialised unless the row is null. If there is a validity mask, it has a bit for each row. The chunk of `text_of` outlives
    // `'a`, and the same holds for its `rows` strings.
    unsafe {
        let rows = duckdb!(api, duckdb_data_chunk_get_size(chunk)) as usize;
        let count = duckdb!(api, duckdb_data_chunk_get_column_count(chunk));
        let column = |index| {
            let vector = duckdb!(api, duckdb_data_chunk_get_vector(chunk, index));
            let mask = duckdb!(api, duckdb_vector_get_validity(vector));
            let validity = (!mask.is_null()).then(|| slice::from_raw_parts(mask, rows.div_ceil(64)));
            let mut values: *mut c_void = duckdb!(api, duckdb_vector_get_data(vector));
            let of = LogicalType { api, raw: duckdb!(api, duckdb_vector_get_column_type(vector)) };
            let id = duckdb!(api, duckdb_get_type_id(of.raw));
            // Bytes can only be encoded, and the value to encode is the first argument.
            let is_bytes = id == sys::DUCKDB_TYPE_DUCKDB_TYPE_BLOB && index == 0;
            if id != sys::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR && !is_bytes {
                let valid = Vector { values: &[], validity, start: 0 };
                let text = text_of(&of, values, rows, |row| valid.is_valid(row))?;
                values = duckdb!(
                    api,
                    duckdb_vector_get_data(duckdb!(api, duckdb_data_chunk_get_vector(text.raw, 0)))
                );
                texts.push(text);
            }
            Ok(Vector { values: slice::from_raw_parts(values.cast(), rows), validity, start: 0 })
        };
        (0..count).map(column).collect()
    }
}

/// Makes text of `rows` numbers, or values of an ENUM, of the type `of`.
///
/// # Errors
///
/// A message if `of` is another type and a value is not null, or if DuckDB has no memory for the text.
///
/// # Safety
///
/// The memory at `values` has this number of values of this type, and nobody writes to them during the call. A value is
/// valid unless `is_valid` returns `false` for its row.
unsafe fn text_of<'a>(
    of: &LogicalType<'a>,
    values: *const c_void,
    rows: usize,
    is_valid: impl Fn(usize) -> bool,
) -> Result<DataChunk<'a>, &'static str> {
    use sys::*;
    macro_rules! read {
        ($type:ty, $row:expr) => {
            *values.cast::<$type>().add($row)
        };
    }
    let api = of.api;
    let mut varchar = LogicalType::new(api, Type::Varchar);
    // SAFETY: by the caller's promise, there is a value of the type `of` for each row, and it is valid if it is read. DuckDB stores DECIMAL
    // and ENUM as integers of their internal types, and the other types that are read as the Rust types. The new chunk has one
    // vector of strings, whose capacity is `duckdb_vector_size`, and nobody else uses it. Each value and each text that DuckDB makes of a
    // number is given back to it once.
    unsafe {
        let text = DataChunk { api, raw: duckdb!(api, duckdb_create_data_chunk(&mut varchar.raw, 1)) };
        if text.raw.is_null() || rows > duckdb!(api, duckdb_vector_size()) as usize {
            return Err("DuckDB has no memory for text");
        }
        let vector = duckdb!(api, duckdb_data_chunk_get_vector(text.raw, 0));
        let mut out = Output::new(api, vector, Shape::Text, rows);
        let integer = |id, row| {
            Ok(match id {
                DUCKDB_TYPE_DUCKDB_TYPE_TINYINT => i128::from(read!(i8, row)),
                DUCKDB_TYPE_DUCKDB_TYPE_SMALLINT => i128::from(read!(i16, row)),
                DUCKDB_TYPE_DUCKDB_TYPE_INTEGER => i128::from(read!(i32, row)),
                DUCKDB_TYPE_DUCKDB_TYPE_BIGINT => i128::from(read!(i64, row)),
                DUCKDB_TYPE_DUCKDB_TYPE_UTINYINT => i128::from(read!(u8, row)),
                DUCKDB_TYPE_DUCKDB_TYPE_USMALLINT => i128::from(read!(u16, row)),
                DUCKDB_TYPE_DUCKDB_TYPE_UINTEGER => i128::from(read!(u32, row)),
                DUCKDB_TYPE_DUCKDB_TYPE_UBIGINT => i128::from(read!(u64, row)),
                DUCKDB_TYPE_DUCKDB_TYPE_HUGEINT => {
                    let number = read!(duckdb_hugeint, row);
                    i128::from(number.upper) << 64 | i128::from(number.lower)
                }
                _ => {
                    return Err(
                        "an argument is not text or a number, or is a BIGNUM; cast it to VARCHAR, or join a list by array_to_string",
                    );
                }
            })
        };
        let id = duckdb!(api, duckdb_get_type_id(of.raw));
        for row in (0..rows).filter(|&row| is_valid(row)) {
            let mut value = match id {
                DUCKDB_TYPE_DUCKDB_TYPE_UHUGEINT => {
                    duckdb!(api, duckdb_create_uhugeint(read!(duckdb_uhugeint, row)))
                }
                DUCKDB_TYPE_DUCKDB_TYPE_FLOAT => duckdb!(api, duckdb_create_float(read!(f32, row))),
                DUCKDB_TYPE_DUCKDB_TYPE_DOUBLE => duckdb!(api, duckdb_create_double(read!(f64, row))),
                DUCKDB_TYPE_DUCKDB_TYPE_DECIMAL => {
                    let width = duckdb!(api, duckdb_decimal_width(of.raw));
                    let scale = duckdb!(api, duckdb_decimal_scale(of.raw));
                    let number = integer(duckdb!(api, duckdb_decimal_internal_type(of.raw)), row)?;
                    let value = duckdb_hugeint { lower: number as u64, upper: (number >> 64) as i64 };
                    duckdb!(api, duckdb_create_decimal(duckdb_decimal { width, scale, value }))
                }
                DUCKDB_TYPE_DUCKDB_TYPE_ENUM => {
                    let index = integer(duckdb!(api, duckdb_enum_internal_type(of.raw)), row)?;
                    duckdb!(api, duckdb_create_enum_value(of.raw, index as u64))
                }
                _ => {
                    out.put(row, integer(id, row)?.to_string().as_bytes());
                    continue;
                }
            };
            let made = duckdb!(api, duckdb_get_varchar(value));
            duckdb!(api, duckdb_destroy_value(&mut value));
            if made.is_null() {
                return Err("DuckDB has no memory for text");
            }
            out.put(row, CStr::from_ptr(made).to_bytes());
            duckdb!(api, duckdb_free(made.cast()));
        }
        drop(out);
        Ok(text)
    }
}

/// The length, in bytes, of the longest string that DuckDB stores inside a value of a vector, without a pointer.
const INLINED: usize = 12;

/// A range of the rows of a column.
// INVARIANT: each value that is not null is a string of DuckDB, valid for `'a`.
pub(crate) struct Vector<'a> {
    values: &'a [mem::MaybeUninit<sys::duckdb_string_t>],
    /// The validity mask: a bit for each row of the whole column, which is zero for a null. It is `None` if no row is null.
    validity: Option<&'a [u64]>,
    /// The index of the first row of the range in the column.
    start: usize,
}

impl<'a> Vector<'a> {
    /// Reports whether a row of the range is not null.
    pub(crate) fn is_valid(&self, row: usize) -> bool {
        let row = self.start + row;
        self.validity.is_none_or(|mask| mask[row / 64] >> (row % 64) & 1 != 0)
    }

    /// Returns a range of the rows.
    pub(crate) fn slice(&self, rows: Range<usize>) -> Vector<'a> {
        Vector { start: self.start + rows.start, values: &self.values[rows], validity: self.validity }
    }
}

impl<'a> Values<'a> for Vector<'a> {
    type Offset = i64;

    fn rows(&self) -> usize {
        self.values.len()
    }

    #[inline]
    fn get(&self, row: usize) -> Option<&'a [u8]> {
        let value: &'a mem::MaybeUninit<_> = &self.values[row];
        if !self.is_valid(row) {
            return None;
        }
        // SAFETY: the row is not null, so by the invariant the value is a string of DuckDB. Both variants of the union start
        // with the length. A string of at most twelve bytes is in the value itself, and a longer one is at the pointer.
        Some(unsafe {
            let value = &value.assume_init_ref().value;
            let length = value.inlined.length as usize;
            let start = if length <= INLINED {
                value.inlined.inlined.as_ptr()
            } else {
                value.pointer.ptr.cast_const()
            };
            slice::from_raw_parts(start.cast(), length)
        })
    }

    fn size(&self) -> usize {
        self.iter().flatten().map(<[u8]>::len).sum()
    }
}

/// The structure of the values of a vector.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Text or bytes.
    Text,
    /// Structs with this number of texts.
    Struct(usize),
    /// Lists of texts if the number is 1, or else of structs with this number of texts.
    List(usize),
}

impl Shape {
    pub(crate) fn of(result: ResultType) -> Shape {
        match result.fields().len() {
            fields if result.is_list() => Shape::List(fields),
            1 => Shape::Text,
            fields => Shape::Struct(fields),
        }
    }
}

/// The vector to which a function writes its results.
// INVARIANT: `vector` is a vector of this shape with capacity for `rows` rows, and only this value and its children use it.
pub(crate) struct Output<'a> {
    api: &'a Api,
    vector: sys::duckdb_vector,
    shape: Shape,
    rows: usize,
    /// The strings of `vector` if its shape is [`Shape::Text`], and else NULL.
    values: *mut sys::duckdb_string_t,
    /// The validity mask of `vector`, or NULL as long as no result is null.
    mask: *mut u64,
    /// The long strings that are not in the memory of DuckDB yet, one after the other.
    long: Vec<u8>,
    /// The row and the length of each string in `long`.
    // INVARIANT: it is empty unless the shape is `Shape::Text`, for which the vector is one of strings. The rows are below
    // `rows`, the lengths are above `INLINED`, and their sum is the length of `long`.
    waiting: Vec<(usize, usize)>,
}

/// The largest number of bytes of several long strings that are passed to DuckDB as one joined string.
const AT_ONCE: usize = 1 << 20;

impl<'a> Output<'a> {
    /// # Safety
    ///
    /// `vector` has this shape and capacity for `rows` rows, and is not used otherwise during `'a`.
    pub(crate) unsafe fn new(
        api: &'a Api,
        vector: sys::duckdb_vector,
        shape: Shape,
        rows: usize,
    ) -> Output<'a> {
        let values = match shape {
            // SAFETY: by the caller's promise, the vector is one of strings.
            Shape::Text => unsafe { duckdb!(api, duckdb_vector_get_data(vector)) }.cast(),
            _ => ptr::null_mut(),
        };
        let (long, waiting) = (Vec::new(), Vec::new());
        Output { api, vector, shape, rows, values, mask: ptr::null_mut(), long, waiting }
    }

    /// Returns the vectors for the texts of a row: one for each field if rows are structs, or else one. Callers use
    /// `lists` instead if rows are lists.
    pub(crate) fn fields(&mut self) -> Vec<Output<'_>> {
        let count = match self.shape {
            Shape::Struct(count) => count,
            _ => 1,
        };
        let field = |index| {
            let vector = match self.shape {
                // SAFETY: by the invariant, the vector is one of structs, and `index` is below the number of their fields.
                Shape::Struct(_) => unsafe {
                    duckdb!(self.api, duckdb_struct_vector_get_child(self.vector, index as sys::idx_t))
                },
                _ => self.vector,
            };
            // SAFETY: by the invariant, `vector`, which is `self.vector` or a field of it, has texts and capacity for `rows` rows, and
            // only `self` and its children use it. As long as the results live, `self` is mutably borrowed, so it does not write to
            // the same vector, and has no other children. The results have different vectors.
            unsafe { Output::new(self.api, vector, Shape::Text, self.rows) }
        };
        (0..count).map(field).collect()
    }

    /// Writes the lists of all rows, and returns the vector of their items. The list of a row ends before item `ends[row]`.
    ///
    /// # Errors
    ///
    /// A message if DuckDB has no memory for the items. It makes the query fail.
    pub(crate) fn lists(&mut self, ends: &[usize]) -> Result<Output<'_>, &'static str> {
        let Shape::List(fields) = self.shape else { panic!("not a vector of lists") };
        assert!(ends.len() <= self.rows);
        let rows = ends.last().copied().unwrap_or(0);
        // SAFETY: by the invariant, the vector is one of lists with memory for an entry of each row, and `ends` has no more rows.
        let vector = unsafe {
            let done = |state| state == sys::duckdb_state_DuckDBSuccess;
            if !done(duckdb!(self.api, duckdb_list_vector_reserve(self.vector, rows as sys::idx_t)))
                || !done(duckdb!(self.api, duckdb_list_vector_set_size(self.vector, rows as sys::idx_t)))
            {
                return Err("DuckDB has no memory for lists");
            }
            let entries: *mut c_void = duckdb!(self.api, duckdb_vector_get_data(self.vector));
            let entries = entries.cast::<sys::duckdb_list_entry>();
            let mut start = 0;
            for (row, &end) in ends.iter().enumerate() {
                let (offset, length) = (start as u64, (end - start) as u64);
                entries.add(row).write(sys::duckdb_list_entry { offset, length });
                start = end;
            }
            duckdb!(self.api, duckdb_list_vector_get_child(self.vector))
        };
        let shape = if fields == 1 { Shape::Text } else { Shape::Struct(fields) };
        // SAFETY: by the invariant, the items have this shape. `reserve` succeeded, so their vector has capacity for `rows` of them.
        // Only `self` could use it, which is mutably borrowed as long as the result lives.
        Ok(unsafe { Output::new(self.api, vector, shape, rows) })
    }

    /// Writes the result of a row. A long string is copied to the memory of DuckDB at the latest when this output is dropped.
    /// The caller writes each row at most once.
    pub(crate) fn put(&mut self, row: usize, value: &[u8]) {
        assert!(row < self.rows && self.shape == Shape::Text);
        if value.len() > INLINED {
            if self.long.len() + value.len() > AT_ONCE {
                self.flush();
            }
            self.long.extend_from_slice(value);
            self.waiting.push((row, value.len()));
            return;
        }
        let mut inlined = [0; INLINED];
        for (to, byte) in inlined.iter_mut().zip(value) {
            *to = *byte as c_char;
        }
        let inlined =
            sys::duckdb_string_t__bindgen_ty_1__bindgen_ty_2 { length: value.len() as u32, inlined };
        let string = sys::duckdb_string_t { value: sys::duckdb_string_t__bindgen_ty_1 { inlined } };
        // SAFETY: by the invariant and the first check, the vector is one of strings and has this row. A string of at most twelve bytes
        // is in the value itself, whose bytes after it are zero.
        unsafe { *self.values.add(row) = string };
    }

    /// Copies a string to the memory of the vector, and makes it the result of a row, which must be in `waiting`.
    /// If DuckDB rejects the string, the row has an empty one, whether or not DuckDB makes the row null.
    fn assign(&self, row: usize, string: &[u8]) {
        let len = string.len() as sys::idx_t;
        // SAFETY: by the invariant of `waiting`, which has `row`, the vector is one of strings with this row. There are `len` bytes
        // at the pointer. A string whose bytes are all zero is empty.
        unsafe {
            self.values.add(row).write_bytes(0, 1);
            duckdb!(
                self.api,
                duckdb_vector_assign_string_element_len(
                    self.vector,
                    row as sys::idx_t,
                    string.as_ptr().cast(),
                    len
                )
            );
        }
    }

    /// Passes all long strings to DuckDB as one joined string, in one call, or each by itself if DuckDB rejects that string.
    fn flush(&mut self) {
        let Some(&(first, _)) = self.waiting.first() else { return };
        self.assign(first, &self.long);
        // SAFETY: by the invariant of `waiting`, the vector is one of strings and has the row `first`, which `assign` has initialised.
        // Both variants of the union start with the length.
        let (len, all) = unsafe {
            let all = &(*self.values.add(first)).value;
            (all.inlined.length as usize, all.pointer.ptr)
        };
        let mut start = 0;
        for &(row, size) in &self.waiting {
            let value = &self.long[start..start + size];
            if len == self.long.len() && u32::try_from(len).is_ok() {
                let mut prefix = [0; 4];
                prefix.iter_mut().zip(value).for_each(|(to, byte)| *to = *byte as c_char);
                // SAFETY: the string at `all` is longer than `INLINED`, so it is in the memory of the vector, where it stays as long
                // as the vector. It has `len` bytes, and the invariant of `waiting` keeps `start + size` within them. The vector has
                // this row.
                unsafe {
                    let pointer = sys::duckdb_string_t__bindgen_ty_1__bindgen_ty_1 {
                        length: size as u32,
                        prefix,
                        ptr: all.add(start),
                    };
                    *self.values.add(row) =
                        sys::duckdb_string_t { value: sys::duckdb_string_t__bindgen_ty_1 { pointer } };
                }
            } else {
                // DuckDB rejected the joined string, so each string is passed alone.
                self.assign(row, value);
            }
            start += size;
        }
        self.long.clear();
        self.waiting.clear();
    }

    /// Makes the result of a row null.
    pub(crate) fn put_null(&mut self, row: usize) {
        assert!(row < self.rows);
        // SAFETY: by the invariant, the vector is valid and has this row. `ensure_validity_writable` gives it a mask with a bit
        // for each row.
        unsafe {
            if self.mask.is_null() {
                duckdb!(self.api, duckdb_vector_ensure_validity_writable(self.vector));
                self.mask = duckdb!(self.api, duckdb_vector_get_validity(self.vector));
            }
            duckdb!(self.api, duckdb_validity_set_row_invalid(self.mask, row as sys::idx_t));
        }
    }
}

impl Drop for Output<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}
