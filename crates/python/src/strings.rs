//! Functions of one string that urllib does not have: for escapes, and for the parts of URLs.

use std::borrow::Cow;

use codec::{ByteSet, Decode, MalformedCause};
use functions::{CANONICALIZE, Policy};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use uri::{Piece, delimiters};

use crate::arguments::{self, Text};
use crate::object::{decode_str, error, new_int, new_pair, new_str, room};

create_exception!(
    simdpct,
    MalformedEscape,
    PyValueError,
    "A `%` that is not followed by two hexadecimal digits. `offset` is its index."
);

/// Upper-case the digits of escapes, and decode those of unreserved characters (RFC 3986, 6.2.2.1 and 6.2.2.2).
///
/// URLs that become equal mean the same. A str gives a str, and bytes give bytes. If nothing changes, the result is the argument.
///
/// >>> normalize('/%7ejoe/a%2fb')
/// '/~joe/a%2Fb'
#[pyfunction]
#[pyo3(signature = (string, /))]
pub(crate) fn normalize<'py>(py: Python<'py>, string: Text<'py>) -> PyResult<Bound<'py, PyAny>> {
    string.answer(py, codec::normalize(string.bytes_with_room(py, 1)?))
}

/// Raise MalformedEscape, a ValueError, if there is a `%` that is not followed by two hexadecimal digits.
///
/// >>> validate('100%25')
/// >>> validate('100%')
/// Traceback (most recent call last):
///     ...
/// simdpct.MalformedEscape: the escape at offset 3 is cut off by the end
#[pyfunction]
#[pyo3(signature = (string, /))]
pub(crate) fn validate(py: Python<'_>, string: Text<'_>) -> PyResult<()> {
    let Err(wrong) = codec::validate(string.bytes()?) else {
        return Ok(());
    };
    let offset = string.index(wrong.offset)?;
    let why = match wrong.cause {
        MalformedCause::Truncated => "is cut off by the end".to_owned(),
        MalformedCause::NotHex { byte, .. } if byte.is_ascii_graphic() => {
            format!("has {:?} instead of a hexadecimal digit", char::from(byte))
        }
        MalformedCause::NotHex { byte, .. } => format!("has byte {byte:#04X} instead of a hexadecimal digit"),
        _ => "is malformed".to_owned(),
    };
    let error = error::<MalformedEscape>(py, &format!("the escape at offset {offset} {why}"));
    let name = new_str(py, b"offset")?.cast_into::<PyString>()?;
    error.value(py).setattr(name, new_int(py, offset)?)?;
    Err(error)
}

/// The numbers of escapes of each kind.
#[pyclass(frozen, get_all, eq, module = "simdpct")]
#[derive(PartialEq)]
pub(crate) struct Counts {
    /// The number of valid escapes.
    escapes: u64,
    /// The number of `%` that do not start a valid escape.
    malformed: u64,
    /// The number of valid escapes with a digit in lower case.
    lower_case: u64,
    /// The number of valid escapes of unreserved characters, which need no escape.
    unreserved: u64,
    /// The number of valid escapes of `%`: perhaps the text was encoded twice.
    percent: u64,
}

#[pymethods]
impl Counts {
    fn __repr__(&self) -> String {
        let Counts { escapes, malformed, lower_case, unreserved, percent } = self;
        format!(
            "Counts(escapes={escapes}, malformed={malformed}, lower_case={lower_case}, unreserved={unreserved}, \
             percent={percent})"
        )
    }
}

/// Count the escapes of a str or bytes by kind.
///
/// >>> count('%20%2f%25%41%')
/// Counts(escapes=4, malformed=1, lower_case=1, unreserved=1, percent=1)
#[pyfunction]
#[pyo3(signature = (string, /))]
pub(crate) fn count(string: Text<'_>) -> PyResult<Counts> {
    let codec::Counts { escapes, malformed, lower_case, unreserved, percent, .. } =
        codec::count(string.bytes()?);
    Ok(Counts { escapes, malformed, lower_case, unreserved, percent })
}

/// Decode until nothing changes, in linear time: for text that was encoded an unknown number of times.
///
/// Returns the type that it gets. In a str, bytes that are not valid UTF-8 stay escaped, in upper case.
///
/// >>> decode_until_stable('%252525%41')
/// '%A'
#[pyfunction]
#[pyo3(signature = (string, /))]
pub(crate) fn decode_until_stable<'py>(py: Python<'py>, string: Text<'py>) -> PyResult<Bound<'py, PyAny>> {
    let stable = codec::decode_until_stable(string.bytes_with_room(py, 2)?);
    if !matches!(string, Text::Str(_)) || std::str::from_utf8(&stable).is_ok() {
        return string.answer(py, stable);
    }
    // An invalid byte was an escape, so the text is no longer than the argument.
    let mut text = String::with_capacity(string.bytes()?.len());
    for chunk in stable.utf8_chunks() {
        text += chunk.valid();
        text.extend(chunk.invalid().iter().map(|byte| format!("%{byte:02X}")));
    }
    Ok(decode_str(py, text.as_bytes(), true)?)
}

