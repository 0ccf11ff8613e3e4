//! Rewrites the URLs in the attributes of HTML.

use simdpct_records::html::{ATTRIBUTES, Link, Role};
use simdpct_records::{Escaping, Syntax};

use super::pass::Pass;
use super::records::{Format, Places};
use crate::value::policy::{Action, Treat};

/// Rewrites the URLs of a start tag.
#[derive(Clone)]
pub struct Html {
    places: Places,
    /// The URLs of the tag.
    links: Vec<Link>,
    /// Whether the document has named its base.
    has_base: bool,
}

impl Default for Html {
    fn default() -> Html {
        // The URLs are found before, so the syntax of the record does not matter.
        let places = Places::new(Syntax::line(Escaping::None), Format::Html);
        Html { places, links: Vec::new(), has_base: false }
    }
}

impl Html {
    /// Sets the URLs of the tag that is rewritten next.
    pub fn set_links(&mut self, links: &[Link]) {
        self.links.clear();
        self.links.extend_from_slice(links);
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
        let Html { places, links, has_base } = self;
        let tag = pass.record.bytes();
        let url =
            |link: &Link| link.place.value(tag, &mut Vec::new()).map(<[u8]>::to_vec).unwrap_or_default();
        let codebase = links.iter().find(|link| link.role == Role::Codebase).map(url);
        pass.report.stats.searched = true;
        for link in links.iter() {
            let codebase = codebase.as_deref().filter(|_| ATTRIBUTES[link.place.index].is_in_codebase);
            let is_inside = codebase.is_some_and(|base| pass.treatment.enter_base(base));
            let action = places.value_at(&link.place, pass);
            if is_inside {
                pass.treatment.leave_base();
            }
            if action != Action::Write {
                return action;
            }
            if link.role == Role::Base && !*has_base {
                *has_base = true;
                pass.treatment.enter_base(&url(link));
            }
        }
        Action::Write
    }
}
