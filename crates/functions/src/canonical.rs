//! Canonicalizes many URLs at once by a profile, which is the rules of one canonical form.

use simdpct::batch::TooLong;
use simdpct_uri::canon::Profile;

use crate::policy::{Failure, Policy};
use crate::values::Values;

/// The result for one URL, compared with the URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form<'f> {
    /// The result is the URL itself, or null if the row is null.
    Same,
    /// The result is this text, which differs from the URL.
    New(&'f [u8]),
    /// The result is null, because the profile rejects the URL.
    Null,
}

/// The largest size of a batch of URLs that are canonicalized together, in bytes, with a line feed after each URL.
const BATCH: usize = 16 << 10;

/// Canonicalizes each URL and passes the results to `sink`, in the order of the rows. If `utf8` is set, a form that is not
/// valid UTF-8 counts as rejected.
///
/// [`Verb::apply`](crate::Verb::apply) makes a column of the results. This function is for engines that only store the results
/// that differ from their URLs.
///
/// # Errors
///
/// [`Failure::Rejected`] for the first rejected URL if the policy is [`Policy::Fail`], and errors of `sink`.
pub fn canonicalize_each<'a>(
    urls: &(impl Values<'a> + ?Sized),
    profile: Profile,
    policy: Policy,
    utf8: bool,
    mut sink: impl FnMut(usize, Form<'_>) -> Result<(), TooLong>,
) -> Result<(), Failure> {
    let mut lines = Lines {
        rules: Rules { profile, policy, utf8 },
        text: Vec::with_capacity(BATCH),
        forms: Vec::new(),
        rejected: Vec::new(),
    };
    let mut first = 0;
    for row in 0..urls.rows() {
        // A null becomes an empty line, so that line numbers equal row numbers. The form of that line is not used.
        let (url, is_line) = urls.get(row).map_or((&b""[..], true), |url| (url, is_line(url)));
        if lines.text.len() + url.len() >= BATCH || !is_line {
            lines.flush(urls, first, row, &mut sink)?;
            first = row;
        }
        if is_line && url.len() < BATCH {
            lines.text.extend_from_slice(url);
            lines.text.push(b'\n');
        } else {
            lines.rules.one(row, url, &mut sink)?;
            first = row + 1;
        }
    }
    lines.flush(urls, first, urls.rows(), &mut sink)
}

/// Reports whether a URL that has no line feed can be one line of a text. An empty URL cannot. A URL that ends with CR cannot
/// either, because CR LF ends a line.
fn is_line(url: &[u8]) -> bool {
    !url.is_empty() && url.last() != Some(&b'\r')
}

/// The options of a call of [`canonicalize_each`].
struct Rules {
    profile: Profile,
    policy: Policy,
    utf8: bool,
}

/// A batch of URLs as lines of one text. The canonicalizer can prove most lines of a text canonical at once.
struct Lines {
    rules: Rules,
    text: Vec<u8>,
    forms: Vec<u8>,
    /// The offsets of rejected lines in `text`.
    rejected: Vec<usize>,
}

impl Lines {
    /// Passes the results for the rows from `first` to `end`, which are the lines of the batch, to `sink`, and empties the
    /// batch.
    fn flush<'a>(
        &mut self,
        urls: &(impl Values<'a> + ?Sized),
        first: usize,
        end: usize,
        sink: &mut impl FnMut(usize, Form<'_>) -> Result<(), TooLong>,
    ) -> Result<(), Failure> {
        if first == end {
            return Ok(());
        }
        let Lines { rules, text, forms, rejected } = self;
        forms.clear();
        rejected.clear();
        rules.profile.canonicalize_lines(text, forms, |start, _| rejected.push(start));
        let lines = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count();
        // A URL may contain a line feed, and so may its form. Then lines and rows do not match, and each URL is processed
        // alone.
        let are_lines = lines(text) == end - first && lines(forms) == end - first;
        text.clear();
        let is_utf8 = are_lines && (!rules.utf8 || std::str::from_utf8(forms).is_ok());
        let (mut rejected, mut start) = (rejected.iter().peekable(), 0);
        let mut forms = forms.split(|byte| *byte == b'\n');
        for row in first..end {
            let (url, form) = (urls.get(row), forms.next());
            let is_rejected = rejected.next_if(|at| **at == start).is_some();
            start += url.map_or(0, <[u8]>::len) + 1;
            match (url, form) {
                (None, _) => sink(row, Form::Same)?,
                (Some(url), Some(form)) if is_utf8 && !is_rejected => {
                    sink(row, if form == url { Form::Same } else { Form::New(form) })?;
                }
                // The URL is processed alone: the reason of its rejection is not known, or the forms of the batch do
                // not match the rows, or one of the forms is not valid UTF-8.
                (Some(url), _) => rules.one(row, url, sink)?,
            }
        }
        Ok(())
    }
}

impl Rules {
    /// Passes the result for one URL to `sink`.
    fn one(
        &self,
        row: usize,
        url: &[u8],
        sink: &mut impl FnMut(usize, Form<'_>) -> Result<(), TooLong>,
    ) -> Result<(), Failure> {
        let why = match self.profile.canonicalize(url) {
            Ok(form) if !self.utf8 || std::str::from_utf8(&form).is_ok() => {
                return Ok(sink(row, if *form == *url { Form::Same } else { Form::New(&form) })?);
            }
            Ok(_) => None,
            Err(why) => Some(why),
        };
        match self.policy {
            Policy::Keep | Policy::Replace => Ok(sink(row, Form::Same)?),
            Policy::Null => Ok(sink(row, Form::Null)?),
            Policy::Fail => {
                let invalid = || "the canonical form is not valid UTF-8".to_owned();
                Err(Failure::Rejected { row, why: why.map_or_else(invalid, |why| why.to_string()) })
            }
        }
    }
}
