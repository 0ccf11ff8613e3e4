//! Canonical forms of many URLs.

use simdpct::batch::{ColumnBuf, TooLong};
use simdpct_uri::canon::Profile;

use crate::codec::{Made, Source};
use crate::verb::OnWrong;

/// What a URL becomes.
enum Form<'f> {
    Same,
    New(&'f [u8]),
    Null,
}

/// The URLs of a column. `None`: none changes.
pub(crate) fn column<'a, S: Source<'a>>(
    urls: &S,
    profile: Profile,
    on_wrong: OnWrong,
) -> Result<Option<Made<S::Offset>>, TooLong> {
    let (mut column, mut nulls) = (ColumnBuf::with_capacity(urls.len(), urls.size()), Vec::new());
    let mut same = true;
    each(urls, profile, on_wrong, |index, form| {
        same &= matches!(form, Form::Same);
        match form {
            Form::Same => column.push(urls.get(index)),
            Form::New(form) => column.push(form),
            Form::Null => {
                nulls.push(index);
                column.push(b"")
            }
        }
    })?;
    Ok((!same).then_some(Made { column, nulls }))
}

/// The URLs that change: their indices, and what they become. Those that become null are not among them.
pub(crate) fn changes<'a, S: Source<'a>>(
    urls: &S,
    profile: Profile,
    on_wrong: OnWrong,
) -> Result<(Vec<usize>, Made<S::Offset>), TooLong> {
    let (mut column, mut nulls, mut changed) = (ColumnBuf::new(), Vec::new(), Vec::new());
    each(urls, profile, on_wrong, |index, form| {
        match form {
            Form::Same => {}
            Form::New(form) => {
                column.push(form)?;
                changed.push(index);
            }
            Form::Null => nulls.push(index),
        }
        Ok(())
    })?;
    Ok((changed, Made { column, nulls }))
}

/// How many bytes of URLs are looked at together.
const TEXT: usize = 16 << 10;

/// Tells `put` what each URL becomes, in order.
fn each<'a, S: Source<'a>>(
    urls: &S,
    profile: Profile,
    on_wrong: OnWrong,
    mut put: impl FnMut(usize, Form<'_>) -> Result<(), TooLong>,
) -> Result<(), TooLong> {
    let mut lines =
        Lines { profile, on_wrong, text: Vec::with_capacity(TEXT), forms: Vec::new(), refused: Vec::new() };
    let (mut first, mut index) = (0, 0);
    while index < urls.len() {
        let url = urls.get(index);
        let is_line = is_line(url);
        if is_line && lines.text.len() + url.len() < TEXT {
            lines.text.extend_from_slice(url);
            lines.text.push(b'\n');
            index += 1;
            continue;
        }
        lines.put(first..index, urls, &mut put)?;
        first = index;
        if !is_line || url.len() >= TEXT {
            lines.put_one(index, url, &mut put)?;
            index += 1;
            first = index;
        }
    }
    lines.put(first..index, urls, &mut put)
}

/// Whether a URL may be a line, if it has no line feed: nothing is no line, and CR LF is a line's end.
fn is_line(url: &[u8]) -> bool {
    !url.is_empty() && url.last() != Some(&b'\r')
}

/// URLs as lines: the canonicalizer proves most of them canonical at once.
struct Lines {
    profile: Profile,
    on_wrong: OnWrong,
    text: Vec<u8>,
    forms: Vec<u8>,
    /// Where refused lines start.
    refused: Vec<usize>,
}

impl Lines {
    /// Tells what the URLs become that are the lines, and forgets them.
    fn put<'a, S: Source<'a>>(
        &mut self,
        indices: std::ops::Range<usize>,
        urls: &S,
        put: &mut impl FnMut(usize, Form<'_>) -> Result<(), TooLong>,
    ) -> Result<(), TooLong> {
        self.forms.clear();
        self.refused.clear();
        self.profile.canonicalize_lines(&self.text, &mut self.forms, |start, _| self.refused.push(start));
        let lines = |text: &[u8]| memchr::memchr_iter(b'\n', text).count();
        // A URL may have a line feed, and so may the form that a profile gives it.
        let are_lines = lines(&self.text) == indices.len() && lines(&self.forms) == indices.len();
        self.text.clear();
        if !are_lines {
            return indices.into_iter().try_for_each(|index| self.put_one(index, urls.get(index), put));
        }
        let is_text = std::str::from_utf8(&self.forms).is_ok();
        let (mut refused, mut start) = (self.refused.iter().peekable(), 0);
        for (index, form) in indices.zip(self.forms.split(|byte| *byte == b'\n')) {
            let url = urls.get(index);
            let is_refused = refused.next_if(|at| **at == start).is_some();
            start += url.len() + 1;
            put(
                index,
                self.form(
                    url,
                    (!is_refused && (is_text || std::str::from_utf8(form).is_ok())).then_some(form),
                ),
            )?;
        }
        Ok(())
    }

    /// Tells what one URL becomes.
    fn put_one(
        &mut self,
        index: usize,
        url: &[u8],
        put: &mut impl FnMut(usize, Form<'_>) -> Result<(), TooLong>,
    ) -> Result<(), TooLong> {
        let form = self.profile.canonicalize(url).ok().filter(|form| std::str::from_utf8(form).is_ok());
        put(index, self.form(url, form.as_deref()))
    }

    /// `form` is the canonical form, if there is one that is text.
    fn form<'f>(&self, url: &[u8], form: Option<&'f [u8]>) -> Form<'f> {
        match (form, self.on_wrong) {
            (Some(form), _) if form != url => Form::New(form),
            (None, OnWrong::Null) => Form::Null,
            _ => Form::Same,
        }
    }
}
