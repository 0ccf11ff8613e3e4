//! The border to DuckDB: its C API, version 1.2.0, of which only what is stable is used.

#![allow(unsafe_code, reason = "the one file that talks to C")]

use std::ffi::{CStr, CString, c_void};
use std::sync::OnceLock;
use std::{mem, ptr, slice};

use libduckdb_sys as sys;

use crate::functions::{
    Function, Out, PctDecode, PctDecodeBlob, PctEncode, PctNormalize, Rows, TryPctDecode, TryUrlCanonical,
    Type, UrlCanonical, call,
};

/// The version of the C API that is asked for, and that the extension's footer names.
const API_VERSION: &CStr = c"v1.2.0";

/// The functions of DuckDB that are used, copied from its table, which lives only while the extension is loaded.
struct Api(sys::duckdb_ext_api_v1);

static API: OnceLock<Api> = OnceLock::new();

macro_rules! used {
    ($($name:ident)*) => {
        impl Api {
            /// Copies the functions that are used; none of them is newer than version 1.2.0.
            ///
            /// # Safety
            ///
            /// `table` points to DuckDB's table of version 1.2.0 or later. It may be shorter than the type, which ends with
            /// the functions of later versions.
            unsafe fn new(table: *const sys::duckdb_ext_api_v1) -> Option<Api> {
                // SAFETY: all fields are optional functions, and zero is `None`.
                let mut api = unsafe { mem::zeroed::<sys::duckdb_ext_api_v1>() };
                $(
                    // SAFETY: the field is in the table's part of version 1.2.0.
                    api.$name = Some(unsafe { (*table).$name }?);
                )*
                Some(Api(api))
            }
        }
    };
}

used! {
    duckdb_connect duckdb_disconnect
    duckdb_create_logical_type duckdb_destroy_logical_type
    duckdb_data_chunk_get_column_count duckdb_data_chunk_get_vector duckdb_data_chunk_get_size
    duckdb_vector_get_data duckdb_vector_get_validity duckdb_vector_ensure_validity_writable
    duckdb_vector_assign_string_element_len duckdb_validity_set_row_invalid
    duckdb_create_scalar_function duckdb_destroy_scalar_function duckdb_scalar_function_set_name
    duckdb_scalar_function_add_parameter duckdb_scalar_function_set_return_type duckdb_scalar_function_set_function
    duckdb_scalar_function_set_error
    duckdb_create_scalar_function_set duckdb_destroy_scalar_function_set duckdb_add_scalar_function_to_set
    duckdb_register_scalar_function_set
}

/// Calls a function of DuckDB that `used!` names.
macro_rules! duckdb {
    ($api:expr, $name:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: arguments are valid for the function: handles come from DuckDB and are not yet destroyed, strings end with
        // a zero byte, rows are below the chunk's size.
        unsafe { ($api.0.$name.expect("a function that is named in `used!`"))($($argument),*) }
    };
}

/// DuckDB calls this when it loads the extension.
///
/// # Safety
///
/// `info` and `access` are as DuckDB hands them over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_init_c_api(
    info: sys::duckdb_extension_info,
    access: *const sys::duckdb_extension_access,
) -> bool {
    // SAFETY: DuckDB's promise.
    let access = unsafe { &*access };
    let (Some(get_api), Some(get_database)) = (access.get_api, access.get_database) else { return false };
    // SAFETY: as DuckDB documents these.
    let table = unsafe { get_api(info, API_VERSION.as_ptr()) }.cast::<sys::duckdb_ext_api_v1>();
    if table.is_null() {
        return false; // DuckDB has said why
    }
    // SAFETY: DuckDB gave its table for that version.
    let Some(api) = (unsafe { Api::new(table) }) else { return false };
    let api = API.get_or_init(|| api);
    // SAFETY: as DuckDB documents it.
    let database = unsafe { get_database(info) };
    if database.is_null() {
        return false;
    }
    let mut connection: sys::duckdb_connection = ptr::null_mut();
    // SAFETY: it points to the database that loads the extension.
    let database = unsafe { *database };
    if duckdb!(api, duckdb_connect(database, &mut connection)) != sys::duckdb_state_DuckDBSuccess {
        return false;
    }
    let registered = register::<PctEncode>(api, connection)
        && register::<PctDecode>(api, connection)
        && register::<TryPctDecode>(api, connection)
        && register::<PctDecodeBlob>(api, connection)
        && register::<PctNormalize>(api, connection)
        && register::<UrlCanonical>(api, connection)
        && register::<TryUrlCanonical>(api, connection);
    duckdb!(api, duckdb_disconnect(&mut connection));
    if !registered && let Some(set_error) = access.set_error {
        // SAFETY: as DuckDB documents it.
        unsafe { set_error(info, c"simdpct: a function could not be registered".as_ptr()) };
    }
    registered
}

