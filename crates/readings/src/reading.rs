//! Describes how one server, in one configuration, reads request targets.

use crate::plain::Plain;
use crate::read::{Outcome, Request};
use crate::step::Step;

/// The steps by which one server, in one configuration, reads the path of a request target, with the evidence.
///
/// [`READINGS`](crate::READINGS) has the readings that were compared with the answers of servers. To describe a gateway of your own, write
/// its steps in their order:
///
/// ```
/// use simdpct::ByteSet;
/// use simdpct_readings::{Outcome, Reading, RejectReason, Step};
///
/// static GATEWAY: Reading = Reading::new(
///     "gateway",
///     &[Step::RejectOtherForms, Step::Split, Step::RejectMalformed, Step::Decode(ByteSet::ALL), Step::RejectDots],
/// );
/// let rejected = Outcome::Rejected { status: 400, reason: RejectReason::Dots };
/// assert_eq!(GATEWAY.read("/public/%2e%2e/admin"), rejected);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading {
    /// The name, for example `nginx-1.22`.
    pub name: &'static str,
    /// The server or framework.
    pub server: &'static str,
    /// The version that was tested.
    pub version: &'static str,
    /// The configuration.
    pub config: &'static str,
    /// How the route was observed. The text that is passed on was observed by a listener after a proxy, or by the handler of an
    /// application.
    pub asked: &'static str,
    /// The day on which the server was tested, as year, month and day.
    pub date: &'static str,
    /// Whether the reading is one of those on which [`STRICT`](crate::STRICT) and [`is_ambiguous`](crate::is_ambiguous) rely.
    pub is_default: bool,
    pub(crate) steps: &'static [Step],
    pub(crate) plain: Plain,
}

impl Reading {
    /// Makes a reading of a name and steps. Its other texts are empty, and it is not a default reading.
    #[must_use]
    pub const fn new(name: &'static str, steps: &'static [Step]) -> Reading {
        Reading {
            name,
            server: "",
            version: "",
            config: "",
            asked: "",
            date: "",
            is_default: false,
            steps,
            plain: Plain::of(steps),
        }
    }

    /// Returns the steps, in the order in which they are taken.
    #[must_use]
    pub const fn steps(&self) -> &'static [Step] {
        self.steps
    }

    /// Reads a request target, the text between method and version in the first line of a request. The answer is the route with the text
    /// that is passed on, a redirect, or a rejection.
    ///
    /// Plain targets are borrowed, and so are most texts that do not change. Takes time linear in the target.
    ///
    /// ```
    /// use simdpct_readings::{Outcome, RejectReason, find};
    ///
    /// let nginx = find("nginx-1.22").unwrap();
    /// assert_eq!(nginx.read("/a/..%2fb?q").route().unwrap(), b"/b");
    /// assert_eq!(nginx.read("/%zz"), Outcome::Rejected { status: 400, reason: RejectReason::Malformed });
    /// ```
    #[inline]
    pub fn read<'a>(&self, target: &'a (impl AsRef<[u8]> + ?Sized)) -> Outcome<'a> {
        let target = target.as_ref();
        self.plain.read(target).unwrap_or_else(|| self.read_by_steps(target))
    }

    /// Reads a target without the quick answer to plain targets. For tests.
    #[doc(hidden)]
    pub fn read_by_steps<'a>(&self, target: &'a [u8]) -> Outcome<'a> {
        Request::new(target).run(self.steps)
    }
}
