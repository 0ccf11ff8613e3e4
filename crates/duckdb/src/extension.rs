//! The entry point of the extension, and the function that DuckDB calls for each chunk of rows.

#![allow(unsafe_code, reason = "DuckDB calls these functions")]

use std::ffi::CString;
use std::sync::OnceLock;

use libduckdb_sys as sys;
use simdpct_functions::{Output as ResultType, SqlFunction, Values, sql_functions};

use crate::api::{self, Api, Connection, Output, ScalarFunctionSet, Shape, Type};
use crate::functions;

static API: OnceLock<Api> = OnceLock::new();

/// Registers the functions. DuckDB calls this when it loads the extension. Returns `false` if DuckDB lacks a function that the
/// extension calls, gives no connection, or rejects a function that the extension registers.
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
    let result = sql.function.output;
    if result == ResultType::Boolean {
        // `functions` cannot write booleans. A panic here would end the host.
        return false;
    }
    let mut set = ScalarFunctionSet::new(api, &name);
    // DuckDB prefers VARCHAR to ANY. ANY is for arguments that may be numbers: values to encode, and the arguments
    // after a URL.
    let more = sql.function.more.len();
    let values: &[(Type, Type)] = match sql.function.takes_binary {
        true => &[Type::Varchar, Type::Blob, Type::Any].map(|value| (value, Type::Varchar)),
        false if more > 0 => &[(Type::Varchar, Type::Varchar), (Type::Varchar, Type::Any)],
        false => &[(Type::Varchar, Type::Varchar)],
    };
    let mut registered = true;
    for &(value, rest) in values {
        for count in more..=more + usize::from(sql.function.name.is_some()) {
            let mut parameters = vec![rest; 1 + count];
            parameters[0] = value;
            // SAFETY: `chunk` takes columns of any type, writes the results of `sql`, and runs on any thread.
            registered &= unsafe { set.add(&name, &parameters, result, chunk, sql) };
        }
    }
    registered && connection.register(&set)
}

/// Evaluates a function for a chunk of up to 2,048 rows.
///
/// # Safety
///
/// DuckDB calls this for a function that `register` added. The arguments are valid during the call: a chunk of at least
/// one column, and a vector for the results of the function with capacity for the rows of the chunk.
unsafe extern "C" fn chunk(
    info: sys::duckdb_function_info,
    input: sys::duckdb_data_chunk,
    output: sys::duckdb_vector,
) {
    let api = API.get().expect("the entry point has set it");
    let mut texts = Vec::new();
    // SAFETY: the caller promises valid arguments. `register` passes an `SqlFunction` as `extra`. `texts` is declared before all
    // references into it and into the chunk, so it is dropped after them, and none outlives this function.
    let (function, columns) =
        unsafe { (api::extra_info::<SqlFunction>(api, info), api::columns(api, input, &mut texts)) };
    let in_function = |message| format!("{}: {message}", function.name);
    let evaluated = columns.map_err(in_function).and_then(|columns| {
        let rows = columns[0].rows();
        // SAFETY: the caller promises a vector for these results with capacity for the rows, and nobody else uses it.
        let mut out = unsafe { Output::new(api, output, Shape::of(function.function.output), rows) };
        functions::evaluate(function, &columns, &mut out)
    });
    if let Err(message) = evaluated {
        let message = CString::new(message.replace('\0', "\\0")).unwrap_or_default();
        // SAFETY: `info` is the argument of this callback, which is valid during the call.
        unsafe { api::set_error(api, info, &message) };
    }
}