/// Registers all forms of a function.
fn register<F: Function>(api: &Api, connection: sys::duckdb_connection) -> bool {
    let name = CString::new(F::NAME).expect("names hold no zero byte");
    let mut set = duckdb!(api, duckdb_create_scalar_function_set(name.as_ptr()));
    let mut registered = true;
    for &first in F::TAKES {
        for &arguments in F::ARGUMENTS {
            let mut function = duckdb!(api, duckdb_create_scalar_function());
            duckdb!(api, duckdb_scalar_function_set_name(function, name.as_ptr()));
            for place in 0..arguments {
                let of = if place == 0 { first } else { Type::Varchar };
                with_type(api, of, |of| duckdb!(api, duckdb_scalar_function_add_parameter(function, of)));
            }
            with_type(api, F::GIVES, |of| duckdb!(api, duckdb_scalar_function_set_return_type(function, of)));
            duckdb!(api, duckdb_scalar_function_set_function(function, Some(chunk::<F>)));
            registered &= duckdb!(api, duckdb_add_scalar_function_to_set(set, function))
                == sys::duckdb_state_DuckDBSuccess;
            duckdb!(api, duckdb_destroy_scalar_function(&mut function));
        }
    }
    registered &=
        duckdb!(api, duckdb_register_scalar_function_set(connection, set)) == sys::duckdb_state_DuckDBSuccess;
    duckdb!(api, duckdb_destroy_scalar_function_set(&mut set));
    registered
}

fn with_type(api: &Api, of: Type, use_it: impl FnOnce(sys::duckdb_logical_type)) {
    let id = match of {
        Type::Varchar => sys::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR,
        Type::Blob => sys::DUCKDB_TYPE_DUCKDB_TYPE_BLOB,
    };
    let mut logical = duckdb!(api, duckdb_create_logical_type(id));
    use_it(logical);
    duckdb!(api, duckdb_destroy_logical_type(&mut logical));
}

/// DuckDB calls this with up to 2,048 rows, from any of its threads.
unsafe extern "C" fn chunk<F: Function>(
    info: sys::duckdb_function_info,
    input: sys::duckdb_data_chunk,
    output: sys::duckdb_vector,
) {
    let api = API.get().expect("set when the extension was loaded");
    let rows = duckdb!(api, duckdb_data_chunk_get_size(input)) as usize;
    let columns = duckdb!(api, duckdb_data_chunk_get_column_count(input));
    let column = |index| Vector::new(api, duckdb!(api, duckdb_data_chunk_get_vector(input, index)), rows);
    let values = column(0);
    let names = (columns > 1).then(|| column(1));
    let mut out = Results { api, vector: output, rows, validity: ptr::null_mut() };
    if let Err(message) = call::<F>(&values, names.as_ref(), rows, &mut out) {
        let message = CString::new(message.replace('\0', "\\0")).unwrap_or_default();
        duckdb!(api, duckdb_scalar_function_set_error(info, message.as_ptr()));
    }
}

/// A column of a chunk. It lives as long as the call.
struct Vector<'a> {
    values: &'a [sys::duckdb_string_t],
    validity: Option<&'a [u64]>,
}

impl Vector<'_> {
    fn new(api: &Api, vector: sys::duckdb_vector, rows: usize) -> Self {
        let data: *mut c_void = duckdb!(api, duckdb_vector_get_data(vector));
        let validity = duckdb!(api, duckdb_vector_get_validity(vector));
        Vector {
            // SAFETY: DuckDB flattens arguments, so a VARCHAR or BLOB has a `duckdb_string_t` for each row, and nobody
            // writes to it during the call.
            values: unsafe { slice::from_raw_parts(data.cast(), rows) },
            // SAFETY: where there is a mask, it has a bit for each row.
            validity: (!validity.is_null())
                .then(|| unsafe { slice::from_raw_parts(validity, rows.div_ceil(64)) }),
        }
    }
}

impl<'a> Rows<'a> for Vector<'a> {
    #[inline]
    fn get(&self, row: usize) -> Option<&'a [u8]> {
        let values: &'a [sys::duckdb_string_t] = self.values;
        if self.validity.is_some_and(|mask| mask[row / 64] >> (row % 64) & 1 == 0) {
            return None;
        }
        let value = &values[row].value;
        // SAFETY: both variants of the union start with the length, and twelve bytes or less lie in the value itself; of more,
        // the pointer holds for as long as the chunk, which the lifetime stands for.
        Some(unsafe {
            let length = value.inlined.length as usize;
            let start =
                if length <= 12 { value.inlined.inlined.as_ptr() } else { value.pointer.ptr.cast_const() };
            slice::from_raw_parts(start.cast(), length)
        })
    }
}

/// The vector of results.
struct Results<'a> {
    api: &'a Api,
    vector: sys::duckdb_vector,
    rows: usize,
    validity: *mut u64,
}

impl Out for Results<'_> {
    fn put(&mut self, row: usize, value: &[u8]) {
        assert!(row < self.rows);
        let (start, len) = (value.as_ptr().cast(), value.len() as sys::idx_t);
        duckdb!(
            self.api,
            duckdb_vector_assign_string_element_len(self.vector, row as sys::idx_t, start, len)
        );
    }

    fn put_null(&mut self, row: usize) {
        assert!(row < self.rows);
        if self.validity.is_null() {
            duckdb!(self.api, duckdb_vector_ensure_validity_writable(self.vector));
            self.validity = duckdb!(self.api, duckdb_vector_get_validity(self.vector));
        }
        duckdb!(self.api, duckdb_validity_set_row_invalid(self.validity, row as sys::idx_t));
    }
}
