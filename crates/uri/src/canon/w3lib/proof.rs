//! Proves that lines are results of `canonicalize_url` of w3lib, for any of its arguments.

use simdpct::AsciiSet;

use super::{PATH, PATH_RAW};
use crate::canon::key::KeyRule;

pub(crate) struct W3lib;

impl KeyRule for W3lib {
    // Lines with a query, a fragment or parameters are not proven.
    const REJECTED: AsciiSet = PATH_RAW.remove(b";").complement().remove(b"\n");
    const DECODED: AsciiSet = PATH;
    const REDUCES: bool = false;
}
