//! Selects the URLs in the attributes of HTML.

mod find;
mod table;
mod text;

use std::ops::Range;

use simdpct::ByteSet;
use simdpct_records::Kind;

use self::find::Role;
pub use self::find::{Finder, Place};
use self::table::{ATTRIBUTES, Syntax};
use super::pass::Pass;
use crate::value::policy::{Action, At, Treat};

/// Rewrites the URLs of a start tag.
#[derive(Clone)]
pub struct Html {
    /// The bytes that stay escaped in a URL that other text is around.
    guarded_bytes: ByteSet,
    /// The values of the tag that contain URLs.
    places: Vec<Place>,
    /// Whether the document has named its base.
    has_base: bool,
    /// Buffers for the places of URLs in a value, for a new URL, and for that URL with what protects it.
    urls: Vec<Range<usize>>,
    new: Vec<u8>,
    guarded: Vec<u8>,
}

impl Html {
    /// Selects all URLs. The bytes of `guarded_bytes` stay escaped in those that other text is around.
    pub fn new(guarded_bytes: ByteSet) -> Html {
        let (urls, new, guarded) = (Vec::new(), Vec::new(), Vec::new());
        Html { guarded_bytes, places: Vec::new(), has_base: false, urls, new, guarded }
    }

    /// Sets the values of the tag that is rewritten next.
    pub fn set_places(&mut self, places: &[Place]) {
        self.places.clear();
        self.places.extend_from_slice(places);
    }

    /// Returns the number of attributes that may contain URLs.
    pub fn count(&self) -> usize {
        ATTRIBUTES.len()
    }

    /// Returns the name of the attribute number `index`.
    pub fn name(&self, index: usize) -> &'static str {
        ATTRIBUTES[index].name
    }

    /// Rewrites the URLs of the tag.
    pub fn rewrite(&mut self, pass: &mut Pass<'_, '_, impl Treat>) -> Action {
        let places = std::mem::take(&mut self.places);
        let codebase = places.iter().find(|place| place.role == Role::Codebase);
        let codebase = codebase.map(|place| {
            let value = &pass.record.chunk[place.value.clone()];
            text::read(value, place.charset, true).map_or(value.to_vec(), |text| text.bytes)
        });
        let mut action = Action::Write;
        for place in &places {
            let codebase = codebase.as_deref().filter(|_| ATTRIBUTES[place.attribute].is_in_codebase);
            let has_base = codebase.is_some_and(|base| pass.treatment.enter_base(base.trim_ascii()));
            action = self.value(place, pass);
            if has_base {
                pass.treatment.leave_base();
            }
            if action != Action::Write {
                break;
            }
        }
        self.places = places;
        pass.report.stats.searched = true;
        action
    }

    /// Rewrites the URLs of the value at `place`.
    fn value(&mut self, place: &Place, pass: &mut Pass<'_, '_, impl Treat>) -> Action {
        let Html { guarded_bytes, urls, new, guarded, has_base, .. } = self;
        let (record, syntax) = (pass.record, ATTRIBUTES[place.attribute].syntax);
        let (chunk, start) = (record.chunk, place.value.start);
        let value = &chunk[place.value.clone()];
        let read = text::read(value, place.charset, syntax == Syntax::Url);
        let text = read.as_ref().map_or(value, |text| &text.bytes);
        let origin = |at: usize| start + read.as_ref().map_or(at, |text| text.origins[at]);
        let quote = (start > 0).then(|| chunk[start - 1]).filter(|byte| b"\"'".contains(byte));
        urls.clear();
        syntax.urls(text, urls);
        let kept = (syntax != Syntax::Url).then_some(*guarded_bytes);
        for url in urls.iter() {
            let old = &text[url.clone()];
            new.clear();
            let at = At { index: place.attribute, kind: Kind::Text, kept };
            let position = |offset: usize| origin(url.start + offset);
            let action = pass.treatment.value(at, old, new, record, pass.report, position);
            if action != Action::Write {
                return action;
            }
            if place.role == Role::Base && !*has_base {
                *has_base = true;
                pass.treatment.enter_base(old);
            }
            let (from, to) = (origin(url.start), origin(url.end));
            let is_changed = new != old;
            if is_changed {
                pass.edit.change();
            }
            if !pass.edit.write_bare(place.attribute, from, to, new) && is_changed {
                guarded.clear();
                table::guard(syntax, text, url.clone(), new, guarded);
                text::write(guarded, value, quote, place.charset, pass.edit.copy_to(from));
                pass.edit.skip_to(to);
            }
        }
        Action::Write
    }
}
