//! The entry point of the extension, and the function that DuckDB calls for each chunk of rows.

#![allow(unsafe_code, reason = "DuckDB calls these functions")]

use std::ffi::CString;
use std::sync::OnceLock;

use libduckdb_sys as sys;
use simdpct_functions::{Output as ResultType, SqlFunction, Values, sql_functions};

use crate::api::{self, Api, Connection, Output, ScalarFunctionSet, Type};
use crate::functions;

static API: OnceLock<Api> = OnceLock::new();

/// Registers the functions. DuckDB calls this when it loads the extension. Returns `false` if a function cannot be registered.
///
/// # Safety
///
/// DuckDB passes both arguments, and they are valid during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_init_c_api(
    info: sys::duckdb_extension_info,
    access: *const sys::duckdb_extension_access,
) -> bool {
    // SAFETY: the caller promises that `access` is valid.
    let access = unsafe { &*access };
    let (Some(get_api), Some(get_database)) = (access.get_api, access.get_database) else { return false };
    // SAFETY: DuckDB passed `info` together with `access`, and the version is a C string.
    let table = unsafe { get_api(info, api::VERSION.as_ptr()) }.cast::<sys::duckdb_ext_api_v1>();
    if table.is_null() {
        return false; // DuckDB has reported the reason.
    }
    // SAFETY: the pointer is not NULL, so it is DuckDB's table of the requested version.
    let Some(api) = (unsafe { Api::new(table) }) else { return false };
    let api = API.get_or_init(|| api);
    // SAFETY: DuckDB passed `info` together with `access`.
    let database = unsafe { get_database(info) };
    if database.is_null() {
        return false;
    }
    // SAFETY: the pointer is not NULL, so it points to the database that loads the extension, which is open.
    let Some(connection) = (unsafe { Connection::new(api, *database) }) else { return false };
    let registered = sql_functions().iter().all(|function| register(api, &connection, function));
    if !registered && let Some(set_error) = access.set_error {
        // SAFETY: DuckDB passed `info` together with `access`, and the message is a C string.
        unsafe { set_error(info, c"simdpct: a function could not be registered".as_ptr()) };
    }
    registered
}

/// Registers all signatures of a function, and reports whether DuckDB accepts them.
fn register(api: &Api, connection: &Connection<'_>, sql: &'static SqlFunction) -> bool {
    let name = CString::new(sql.name).expect("names have no zero byte");
    let result = match sql.function.output {
        ResultType::Text => Type::Varchar,
        ResultType::Bytes => Type::Blob,
        // Results are written to vectors of VARCHAR or BLOB only. A panic here would end the host.
        ResultType::Boolean => return false,
    };
    let mut set = ScalarFunctionSet::new(api, &name);
    let values: &[Type] =
        if sql.function.takes_binary { &[Type::Varchar, Type::Blob] } else { &[Type::Varchar] };
    let most = 1 + usize::from(sql.function.name.is_some());
    let mut registered = true;
    for &value in values {
        for count in 1..=most {
            // SAFETY: `chunk` takes one or two columns of VARCHAR or BLOB, writes VARCHAR or BLOB, and runs on any thread.
            registered &= unsafe { set.add(&name, &[value, Type::Varchar][..count], result, chunk, sql) };
        }
    }
    registered && connection.register(&set)
}

/// Evaluates a function for a chunk of up to 2,048 rows.
///
/// # Safety
///
/// DuckDB calls this for a function that `register` added, with arguments that are valid during the call: a chunk of columns of
/// type VARCHAR or BLOB, and a vector of type VARCHAR or BLOB with capacity for its rows.
unsafe extern "C" fn chunk(
    info: sys::duckdb_function_info,
    input: sys::duckdb_data_chunk,
    output: sys::duckdb_vector,
) {
    let api = API.get().expect("the entry point has set it");
    // SAFETY: the caller promises valid arguments. `register` passes an `SqlFunction` as `extra`, and no reference into the
    // chunk outlives this function.
    let (function, columns) =
        unsafe { (api::extra_info::<SqlFunction>(api, info), api::columns(api, input)) };
    let (values, names) = (&columns[0], columns.get(1));
    // SAFETY: the caller promises a vector with capacity for the rows, and nobody else uses it during the call.
    let mut out = unsafe { Output::new(api, output, values.rows()) };
    if let Err(message) = functions::evaluate(function, values, names, &mut out) {
        let message = CString::new(message.replace('\0', "\\0")).unwrap_or_default();
        // SAFETY: `info` is the argument of this callback, which is valid during the call.
        unsafe { api::set_error(api, info, &message) };
    }
}