/// Encode text as the value of a header parameter whose name ends with `*`, such as `filename*` (RFC 8187, section 3.2.1).
///
/// >>> encode_ext_value('€ rates.txt')
/// "UTF-8''%E2%82%AC%20rates.txt"
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn encode_ext_value<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    room(py, text.len().saturating_mul(4))?;
    Ok(new_str(py, codec::header::encode_ext_value(text).as_bytes())?)
}

/// Decode such a value to its text and its language tag, which may be empty.
///
/// The charsets are UTF-8 and ISO-8859-1. Raises ValueError if the value is malformed or in another charset. The text may hold any
/// character, `/` included: check it before you use it as the name of a file.
///
/// >>> decode_ext_value("iso-8859-1'en'%A3%20rates")
/// ('£ rates', 'en')
#[pyfunction]
#[pyo3(signature = (value, /))]
pub(crate) fn decode_ext_value<'py>(py: Python<'py>, value: Text<'py>) -> PyResult<Bound<'py, PyTuple>> {
    let value = codec::header::decode_ext_value(value.bytes_with_room(py, 3)?);
    let value = value.map_err(|wrong| error::<PyValueError>(py, &wrong.to_string()))?;
    let text = decode_str(py, value.text.as_bytes(), true)?;
    Ok(new_pair(py, text, new_str(py, value.language.as_bytes())?)?)
}

/// Encode the name of a field or file of multipart/form-data as browsers do: `"`, CR and LF become `%22`, `%0D` and `%0A`.
///
/// All else stays, `%` included (HTML Standard, section 4.10.22.8). Returns the type that it gets.
///
/// >>> encode_multipart_name('say "50%".txt')
/// 'say %2250%%22.txt'
#[pyfunction]
#[pyo3(signature = (name, /))]
pub(crate) fn encode_multipart_name<'py>(py: Python<'py>, name: Text<'py>) -> PyResult<Bound<'py, PyAny>> {
    name.answer(py, codec::header::encode_multipart_name(name.bytes_with_room(py, 3)?))
}

/// Decode the escapes `%22`, `%0D` and `%0A` of such a name, and no other. Returns the type that it gets.
///
/// >>> decode_multipart_name('say %2250%25%22.txt')
/// 'say "50%25".txt'
#[pyfunction]
#[pyo3(signature = (name, /))]
pub(crate) fn decode_multipart_name<'py>(py: Python<'py>, name: Text<'py>) -> PyResult<Bound<'py, PyAny>> {
    name.answer(py, codec::header::decode_multipart_name(name.bytes_with_room(py, 1)?))
}

/// Return the canonical form of a URL by a profile, which is one of PROFILES.
///
/// Crawlers, archives, browsers and block lists each have a canonical form of their own. Returns the type that it gets.
///
/// `errors` says what happens to a URL that the profile rejects: with 'keep' it stays, with 'null' the result is None, and 'strict'
/// raises ValueError with the reason.
///
/// >>> canonicalize('HTTP://www.Example.com:80/a/./b/../%7Ejoe')
/// 'http://www.example.com/a/~joe'
/// >>> canonicalize('HTTP://München.de', 'whatwg')
/// 'http://xn--mnchen-3ya.de/'
#[pyfunction]
#[pyo3(signature = (url, /, profile = "rfc3986-scheme", *, errors = "keep"))]
pub(crate) fn canonicalize<'py>(
    py: Python<'py>,
    url: Text<'py>,
    profile: &str,
    errors: &str,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let policy = arguments::policy("canonicalize", &CANONICALIZE, errors)?;
    // Canonicalization has a few steps, and each may write three bytes for one.
    let bytes = url.bytes_with_room(py, 16)?;
    let form = arguments::profile("canonicalize", profile)?.canonicalize(bytes);
    let form = form.map_err(|rejected| rejected.to_string()).and_then(|form| match &url {
        Text::Str(_) if std::str::from_utf8(&form).is_err() => {
            Err("the canonical form is not valid UTF-8; pass the URL as bytes".to_owned())
        }
        _ => Ok(form),
    });
    match (form, policy) {
        (Ok(form), _) => url.answer(py, form).map(Some),
        (Err(_), Policy::Null) => Ok(None),
        (Err(why), Policy::Fail) => Err(error::<PyValueError>(py, &why)),
        (Err(_), _) => url.answer(py, Cow::Borrowed(bytes)).map(Some),
    }
}

/// The parts of a URL, not decoded. A part that the URL does not have is None.
#[pyclass(frozen, generic, get_all, module = "simdpct")]
pub(crate) struct Parts {
    /// The URL itself.
    url: Py<PyAny>,
    /// The scheme, without the colon.
    scheme: Option<Py<PyAny>>,
    /// The authority: userinfo, host and port.
    authority: Option<Py<PyAny>>,
    /// The user name, and the password after a colon.
    userinfo: Option<Py<PyAny>>,
    /// The user information before its first colon.
    user: Option<Py<PyAny>>,
    /// The user information after its first colon.
    password: Option<Py<PyAny>>,
    /// The host. An IPv6 address has its brackets.
    host: Option<Py<PyAny>>,
    /// The port as a number; None also if it is not a number up to 65535.
    port: Option<u16>,
    /// The path, which may be empty.
    path: Py<PyAny>,
    /// The query, without the question mark.
    query: Option<Py<PyAny>>,
    /// The fragment, without the number sign.
    fragment: Option<Py<PyAny>>,
}

#[pymethods]
impl Parts {
    /// The registrable domain of the host, by the Public Suffix List.
    #[getter]
    fn domain<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        get(py, self.url.extract(py)?, Some("domain"), None, false)
    }

    /// The public suffix of the host, such as `com` or `co.uk`.
    #[getter]
    fn suffix<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        get(py, self.url.extract(py)?, Some("suffix"), None, false)
    }

    fn __repr__(slf: &Bound<'_, Parts>) -> PyResult<String> {
        let mut fields = Vec::new();
        for name in ["scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment"] {
            let value = slf.getattr(name)?;
            if !value.is_none() {
                fields.push(format!("{name}={}", value.repr()?));
            }
        }
        Ok(format!("Parts({})", fields.join(", ")))
    }
}

/// Split a URL into its parts (RFC 3986, appendix B). It takes any str or bytes, and decodes nothing.
/// A str with surrogates raises UnicodeEncodeError.
///
/// >>> split('https://example.com:8080/a%2Fb?q=1#top')
/// Parts(scheme='https', authority='example.com:8080', host='example.com', port=8080, path='/a%2Fb', query='q=1', fragment='top')
#[pyfunction]
#[pyo3(signature = (url, /))]
pub(crate) fn split(py: Python<'_>, url: Text<'_>) -> PyResult<Parts> {
    let parts = uri::split(url.bytes()?);
    let part =
        |bytes: Option<&[u8]>| bytes.map(|bytes| Ok::<_, PyErr>(url.part(py, bytes)?.unbind())).transpose();
    Ok(Parts {
        url: url.answer(py, Cow::Borrowed(b""))?.unbind(),
        scheme: part(parts.scheme())?,
        authority: part(parts.authority())?,
        userinfo: part(parts.userinfo().map(Piece::raw))?,
        user: part(parts.user().map(Piece::raw))?,
        password: part(parts.password().map(Piece::raw))?,
        host: part(parts.host().map(Piece::raw))?,
        port: parts.port_number(),
        path: url.part(py, parts.path())?.unbind(),
        query: part(parts.query())?,
        fragment: part(parts.fragment().map(Piece::raw))?,
    })
}

/// Return a part of a URL as it is written: 'scheme', 'authority', 'userinfo', 'user', 'password', 'host', 'domain', 'suffix', 'port',
/// 'path', 'query' or 'fragment'. With `param`, return the value of the first parameter of the query with that name, decoded as in a form.
/// Return None if the URL does not have it. A str with surrogates raises UnicodeEncodeError.
///
/// With `decode`, the part is decoded once, and the escapes of its delimiters stay: `%2F` in a path, `%26`, `%3D`, `%3B` and `%2B` in a
/// query, `%3A` and `%40` in an authority, `%3A` in a userinfo, and in all of these `%25`. In a str, the escapes of invalid UTF-8 stay
/// as well.
///
/// >>> url = 'https://example.com/caf%C3%A9%2Fbar?to=x%26y&q=1'
/// >>> get(url, 'path')
/// '/caf%C3%A9%2Fbar'
/// >>> get(url, 'path', decode=True)
/// '/café%2Fbar'
/// >>> get(url, param='to')
/// 'x&y'
#[pyfunction]
#[pyo3(signature = (url, part = None, *, param = None, decode = false))]
pub(crate) fn get<'py>(
    py: Python<'py>,
    url: Text<'py>,
    part: Option<&str>,
    param: Option<Text<'py>>,
    decode: bool,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let parts = uri::split(url.bytes_with_room(py, 2)?);
    let (raw, decoder) = match (part, param) {
        (None, Some(name)) => {
            let (name, decoder) = (name.bytes()?, Decode::new().form());
            let pair = parts.query_pairs().find(|pair| *url.decode(pair.name.raw(), decoder) == *name);
            (pair.map(|pair| pair.value.unwrap_or_default().raw()), Some(decoder))
        }
        (Some(part), None) => {
            let keep = match part {
                "authority" => delimiters::AUTHORITY,
                "userinfo" => delimiters::USERINFO,
                "path" => delimiters::PATH,
                "query" => delimiters::QUERY,
                _ => b"",
            };
            let decoder = Decode::new().keep(ByteSet::EMPTY.add(keep));
            (arguments::part("get", part)?(&parts), decode.then_some(decoder))
        }
        _ => return Err(arguments::invalid("get", "pass either the name of a part or `param`")),
    };
    let value = |raw| match decoder {
        Some(decoder) => url.part(py, &url.decode(raw, decoder)),
        None => url.part(py, raw),
    };
    raw.map(value).transpose()
}
